/** From an organisation's token to its caller, or to the reason why it does not count. */
import { type Cadence, nextReset, utcMidnight } from '../../limits/calendar.ts';
import { entityLimits } from '../../limits/entity-limits.ts';
import { applyUsageLimit, type StoredUsageLimit, type UsageLimitInput } from '../../limits/entries.ts';
import type { Limit } from '../../limits/limit.ts';
import type { KeyCaller } from '../caller.ts';
import { workspaceKeyRights } from '../rights.ts';
import { grantableTo, parseScope, type Scope } from '../scopes.ts';
import { type JwtClaims, type JwtHeader, namedOrganisation, readClaims, type TokenGrant } from './claims.ts';
import type { KeySets } from './key-sets.ts';
import type { Places, TokenOrganisation } from './places.ts';
import { JwtRefused } from './refusal.ts';
import type { JwtSettings } from './settings.ts';
import { signedPayload } from './signature.ts';
import type { JwtEnvironment } from './variables.ts';

export interface VerifiedToken {
  caller: KeyCaller;
  /** The moment from which the token no longer counts. */
  expiresAt: string;
}

export interface TokenRules {
  environment: JwtEnvironment;
  places: Places;
  keySets: KeySets;
  now(): Date;
}

const toleranceSeconds = 5;
const dayMs = 86_400_000;
const grantable: ReadonlySet<Scope> = new Set(grantableTo('J'));

/** Throws `JwtRefused` where the token does not count. `digest` is the SHA-256 of the token in hex. */
export async function verifyToken(
  rules: TokenRules,
  token: string,
  header: JwtHeader,
  digest: string,
): Promise<VerifiedToken> {
  const organisation = await organisationOf(rules, token);
  try {
    const settings = settingsOf(rules.environment, organisation);
    const claims = await verifiedClaims(rules, settings, token, header, organisation.id);
    return { caller: await callerOf(rules, organisation, claims, digest), expiresAt: momentOf(claims.exp) };
  } catch (fault) {
    throw fault instanceof JwtRefused ? fault.at(organisation.id) : fault;
  }
}

/**
 * The caller that a token made when it ordered work, by what counts now: the organisation still takes tokens, the workspace and
 * the person are still there. The token itself may have expired meanwhile. Throws `JwtRefused` where it does not count any more.
 */
export async function callerOfGrant(rules: TokenRules, grant: TokenGrant): Promise<KeyCaller> {
  const organisation = await knownOrganisation(rules, grant.organisationId);
  settingsOf(rules.environment, organisation);
  return callerOf(rules, organisation, grant.claims, grant.digest);
}

async function organisationOf({ environment, places }: TokenRules, token: string): Promise<TokenOrganisation> {
  const named = namedOrganisation(token) ?? (environment.local ? await onlyOrganisation(environment, places) : null);
  if (named === null) throw new JwtRefused('invalid_jwt', 'the token names no organisation in gw_oid');
  return knownOrganisation({ environment, places }, named);
}

async function knownOrganisation(
  { environment, places }: Pick<TokenRules, 'environment' | 'places'>,
  id: string,
): Promise<TokenOrganisation> {
  const { local, organisations } = environment;
  const organisation = await places.organisation(id);
  if (!organisation) throw new JwtRefused('invalid_jwt', 'the organisation of this token is unknown');
  if (local && organisations.length > 0 && !organisations.includes(organisation.id)) {
    throw new JwtRefused('jwt_not_allowed', 'this gateway takes no tokens of that organisation', organisation.id);
  }
  return organisation;
}

async function onlyOrganisation({ organisations }: JwtEnvironment, places: Places): Promise<string | null> {
  if (organisations.length === 0) return places.soleOrganisation();
  return organisations.length === 1 ? (organisations[0] ?? null) : null;
}

function settingsOf({ local }: JwtEnvironment, { jwt }: TokenOrganisation): JwtSettings {
  if (jwt?.enabled) return jwt;
  if (jwt === null && local) throw new JwtRefused('jwt_not_allowed', 'the organisation has no key set for tokens');
  throw new JwtRefused('invalid_jwt', 'the organisation takes no tokens');
}

async function verifiedClaims(
  { environment, keySets, now }: TokenRules,
  settings: JwtSettings,
  token: string,
  { alg, kid, typ, hasCritical }: JwtHeader,
  organisationId: string,
): Promise<JwtClaims> {
  if (alg !== 'RS256') throw new JwtRefused('invalid_jwt', 'the token must be signed with RS256');
  if (typ === undefined ? !environment.local : typ.toUpperCase() !== 'JWT') {
    throw new JwtRefused('invalid_jwt', 'the header typ of the token must be JWT');
  }
  if (hasCritical) throw new JwtRefused('invalid_jwt', 'the header crit of the token names extensions');
  if (kid === undefined) throw new JwtRefused('invalid_jwt', 'the token names no key (kid)');
  const key = await keySets.find(settings, kid, organisationId);
  if (!key) throw new JwtRefused('invalid_jwt', 'the token is signed with an unknown key (kid)');
  const payload = signedPayload(token, key);
  if (!payload) throw new JwtRefused('invalid_jwt', 'the signature of the token is wrong');
  const claims = readClaims(payload);
  requireTime(claims, now().getTime() / 1_000);
  requireParties(payload, settings);
  return claims;
}

function requireTime({ exp, nbf }: JwtClaims, seconds: number): void {
  if (exp + toleranceSeconds <= seconds) throw new JwtRefused('invalid_jwt', 'the token has expired');
  if (nbf !== null && nbf - toleranceSeconds > seconds)
    throw new JwtRefused('invalid_jwt', 'the token is not valid yet');
}

function requireParties({ iss, aud }: Record<string, unknown>, { issuer, audience }: JwtSettings): void {
  if (issuer !== null && iss !== issuer) throw new JwtRefused('invalid_jwt', 'the claim iss is missing or wrong');
  if (audience !== null && !(Array.isArray(aud) ? aud : [aud]).includes(audience)) {
    throw new JwtRefused('invalid_jwt', 'the claim aud is missing or wrong');
  }
}

async function callerOf(
  rules: TokenRules,
  organisation: TokenOrganisation,
  claims: JwtClaims,
  digest: string,
): Promise<KeyCaller> {
  requireSubject(rules.environment, claims);
  const scopes = scopesOf(rules.environment, claims);
  const workspaceId = await workspaceOf(rules, organisation, claims);
  const { identity } = claims;
  const member = identity?.includes('@') ? await rules.places.member(organisation.id, workspaceId, identity) : null;
  if (member && !member.belongs) {
    throw new JwtRefused('workspace_forbidden', 'the person of this token does not belong to the workspace');
  }
  const keyId = idOf(digest);
  const keyName = `JWT of ${identity ?? keyId}`;
  return {
    kind: 'workspace-key',
    organisationId: organisation.id,
    keyId,
    keyName,
    workspaceId,
    userId: member?.userId ?? null,
    exhausted: claims.usage_limits.some(({ status }) => status === 'exhausted'),
    defaults: {
      configId: claims.defaults?.config_id ?? null,
      allowConfigOverride: true,
      metadata: claims.defaults?.metadata ?? {},
      userName: identity,
    },
    limits: limitsOf(claims, { organisationId: organisation.id, entityId: keyId, name: keyName }, rules.now()),
    rights: workspaceKeyRights(workspaceId, scopes),
    token: { identity, expiresAt: momentOf(claims.exp), grant: { organisationId: organisation.id, claims, digest } },
  };
}

/** What a token may not have, or nobody knows, is dropped. */
function scopesOf({ local, defaultScopes }: JwtEnvironment, { scopes }: JwtClaims): Scope[] {
  const asked = scopes.length === 0 && local ? defaultScopes : scopes;
  const held = asked.flatMap((text) => parseScope(text) ?? []).filter((known) => grantable.has(known));
  if (held.length === 0) throw new JwtRefused('insufficient_scope', 'the token holds no scope that counts');
  return [...new Set(held)];
}

async function workspaceOf(
  { environment, places }: TokenRules,
  { id, defaultWorkspaceId }: TokenOrganisation,
  { workspace }: JwtClaims,
): Promise<string> {
  const listed = environment.local ? environment.workspaces : [];
  const reference = workspace ?? (environment.local ? (listed[0] ?? defaultWorkspaceId) : null);
  if (!reference) throw new JwtRefused('invalid_jwt', 'the token names no workspace in gw_workspace');
  const workspaceId = await places.workspace(id, reference);
  if (!workspaceId) throw new JwtRefused('workspace_forbidden', 'the organisation has no such workspace');
  if (listed.length === 0) return workspaceId;
  const served = await Promise.all(listed.map((entry) => places.workspace(id, entry)));
  if (served.includes(workspaceId)) return workspaceId;
  throw new JwtRefused('workspace_forbidden', 'this gateway takes no tokens for that workspace');
}

function requireSubject({ local, subjects }: JwtEnvironment, { subject }: JwtClaims): void {
  if (!local || subjects.length === 0) return;
  if (subject === null) throw new JwtRefused('invalid_jwt', 'the claim sub is missing');
  if (!subjects.includes(subject)) throw new JwtRefused('jwt_not_allowed', 'this gateway takes no tokens of that sub');
}

const momentOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

/** One token, one id: it is the key of its own counters, log rows and audit rows. */
const idOf = (digest: string): string =>
  `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;

function limitsOf(
  claims: JwtClaims,
  token: { organisationId: string; entityId: string; name: string },
  now: Date,
): Limit[] {
  const begun = new Date((claims.iat ?? claims.nbf ?? 0) * 1_000);
  const usage = claims.usage_limits.map((limit) => {
    const stored = countedSince(limit, begun, now);
    // What its issuer calls used up has no room, whatever was counted here.
    return limit.status === 'exhausted' ? { ...stored, credit_limit: 0 } : stored;
  });
  return entityLimits({ ...token, scope: 'api_key' }, claims.rate_limits, usage);
}

/** The limit in the period that runs now. The same token has the same periods on every node, whenever it is first seen. */
function countedSince(input: UsageLimitInput, begun: Date, now: Date): StoredUsageLimit {
  const stored = applyUsageLimit(input, null, begun);
  const first = input.next_usage_reset_at ? utcMidnight(new Date(input.next_usage_reset_at)) : null;
  const period = first
    ? first > now
      ? { epoch: begun.getTime(), resetsAt: first.toISOString() }
      : periodOf(stored, first, now)
    : periodOf(stored, begun, now);
  const epoch = first && first <= now ? Math.max(period.epoch, first.getTime()) : period.epoch;
  return { ...stored, epoch, next_usage_reset_at: period.resetsAt };
}

function periodOf(cadence: Cadence, begun: Date, now: Date): { epoch: number; resetsAt: string | null } {
  const days = cadence.periodic_reset_days;
  if (days) {
    const length = days * dayMs;
    const start = utcMidnight(begun).getTime();
    const epoch = start + Math.max(0, Math.floor((now.getTime() - start) / length)) * length;
    return { epoch, resetsAt: new Date(epoch + length).toISOString() };
  }
  const resetsAt = nextReset(cadence, now);
  if (!resetsAt) return { epoch: begun.getTime(), resetsAt: null };
  const start =
    cadence.periodic_reset === 'weekly'
      ? resetsAt.getTime() - 7 * dayMs
      : Date.UTC(resetsAt.getUTCFullYear(), resetsAt.getUTCMonth() - 1, 1);
  return { epoch: start, resetsAt: resetsAt.toISOString() };
}
