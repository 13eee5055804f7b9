/** A browser and an OAuth client that walk through our authorization server. */
import { createHash, randomBytes } from 'node:crypto';
import type { Json, TestGateway } from '../harness.ts';

export const redirectUri = 'http://127.0.0.1:33418/callback';

export const newVerifier = (): string => randomBytes(32).toString('base64url');
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

export const form = (fields: Record<string, string>): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
});

/** A client registers; a little later than the one before, because only so many may in a minute. */
export async function register(gateway: TestGateway, more: object = {}): Promise<{ status: number; body: Json }> {
  gateway.clock.advance({ seconds: 10 });
  const response = await fetch(`${gateway.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Test client', redirect_uris: [redirectUri], ...more }),
  });
  return { status: response.status, body: await response.json() };
}

interface Asked {
  clientId: string;
  session: string;
  verifier: string;
  resource?: string | null;
  scope?: string;
  redirect?: string;
  decision?: 'approve' | 'deny';
  more?: Record<string, string>;
}

export const authorizeUrl = (
  gateway: TestGateway,
  { clientId, verifier, resource, scope, redirect, more }: Asked,
): string => {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirect ?? redirectUri,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    state: 'the-state',
    ...(scope && { scope }),
    ...(resource && { resource }),
    ...more,
  });
  return `${gateway.url}/oauth/authorize?${query}`;
};

/** Opens the consent page and presses a button; where the browser is sent then. */
export const consent = (gateway: TestGateway, asked: Asked): Promise<URL> =>
  consentAt(gateway, authorizeUrl(gateway, asked), asked);

/** The same at an address that a client made. */
export async function consentAt(
  gateway: TestGateway,
  address: string,
  { session, decision = 'approve' }: Pick<Asked, 'session' | 'decision'>,
): Promise<URL> {
  const cookie = `gw_session=${session}`;
  const page = await fetch(address, { headers: { cookie }, redirect: 'manual' });
  const sent = page.headers.get('location');
  if (sent !== null) return new URL(sent);
  const html = await page.text();
  const field = (name: string): string => new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? '';
  const workspace = /<option value="([^"]+)"/.exec(html)?.[1] ?? '';
  const answer = await fetch(`${gateway.url}/oauth/postAuthorizeConsent`, {
    ...form({
      request_id: field('request_id'),
      csrf_token: field('csrf_token'),
      workspace_id: workspace,
      decision,
    }),
    headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
    redirect: 'manual',
  });
  return new URL(answer.headers.get('location') ?? `error:${answer.status}`);
}

export async function token(
  gateway: TestGateway,
  fields: Record<string, string>,
): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${gateway.url}/oauth/token`, form(fields));
  return { status: response.status, body: await response.json() };
}

/** From nothing to tokens. */
export async function signInClient(gateway: TestGateway, session: string, resource: string | null, scope?: string) {
  const { body: client } = await register(gateway);
  const verifier = newVerifier();
  const sent = await consent(gateway, {
    clientId: client.client_id,
    session,
    verifier,
    resource,
    ...(scope && { scope }),
  });
  const code = sent.searchParams.get('code') ?? '';
  const fields = {
    grant_type: 'authorization_code',
    code,
    client_id: client.client_id,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  };
  return { client, code, fields, sent, answer: await token(gateway, fields) };
}
