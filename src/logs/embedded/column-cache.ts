/** Keeps arrays of sealed rows, which never change, within a bound; those that were not used for longest are evicted. */
const mostBytes = 128 * 1024 * 1024;

export type Column = Float64Array | Uint32Array;

export class ColumnCache {
  readonly #columns = new Map<string, Column>();
  #bytes = 0;
  #owners = 0;

  /** A number for whoever keeps arrays here: keys begin with it, so that a file that comes again under its name shares none. */
  newOwner(): number {
    this.#owners += 1;
    return this.#owners;
  }

  get<C extends Column>(key: string, read: () => C): C {
    const known = this.#columns.get(key);
    if (known) {
      this.#columns.delete(key);
      this.#columns.set(key, known);
      // A key always names an array of one kind.
      return known as C;
    }
    const column = read();
    this.#columns.set(key, column);
    this.#bytes += column.byteLength;
    for (const [oldest, { byteLength }] of this.#columns) {
      if (this.#bytes <= mostBytes) break;
      this.#columns.delete(oldest);
      this.#bytes -= byteLength;
    }
    return column;
  }
}
