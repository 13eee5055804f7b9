/** Walks a sign-in by way of an identity provider like a browser: cookies by origin, redirects by hand, one step at a time. */
import { join } from 'node:path';
import type { TestGateway } from '../harness.ts';
import { runServer, type UpstreamServer } from '../mcp/upstream.ts';
import { storeOf } from '../people.ts';

export const freePort = (): number => {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const { port } = probe;
  probe.stop(true);
  return port;
};

export interface IdentityProvider extends UpstreamServer {
  /** The section `sso` with which the gateway signs in here. */
  sso: { type: 'oidc'; oidc: { issuer_url: string; client_id: string; client_secret: string } };
}

/** The provider knows the callbacks of these gateways. With a public key of the gateway it asks for that instead of the secret. */
export async function startIdentityProvider(
  gateways: TestGateway[],
  port = freePort(),
  setup: { gatewayKey?: object; backchannelLogoutUri?: string } = {},
): Promise<IdentityProvider> {
  const callbacks = gateways.map(({ url }) => `${url}/v2/auth/callback`).join(',');
  const server = await runServer(join(import.meta.dir, 'oidc-server.ts'), [
    String(port),
    callbacks,
    JSON.stringify(setup),
  ]);
  const url = `http://127.0.0.1:${port}`;
  const oidc = { issuer_url: url, client_id: 'gateway', client_secret: 'a-secret-of-the-gateway' };
  return { ...server, url, sso: { type: 'oidc', oidc } };
}

/** The domain counts as verified, as if its TXT record had been found. */
export async function verifyDomain(gateway: TestGateway, organisationId: string, domain: string): Promise<void> {
  const at = gateway.clock.now().toISOString();
  await storeOf(gateway)
    .db.insertInto('email_domains')
    .values({
      id: Bun.randomUUIDv7(),
      organisation_id: organisationId,
      domain,
      allow_subdomains: 0,
      status: 'verified',
      verification_code: 'code',
      mailed_code_digest: 'digest',
      verified_at: at,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
}

export class Walker {
  readonly #jars = new Map<string, Map<string, string>>();

  cookie(origin: string, name: string): string | undefined {
    return this.#jars.get(origin)?.get(name);
  }

  async step(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url);
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...(init.headers as Record<string, string>) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1);
      const at = pair.indexOf('=');
      const value = pair.slice(at + 1);
      if (value === '' || /max-age=0(;|$)/i.test(line)) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), value);
    }
    return response;
  }

  /** Asks the gateway for the way in. */
  async begin(gateway: TestGateway, body: Record<string, unknown>): Promise<string> {
    const response = await this.step(`${gateway.url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { redirect_url } = await response.json();
    if (typeof redirect_url !== 'string') throw new Error(`No way in: ${response.status}`);
    return redirect_url;
  }

  /** Follows redirects as this person until one leads to `until`, whose address is returned without going there. */
  async follow(url: string, person: string, until: string): Promise<string> {
    let next = url;
    for (let hop = 0; hop < 12; hop++) {
      if (next.startsWith(until)) return next;
      const response = await this.step(next, { headers: { 'x-person': person } });
      const location = response.headers.get('location');
      if (!location) throw new Error(`No redirect at ${next}: ${response.status} ${await response.text()}`);
      next = new URL(location, next).href;
    }
    throw new Error('Too many redirects');
  }

  /** The whole way; answers what the callback said. */
  async signIn(gateway: TestGateway, person: string, body: Record<string, unknown>): Promise<Response> {
    const callback = await this.follow(await this.begin(gateway, body), person, `${gateway.url}/v2/auth/callback`);
    return this.step(callback);
  }
}
