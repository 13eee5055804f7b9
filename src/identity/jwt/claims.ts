/** What an organisation's token says, read strictly: a claim of the wrong form makes the whole token count for nothing. */
import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { lazy } from '../../lazy.ts';
import { keyRateLimits, type RateLimit, type UsageLimitInput, usageLimitInput } from '../../limits/entries.ts';
import { JwtRefused } from './refusal.ts';

export const longestToken = 16_384;
const tokenForm = /^[\w-]+\.[\w-]+\.[\w-]*$/;

export interface JwtHeader {
  alg: string;
  kid: string | undefined;
  typ: string | undefined;
  /** It names extensions that whoever checks the token must understand; we understand none. */
  hasCritical: boolean;
}

/** The header of a credential that has the form of a JWT; null for any other credential. */
export function jwtHeaderOf(credential: string): JwtHeader | null {
  // Two braces and a quote in base64url begin like this; it spares other credentials the rest.
  if (!credential.startsWith('e') || credential.length > longestToken || !tokenForm.test(credential)) return null;
  const header = decodedPart(credential.slice(0, credential.indexOf('.')));
  if (typeof header !== 'object' || header === null || !('alg' in header)) return null;
  const { alg, kid, typ } = header as Record<string, unknown>;
  return {
    alg: typeof alg === 'string' ? alg : '',
    kid: typeof kid === 'string' ? kid : undefined,
    typ: typ === undefined || typeof typ === 'string' ? typ : '',
    hasCritical: 'crit' in header,
  };
}

export function decodedPart(part: string): unknown {
  try {
    return readJson(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

const longestName = 256;
const longestScopes = 8_192;
const latest = 1e11;

const defaultsClaim = lazy(() =>
  z.object({
    config_id: z.string().min(1).max(longestName).nullish(),
    metadata: z.record(z.string().max(256), z.string().max(1_000)).nullish(),
  }),
);

const usageLimitsClaim = lazy(() =>
  z
    .array(usageLimitInput())
    .max(2)
    .refine((limits) => new Set(limits.map(({ type }) => type)).size === limits.length, {
      message: 'one entry for each type',
    }),
);

/** The entries of a token carry an id of their own, which no limit elsewhere has. */
const withoutId = (entry: unknown): unknown => {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return entry;
  const { id: _, ...rest } = entry as Record<string, unknown>;
  return rest;
};

export interface JwtClaims {
  workspace: string | null;
  /** Of `scope` and `scopes` together, as they were written. */
  scopes: string[];
  exp: number;
  iat: number | null;
  nbf: number | null;
  /** Who the token speaks for. */
  identity: string | null;
  subject: string | null;
  defaults: z.output<ReturnType<typeof defaultsClaim>> | null;
  usage_limits: UsageLimitInput[];
  rate_limits: RateLimit[];
}

/** What a token has granted, without the token: work that it ordered is done with this, also by another node. */
export interface TokenGrant {
  organisationId: string;
  claims: JwtClaims;
  /** The SHA-256 of the token in hex. */
  digest: string;
}

/** The organisation that a token names, before anything in it is trusted. */
export function namedOrganisation(token: string): string | null {
  const payload = decodedPart(token.split('.', 2)[1] ?? '');
  if (typeof payload !== 'object' || payload === null) return null;
  const { gw_oid, organisation_id } = payload as Record<string, unknown>;
  const named = gw_oid ?? organisation_id;
  return typeof named === 'string' && named.length <= 256 ? named.trim().toLowerCase() : null;
}

/** Claims that nearly every token has are read by hand: a schema takes as long as the signature. */
export function readClaims(payload: Record<string, unknown>): JwtClaims {
  const names = Object.fromEntries(nameClaims.map((claim) => [claim, nameIn(payload, claim)]));
  const exp = momentIn(payload, 'exp');
  if (exp === null) throw wrong('exp', 'is missing');
  const { defaults, usage_limits, rate_limits } = payload;
  return {
    workspace: names.gw_workspace ?? names.workspace_slug ?? null,
    scopes: [...scopesIn(payload, 'scope'), ...scopesIn(payload, 'scopes')],
    exp,
    iat: momentIn(payload, 'iat'),
    nbf: momentIn(payload, 'nbf'),
    identity: names.email_id ?? names.sub ?? names.uid ?? null,
    subject: names.sub ?? null,
    defaults: isAbsent(defaults) ? null : read(defaultsClaim(), defaults, 'defaults'),
    usage_limits: isAbsent(usage_limits)
      ? []
      : read(usageLimitsClaim(), [usage_limits].flat().map(withoutId), 'usage_limits'),
    rate_limits: isAbsent(rate_limits) ? [] : read(keyRateLimits(), rate_limits, 'rate_limits'),
  };
}

const nameClaims = ['gw_oid', 'organisation_id', 'gw_workspace', 'workspace_slug', 'email_id', 'sub', 'uid'];

const isAbsent = (claim: unknown): boolean => claim === undefined || claim === null;

const wrong = (claim: string, why: string): JwtRefused => new JwtRefused('invalid_jwt', `the claim ${claim} ${why}`);

function nameIn(payload: Record<string, unknown>, claim: string): string | null {
  const value = payload[claim];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || value.length === 0 || value.length > longestName) {
    throw wrong(claim, `must be a text of 1 to ${longestName} characters`);
  }
  return value;
}

function momentIn(payload: Record<string, unknown>, claim: string): number | null {
  const value = payload[claim];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !(value >= 0 && value <= latest)) throw wrong(claim, 'must be a time in seconds');
  return value;
}

function scopesIn(payload: Record<string, unknown>, claim: string): string[] {
  const value = payload[claim];
  if (value === undefined || value === null) return [];
  const scopes = typeof value === 'string' && value.length <= longestScopes ? value.split(/\s+/) : value;
  if (!Array.isArray(scopes) || scopes.length > 300 || !scopes.every((scope) => typeof scope === 'string')) {
    throw wrong(claim, 'must be a string of scopes with spaces between them, or a list of strings');
  }
  return scopes.filter((scope) => scope !== '');
}

function read<S extends z.ZodType>(schema: S, value: unknown, claim: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [fault] = result.error.issues;
  throw wrong([claim, ...(fault?.path ?? [])].join('.'), `is wrong: ${fault?.message ?? ''}`);
}
