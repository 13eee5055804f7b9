/** What a session may ask of the process: whoever sends more, to us or through us, is read more slowly. */

/** Fills at a steady rate; what is taken beyond its contents is owed. */
export class Bucket {
  readonly #rate: number;
  readonly #size: number;
  readonly #now: () => number;
  #level: number;
  #filledAt: number;

  /** `rate` is units a second, `size` what can be taken at once; `now` tells milliseconds. */
  constructor(rate: number, size: number, now: () => number) {
    this.#rate = rate;
    this.#size = size;
    this.#now = now;
    this.#level = size;
    this.#filledAt = now();
  }

  /** How many units are owed after these. */
  take(units: number): number {
    this.#level -= units;
    if (this.#level >= 0) return 0;
    const now = this.#now();
    this.#level = Math.min(this.#size, this.#level + ((now - this.#filledAt) * this.#rate) / 1_000);
    this.#filledAt = now;
    return Math.max(0, -this.#level);
  }

  /** How long until so much is no longer owed. */
  msUntilPaid(owed: number): number {
    return (owed / this.#rate) * 1_000;
  }
}

/** A frame is a unit, however short. Speech makes some fifty a second. */
const framesASecond = 2_000;
const framesAtOnce = 2_000;
/** All sessions of an organisation together. */
const framesASecondOfTenant = 20_000;
const framesAtOnceOfTenant = 20_000;
/** Frames that were on their way when reading stopped are still told, and everybody waits for them; more than these no pause could hold back. */
const mostOwed = 2_048;

const bytesOfUnit = 16 * 1024;
/** An event that is read costs more than one that is only relayed. */
const readBytesOfUnit = 1_024;

export const unitsOfRelayed = (length: number): number => Math.floor(length / bytesOfUnit);
export const unitsOfRead = (length: number): number => Math.floor(length / readBytesOfUnit);

export interface Charge {
  /** How long nothing more should be read; 0 where the session is within its budget. */
  waitMs: number;
  /** It sends so fast that it cannot be slowed down. */
  overdrawn: boolean;
}

const paid: Charge = { waitMs: 0, overdrawn: false };

export interface FrameBudget {
  charge(units: number): Charge;
  /** The session is over. */
  close(): void;
}

/** The budgets of all sessions. */
export class FrameBudgets {
  readonly #now: () => number;
  readonly #tenants = new Map<string, { bucket: Bucket; sessions: number }>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  open(tenantId: string): FrameBudget {
    const tenant = this.#tenants.get(tenantId) ?? {
      bucket: new Bucket(framesASecondOfTenant, framesAtOnceOfTenant, this.#now),
      sessions: 0,
    };
    tenant.sessions++;
    this.#tenants.set(tenantId, tenant);
    const own = new Bucket(framesASecond, framesAtOnce, this.#now);
    return {
      charge(units) {
        const owed = own.take(units);
        const owedByAll = tenant.bucket.take(units);
        if (owed === 0 && owedByAll === 0) return paid;
        const waitMs = Math.max(own.msUntilPaid(owed), tenant.bucket.msUntilPaid(owedByAll));
        return { waitMs, overdrawn: owed > mostOwed };
      },
      close: () => {
        if (--tenant.sessions === 0 && this.#tenants.get(tenantId) === tenant) this.#tenants.delete(tenantId);
      },
    };
  }
}
