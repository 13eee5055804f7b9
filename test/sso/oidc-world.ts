/** A gateway whose organisation signs in at a real OpenID provider. */
import type { startGateway } from '../harness.ts';
import { home } from '../people.ts';
import { startIdentityProvider, verifyDomain, Walker } from './walk.ts';

export const settingsPath = '/v1/admin/organisation/auth-settings';
export const password = 'correct horse battery';

export async function startOidc(start: typeof startGateway) {
  const gateway = await start({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
  const here = await home(gateway);
  const acme = await startIdentityProvider([gateway]);
  await verifyDomain(gateway, here.organisationId, 'acme.example');
  const saved = await gateway.put(settingsPath, { sso: acme.sso });
  const signIn = (person: string, walker = new Walker()) =>
    walker.signIn(gateway, person, { email: person.split(';')[0] });
  const selfOf = (walker: Walker) =>
    gateway.get('/v1/auth/self', { key: walker.cookie(gateway.url, 'gw_session') ?? 'none' });

  return { gateway, here, acme, saved, signIn, selfOf };
}

export type OidcWorld = Awaited<ReturnType<typeof startOidc>>;
