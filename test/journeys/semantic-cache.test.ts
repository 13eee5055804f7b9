/** The semantic cache with a deterministic embedding provider: paraphrases hit, near misses do not, and nothing else may differ. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import * as openai from '../providers/openai.ts';
import { type Behaviour, json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let vectors: SimulatedProvider;
let world: World;
let config: string;

/** Words that mean the same have one dimension; a word that turns the meaning round has a heavy one. */
const synonyms = [
  ['capital', 'main city'],
  ['france', 'french republic'],
  ['germany'],
  ['what', 'tell me', 'name'],
  ['not'],
  ['cancel', 'stop'],
  ['order', 'purchase'],
  ['refund', 'money back'],
];
const weights: Record<string, number> = { germany: 3, france: 3, not: 3 };

const vectorOf = (text: string): number[] =>
  synonyms.map((words) => {
    const found = words.some((word) => text.toLowerCase().includes(word));
    return found ? (weights[words[0] ?? ''] ?? 1) : 0.01;
  });

const embeds: Behaviour = (call, response) =>
  json(200, {
    object: 'list',
    model: 'embedder',
    data: [{ object: 'embedding', index: 0, embedding: vectorOf(String(call.json?.input)) }],
    usage: { prompt_tokens: 5, total_tokens: 5 },
  })(call, response);

beforeAll(async () => {
  a = await startProvider(openai.says('answer'));
  vectors = await startProvider(embeds);
  world = await startWorld(
    { a: { provider: 'openai', simulated: a }, vectors: { provider: 'openai', simulated: vectors } },
    {
      SEMANTIC_CACHE_EMBEDDING_PROVIDER: '@vectors',
      SEMANTIC_CACHE_EMBEDDING_MODEL: 'embedder',
      CACHE_TIMEOUT_MS: '30000',
    },
  );
  config = await world.saveConfig({ provider: '@a', cache: { mode: 'semantic' } });
});
beforeEach(() => {
  a.calls.length = 0;
  vectors.calls.length = 0;
  vectors.script(embeds);
});
afterAll(async () => {
  await world.stop();
  await a.stop();
  await vectors.stop();
});

const chat = (text: string, more: object = {}) => ({
  model: 'gpt-4o-mini',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: text },
  ],
  ...more,
});

async function ask(body: object, headers: Record<string, string> = {}) {
  const answer = await world.call('/v1/chat/completions', body, { 'x-gw-config': config, ...headers });
  await answer.text();
  return { status: answer.headers.get('x-gw-cache-status'), trace: answer.headers.get('x-gw-trace-id') ?? '' };
}
const statusOf = async (body: object, headers: Record<string, string> = {}) => (await ask(body, headers)).status;

describe('a labelled set', () => {
  const known = 'What is the capital of France?';
  test('the question itself is kept', async () => {
    expect(await statusOf(chat(known))).toBe('SEMANTIC MISS');
    expect(await statusOf(chat(known))).toBe('HIT');
  });

  for (const paraphrase of ['Tell me the main city of the French Republic', 'Name the capital: France']) {
    test(`"${paraphrase}" is the same question`, async () => {
      expect(await statusOf(chat(paraphrase))).toBe('SEMANTIC HIT');
      expect(a.calls).toHaveLength(0);
    });
  }

  for (const other of ['What is the capital of Germany?', 'What is not the capital of France?', 'Cancel my order']) {
    test(`"${other}" is another question`, async () => {
      expect(await statusOf(chat(other))).toBe('SEMANTIC MISS');
    });
  }
});

describe('everything but the last text of the user must be equal', () => {
  const same = 'Tell me the main city of the French Republic, please';
  const cases: [what: string, body: object, headers?: Record<string, string>][] = [
    ['another parameter', chat(same, { temperature: 0.1 })],
    ['another model', { ...chat(same), model: 'gpt-4o' }],
    [
      'another system prompt',
      {
        ...chat(same),
        messages: [
          { role: 'system', content: 'Be long.' },
          { role: 'user', content: same },
        ],
      },
    ],
    ['other metadata', chat(same), { 'x-gw-metadata': '{"team":"b"}' }],
    ['a namespace', chat(same), { 'x-gw-cache-namespace': 'b' }],
  ];
  for (const [what, body, headers] of cases) {
    test(`${what} is a miss`, async () => expect(await statusOf(body, headers)).toBe('SEMANTIC MISS'));
  }

  test('another workspace is a miss, as it is for exact answers', async () => {
    const { gateway } = world;
    const other = await gateway.post('/v1/admin/workspaces', { name: 'Other' });
    const workspace_id = other.body.id;
    await world.saveProvider('a-there', 'openai', a, { workspace_id, default_provider_slug: 'a' });
    await world.saveProvider('vectors-there', 'openai', vectors, { workspace_id, default_provider_slug: 'vectors' });
    const saved = await gateway.post('/v1/configs', {
      name: 'There',
      config: { provider: '@a', cache: { mode: 'semantic' } },
      workspace_id,
    });
    const key = await gateway.post('/v1/api-keys/workspace/service', {
      name: 'there',
      workspace_id,
      scopes: ['completions.write'],
    });
    const theirs = { 'x-gw-config': saved.body.slug, 'x-gw-api-key': key.body.key };
    expect(await statusOf(chat(same), theirs)).toBe('SEMANTIC MISS');
  });
});

describe('turns of an agent are never alike', () => {
  const tool = { type: 'function', function: { name: 'look', parameters: {} } };
  const turn = { role: 'user', content: 'What is the capital of France' };
  const cases: [what: string, body: object][] = [
    ['tools', chat('What is the capital of France', { tools: [tool] })],
    ['a tool result', { ...chat(''), messages: [turn, { role: 'tool', tool_call_id: 'x', content: 'y' }, turn] }],
    ['many messages', { ...chat(''), messages: [turn, turn, turn, turn, turn] }],
    ['no last word of the user', { ...chat(''), messages: [turn, { role: 'assistant', content: 'Paris' }] }],
  ];
  for (const [what, body] of cases) {
    test(`${what}: nothing is embedded`, async () => {
      await ask(body);
      expect(vectors.calls).toHaveLength(0);
    });
  }
});

test('the embedding is a call of its own in the log', async () => {
  const { trace } = await ask(chat('Money back for my purchase'));
  const records = await world.records(trace, 2);
  expect(records.map(({ endpoint_type }) => endpoint_type).sort()).toEqual(['chatComplete', 'embed']);
  expect(records.find(({ endpoint_type }) => endpoint_type === 'embed')).toMatchObject({
    req_units: 5,
    virtual_key: 'vectors',
  });
});

test('an embedding that fails is a miss', async () => {
  vectors.script(json(500, { error: { message: 'no' } }));
  expect(await statusOf(chat('Refund my order'))).toBe('SEMANTIC MISS');
});

test('the threshold of the config counts', async () => {
  const lax = await world.saveConfig({ provider: '@a', cache: { mode: 'semantic', similarity_threshold: 0.5 } });
  const named = { 'x-gw-config': lax, 'x-gw-cache-namespace': 'lax' };
  await ask(chat('Cancel my order'), named);
  expect(await statusOf(chat('Cancel and refund my purchase'), named)).toBe('SEMANTIC HIT');
  const refused = await world.gateway.post('/v1/configs', {
    name: 'x',
    config: { cache: { mode: 'semantic', similarity_threshold: 2 } },
  });
  expect(refused.status).toBe(400);
});

describe('the organisation’s setting', () => {
  const set = (semantic_cache: object | null) =>
    world.gateway.put('/v1/admin/organisation/settings', { semantic_cache });

  test('wins over the installation’s, and is forgotten with null', async () => {
    const own = await startProvider(embeds);
    await world.saveProvider('own-vectors', 'openai', own);
    expect((await set({ provider: '@own-vectors', model: 'own-embedder' })).status).toBe(200);
    expect(await statusOf(chat('Tell me the capital of France, by setting'))).toBe('SEMANTIC MISS');
    expect([own.calls.length, own.calls[0]?.json?.model, vectors.calls.length]).toEqual([1, 'own-embedder', 0]);
    expect((await set(null)).status).toBe(200);
    await ask(chat('Tell me the capital of France, without it'));
    expect([own.calls.length, vectors.calls.length]).toEqual([1, 1]);
    await own.stop();
  });

  test('is refused with the place of its fault', async () => {
    for (const [path, setting] of [
      ['semantic_cache.provider', { provider: 'no at', model: 'm' }],
      ['semantic_cache.model', { provider: '@a' }],
      ['semantic_cache.similarity_threshold', { provider: '@a', model: 'm', similarity_threshold: 2 }],
    ] as const) {
      const { status, body } = await set(setting);
      expect([status, body.data.errors[0].path]).toEqual([400, path]);
    }
  });
});

describe('verification', () => {
  test('asks the target beside a sample of hits and tells how many were right', async () => {
    const verified = await world.saveConfig({ provider: '@a', cache: { mode: 'semantic', verify: 1 } });
    const headers = { 'x-gw-config': verified, 'x-gw-cache-namespace': 'verified' };
    const summary = async () => {
      const at = (ms: number) => new Date(Date.now() + ms).toISOString();
      const range = `time_of_generation_min=${at(-86_400_000)}&time_of_generation_max=${at(86_400_000)}`;
      await world.gateway.app.services.logs.settled();
      return (await world.gateway.get(`/v1/analytics/summary/cache?${range}`)).body.summary.verification;
    };
    expect(await summary()).toEqual({ samples: 0, precision: null, proposed_threshold: null });
    expect(await statusOf(chat('What is the refund?'), headers)).toBe('SEMANTIC MISS');
    const before = a.calls.length;
    expect(await statusOf(chat('Name the refund?'), headers)).toBe('SEMANTIC HIT');
    while (a.calls.length === before) await new Promise((resolve) => setImmediate(resolve));
    // The question was asked as it stood, and whole.
    expect(a.calls.at(-1)?.json).toMatchObject({ stream: false, messages: [{}, { content: 'Name the refund?' }] });
    while ((await summary()).samples === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await summary()).toEqual({ samples: 1, precision: 1, proposed_threshold: null });
    a.script(openai.says('Something about germany'));
    await statusOf(chat('Tell me the refund?'), headers);
    while ((await summary()).samples === 1) await new Promise((resolve) => setImmediate(resolve));
    expect(await summary()).toMatchObject({ samples: 2, precision: 0.5 });
    a.script(openai.says('answer'));
  });
});
