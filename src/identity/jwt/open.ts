/** Reads organisations' JWTs for whoever identifies callers, and remembers for a moment why one was refused. */
import type { Clock } from '../../clock.ts';
import type { ChangeFeed } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { KeyCaller } from '../caller.ts';
import type { JwtHeader, TokenGrant } from './claims.ts';
import { createKeySets } from './key-sets.ts';
import { createPlaces } from './places.ts';
import { JwtRefused } from './refusal.ts';
import type { JwtEnvironment } from './variables.ts';
import { callerOfGrant, type VerifiedToken, verifyToken } from './verify.ts';

export interface TokenReader {
  /** Undefined where the token does not count; `whyRefused` then says why. `digest` is the SHA-256 of the token in hex. */
  read(token: string, header: JwtHeader, digest: string): Promise<VerifiedToken | undefined>;
  whyRefused(digest: string): JwtRefused | null;
  /** The caller behind work that a token has ordered; null where it does not count any more. */
  holder(grant: TokenGrant): Promise<KeyCaller | null>;
}

/** A token that was refused, as the audit trail of its organisation tells it. */
export interface RefusedToken {
  organisationId: string;
  /** The first and last characters of the token. */
  masked: string;
  reason: JwtRefused;
  /** How many refusals of this organisation went untold since the last row, because there were too many. */
  untold: number;
}

interface Parts {
  environment: JwtEnvironment;
  db: Db;
  feed: ChangeFeed;
  clock: Clock;
  /** Fetches a public document of somebody else, within bounds and after the check of its address. */
  fetchDocument(url: string, tenant: string): Promise<string>;
  onRefused(refused: RefusedToken): void;
}

const refusalsKept = 10_000;
const minuteMs = 60_000;
/** Rows a minute that the refusals of one organisation may leave: anybody can send tokens that name it. */
const toldPerMinute = 120;

export function openTokenReader({ environment, db, feed, clock, fetchDocument, onRefused }: Parts): TokenReader {
  const now = () => clock.now();
  const rules = {
    environment,
    now,
    places: createPlaces(db, feed),
    keySets: createKeySets(fetchDocument, () => clock.now().getTime()),
  };
  const refusals = new Map<string, { reason: JwtRefused; toldAt: number }>();
  const minutes = new Map<string, { since: number; told: number; untold: number }>();

  const tell = (organisationId: string, token: string, reason: JwtRefused): void => {
    const at = clock.now().getTime();
    const minute = minutes.get(organisationId) ?? { since: at, told: 0, untold: 0 };
    if (at - minute.since >= minuteMs || at < minute.since) Object.assign(minute, { since: at, told: 0 });
    if (minutes.size >= refusalsKept) minutes.clear();
    minutes.set(organisationId, minute);
    if (minute.told >= toldPerMinute) {
      minute.untold++;
      return;
    }
    minute.told++;
    const { untold } = minute;
    minute.untold = 0;
    onRefused({ organisationId, masked: `${token.slice(0, 2)}****${token.slice(-2)}`, reason, untold });
  };

  const note = (token: string, digest: string, reason: JwtRefused): void => {
    const before = refusals.get(digest);
    const at = clock.now().getTime();
    // A client that keeps sending the same wrong token is told once a minute.
    const isTold = before?.reason.message === reason.message && at - before.toldAt < minuteMs;
    refusals.delete(digest);
    refusals.set(digest, { reason, toldAt: isTold ? before.toldAt : at });
    if (refusals.size > refusalsKept) refusals.delete(refusals.keys().next().value ?? '');
    if (!isTold && reason.organisationId !== null) tell(reason.organisationId, token, reason);
  };

  return {
    async read(token, header, digest) {
      try {
        const verified = await verifyToken(rules, token, header, digest);
        refusals.delete(digest);
        return verified;
      } catch (fault) {
        if (!(fault instanceof JwtRefused)) throw fault;
        note(token, digest, fault);
        return undefined;
      }
    },
    async holder(grant) {
      try {
        return await callerOfGrant(rules, grant);
      } catch (fault) {
        if (fault instanceof JwtRefused) return null;
        throw fault;
      }
    },
    whyRefused: (digest) => refusals.get(digest)?.reason ?? null,
  };
}
