/** Guardrail checks: what a megabyte of hostile text costs each of them, what two of them add to a short chat, and how well personal data is found. */
import { checks } from '../src/guardrails/catalogue.ts';
import { CheckContext } from '../src/guardrails/context.ts';
import type { CheckIo } from '../src/guardrails/io.ts';
import { entitiesIn } from '../src/guardrails/pii/entities.ts';
import { type PiiCategory, piiCategories } from '../src/guardrails/pii/entity.ts';
import { type Labelled, piiCorpus } from './pii-corpus.ts';
import { printTable } from './table.ts';

const megabyte = 1_000_000;
const shortCalls = 20_000;
const warmUps = 4;
const samples = 3;

/** Texts that make a careless search look far, again and again. */
const hostile: Readonly<Record<string, string>> = {
  words: 'The quick brown fox jumps over the lazy dog. ',
  digits: '4111 ',
  'groups of digits': '12-34 ',
  'one number': '7',
  addresses: '12 Main Oak Elm Pine ',
  dots: '1.1.1.',
  colons: 'a:b::c:',
  mail: 'a@b.c@',
  capitals: 'Dear Aa Bb ',
  braces: '{',
  'open objects': '{"a":',
  'broken objects': '{"a":1,}{',
  quotes: '"',
  backticks: '```json\n{',
  brackets: '[',
  links: 'http://a.b/c ',
  umlauts: 'äöü ',
  blanks: ' ',
  lines: '\n',
  repeated: 'a',
};

const io: CheckIo = {
  call: async () => ({ status: 200, header: () => null, bytes: new Uint8Array() }),
  resolves: async () => true,
  moderate: async () => ({ categories: {}, json: {} }),
  cache: { get: () => undefined, put: () => undefined },
  now: () => 0,
  newId: () => '1',
};

const contextOf = (text: string): CheckContext => {
  const request = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }] };
  const facts = {
    event: 'beforeRequestHook' as const,
    requestType: 'chatComplete',
    request,
    response: null,
    isStream: false,
    provider: 'openai',
    metadata: {},
    header: () => null,
    traceId: '',
  };
  return new CheckContext(facts, request, false);
};

const setup = { credentials: {}, faultOfUrl: () => null, timeoutMs: 1_000 };
/** Their examples are too kind to them. */
const harder: Readonly<Record<string, object>> = {
  'default.regexMatch': { rule: '(a+)+b|[0-9]{3}-[0-9]{4}', not: true },
  'default.regexReplace': { rule: '(a|aa)+$', redactText: 'x' },
  'gw.pii': { categories: [...piiCategories], redact: true },
  'default.validUrls': { onlyDNS: true },
};

const prepared = (id: string) => {
  const check = checks.find((candidate) => candidate.id === id);
  if (!check) throw new Error(`There is no check ${id}`);
  return check.prepare(check.schema().parse(harder[id] ?? check.example), setup);
};

const cpuMs = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

export async function benchGuardrails(): Promise<object> {
  const rows: { check: string; 'CPU ms': number; 'worst text': string }[] = [];
  for (const check of checks) {
    if (check.category === 'PARTNER' || check.id === 'default.webhook' || check.id === 'gw.moderateContent') continue;
    const { run } = prepared(check.id);
    let worst = { ms: 0, text: '' };
    for (const [name, piece] of Object.entries(hostile)) {
      const text = piece.repeat(Math.ceil(megabyte / piece.length)).slice(0, megabyte);
      // The first runs warm up, as a service that runs for long has: by then the runtime has compiled what is hot.
      for (let warming = 0; warming < warmUps; warming++) await run(contextOf(text), io);
      const measured: number[] = [];
      for (let sample = 0; sample < samples; sample++) measured.push(await cpuMs(() => run(contextOf(text), io)));
      const ms = measured.toSorted((a, b) => a - b)[Math.floor(samples / 2)] ?? 0;
      if (ms > worst.ms) worst = { ms, text: name };
    }
    rows.push({ check: check.id, 'CPU ms': worst.ms, 'worst text': worst.text });
  }
  rows.sort((a, b) => b['CPU ms'] - a['CPU ms']);
  printTable('A megabyte of hostile text through each check', rows);

  const regex = prepared('default.regexMatch');
  const pii = prepared('gw.pii');
  const chat = contextOf('Please summarise the meeting of last week for the whole team. '.repeat(10).slice(0, 600));
  const both = async () => {
    for (let call = 0; call < shortCalls; call++) {
      const fresh = contextOf(chat.text);
      await regex.run(fresh, io);
      await pii.run(fresh, io);
    }
  };
  await both();
  const added = ((await cpuMs(both)) * 1_000) / shortCalls;
  printTable('One regexMatch and one PII check on a chat of 600 bytes', [{ 'CPU µs': added }]);

  const quality = piiCategories.map((category) => ({ category, ...scoreOf(category) }));
  printTable('Personal data in a corpus with near misses', quality);
  return { hostile: rows, added, quality };
}

function scoreOf(category: PiiCategory): { precision: number; recall: number; texts: number } {
  let found = 0;
  let right = 0;
  let wanted = 0;
  const texts: Labelled[] = piiCorpus(category);
  for (const { text, values } of texts) {
    const got = entitiesIn(text, new Set([category])).map(({ start, end }) => text.slice(start, end));
    found += got.length;
    wanted += values.length;
    right += got.filter((value) => values.includes(value)).length;
  }
  return { precision: found === 0 ? 1 : right / found, recall: wanted === 0 ? 1 : right / wanted, texts: texts.length };
}
