/** Requests that are wrong in every way, to every provider: refused with the name of the field or answered, never a fault of ours, and never changed on the way to the next target. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Provider } from '../src/providers/provider.ts';
import { anyModels, planeOfAll, remoteProviders } from './any-provider.ts';
import type { Plane } from './gateway-deps.ts';
import { type HostileRoute, hostileRoutes } from './hostile-routes.ts';
import { type PlausibleServer, startPlausible } from './providers/plausible.ts';
import { spoiled } from './spoiled.ts';

const seed = 20_261_115;
/** For each provider and route; the seed chooses others for each. */
const bodiesEach = 6;

const server: PlausibleServer = startPlausible();
let plane: Plane;

beforeAll(() => {
  plane = planeOfAll(server.url);
  // A target that fails often must still be asked.
  plane.deps.breakers = { isOpen: () => false, record: () => undefined };
});
afterAll(async () => {
  await plane.stop();
  await server.stop();
});

/** A form of these fields, and a file that may be anything. */
function formOf(body: string): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(JSON.parse(body.replaceAll('1e999', '1e308')) as object))
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  form.append('file', new File(['RIFF'], 'a"\r\nb.wav', { type: 'audio/wav' }));
  form.append('image', new File(['PNG'], 'a.png', { type: 'image/png' }));
  return form;
}

const keptAtOne = new Set(['createBatch', 'createFinetune']);
const notMe = 418;

/** Two targets, so that what the second is asked shows whether the first has changed anything. */
const configFor = ({ id }: Provider, { kind }: HostileRoute): string =>
  JSON.stringify(
    keptAtOne.has(kind)
      ? { provider: `@${id}` }
      : {
          strategy: { mode: 'fallback', on_status_codes: [notMe] },
          targets: [{ provider: `@${id}` }, { provider: `@${id}` }],
        },
  );

/** Ids and boundaries are made anew for each call. */
const withoutIds = (body: string): string =>
  body.replaceAll(/[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/gi, 'id');

async function check(provider: Provider, route: HostileRoute, body: string): Promise<void> {
  server.next(keptAtOne.has(route.kind) ? null : notMe);
  const headers = { 'x-gw-config': configFor(provider, route) };
  const response = await (route.form
    ? plane.call(route.path, undefined, headers, { method: 'POST', body: formOf(body) })
    : plane.call(route.path, body, headers));
  const text = await response.text();
  await plane.settled();
  const where = { provider: provider.id, path: route.path, status: response.status, answer: text.slice(0, 300) };
  const { calls } = server;
  expect({ ...where, faults: plane.faults.splice(0).map(String) }).toEqual({ ...where, faults: [] });
  // A provider of the route's own dialect refuses in its own words.
  if (response.status >= 400 && text !== '') {
    const { error, type } = JSON.parse(text);
    expect({ ...where, form: typeof error.message }).toEqual({ ...where, form: 'string' });
    if (route.errorForm === 'anthropic') expect({ ...where, type }).toEqual({ ...where, type: 'error' });
    // A body that is no JSON has no fields.
    if (error.code === 'invalid_body' && !error.message.includes('not valid JSON'))
      expect({ ...where, field: error.field }).toEqual({ ...where, field: expect.stringMatching(/./) });
    // Only what a provider has answered can be the provider's fault.
    if (calls.length === 0 || error.code === 'upstream_unreachable' || error.code === 'internal_error')
      expect({ ...where, isOurs: response.status >= 500 }).toEqual({ ...where, isOurs: false });
  }
  const [first, ...others] = calls.map((call) => withoutIds(call.body));
  if (!keptAtOne.has(route.kind) && first !== undefined && others.length > 0)
    expect({ ...where, body: others.includes(first) ? first : others }).toEqual({ ...where, body: first });
}

for (const provider of remoteProviders) {
  test(`whatever is sent to ${provider.id}`, async () => {
    for (const [index, route] of hostileRoutes.entries()) {
      const bodies = fc.constantFrom(...anyModels).chain((model) => spoiled({ model, ...route.body }));
      await fc.assert(
        fc.asyncProperty(bodies, (body) => check(provider, route, body)),
        { seed: seed + index, numRuns: bodiesEach },
      );
    }
  });
}

const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const ask = (content: string, more = '"model": "gemini-2.5-pro"') =>
  `{${more}, "messages": [{"role": "user", "content": ${content}}]}`;

/** What was found once, for every provider. */
const finds: Record<string, string> = {
  'half a surrogate pair as the model': ask('"Hi"', '"model": "a\\ud800b"'),
  'a data URL that is escaped wrongly': ask(
    '[{"type": "image_url", "image_url": {"url": "data:text/plain,%E0%A4%A"}}]',
  ),
  'a value without text': ask('"Hi"', '"model": "claude-sonnet-4-5", "tools": [{"type": {"toString": 1}}]'),
  'betas without text': ask('"Hi"', '"model": "m", "context_management": {"edits": [{"type": {"toString": 1}}]}'),
  'nesting without end': ask('"Hi"', `"model": "gpt-5", "max_tokens": 5, "extra": ${deep(60_000)}`),
  'content that is nested without end': ask(deep(60_000)),
  'a number beyond all numbers': ask('"Hi"', '"model": "m", "max_tokens": 1e999'),
};

const chatRoutes = hostileRoutes.filter(({ kind }) =>
  ['chatComplete', 'messages', 'messagesCountTokens'].includes(kind),
);

for (const [name, body] of Object.entries(finds)) {
  test(`${name} is no fault of ours`, async () => {
    for (const provider of remoteProviders) for (const route of chatRoutes) await check(provider, route, body);
  });
}

test('a file whose id is no text is no fault of ours', async () => {
  const batches = hostileRoutes.find(({ kind }) => kind === 'createBatch');
  for (const provider of batches ? remoteProviders : [])
    if (batches) await check(provider, batches, '{"input_file_id": {"toString": 1, "valueOf": 1}}');
});
