/** Which tokens an organisation accepts: its key set, by address or by value, and what else it checks. */
import { z } from 'zod';
import { faultOfCustomHost, isTrustedHost, type TrustedHosts } from '../../http/custom-host.ts';
import { lazy } from '../../lazy.ts';

export interface PublicJwk {
  kty: string;
  kid?: string | undefined;
  alg?: string | undefined;
  use?: string | undefined;
  n?: string | undefined;
  e?: string | undefined;
}

export interface JwtSettings {
  enabled: boolean;
  jwks_url: string | null;
  jwks_json: { keys: PublicJwk[] } | null;
  issuer: string | null;
  audience: string | null;
}

export const noJwtSettings: JwtSettings = {
  enabled: false,
  jwks_url: null,
  jwks_json: null,
  issuer: null,
  audience: null,
};

export const mostKeys = 50;
/** Larger keys take longer to check than any caller may make us work. */
const mostBits = 8_192;
const leastBits = 2_048;

const text = (most: number) => z.string().trim().min(1).max(most);

/** Other members, such as certificates, are not kept. */
const publicJwk = lazy(() =>
  z.object({
    kty: text(20),
    kid: text(256).optional(),
    alg: text(20).optional(),
    use: text(20).optional(),
    n: z.string().max(2_000).optional(),
    e: z.string().max(20).optional(),
  }),
);

export const keySetSchema = lazy(() => z.object({ keys: z.array(publicJwk()).max(mostKeys) }));

/** The same with the members that nobody must send, so that they are noticed. */
const sentJwk = lazy(() =>
  publicJwk().extend({
    d: mustNotBeSent(),
    p: mustNotBeSent(),
    q: mustNotBeSent(),
    dp: mustNotBeSent(),
    dq: mustNotBeSent(),
    qi: mustNotBeSent(),
    oth: mustNotBeSent(),
    k: mustNotBeSent(),
  }),
);

const mustNotBeSent = () => z.never({ error: 'is a private member; send public keys only' }).optional();

export const jwtSettingsInput = lazy(() =>
  z.strictObject({
    enabled: z.boolean().optional().describe('False: credentials in the form of a JWT are answered 401'),
    jwks_url: z.string().trim().max(2_048).nullish().describe('Where the public keys are published; https'),
    jwks_json: z
      .strictObject({ keys: z.array(sentJwk()).min(1).max(mostKeys) })
      .nullish()
      .describe('The public keys themselves, instead of jwks_url'),
    issuer: text(2_048).nullish().describe('Tokens must carry this `iss`; null: not checked'),
    audience: text(2_048).nullish().describe('Tokens must carry this `aud`; null: not checked'),
  }),
);

export type JwtSettingsInput = z.output<ReturnType<typeof jwtSettingsInput>>;

/** The settings after a change. Of the two sources, one that is sent takes the place of the other. */
export function changedJwtSettings(before: JwtSettings, input: JwtSettingsInput): JwtSettings {
  const after: JwtSettings = {
    enabled: input.enabled ?? before.enabled,
    jwks_url: input.jwks_url === undefined ? before.jwks_url : input.jwks_url,
    jwks_json: input.jwks_json === undefined ? before.jwks_json : input.jwks_json,
    issuer: input.issuer === undefined ? before.issuer : input.issuer,
    audience: input.audience === undefined ? before.audience : input.audience,
  };
  if (input.jwks_url && input.jwks_json === undefined) after.jwks_json = null;
  if (input.jwks_json && input.jwks_url === undefined) after.jwks_url = null;
  return after;
}

/** What is wrong with the settings, with the field at fault; null: nothing. */
export function faultOfJwtSettings(
  settings: JwtSettings,
  trustedHosts: TrustedHosts,
): { path: string; message: string } | null {
  const { jwks_url, jwks_json, enabled } = settings;
  if (jwks_url !== null && jwks_json !== null) {
    return { path: 'jwt.jwks_json', message: 'give jwks_url or jwks_json, not both' };
  }
  if (enabled && jwks_url === null && jwks_json === null) {
    return { path: 'jwt.jwks_url', message: 'give jwks_url or jwks_json: without keys no token can be checked' };
  }
  const fault = jwks_url === null ? jwks_json && faultOfKeySet(jwks_json) : faultOfAddress(jwks_url, trustedHosts);
  return fault ? { path: jwks_url === null ? 'jwt.jwks_json' : 'jwt.jwks_url', message: fault } : null;
}

/** Why the service must not fetch settings of a company from this address; plain HTTP only where the operator trusts the host. */
export function faultOfAddress(url: string, trustedHosts: TrustedHosts): string | null {
  const fault = faultOfCustomHost(url, trustedHosts);
  if (fault) return fault;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || isTrustedHost(hostname, trustedHosts.named)) return null;
  return 'must start with https:// (plain http only for hosts in TRUSTED_CUSTOM_HOSTS)';
}

function faultOfKeySet({ keys }: { keys: readonly PublicJwk[] }): string | null {
  for (const [index, key] of keys.entries()) {
    if (key.kty === 'RSA' && bitsOf(key) < leastBits) return `keys.${index} must have at least ${leastBits} bits`;
  }
  const kids = keys.map(({ kid }) => kid);
  if (new Set(kids).size !== kids.length) return 'every key needs a kid of its own';
  return keys.some(isUsable) ? null : 'holds no RSA key with a kid that may sign with RS256';
}

/** Whether a token may be signed by this key. A key that does not name its algorithm is taken for RS256. */
export const isUsable = (key: PublicJwk): boolean =>
  key.kty === 'RSA' &&
  key.kid !== undefined &&
  (key.alg === undefined || key.alg === 'RS256') &&
  (key.use === undefined || key.use === 'sig') &&
  bitsOf(key) >= leastBits &&
  bitsOf(key) <= mostBits;

function bitsOf({ n }: PublicJwk): number {
  if (!n) return 0;
  const bytes = Buffer.from(n, 'base64url');
  const start = bytes.findIndex((byte) => byte !== 0);
  const first = bytes[start];
  return first === undefined ? 0 : (bytes.length - start) * 8 - Math.clz32(first) + 24;
}
