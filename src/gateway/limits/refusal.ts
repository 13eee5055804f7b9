/** What a caller is told when a limit refuses: which one, how much of it is used, and when to come back. */
import type { CounterState } from '../../limits/engine.ts';
import { fromUnits, type Limit, type LimitScope } from '../../limits/limit.ts';
import { GatewayError } from '../errors.ts';

const scopeNames: Record<LimitScope, string> = {
  api_key: 'API key',
  workspace: 'workspace',
  policy: 'policy',
  provider: 'virtual key',
  integration: 'integration',
};

const windowNames = { rpm: 'minute', rph: 'hour', rpd: 'day', rpw: 'week' } as const;

export function limitRefusal(limit: Limit, state: CounterState, asked: number, now: number): GatewayError {
  const who = `${scopeNames[limit.scope]} "${limit.name}"`;
  const headers = { ...retryAfter(limit, state, asked, now), ...quotaHeaders(limit, state, now) };
  const left = limit.value - state.settled - state.reserved;
  // Where something is left, the caller may ask for less.
  const hint =
    left > 0 && asked > left
      ? `; this call may take ${shown(limit, asked)} and ${shown(limit, left)} are left: ask for fewer tokens`
      : '';
  const { window, type } = limit;
  if (window.kind === 'rate') {
    const message = `rate limit exceeded for ${who}: ${limit.value} ${type} per ${windowNames[window.unit]}${hint}`;
    return new GatewayError('rate_limit_exceeded', message, { headers });
  }
  const resets = state.endsAt === null ? 'never' : new Date(state.endsAt).toISOString();
  const used = `${shown(limit, state.settled)}/${shown(limit, limit.value)}`;
  return new GatewayError(
    'usage_limit_exceeded',
    `usage limit exceeded for ${who}: ${used} ${type}, resets at ${resets}${hint}`,
    { headers },
  );
}

/** Dollars to a hundredth of a cent, everything else in whole units. */
const shown = ({ type }: Limit, units: number): string =>
  type === 'cost' ? String(Math.round(fromUnits(type, units) * 10_000) / 10_000) : String(units);

const secondsUntil = (moment: number, now: number): number => Math.max(1, Math.ceil((moment - now) / 1_000));

function retryAfter(limit: Limit, state: CounterState, asked: number, now: number): Record<string, string> {
  if (isHeldByOthers(limit, state, asked)) return { 'retry-after': '1' };
  const { endsAt } = state;
  return endsAt === null ? {} : { 'retry-after': String(secondsUntil(endsAt, now)) };
}

/** Calls that run hold more than most of them use: what they leave comes back when they end. Requests do not. */
const isHeldByOthers = ({ type, value }: Limit, { settled, reserved }: CounterState, asked: number): boolean =>
  type !== 'requests' && reserved > 0 && settled < value && settled + asked <= value;

/** As SDKs read them. */
function quotaHeaders(limit: Limit, { settled, reserved, endsAt }: CounterState, now: number): Record<string, string> {
  const { type } = limit;
  return {
    [`x-ratelimit-limit-${type}`]: shown(limit, limit.value),
    [`x-ratelimit-remaining-${type}`]: shown(limit, Math.max(0, limit.value - settled - reserved)),
    ...(endsAt !== null && { [`x-ratelimit-reset-${type}`]: `${secondsUntil(endsAt, now)}s` }),
  };
}
