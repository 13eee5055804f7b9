/** Credentials of every provider, in every place that a request can carry one: they reach the provider, and stand in no reply and no log record. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import type { Provider } from '../src/providers/provider.ts';
import { anyFields, remoteProviders } from './any-provider.ts';
import { type Plane, startPlane } from './gateway-deps.ts';
import { type PlausibleServer, startPlausible } from './providers/plausible.ts';

const server: PlausibleServer = startPlausible();
let plane: Plane;

beforeAll(() => {
  plane = startPlane();
});
afterAll(async () => {
  await plane.stop();
  await server.stop();
});

const isSecret = (name: string): boolean =>
  /secret|passphrase|private|service_account|_token$|(^|_)(api|access|modal)_key(_id)?$/.test(name);

const canary = (name: string) => `canary-${name}-${randomBytes(8).toString('hex')}`;

/** The settings of a provider with a canary for each that is a credential. */
function planted(provider: Provider): { fields: Record<string, string>; secrets: string[] } {
  const secrets: string[] = [];
  const entries = Object.entries(anyFields(provider)).flatMap(([name, value]) => {
    if (name === 'azure_ad_token' || typeof value !== 'string') return [];
    if (!isSecret(name)) return [[name, value] as const];
    const secret = canary(name);
    secrets.push(secret);
    return [[name, name === 'vertex_service_account_json' ? `{"private_key":"${secret}"}` : secret] as const];
  });
  return { fields: Object.fromEntries(entries.filter(([, value]) => value !== '')), secrets };
}

const question = { model: 'model-1', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 };
const picture = { model: 'model-1', prompt: 'A cat' };
const calls = [
  ['/v1/chat/completions', question],
  ['/v1/messages', question],
  ['/v1/images/generations', picture],
  ['/v1/audio/speech', { model: 'model-1', input: 'Hi', voice: 'alloy' }],
  ['/v1/rerank', { model: 'model-1', query: 'q', documents: ['a'] }],
  ['/v1/proxy/anything', question],
] as const;

for (const provider of remoteProviders) {
  test(`the credentials of ${provider.id} stand in no reply and no log`, async () => {
    const { fields, secrets } = planted(provider);
    const credential = canary('credential');
    const all = [...secrets, credential];
    const asHeaders = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        `x-gw-${name.replaceAll('_', '-')}`,
        value.replaceAll('\n', '\\n'),
      ]),
    );
    const ways: Record<string, string>[] = [
      {
        ...asHeaders,
        'x-gw-provider': provider.id,
        authorization: `Bearer ${credential}`,
        'x-gw-custom-host': server.url,
      },
      {
        'x-gw-config': JSON.stringify({
          provider: provider.id,
          api_key: credential,
          custom_host: server.url,
          ...fields,
        }),
      },
    ];
    for (const headers of ways) {
      for (const [path, body] of calls) {
        for (const refused of [null, 401]) {
          server.next(refused);
          const response = await plane.call(path, body, headers);
          const reply = JSON.stringify([...response.headers]) + (await response.text());
          const logged = (await plane.settled()).map(({ metrics, bodies }) =>
            JSON.stringify([
              metrics,
              Object.values(bodies ?? {}).map((message) => [
                message?.headers,
                message?.body && Buffer.from(message.body).toString(),
              ]),
            ]),
          );
          expect(logged.length).toBeGreaterThan(0);
          const found = all.filter(
            (secret) => reply.includes(secret) || logged.some((record) => record.includes(secret)),
          );
          expect({ path, refused, found: found.map((secret) => secret.split('-').slice(0, -1).join('-')) }).toEqual({
            path,
            refused,
            found: [],
          });
        }
      }
    }
    expect(plane.faults.splice(0).map(String)).toEqual([]);
  });
}
