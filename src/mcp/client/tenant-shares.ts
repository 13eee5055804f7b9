/** Places that organisations share: so many in all, and of them a part for each. */
export class TenantShares {
  readonly #total: number;
  readonly #share: number;
  readonly #held = new Map<string, number>();
  #all = 0;

  constructor(total: number, share = Math.ceil(total / 4)) {
    this.#total = total;
    this.#share = share;
  }

  /** False where all of them, or those of this organisation, are taken. */
  take(organisationId: string): boolean {
    const own = this.#held.get(organisationId) ?? 0;
    if (this.#all >= this.#total || own >= this.#share) return false;
    this.#held.set(organisationId, own + 1);
    this.#all++;
    return true;
  }

  give(organisationId: string): void {
    const own = this.#held.get(organisationId) ?? 0;
    if (own === 0) return;
    this.#all--;
    if (own === 1) this.#held.delete(organisationId);
    else this.#held.set(organisationId, own - 1);
  }
}
