/** How much each workspace uses of a shared space. While little of it is left, a workspace that exceeds its share gets no more. */

/** Bytes by workspace. */
export type Tally = Map<string, number>;

/** From here on shares count; until then whoever needs space has it. */
const scarceFrom = 3 / 4;
const share = 1 / 4;

export class SpaceShares {
  readonly #held: Tally = new Map();

  /** Whether a workspace that wants so much more has to give way. `used` is what all of them take of `limit`. */
  isOver(workspaceId: string, more: number, used: number, limit: number): boolean {
    return used + more > limit * scarceFrom && (this.#held.get(workspaceId) ?? 0) + more > limit * share;
  }

  add(workspaceId: string, bytes: number): void {
    addTo(this.#held, workspaceId, bytes);
  }

  addAll(tally: Tally): void {
    for (const [workspaceId, bytes] of tally) this.add(workspaceId, bytes);
  }

  removeAll(tally: Tally): void {
    for (const [workspaceId, bytes] of tally) {
      const left = (this.#held.get(workspaceId) ?? 0) - bytes;
      if (left > 0) this.#held.set(workspaceId, left);
      else this.#held.delete(workspaceId);
    }
  }
}

export function addTo(tally: Tally, workspaceId: string, bytes: number): void {
  tally.set(workspaceId, (tally.get(workspaceId) ?? 0) + bytes);
}
