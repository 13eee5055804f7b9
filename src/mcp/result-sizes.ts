/** How many tokens the results of tools took lately: what a limit on tokens reserves before the next call. */

const mostKept = 10_000;

export class ResultSizes {
  readonly #sizes = new Map<string, number>();

  /** Zero where the tool was not called yet. */
  of(serverId: string, tool: string): number {
    return this.#sizes.get(`${serverId} ${tool}`) ?? 0;
  }

  learn(serverId: string, tool: string, tokens: number): void {
    if (this.#sizes.size >= mostKept) this.#sizes.clear();
    this.#sizes.set(`${serverId} ${tool}`, tokens);
  }
}
