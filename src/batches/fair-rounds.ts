/** Which batches go on when: every organisation has places of its own, so that an organisation with a slow provider delays no other. */

/** Batches of one organisation that go on at once. */
const placesOfTenant = 4;
/** And of all of them. */
const placesInAll = 200;

interface Tenant {
  underway: number;
  queue: string[];
}

/** Lets a batch go on; resolves when its part of the round is done. */
type GoOn = (batchId: string) => Promise<void>;

export class FairRounds {
  readonly #goOn: GoOn;
  readonly #tenants = new Map<string, Tenant>();
  readonly #underway = new Map<string, Promise<void>>();
  #faults: unknown[] = [];

  constructor(goOn: GoOn) {
    this.#goOn = goOn;
  }

  /** Queues batches of one organisation that are not under way, in place of what it had queued. */
  queue(tenantId: string, batchIds: readonly string[]): void {
    const tenant = this.#tenants.get(tenantId) ?? { underway: 0, queue: [] };
    tenant.queue = batchIds.filter((id) => !this.#underway.has(id));
    this.#tenants.set(tenantId, tenant);
    this.#fill();
  }

  /** Resolves when everything that is queued or under way has ended. */
  async ended(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all(this.#underway.values());
  }

  /** What went wrong since it was last asked. */
  takeFaults(): unknown[] {
    const faults = this.#faults;
    this.#faults = [];
    return faults;
  }

  #fill(): void {
    for (const [tenantId, tenant] of this.#tenants) {
      while (tenant.underway < placesOfTenant && this.#underway.size < placesInAll) {
        const next = tenant.queue.shift();
        if (next === undefined) break;
        this.#start(tenant, next);
      }
      if (tenant.underway === 0 && tenant.queue.length === 0) this.#tenants.delete(tenantId);
    }
  }

  #start(tenant: Tenant, batchId: string): void {
    tenant.underway++;
    const run = this.#goOn(batchId)
      // What is wrong with one batch holds up no other.
      .catch((fault) => void this.#faults.push(fault))
      .finally(() => {
        tenant.underway--;
        this.#underway.delete(batchId);
        this.#fill();
      });
    this.#underway.set(batchId, run);
  }
}
