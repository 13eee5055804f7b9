/** The token of an end user, which an integration may ask for besides the caller's own credential. */

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { readJson } from '../bounded-json.ts';
import type { McpUpstream } from '../catalog/mcp/server.ts';
import type { JwtValidation } from '../catalog/mcp/settings.ts';
import { meets } from './claims.ts';
import { McpError } from './errors.ts';
import { isFields, type JsonRpcFields } from './protocol/json-rpc.ts';
import type { UpstreamHttp } from './upstream/http.ts';

type Headers = Readonly<Record<string, string>>;

const documentLimits = { bytes: 1024 * 1024, ms: 10_000 };
const mostKept = 1_000;
const refetchMs = 60_000;

export function createEndUserTokens(http: UpstreamHttp, now: () => number) {
  const keySets = new Map<string, { set: JSONWebKeySet; fetchedAt: number }>();
  const introspected = new Map<string, { claims: JsonRpcFields; until: number }>();

  const keysAt = async (url: string, maxAge: number, anew: boolean, tenant: string): Promise<JSONWebKeySet> => {
    const known = keySets.get(url);
    const age = known ? now() - known.fetchedAt : Number.POSITIVE_INFINITY;
    if (known && age < maxAge * 1_000 && (!anew || age < refetchMs)) return known.set;
    const { status, text } = await http.fetch(
      { url, method: 'GET', headers: { accept: 'application/json' }, body: null, tenant },
      documentLimits,
    );
    const set: unknown = status === 200 ? readJson(text) : null;
    if (!isFields(set) || !Array.isArray(set.keys)) throw unauthorized('the key set cannot be read');
    if (keySets.size >= mostKept) keySets.clear();
    const keys = { keys: set.keys } as JSONWebKeySet;
    keySets.set(url, { set: keys, fetchedAt: now() });
    return keys;
  };

  const verified = async (token: string, rule: JwtValidation, tenant: string): Promise<JWTPayload> => {
    const options = {
      algorithms: rule.algorithms,
      clockTolerance: rule.clockTolerance,
      currentDate: new Date(now()),
      ...(rule.maxTokenAge !== undefined && { maxTokenAge: rule.maxTokenAge }),
    };
    const by = async (anew: boolean) => {
      const set = rule.jwks
        ? ({ keys: rule.jwks.keys } as JSONWebKeySet)
        : await keysAt(rule.jwksUri ?? '', rule.cacheMaxAge, anew, tenant);
      return (await jwtVerify(token, createLocalJWKSet(set), options)).payload;
    };
    try {
      return await by(false);
    } catch (fault) {
      if (!(fault instanceof errors.JWKSNoMatchingKey) || !rule.jwksUri) throw fault;
      return by(true);
    }
  };

  const asked = async (token: string, rule: JwtValidation, tenant: string): Promise<JsonRpcFields> => {
    const { introspectEndpoint, introspectClientId, introspectClientSecret, introspectCacheMaxAge } = rule;
    const terms = [
      tenant,
      introspectEndpoint,
      introspectClientId,
      introspectClientSecret,
      introspectCacheMaxAge,
      token,
    ];
    const key = Bun.CryptoHasher.hash('sha256', JSON.stringify(terms), 'hex');
    const known = introspected.get(key);
    if (known && known.until > now()) return known.claims;
    const form = rule.introspectContentType === 'application/x-www-form-urlencoded';
    const body = form ? new URLSearchParams({ token }).toString() : JSON.stringify({ token });
    const { introspectClientId: id, introspectClientSecret: secret } = rule;
    const basic = id ? { authorization: `Basic ${Buffer.from(`${id}:${secret ?? ''}`).toString('base64')}` } : {};
    const { status, text } = await http.fetch(
      {
        url: rule.introspectEndpoint ?? '',
        method: 'POST',
        headers: { 'content-type': rule.introspectContentType, accept: 'application/json', ...basic },
        body: new TextEncoder().encode(body),
        tenant,
      },
      documentLimits,
    );
    const claims: unknown = status === 200 ? readJson(text) : null;
    if (!isFields(claims) || claims.active !== true) throw unauthorized('the token is inactive');
    const expires = typeof claims.exp === 'number' ? claims.exp * 1_000 : Number.POSITIVE_INFINITY;
    if (expires <= now()) throw unauthorized('the token has expired');
    if (rule.introspectCacheMaxAge > 0) {
      if (introspected.size >= mostKept) introspected.clear();
      introspected.set(key, { claims, until: Math.min(expires, now() + rule.introspectCacheMaxAge * 1_000) });
    }
    return claims;
  };

  return async (
    server: Pick<McpUpstream, 'settings' | 'organisationId'>,
    headers: Headers,
  ): Promise<JsonRpcFields | null> => {
    const rule = server.settings.jwt_validation;
    if (!rule) return null;
    const token = tokenIn(headers, rule.headerKey);
    const check = rule.introspectEndpoint ? asked : verified;
    const claims = await check(token, rule, server.organisationId).catch((fault) => {
      throw fault instanceof McpError ? fault : unauthorized(reasonOf(fault));
    });
    const missing = rule.requiredClaims.filter((name) => claims[name] === undefined);
    if (missing.length > 0) throw unauthorized(`the token lacks the claims ${missing.join(', ')}`);
    const differing = rule.headerPayloadMatch.find((name) => headers[name.toLowerCase()] !== String(claims[name]));
    if (differing) throw unauthorized(`the header ${differing} does not match the token`);
    if (!meets(claims, rule.claimValues)) throw new McpError('forbidden', 'the claims of the token do not allow this');
    return claims;
  };
}

function tokenIn(headers: Headers, name: string): string {
  const value = headers[name.toLowerCase()];
  if (!value) throw unauthorized(`the header ${name} is missing`);
  const token = value.replace(/^bearer(?:\s+|$)/i, '').trim();
  if (token === '') throw unauthorized(`the header ${name} has a bad format`);
  return token;
}

function reasonOf(fault: unknown): string {
  if (fault instanceof errors.JWTExpired) return 'the token has expired';
  if (fault instanceof errors.JWTClaimValidationFailed && fault.claim === 'nbf') return 'the token is not valid yet';
  if (fault instanceof errors.JOSEError) return 'the token cannot be verified';
  return 'the token could not be checked';
}

const unauthorized = (description: string): McpError =>
  new McpError('unauthorized', description, { data: { error: 'unauthorized', error_description: description } });
