/** A limit as a value: what is counted, over which window, up to which amount. The engine does not care where it comes from. */
import { type Cadence, nextReset, type RateUnit } from './calendar.ts';

export type LimitScope = 'api_key' | 'workspace' | 'policy' | 'provider' | 'integration';
export type LimitType = 'requests' | 'tokens' | 'cost';

/** The running time of a counter. Its epoch is the moment at which it began; a counter of a later epoch starts at nothing. */
export type LimitWindow =
  /** Fixed windows of a rate limit, aligned in UTC. */
  | { kind: 'rate'; unit: RateUnit }
  /** The period of a usage limit: it began at `epoch` and ends at `resetsAt`, if ever. */
  | { kind: 'usage'; epoch: number; resetsAt: number | null; cadence: Cadence };

export interface Limit {
  /** The name of the counter: `api_key/<id>/rate/requests/rpm`, `policy/<id>/usage/cost/<value key>`. */
  counter: string;
  organisationId: string;
  scope: LimitScope;
  /** How the refusal names the key, workspace, provider, integration or policy. */
  name: string;
  type: LimitType;
  window: LimitWindow;
  /** In units: requests, tokens, or billionths of a dollar. */
  value: number;
  /** `shadow` counts and reports, and refuses nothing. */
  mode: 'enforce' | 'shadow';
  /** Lowers the token limit of a call to what the room left can pay for. */
  clampMaxTokens: boolean;
}

/** Money is counted in whole billionths of a dollar, so that sums are exact. */
export const unitsPerDollar = 1e9;
const unitsPerCent = unitsPerDollar / 100;

/** Fractions of a unit are rounded up: many small calls never cost nothing. */
export const unitsOfCents = (cents: number): number => Math.ceil(cents * unitsPerCent - 1e-6);

/** The amount that a person wrote, in units. */
export const toUnits = (type: LimitType, amount: number): number =>
  type === 'cost' ? Math.round(amount * unitsPerDollar) : Math.floor(amount);

/** Units as a person reads them: dollars, tokens or requests. */
export const fromUnits = (type: LimitType, units: number): number => (type === 'cost' ? units / unitsPerDollar : units);

const minuteMs = 60_000;
const dayMs = 86_400_000;
export const windowMs: Readonly<Record<RateUnit, number>> = {
  rpm: minuteMs,
  rph: 60 * minuteMs,
  rpd: dayMs,
  rpw: 7 * dayMs,
};

/** Weeks begin on Monday; the first day of the clock was a Thursday. */
export const windowOffsetMs = (unit: RateUnit): number => (unit === 'rpw' ? 4 * dayMs : 0);

export interface RunningWindow {
  epoch: number;
  /** Null: it never ends by itself. */
  endsAt: number | null;
}

/** The window or period that runs at `now`. */
export function spanAt(window: LimitWindow, now: number): RunningWindow {
  if (window.kind === 'rate') {
    const length = windowMs[window.unit];
    const offset = windowOffsetMs(window.unit);
    const epoch = Math.floor((now - offset) / length) * length + offset;
    return { epoch, endsAt: epoch + length };
  }
  const { resetsAt, cadence } = window;
  if (resetsAt === null || now < resetsAt) return { epoch: window.epoch, endsAt: resetsAt };
  // The reset is due: calls need not wait for the job that writes it down.
  let epoch = resetsAt;
  for (;;) {
    const next = nextReset(cadence, new Date(epoch))?.getTime() ?? null;
    if (next === null || next > now) return { epoch, endsAt: next };
    epoch = next;
  }
}

export interface CounterName {
  scope: LimitScope;
  entityId: string;
  kind: 'rate' | 'usage';
  type: LimitType;
  unit: RateUnit | null;
  /** The group of a policy that is counted here; null for every other limit. */
  valueKey: string | null;
}

export const rateCounter = (
  scope: LimitScope,
  entityId: string,
  type: LimitType,
  unit: RateUnit,
  valueKey?: string,
): string => named(`${scope}/${entityId}/rate/${type}/${unit}`, valueKey);

export const usageCounter = (scope: LimitScope, entityId: string, type: LimitType, valueKey?: string): string =>
  named(`${scope}/${entityId}/usage/${type}`, valueKey);

const named = (counter: string, valueKey: string | undefined): string =>
  valueKey === undefined ? counter : `${counter}/${valueKey}`;

/** What a counter's name says. */
export function readCounter(counter: string): CounterName {
  const [scope, entityId = '', kind, type, ...rest] = counter.split('/');
  const unit = kind === 'rate' ? (rest.shift() as RateUnit) : null;
  return {
    scope: scope as LimitScope,
    entityId,
    kind: kind as 'rate' | 'usage',
    type: type as LimitType,
    unit,
    valueKey: scope === 'policy' ? rest.join('/') : null,
  };
}
