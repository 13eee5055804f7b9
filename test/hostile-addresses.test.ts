/** Names and settings that would lead a call, and the credential with it, elsewhere: they are refused, or stay in their place. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { EndpointKind } from '../src/providers/endpoints.ts';
import { RequestFault } from '../src/providers/faults.ts';
import type { Provider, TargetFields } from '../src/providers/provider.ts';
import { anyCredentials, anyFields, remoteProviders } from './any-provider.ts';
import { callFacts } from './call-facts.ts';
import { type Plane, savedProvider, startPlane } from './gateway-deps.ts';
import { hostileRoutes } from './hostile-routes.ts';
import { type PlausibleServer, startPlausible } from './providers/plausible.ts';

/** Whatever ends a label, a host, a path or a line. */
const evil = [
  'evil.com/',
  'evil.com/#',
  'evil.com?',
  'evil.com:443/',
  'evil.com\\',
  'evil.com#.',
  'x@evil.com',
  'evil.com%2f',
  'evil。com',
  'evil.com\r\n',
  'evil.com\t',
  ' evil.com ',
  '.',
  '..',
  'a.b',
  '169.254.169.254',
  '-',
  'x'.repeat(64),
  'é',
  '\ud800',
];

const hostOf = (url: string): string => URL.parse(url)?.hostname ?? '';
const domainOf = (url: string): string => hostOf(url).split('.').slice(-2).join('.');

function addressOf({ id, address }: Provider, fields: TargetFields): string | null {
  if (typeof address !== 'function') return address;
  try {
    return address(callFacts({ provider: id, fields }));
  } catch (fault) {
    if (fault instanceof RequestFault) return null;
    throw fault;
  }
}

/** A setting of a whole address is the customer's own choice, and checked like a custom host. */
const isAddressSetting = (name: string): boolean => /_url$|custom_host/.test(name);

for (const provider of remoteProviders) {
  const usual = anyFields(provider);
  const names = Object.keys(usual).filter((name) => !isAddressSetting(name));
  if (typeof provider.address !== 'function' || names.length === 0) continue;
  test(`no setting of ${provider.id} leads to a host of another domain`, () => {
    const home = addressOf(provider, usual);
    for (const name of names) {
      for (const value of evil) {
        const address = addressOf(provider, { ...usual, [name]: value });
        // What is no address at all is refused by the gateway.
        if (address === null || home === null || !URL.canParse(address)) continue;
        const { username, password, port } = new URL(address);
        expect({ name, value, domain: domainOf(address), port, user: username + password }).toEqual({
          name,
          value,
          domain: domainOf(home),
          port: '',
          user: '',
        });
      }
    }
  });
}

const server: PlausibleServer = startPlausible();
let plane: Plane;

beforeAll(() => {
  plane = startPlane();
  plane.deps.credentials = anyCredentials;
});
afterAll(async () => {
  await plane.stop();
  await server.stop();
});

/** Asked for under a path that only a name could have led to. */
const hasEscaped = ({ path }: { path: string }): boolean => /^\/escaped|[?&]escaped=/.test(path);

const climbing = [
  '../../../../../../../escaped',
  'a/../../../../../../../../escaped',
  '..',
  '.',
  'a?escaped=1',
  'a#b?escaped=1',
  '%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/escaped',
  '..\\..\\..\\..\\..\\..\\escaped',
  'a\r\nhost: escaped',
];

const kinds: readonly EndpointKind[] = ['chatComplete', 'embed', 'imageGenerate', 'createSpeech', 'rerank'];

for (const provider of remoteProviders) {
  test(`no model and no setting of ${provider.id} climbs out of its path`, async () => {
    const { id } = provider;
    const save = (fields: TargetFields) =>
      plane.providers.set(
        id,
        savedProvider(id, { provider: id, customHost: `${server.url}/base/below`, fields, credential: 'sk' }),
      );
    const usual = anyFields(provider);
    for (const name of climbing) {
      for (const kind of kinds) {
        const route = hostileRoutes.find((one) => one.kind === kind);
        if (!route || !(provider.endpoints[kind] ?? kind === 'chatComplete')) continue;
        server.next(null);
        const body = { ...route.body, model: name, user: name, voice: name };
        save(usual);
        await (await plane.call(route.path, body, { 'x-gw-provider': `@${id}` })).text();
        const spoiled = Object.entries(usual).map(([field, value]) => [
          field,
          typeof value === 'string' && value === 'word' ? name : value,
        ]);
        save(Object.fromEntries(spoiled));
        const answer = await plane.call(route.path, { ...body, model: 'model-1' }, { 'x-gw-provider': `@${id}` });
        await answer.text();
        await plane.settled();
        expect({ name, kind, escaped: server.calls.filter(hasEscaped).map(({ path }) => path) }).toEqual({
          name,
          kind,
          escaped: [],
        });
        expect({ name, kind, faults: plane.faults.splice(0).map(String) }).toEqual({ name, kind, faults: [] });
      }
    }
  });
}

/** Addresses that a connection would understand though they are not written as one. */
const disguised = [
  'HTTP://127.0.0.1:9/',
  'http:/169.254.169.254/',
  'http:169.254.169.254',
  'http:\\\\169.254.169.254\\',
  ' http://169.254.169.254/',
  'h\tttp://169.254.169.254/',
  '//169.254.169.254/',
  'http://169.254.169.254/latest',
  'http://user@169.254.169.254/',
  'http://[::ffff:a9fe:a9fe]/',
  'file:///etc/passwd',
  'evil',
  'http://',
];

test('a whole address in a setting is checked like a custom host, however it is written', async () => {
  const settings = remoteProviders.flatMap((provider) =>
    Object.keys(anyFields(provider))
      .filter((name) => name !== 'custom_host' && isAddressSetting(name))
      .map((name) => [provider, name] as const),
  );
  expect(settings.map(([, name]) => name)).toEqual(
    expect.arrayContaining(['huggingface_base_url', 'azure_foundry_url', 'watsonx_url']),
  );
  for (const [provider, setting] of settings) {
    const { id } = provider;
    const others = Object.fromEntries(Object.entries(anyFields(provider)).filter(([, value]) => value !== ''));
    for (const address of disguised) {
      const config = JSON.stringify({ ...others, provider: id, api_key: 'sk', [setting]: address });
      for (const model of ['model-1', 'claude-sonnet-4-5']) {
        const body = { model, messages: [{ role: 'user', content: 'Hi' }] };
        const answer = await plane.call('/v1/chat/completions', body, { 'x-gw-config': config });
        const { error } = (await answer.json()) as { error: { code: string } };
        expect({ id, address, status: answer.status, code: error.code }).toEqual({
          id,
          address,
          status: 400,
          code: expect.stringMatching(/^invalid_(custom_host|config)$/),
        });
      }
    }
  }
  expect(plane.faults).toEqual([]);
});
