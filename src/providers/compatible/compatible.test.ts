/** Every OpenAI-compatible provider through the real data plane: its address, its credential, the path of each endpoint, and the client's own bytes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { compatibleProviders, type Expected } from '../../../test/compatible-providers.ts';
import { type Plane, startPlane } from '../../../test/gateway-deps.ts';
import { json, type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';
import type { EndpointKind } from '../endpoints.ts';
import { providers } from '../index.ts';
import { referenceOf } from '../reference.ts';

let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  plane = startPlane();
  provider = await startProvider(json(200, { choices: [], data: [] }));
});
afterAll(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await provider.stop();
});
beforeEach(() => {
  provider.calls.length = 0;
});

const model = 'vendor/claude-1';

/** JSON as no serialiser would write it, with a field that nobody knows. */
const odd = (fields: string) =>
  ` { "model":\t"${model}" ,${fields},"temperature" : 1.0e-1, "unknown":{"a":[ ],"b":12345678901234567890}}\n`;

const said = '"messages":[ {"role":"user","content":"caf\\u00e9"} ]';

/** A call of each kind, as a client sends it. */
const calls: Partial<Record<EndpointKind, { path: string; body?: string | FormData }>> = {
  chatComplete: { path: '/chat/completions', body: odd(said) },
  complete: { path: '/completions', body: odd('"prompt":"Once"') },
  embed: { path: '/embeddings', body: odd('"input":"Hello"') },
  rerank: { path: '/rerank', body: odd('"query":"q","documents":["a","b"]') },
  imageGenerate: { path: '/images/generations', body: odd('"prompt":"A cat"') },
  createSpeech: { path: '/audio/speech', body: odd('"input":"Hello","voice":"v"') },
  createModelResponse: { path: '/responses', body: odd('"input":"Hello"') },
  getModelResponse: { path: '/responses/resp_1' },
  messages: { path: '/messages', body: odd(`"max_tokens":10,${said}`) },
  messagesCountTokens: { path: '/messages/count_tokens', body: odd(said) },
  ocr: { path: '/ocr', body: odd('"document":{"type":"document_url","document_url":"https://example.com/a.pdf"}') },
  listModels: { path: '/models' },
  createTranscription: { path: '/audio/transcriptions', body: form() },
  createTranslation: { path: '/audio/translations', body: form() },
  uploadFile: { path: '/files', body: form() },
};

function form(): FormData {
  const fields = new FormData();
  fields.set('model', model);
  fields.set('file', new File(['RIFF'], 'talk.wav', { type: 'audio/wav' }));
  return fields;
}

interface Case {
  name: string;
  row: Expected;
  kind: EndpointKind;
  path: string;
  shaped: boolean;
}

const isCalled = (kind: string): kind is EndpointKind => kind in calls;

const cases: Case[] = compatibleProviders.flatMap((row) => {
  const { id, offers, paths = {}, beside = {}, shaped = '' } = row;
  const inPath = (path: string) => path.replace('{model}', model);
  const found = new Map<string, string>();
  for (const kind of offers.split(' ')) if (isCalled(kind)) found.set(kind, `/v1${calls[kind]?.path}`);
  for (const [kind, path] of Object.entries(paths)) found.set(kind, `/v1${inPath(path)}`);
  for (const [kind, path] of Object.entries(beside)) found.set(kind, inPath(path));
  return [...found].flatMap(([kind, path]) =>
    isCalled(kind) ? [{ name: `${id} ${kind}`, row, kind, path, shaped: shaped.split(' ').includes(kind) }] : [],
  );
});

const headersFor = (id: string, customHost: string, credential = 'provider-secret'): Record<string, string> => ({
  'x-gw-provider': id,
  'x-gw-custom-host': customHost,
  'x-gw-predibase-tenant': 'predibase-tenant',
  authorization: `Bearer ${credential}`,
});

async function callWith(kind: EndpointKind, headers: Record<string, string>): Promise<void> {
  const asked = calls[kind];
  if (!asked) throw new Error(`no call of the kind ${kind}`);
  const { path, body } = asked;
  const answer =
    body instanceof FormData
      ? await fetch(`${plane.url}/v1${path}`, {
          method: 'POST',
          headers: { 'x-gw-api-key': 'gw-workspace-key-0123456789', ...headers },
          body,
        })
      : await plane.call(`/v1${path}`, body, headers);
  await answer.arrayBuffer();
}

describe('addresses', () => {
  test.each(compatibleProviders)('$id stands at its address', ({ id, address }) => {
    const known = providers.get(id);
    if (!known) throw new Error(`no provider ${id}`);
    const told = referenceOf(known).address;
    expect(told?.replace(/\{(\w+)\}/g, (_, name: string) => name.replaceAll('_', '-')) ?? null).toBe(address);
  });

  test.each(compatibleProviders)('$id offers what is expected, and nothing else', (row) => {
    const { id, offers, paths = {}, beside = {}, apart = '' } = row;
    const kinds = [...offers.split(' '), ...apart.split(' '), ...Object.keys(paths), ...Object.keys(beside)];
    const offered = Object.keys(providers.get(id)?.endpoints ?? {});
    const expected = new Set(kinds.filter((kind) => kind !== ''));
    expect(offered.toSorted()).toEqual([...expected].toSorted());
  });
});

describe('calls', () => {
  test.each(cases)('$name arrives at its path, with the credential', async ({ row, kind, path, shaped }) => {
    const { header, credential = 'provider-secret' } = row;
    await callWith(kind, headersFor(row.id, provider.url, credential));
    const [call] = provider.calls;
    expect(call?.path).toBe(path);
    expect(call?.headers[header ?? 'authorization']).toBe(header ? credential : `Bearer ${credential}`);
    if (header) expect(call?.headers.authorization).toBeUndefined();
    expect(JSON.stringify(call?.headers)).not.toContain('gw-workspace-key');
    const body = calls[kind]?.body;
    if (typeof body === 'string' && !shaped) expect(call?.body.toString()).toBe(body);
  });

  test.each(['ollama', 'vllm', 'sgl', 'lm-studio', 'local-ai'])('%s may be named without its version', async (id) => {
    await callWith('chatComplete', headersFor(id, provider.url.replace('/v1', '')));
    await callWith('chatComplete', headersFor(id, `${provider.url.replace('/v1', '')}/behind/proxy/v1/`));
    expect(provider.calls.map(({ path }) => path)).toEqual([
      '/v1/chat/completions',
      '/behind/proxy/v1/chat/completions',
    ]);
  });

  test('a server of one’s own needs no credential', async () => {
    await plane
      .call('/v1/chat/completions', calls.chatComplete?.body, {
        'x-gw-provider': 'ollama',
        'x-gw-custom-host': provider.url,
      })
      .then((answer) => answer.arrayBuffer());
    expect(provider.calls.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});
