/** Every check of the house on its own: what passes, what fails, what is an error. */
import { describe, expect, test } from 'bun:test';
import { findCheck } from '../catalogue.ts';
import { CheckContext, type HookFacts } from '../context.ts';
import type { CheckIo } from '../io.ts';

type Json = Record<string, unknown>;

const io: CheckIo = {
  call: async ({ url }) => ({ status: url.includes('good') ? 200 : 404, header: () => null, bytes: new Uint8Array() }),
  resolves: async (host) => host.includes('good'),
  moderate: async () => ({ categories: { hate: true, sexual: false }, json: {} }),
  cache: { get: () => undefined, put: () => undefined },
  now: () => 0,
  newId: () => '1',
};

const outputOnly = new Set(['jsonSchema', 'jsonKeys', 'validUrls', 'containsCode', 'notNull']);

function contextOf(id: string, text: string | null, more: Partial<HookFacts> & { body?: Json } = {}) {
  const isOutput = outputOnly.has(id);
  const request = more.body ?? { model: '@a/gpt-4o', messages: [{ role: 'user', content: text }] };
  const response = { choices: [{ message: { role: 'assistant', content: text } }] };
  const { body: _, ...facts } = more;
  return new CheckContext(
    {
      event: isOutput ? 'afterRequestHook' : 'beforeRequestHook',
      requestType: 'chatComplete',
      request,
      response: { json: response, status: 200 },
      isStream: false,
      provider: 'openai',
      metadata: {},
      header: () => null,
      traceId: '',
      ...facts,
    },
    isOutput ? response : request,
    false,
  );
}

const verdictOf = async (
  id: string,
  parameters: Json,
  text: string | null,
  more: Parameters<typeof contextOf>[2] = {},
) => {
  const check = findCheck(id.includes('.') ? id : `default.${id}`);
  if (!check) throw new Error(`There is no ${id}`);
  const prepared = check.prepare(check.schema().parse(parameters), {
    credentials: {},
    faultOfUrl: () => null,
    timeoutMs: 100,
  });
  const result = await prepared.run(contextOf(id, text, more), io);
  return result.error ? 'error' : result.verdict;
};

type Case = [
  parameters: Json,
  text: string | null,
  expected: boolean | 'error',
  more?: Parameters<typeof contextOf>[2],
];
const fence = '```';

const cases: Record<string, Case[]> = {
  regexMatch: [
    [{ rule: '[0-9]+' }, 'a1', true],
    [{ rule: '[0-9]+' }, 'a', false],
    [{ rule: '[0-9]+', not: true }, 'a1', false],
    [{ rule: '[0-9]+', not: true }, 'ä', true],
    [{ rule: 'a' }, '', 'error'],
    [{ rule: 'a' }, null, 'error'],
    [{ rule: '^ü.$' }, 'üß', true],
    [{ rule: '(a+)+$' }, `${'a'.repeat(50_000)}b`, false],
  ],
  regexReplace: [
    [{ rule: 'a', failOnDetection: true }, 'a', false],
    [{ rule: 'a' }, 'a', true],
    [{ rule: '/A/i', failOnDetection: true }, 'a', false],
    [{ rule: '/É/i', failOnDetection: true }, 'é', false],
    [{ rule: 'b', failOnDetection: true }, 'a', true],
    [{ rule: 'a' }, null, 'error'],
    [{ rule: 'a' }, '', 'error'],
  ],
  sentenceCount: [
    [{ minSentences: 1, maxSentences: 2 }, 'One. Two!', true],
    [{ minSentences: 3 }, 'One. Two!', false],
    [{ minSentences: 3, not: true }, 'One.', true],
    [{ minSentences: 1 }, 'Ein Satz。Noch einer。', false],
    [{ maxSentences: 0 }, null, true],
    [{}, '', true],
  ],
  wordCount: [
    [{ minWords: 2, maxWords: 2 }, ' zwei  Wörter\u00a0', true],
    [{ maxWords: 1 }, 'two words', false],
    [{ maxWords: 1, not: true }, 'two words', true],
    [{}, '', 'error'],
  ],
  characterCount: [
    [{ maxCharacters: 2 }, '😀', true],
    [{ maxCharacters: 1 }, '😀', false],
    [{ maxCharacters: 1, not: true }, '😀', true],
    [{ minCharacters: 3 }, ' a ', true],
    [{}, null, 'error'],
    [{}, '', 'error'],
  ],
  alluppercase: [
    [{}, 'ABC 1!', true],
    [{}, 'ABc', false],
    [{ not: true }, 'ABc', true],
    [{}, '123', true],
    [{}, 'ABCß', true],
    [{}, '', 'error'],
  ],
  alllowercase: [
    [{}, 'abc', true],
    [{}, 'aBc', false],
    [{ not: true }, 'aBc', true],
    [{}, '123 Ü', true],
    [{}, '', 'error'],
    [{}, null, 'error'],
  ],
  endsWith: [
    [{ suffix: 'end' }, 'the end.', true],
    [{ suffix: 'end' }, 'the end!', false],
    [{ suffix: 'end', not: true }, 'the end', false],
    [{ suffix: 'ende 😀' }, 'das ende 😀', true],
    [{ suffix: 'end' }, '', 'error'],
    [{ suffix: '' }, 'x', 'error'],
  ],
  contains: [
    [{ words: ['a', 'z'] }, 'abc', true],
    [{ words: ['a', 'z'], operator: 'all' }, 'abc', false],
    [{ words: ['A'], operator: 'none' }, 'abc', true],
    [{ words: [] }, 'abc', false],
    [{ words: [], operator: 'all' }, '', true],
    [{ words: ['a'], operator: 'none' }, null, true],
    [{ words: ['größe'] }, 'die größe', true],
    [{ words: ['z'], operator: 'none' }, 'a'.repeat(1_000_000), true],
  ],
  jsonSchema: [
    [{ schema: { type: 'object', required: ['a'] } }, 'see {"a":{"b":1}} there', true],
    [{ schema: { type: 'object', required: ['a'] } }, `${fence}json\n{"b":1}\n${fence}`, false],
    [{ schema: { type: 'object', required: ['a'] }, not: true }, '{"b":1}', true],
    [{ schema: {}, not: true }, 'no JSON', false],
    [{ schema: {} }, '', false],
    [{ schema: {} }, null, false],
    [{ schema: { type: 'object', required: ['ä'] } }, '{"ä":"😀"}', true],
    [{ schema: { type: 'object', properties: { a: { pattern: '^x+$' } } } }, '{"a":"y"}', false],
  ],
  jsonKeys: [
    [{ keys: ['a', 'b'], operator: 'all' }, '{"a":1,"b":2}', true],
    [{ keys: ['a', 'b'], operator: 'all' }, '{"a":1}', false],
    [{ keys: ['c'], operator: 'none' }, '{"a":1}', true],
    [{ keys: ['c'], operator: 'none' }, 'none', false],
    [{ keys: ['a'] }, '', false],
    [{ keys: ['a'] }, '[1, 2]', false],
    [{ keys: ['__proto__'] }, '{"a":1}', false],
    [{ keys: ['ä', 'b'], operator: 'any' }, `${fence}json\n{"ä":1}\n${fence}`, true],
  ],
  validUrls: [
    [{}, 'at https://good.example/x, see', true],
    [{}, 'https://good.example and http://bad.example', false],
    [{ not: true }, 'http://bad.example', true],
    [{ onlyDNS: true }, 'https://good.example', true],
    [{}, 'no address', false],
    [{}, null, false],
    [{ not: true }, 'https://good.example', false],
    [{ onlyDNS: true }, 'https://bad.example', false],
  ],
  containsCode: [
    [{ format: 'SQL' }, `${fence}sql\nselect 1\n${fence}`, true],
    [{ format: 'Python' }, `${fence}py\nx\n${fence}`, true],
    [{ format: 'Rust' }, `${fence}py\nx\n${fence}`, false],
    [{ format: 'Rust', not: true }, 'no code', true],
    [{ format: 'SQL', not: true }, `${fence}sql\nselect 1\n${fence}`, false],
    [{ format: 'SQL' }, fence.repeat(50_000), false],
    [{ format: 'Rust' }, '', 'error'],
  ],
  notNull: [
    [{}, 'x', true],
    [{}, '  ', false],
    [{}, '', false],
    [{}, '\u200b', true],
    [{ not: true }, null, true],
    [{ not: true }, 'x', false],
  ],
  modelWhitelist: [
    [{ models: ['gpt-4o'] }, 'x', true],
    [{ models: ['@a/gpt-4o'] }, 'x', true],
    [{ models: ['other'] }, 'x', false],
    [{ models: ['other'], not: true }, 'x', true],
    [{ models: [] }, 'x', 'error'],
  ],
  modelRules: [
    [
      { rules: { defaults: ['other'], metadata: { tier: { gold: ['gpt-4o'] } } } },
      'x',
      true,
      { metadata: { tier: 'gold' } },
    ],
    [{ rules: { defaults: ['other'], metadata: { tier: { gold: ['gpt-4o'] } } } }, 'x', false],
    [{ rules: { defaults: ['*'] }, not: true }, 'x', false],
    [{ rules: { defaults: ['other'], metadata: { constructor: { x: ['gpt-4o'] } } } }, 'x', false],
    [{ rules: {} }, 'x', 'error'],
  ],
  requiredMetadataKeys: [
    [{ metadataKeys: ['a'] }, 'x', true, { metadata: { a: '1' } }],
    [{ metadataKeys: ['a'] }, 'x', false],
    [{ metadataKeys: ['a'], operator: 'none' }, 'x', true],
    [{ metadataKeys: ['a', 'b'], operator: 'any' }, 'x', true, { metadata: { b: '' } }],
    [{ metadataKeys: ['toString'] }, 'x', false],
  ],
  requiredMetadataKeyPairs: [
    [{ metadataPairs: { env: ['x', 'y'] } }, 't', true, { metadata: { env: 'y' } }],
    [{ metadataPairs: { env: 'x' } }, 't', false, { metadata: { env: 'y' } }],
    [{ metadataPairs: { env: 'x' }, operator: 'none' }, 't', true],
    [{ metadataPairs: { constructor: 'x' } }, 't', false],
    [{ metadataPairs: { env: '^pro' }, matchType: 'regex' }, 't', true, { metadata: { env: 'production' } }],
    [
      { metadataPairs: { tags: ['a', 'b'] }, matchType: 'containsAll' },
      't',
      true,
      { metadata: { tags: '["a","b","c"]' } },
    ],
  ],
  allowedRequestTypes: [
    [{}, 'x', true],
    [{ allowedTypes: ['embed'] }, 'x', false],
    [{ blockedTypes: 'chatComplete, embed' }, 'x', false],
    [{}, 'x', false, { metadata: { blocked_endpoints: 'chatComplete' } }],
    [{ blockedTypes: ['stream-chatComplete'] }, 'x', false, { isStream: true }],
  ],
  requestParametersCheck: [
    [{}, 'x', true],
    [{ params: { blockedKeys: ['n'] } }, 'x', false, { body: { n: 2 } }],
    [{ params: { values: { n: { allowedValues: [1] } } } }, 'x', false, { body: { n: 2 } }],
    [{ params: { values: { n: { blockedValues: ['2'] } } } }, 'x', true, { body: { n: 2 } }],
    [{ tools: { blockedTypes: ['mcp'] } }, 'x', true, { body: { tools: 'mcp' } }],
    [{ tools: { blockedTypes: ['mcp'] } }, 'x', true, { body: { tools: [null, 7] } }],
    [
      { tools: { blockedFunctionNames: ['f'] } },
      'x',
      false,
      { body: { tools: [{ type: 'function', function: { name: 'f' } }] } },
    ],
    [
      { tools: { allowedTypes: ['function'] } },
      'x',
      true,
      { body: { tools: [{ type: 'function', function: { name: 'f' } }] } },
    ],
  ],
  'gw.pii': [
    [{ categories: ['EMAIL_ADDRESS'] }, 'to ann@example.com', false],
    [{ categories: ['EMAIL_ADDRESS'], redact: true }, 'to ann@example.com', true],
    [{ categories: ['EMAIL_ADDRESS'] }, 'ann at example dot com', true],
    [{ categories: ['CREDIT_CARD'] }, 'card 4111 1111 1111 1111', false],
    [{ categories: ['CREDIT_CARD'] }, 'card 4111 1111 1111 1112', true],
    [{ categories: ['SSN'] }, 'ssn 536-22-8145', false],
    [{ categories: ['SSN'] }, 'no 666-22-8145', true],
    [{ categories: ['IP_ADDRESS'] }, 'host 10.1.2.3', false],
    [{ categories: ['IP_ADDRESS'] }, 'host 2001:db8::1 here', false],
    [{ categories: ['IP_ADDRESS'] }, 'version 300.1.2.3', true],
    [{ categories: ['PHONE_NUMBER'] }, 'call +1 (415) 555-2671', false],
    [{ categories: ['PHONE_NUMBER'] }, 'the year 2024 was 365 days', true],
    [{ categories: ['LOCATION_ADDRESS'] }, 'at 12 Baker Street, London', false],
    [{ categories: ['NAME'] }, 'I met Dr. Ann Lee', false],
    [{ categories: ['SSN'], not: true }, 'nothing', false],
    [{ categories: [] }, 'x', 'error'],
    [{ categories: ['SSN'] }, '', 'error'],
  ],
  'gw.language': [
    [{ language: 'eng_Latn' }, 'What is the capital of France, please?', true],
    [{ language: 'deu_Latn' }, 'Was ist die Hauptstadt von Frankreich, bitte?', true],
    [{ language: 'eng_Latn' }, 'Was ist die Hauptstadt von Frankreich, bitte?', false],
    [{ language: ['jpn_Jpan'] }, 'こんにちは、お元気ですか。', true],
    [{ language: 'eng_Latn' }, ' ', 'error'],
    [{ language: 'eng_Latn', not: true }, 'What is the capital of France, please?', false],
  ],
  'gw.gibberish': [
    [{}, 'The quick brown fox jumps over the lazy dog.', true],
    [{}, 'asdkjfh qwpoeiru zxmcnvb qxzjvk', false],
    [{ not: true }, 'xkcdqz bvnmzx qwrtpl', true],
    [{}, '', 'error'],
  ],
  'gw.moderateContent': [
    [{ categories: ['hate'], provider: '@p' }, 'x', false],
    [{ categories: ['sexual'], provider: '@p' }, 'x', true],
    [{ categories: ['hate'], provider: '@p', not: true }, 'x', true],
    [{ categories: ['hate'], provider: '@p' }, '', 'error'],
    [{ categories: ['hate'] }, 'x', 'error'],
  ],
};

for (const [id, rows] of Object.entries(cases)) {
  describe(id, () => {
    rows.forEach(([parameters, text, expected, more], index) => {
      test(`${index + 1}: ${JSON.stringify(parameters).slice(0, 80)} on ${JSON.stringify(text)?.slice(0, 40)} is ${expected}`, async () => {
        expect(await verdictOf(id, parameters, text, more)).toBe(expected);
      });
    });
  });
}

test('a prefix is put before the first message of its role, in every dialect', async () => {
  const check = findCheck('default.addPrefix');
  const bodyOf = async (body: Json, parameters: Json, requestType = 'chatComplete') =>
    (
      await check
        ?.prepare(parameters, { credentials: {}, faultOfUrl: () => null, timeoutMs: 0 })
        .run(contextOf('addPrefix', '', { body, requestType }), io)
    )?.body;
  expect(await bodyOf({ messages: [{ role: 'user', content: 'b' }] }, { prefix: 'a ' })).toEqual({
    messages: [{ role: 'user', content: 'a b' }],
  });
  expect(await bodyOf({ messages: [] }, { prefix: 'a', applyToRole: 'system' })).toEqual({
    messages: [{ role: 'system', content: 'a' }],
  });
  expect(await bodyOf({ messages: [], system: 'b' }, { prefix: 'a', applyToRole: 'system' }, 'messages')).toEqual({
    messages: [],
    system: 'ab',
  });
  expect(await bodyOf({ prompt: 'b' }, { prefix: 'a' }, 'complete')).toEqual({ prompt: 'ab' });
  expect(
    await bodyOf({ messages: [{ role: 'user', content: 'b' }] }, { prefix: 'a', onlyIfEmpty: true }),
  ).toBeUndefined();
});
