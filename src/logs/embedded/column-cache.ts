/** Keeps columns of sealed chunks, which never change, within a bound; the oldest are evicted. */
const mostBytes = 128 * 1024 * 1024;

export class ColumnCache {
  readonly #columns = new Map<string, Float64Array>();
  #bytes = 0;

  get(key: string, read: () => Float64Array): Float64Array {
    const known = this.#columns.get(key);
    if (known) return known;
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
