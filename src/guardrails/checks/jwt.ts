/** Whether a request carries a valid token of the customer's own identity provider. */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import { isObject } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { isOk, jsonOf } from '../ask.ts';
import { type CheckResult, defineCheck, ParameterFault } from '../check.ts';
import type { CheckContext } from '../context.ts';
import { CallFault, type CheckIo } from '../io.ts';
import { before } from './events.ts';
import { requireUrl, url, words } from './fields.ts';
import { expected, matcherOf, matchTypes } from './metadata.ts';

export const jwt = defineCheck({
  id: 'default.jwt',
  title: 'JWT',
  description:
    'Passes when the request carries a token that is signed by one of the keys, or that the introspection endpoint calls active, with the claims that are asked for.',
  category: 'BASIC',
  events: before,
  network: { timeoutMs: 5_000 },
  parameters: () => ({
    jwks: z
      .looseObject({
        keys: z
          .array(z.record(z.string().max(64), z.unknown()))
          .min(1)
          .max(50),
      })
      .optional(),
    jwksUri: url().optional(),
    introspectEndpoint: url().optional(),
    headerKey: z.string().min(1).max(128).default('Authorization'),
    algorithms: z.array(z.string().max(16)).max(20).default(['RS256']),
    cacheMaxAge: z.number().min(0).max(31_536_000).default(86_400),
    clockTolerance: z.number().min(0).max(86_400).default(5),
    maxTokenAge: z.string().max(32).default('1d'),
    introspectContentType: z.string().max(128).default('application/x-www-form-urlencoded'),
    introspectCacheMaxAge: z.number().min(0).max(86_400).optional(),
    requiredClaims: words().default([]),
    claimValues: z
      .record(
        z.string().max(256),
        z.strictObject({ values: expected(), matchType: z.enum(matchTypes).default('exact') }),
      )
      .default({}),
    headerPayloadMatch: words().default([]),
    extractClaims: words().default([]),
    claimPrefix: z.string().max(64).default('x-jwt-'),
  }),
  example: { jwksUri: 'https://id.example.com/.well-known/jwks.json', requiredClaims: ['sub'] },
  prepare(rules, setup) {
    const ways = [rules.jwks, rules.jwksUri, rules.introspectEndpoint].filter((way) => way !== undefined);
    if (ways.length !== 1) throw new ParameterFault('jwksUri', 'give one of jwks, jwksUri and introspectEndpoint');
    if (rules.jwksUri) requireUrl(rules.jwksUri, 'jwksUri', setup);
    if (rules.introspectEndpoint) requireUrl(rules.introspectEndpoint, 'introspectEndpoint', setup);
    const matchers = Object.entries(rules.claimValues).map(([claim, { values, matchType }]) => ({
      claim,
      listed: matchType === 'contains' || matchType === 'containsAll',
      matches: matcherOf(values, matchType, `claimValues.${claim}.values`, false),
    }));
    const algorithms = rules.algorithms.length > 0 ? rules.algorithms : ['RS256'];

    const judged = (claims: JsonObject, context: CheckContext): CheckResult => {
      // Names that every object has are no claims.
      const payload: JsonObject = Object.assign(Object.create(null), claims);
      const missing = rules.requiredClaims.filter((claim) => payload[claim] === undefined || payload[claim] === null);
      const failed = matchers
        .filter(({ claim, listed, matches }) => !matches(valuesOf(payload[claim], listed)))
        .map(({ claim }) => claim);
      const unequal = rules.headerPayloadMatch.filter((name) => context.header(name) !== textOf(payload[name]));
      const validations = {
        signatureValid: true,
        requiredClaims: { valid: missing.length === 0, missing },
        claimValues: { valid: failed.length === 0, failed },
        headerPayloadMatch: { valid: unequal.length === 0, ...(unequal.length > 0 && { failed: unequal }) },
      };
      const verdict = missing.length + failed.length + unequal.length === 0;
      const explanation = verdict
        ? 'The token is valid.'
        : `The token is not accepted: ${[...missing, ...failed, ...unequal].join(', ')}.`;
      const headers: Record<string, string> = {};
      for (const claim of rules.extractClaims) {
        const value = payload[claim];
        if (value !== undefined)
          headers[`${rules.claimPrefix}${claim.replaceAll('_', '-')}`.toLowerCase()] = textOf(value);
      }
      return {
        verdict,
        data: { verdict, explanation, validations },
        ...(verdict && Object.keys(headers).length > 0 && { headers }),
      };
    };

    return {
      async run(context, io) {
        const header = context.header(rules.headerKey);
        const token = header?.replace(/^bearer\s+/i, '').trim();
        if (!token) return refused(`there is no token in the header ${rules.headerKey}`);
        if (rules.introspectEndpoint) {
          const told = await introspected(rules.introspectEndpoint, token, rules, setup.timeoutMs, io);
          return told.active === true ? judged(told, context) : refused('the token is not active');
        }
        const options = {
          algorithms,
          clockTolerance: rules.clockTolerance,
          maxTokenAge: rules.maxTokenAge,
          currentDate: new Date(io.now()),
        };
        try {
          return judged(await verified(token, rules, options, setup.timeoutMs, io), context);
        } catch (fault) {
          if (fault instanceof errors.JWKSNoMatchingKey) return refused('no matching key');
          if (fault instanceof errors.JOSEError || fault instanceof TypeError) return refused(fault.message);
          throw fault;
        }
      },
    };
  },
});

const refused = (reason: string): CheckResult => ({
  verdict: false,
  data: {
    verdict: false,
    explanation: `The token is not accepted: ${reason}.`,
    validations: { signatureValid: false },
  },
});

interface KeyRules {
  jwks?: { keys: unknown[] } | undefined;
  jwksUri?: string | undefined;
  cacheMaxAge: number;
}

type VerifyOptions = NonNullable<Parameters<typeof jwtVerify>[2]>;

async function verified(
  token: string,
  rules: KeyRules,
  options: VerifyOptions,
  timeoutMs: number,
  io: CheckIo,
): Promise<JWTPayload> {
  const verify = async (keys: JSONWebKeySet) => (await jwtVerify(token, createLocalJWKSet(keys), options)).payload;
  if (rules.jwks) return verify(withAlgorithms(rules.jwks));
  const uri = rules.jwksUri ?? '';
  const key = `jwks ${uri} ${rules.cacheMaxAge}`;
  const known = keySetIn(io.cache.get(key));
  if (known) {
    try {
      return await verify(known);
    } catch (fault) {
      // Keys are rotated: a key that is not known yet is asked for once.
      if (!(fault instanceof errors.JWKSNoMatchingKey)) throw fault;
    }
  }
  const keys = await fetchedKeys(uri, timeoutMs, io);
  io.cache.put(key, keys, rules.cacheMaxAge * 1_000);
  return verify(keys);
}

async function fetchedKeys(uri: string, timeoutMs: number, io: CheckIo): Promise<JSONWebKeySet> {
  const answer = await io.call({
    url: uri,
    method: 'GET',
    headers: { accept: 'application/json' },
    body: null,
    timeoutMs,
  });
  const keys = isOk(answer) ? keySetIn(jsonOf(answer)) : null;
  if (!keys) throw new CallFault('Connection Error', 'the key set could not be fetched');
  return keys;
}

function keySetIn(value: unknown): JSONWebKeySet | null {
  return isObject(value) && Array.isArray(value.keys) && value.keys.every(isObject)
    ? withAlgorithms({ keys: value.keys })
    : null;
}

/** A key that does not say what it is for is one for RS256. */
const withAlgorithms = ({ keys }: { keys: unknown[] }): JSONWebKeySet => ({
  keys: keys.filter(isObject).map((key) => ({
    ...key,
    kty: String(key.kty),
    ...(key.alg === undefined && key.kty === 'RSA' && { alg: 'RS256' }),
  })),
});

async function introspected(
  endpoint: string,
  token: string,
  {
    introspectContentType,
    introspectCacheMaxAge,
  }: { introspectContentType: string; introspectCacheMaxAge?: number | undefined },
  timeoutMs: number,
  io: CheckIo,
): Promise<JsonObject> {
  // Each rule says how long it believes an answer.
  const key = `introspect ${endpoint} ${introspectCacheMaxAge ?? 0} ${new Bun.CryptoHasher('sha256').update(token).digest('hex')}`;
  const known = introspectCacheMaxAge ? io.cache.get(key) : undefined;
  if (isObject(known)) return known;
  const isJson = introspectContentType.includes('json');
  const answer = await io.call({
    url: endpoint,
    method: 'POST',
    headers: {
      'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: isJson ? JSON.stringify({ token }) : new URLSearchParams({ token }).toString(),
    timeoutMs,
  });
  const told = jsonOf(answer);
  if (!isOk(answer) || !isObject(told)) throw new CallFault('Connection Error', 'the token could not be introspected');
  if (introspectCacheMaxAge) io.cache.put(key, told, introspectCacheMaxAge * 1_000);
  return told;
}

/** A claim as texts; a list in one text counts as a list where a list is looked into. */
function valuesOf(claim: unknown, listed: boolean): string[] {
  if (claim === undefined || claim === null) return [];
  if (Array.isArray(claim)) return claim.map(textOf);
  const text = textOf(claim);
  return listed ? text.split(' ') : [text];
}

const textOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(textOf).join(',')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
