/** Bodies that are held in memory share a budget: all of them together, and those of each organisation. */
import type { ByteReader } from '../../wire/client/answer.ts';
import type { Incoming } from '../../wire/server/incoming.ts';
import { GatewayError } from '../errors.ts';

/** Smaller ones come by the thousand, and their number is bounded by the connections. */
export const countedFrom = 256 * 1024;

/** Left to itself the collector waits for hundreds of megabytes, and gives them all back in one long pause. */
const collectedAfter = 64 * 1024 * 1024;

interface Held {
  organisationId: string;
  bytes: number;
}

export class BodyBudget {
  readonly #total: number;
  readonly #share: number;
  readonly #byOrganisation = new Map<string, number>();
  /** A request may hold several: what it sent, and what was answered. */
  readonly #byRequest = new WeakMap<Incoming, Held>();
  #held = 0;
  #released = 0;
  readonly #collect: () => void;

  /** `share` is what one organisation may hold of it. */
  constructor(total: number, share = total / 2, collect = () => Bun.gc(false)) {
    this.#total = total;
    this.#share = share;
    this.#collect = collect;
  }

  get held(): number {
    return this.#held;
  }

  /** Counts so many bytes until the request is over; throws where there is no room for them. */
  hold(request: Incoming, organisationId: string, bytes: number): void {
    this.#require(organisationId, bytes);
    const earlier = this.#byRequest.get(request)?.bytes ?? 0;
    this.#byRequest.set(request, { organisationId, bytes: earlier + bytes });
  }

  /** Room for what belongs to no request, or to a part of one. */
  lease(organisationId: string): BodyLease {
    let held = 0;
    return {
      hold: (bytes) => {
        this.#require(organisationId, bytes);
        held += bytes;
      },
      release: () => {
        if (held > 0) this.give(organisationId, held);
        held = 0;
      },
    };
  }

  #require(organisationId: string, bytes: number): void {
    if (this.take(organisationId, bytes)) return;
    const own = this.#byOrganisation.get(organisationId) ?? 0;
    const whose = own + bytes > this.#share ? 'this organisation' : 'the gateway';
    throw new GatewayError(
      'buffers_full',
      `the bodies that ${whose} holds at the moment leave no room for this one; try again in a moment`,
    );
  }

  /** Counts so many bytes until they are given back; false where there is no room for them. */
  take(organisationId: string, bytes: number): boolean {
    const own = this.#byOrganisation.get(organisationId) ?? 0;
    if (this.#held + bytes > this.#total || own + bytes > this.#share) return false;
    this.#held += bytes;
    this.#byOrganisation.set(organisationId, own + bytes);
    return true;
  }

  give(organisationId: string, bytes: number): void {
    this.#held -= bytes;
    const left = (this.#byOrganisation.get(organisationId) ?? 0) - bytes;
    if (left > 0) this.#byOrganisation.set(organisationId, left);
    else this.#byOrganisation.delete(organisationId);
  }

  /** The request is over. */
  release(request: Incoming): void {
    const held = this.#byRequest.get(request);
    if (!held) return;
    this.#byRequest.delete(request);
    this.give(held.organisationId, held.bytes);
    this.#released += held.bytes;
    if (this.#released < collectedAfter) return;
    this.#released = 0;
    this.#collect();
  }
}

/** Holds so many bytes more; throws where there is no room for them. */
export type HoldBytes = (bytes: number) => void;

export interface BodyLease {
  hold: HoldBytes;
  /** Gives back all that is held. */
  release(): void;
}

/** What grows as it comes, counted by whole steps, so that not every piece costs. */
export class GrowingBody {
  readonly #hold: HoldBytes;
  #size = 0;
  #held = 0;

  constructor(hold: HoldBytes) {
    this.#hold = hold;
  }

  add(bytes: number): void {
    this.reach(this.#size + bytes);
  }

  /** It has this size by now. */
  reach(size: number): void {
    if (size <= this.#size) return;
    this.#size = size;
    if (size < countedFrom || size <= this.#held) return;
    const more = Math.ceil((size - this.#held) / countedFrom) * countedFrom;
    this.#hold(more);
    this.#held += more;
  }
}

/** A body that does not say how long it is, counted as it grows. */
export function counted(body: ByteReader, hold: HoldBytes): ByteReader {
  const growing = new GrowingBody(hold);
  return {
    async read() {
      const piece = await body.read();
      try {
        growing.add(piece.value?.length ?? 0);
      } catch (fault) {
        await body.cancel();
        throw fault;
      }
      return piece;
    },
    cancel: () => body.cancel(),
  };
}
