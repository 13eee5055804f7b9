/** Wrong input of every kind, to every endpoint that the running program's document lists: refused with words, never a fault, never a trace. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import fc from 'fast-check';
import { createOpenApiDocument } from '../src/admin/kernel/openapi/openapi.ts';
import { resources } from '../src/admin/resources.ts';
import { type JsonSchema, jsonSchemaOf, type ListedOperation, operationsOf } from '../src/http/openapi-document.ts';
import { wholeDocument } from '../src/openapi.ts';
import { type Cast, makeCast } from './actors.ts';
import { countChanges } from './change-counter.ts';
import { schemaCompiler } from './document-schemas.ts';
import { type Json, onEachEngine, startGateway, type TestGateway } from './harness.ts';
import { type Mutant, mutants, sampleOf } from './mutants.ts';

/** One seed, so that a failure comes back; the report of a failure names it together with the path to the case. */
const seed = 20_261_115;
const bodiesEach = 25;
const queriesEach = 12;
const largeBody = new Uint8Array(50 * 1024 * 1024).fill(0x20);

// The tests are made before the program runs, so they are named after this document; one of them compares it with the served one.
const document = createOpenApiDocument(resources);
const operations = operationsOf(document);
const named = ({ method, path }: ListedOperation): string => `${method.toUpperCase()} ${path}`;
const bodySchema = ({ operation }: ListedOperation): JsonSchema | undefined =>
  jsonSchemaOf(operation.requestBody?.content);

const compile = schemaCompiler(document, { strict: false, validateFormats: false });
const isErrorBody = compile(document.components.schemas.Error ?? {});

interface Answer {
  status: number;
  body: Json;
}

onEachEngine('bad input', (start) => {
  const isFirstEngine = start === startGateway;
  let gateway: TestGateway;
  let changes: () => Promise<number>;
  /** Kept from test to test until a call that was not refused may have changed it. */
  let cast: Cast | null = null;
  beforeAll(async () => {
    gateway = await start();
    // What happens by itself would look like a change.
    await gateway.app.jobs.stop();
    changes = await countChanges(gateway.app.services.store);
  });
  afterAll(() => gateway.stop());

  test('the document that is served has every operation that these tests walk', async () => {
    const { body } = await gateway.get('/openapi.json', { key: '' });
    expect(body).toEqual(JSON.parse(JSON.stringify(wholeDocument())));
    const served = new Set(operationsOf(body).map(named));
    expect(operations.map(named).filter((name) => !served.has(name))).toEqual([]);
  });

  /** Sends to the operation as someone who may call it, and checks what holds for every answer. */
  const stage = async (listed: ListedOperation) => {
    cast ??= await makeCast(gateway, []);
    const players = cast;
    const headers = credentialFor(listed, players);
    let known = await changes();
    const judge = (answer: Answer, what: string): Answer => {
      if (answer.status >= 500) throw new Error(`${what}: ${answer.status} ${gateway.faults.at(-1)}`);
      if (answer.status < 400) {
        if (listed.method !== 'get') cast = null;
        return answer;
      }
      const documented: boolean = isErrorBody(answer.body);
      if (!documented) throw new Error(`${what}: undocumented error ${JSON.stringify(answer.body)}`);
      if (answer.body.data.message === '') throw new Error(`${what}: refused without a word`);
      return answer;
    };
    /** After a refusal everything is as it was; after anything else, what is now is what must stay. */
    const settle = async (answer: Answer | null, what: string): Promise<void> => {
      const after = await changes();
      if (after !== known && (!answer || answer.status >= 400))
        throw new Error(`${what}: refused, yet something changed`);
      known = after;
    };
    const send = async (what: string, init: RequestInit, query = ''): Promise<Answer> => {
      const response = await fetch(gateway.url + pathOf(listed, players) + query, {
        method: listed.method.toUpperCase(),
        ...init,
        headers: { ...headers, ...(init.headers as Record<string, string> | undefined) },
      });
      return judge({ status: response.status, body: parse(await response.text()) }, what);
    };
    const sendJson = (what: string, body: string) =>
      send(what, { body, headers: { 'content-type': 'application/json' } });
    return { players, headers, judge, settle, send, sendJson };
  };

  describe('bodies', () => {
    for (const listed of operations) {
      const schema = bodySchema(listed);
      if (!schema) continue;

      test(`${named(listed)}: one wrong field`, async () => {
        const { players, sendJson, settle } = await stage(listed);
        const fits = compile(schema);
        const known = knownIds(players);
        // A wrong field proves nothing in a body that is wrong already.
        for (const least of [false, true]) expect(fits(sampleOf(document, schema, known, least))).toBe(true);
        const cases = fc.sample(mutants(document, schema, known), { seed, numRuns: bodiesEach });
        const isUnfit = ({ body }: Mutant) => !fits(body) || !isStorable(body);
        const unfit = cases.filter(isUnfit);
        for (const mutant of unfit) expectNamed(await sendJson(mutant.deed, JSON.stringify(mutant.body)), mutant);
        await settle(null, unfit.map(({ deed }) => deed).join(', '));
        for (const mutant of cases.filter((candidate) => !isUnfit(candidate))) {
          const answer = await sendJson(mutant.deed, JSON.stringify(mutant.body));
          await settle(answer, mutant.deed);
        }
      });

      // No store is asked before a body is read, so that one engine says it all.
      if (!isFirstEngine) continue;
      test(`${named(listed)}: what is no JSON object`, async () => {
        const { send, sendJson, settle } = await stage(listed);
        const broken = [
          '{',
          '{"a":}',
          '[1,',
          '"',
          'nul',
          '{"a":1}{',
          '\u0000',
          '{"a":"\n"}',
          "{'a':1}",
          '\ufeff{',
          'NaN',
        ];
        for (const text of broken) {
          expect(await sendJson(`broken JSON ${text}`, text)).toMatchObject({ status: 400 });
        }
        for (const text of ['[]', '[{}]', '"text"', '7', 'true', 'null', '1e400', '-0']) {
          expect(await sendJson(text, text)).toMatchObject({ status: 400, body: { data: { errorCode: 'AB01' } } });
        }
        const nested = (depth: number) => sendJson('deep nesting', `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
        expect((await nested(30_000)).status).toBe(400);
        // Who needs no credential may send 64 kB.
        expect([400, 413]).toContain((await nested(400_000)).status);
        const latin = await send('invalid UTF-8', {
          body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
          headers: { 'content-type': 'application/json' },
        });
        expect(latin.status).toBe(400);
        for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonx']) {
          const answer = await send(type, { body: '{}', headers: { 'content-type': type } });
          expect(answer.status).toBe(415);
        }
        const large = await send('50 MB', { body: largeBody, headers: { 'content-type': 'application/json' } });
        expect(large.status).toBe(413);
        await settle(null, 'what is no JSON object');
      });
    }
  });

  describe('queries', () => {
    for (const listed of operations) {
      const parameters = listed.operation.parameters.filter((parameter) => parameter.in === 'query');
      if (parameters.length === 0) continue;

      test(named(listed), async () => {
        const { send, settle } = await stage(listed);
        const required = parameters.filter((parameter) => parameter.required);
        const value = fc.oneof(
          fc.constantFrom(
            '',
            ' ',
            '-1',
            '1e999',
            '0x10',
            'NaN',
            'null',
            '[]',
            '{}',
            'no-such-value',
            "'",
            '%',
            '‮',
            ',',
          ),
          fc.constantFrom(
            'x'.repeat(9_000),
            '\u0000',
            'a\u0000',
            ','.repeat(500),
            '9'.repeat(30),
            '2026-13-45T99:99:99Z',
          ),
          fc.string({ unit: 'grapheme' }),
        );
        await check(queriesEach, fc.tuple(fc.constantFrom(...parameters), value), async ([parameter, text]) => {
          const query = new URLSearchParams(required.map(({ name }) => [name, '2026-01-01T00:00:00Z']));
          query.set(parameter.name, text);
          const answer = await send(`${parameter.name}=${text}`, {}, `?${query}`);
          const isNumber = parameter.schema.type === 'integer' || parameter.schema.type === 'number';
          const unfit =
            text.includes('\u0000') ||
            (isNumber && text.trim() !== '' && Number.isNaN(Number(text))) ||
            (parameter.schema.enum !== undefined && text === 'no-such-value');
          if (unfit) {
            expect(answer.status).toBe(400);
            expect(answer.body.data.errors).toContainEqual(
              expect.objectContaining({ location: 'query', path: parameter.name }),
            );
          }
        });
        await settle(null, 'a query');
      });
    }
  });

  describe('paths', () => {
    for (const listed of operations) {
      const names = [...listed.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      if (names.length === 0) continue;

      test(named(listed), async () => {
        const { players, headers, judge, settle } = await stage(listed);
        for (const name of names) {
          for (const segment of hostileSegments) {
            const path = pathOf(listed, players, { [name]: segment });
            const reply = await rawCall(gateway, listed.method.toUpperCase(), path, headers);
            const answer = judge(reply, `${listed.method} ${path.slice(0, 200)}`);
            expect(answer.status).toBeGreaterThanOrEqual(400);
            if (segment.includes('%00')) {
              expect(answer.status).toBe(400);
              expect(answer.body.data.errors).toEqual([expect.objectContaining({ location: 'path', path: name })]);
            }
          }
        }
        await settle(null, 'a path');
      });
    }
  });

  test('none of this was a fault of ours', () => {
    expect(gateway.faults).toEqual([]);
  });
});

const check = <T>(numRuns: number, cases: fc.Arbitrary<T>, property: (value: T) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(cases, property), { seed, numRuns, endOnFailure: true });

/** A schema's verdict comes before everything else, and says where the fault is. */
function expectNamed(answer: Answer, { path, deed }: Mutant): void {
  // Which workspace and which organisation are named is decided first; both must exist for the caller.
  if (/^(workspace|organisation)_id$/.test(path[0] ?? '') && [403, 404].includes(answer.status)) return;
  if (answer.status !== 400) throw new Error(`${deed}: ${answer.status} ${JSON.stringify(answer.body)}, not 400`);
  const errors: { location: string; path: string }[] = answer.body.data.errors ?? [];
  const wanted = path.join('.');
  const names = (found: string) =>
    found === wanted ||
    wanted.startsWith(`${found}.`) ||
    found.startsWith(`${wanted}.`) ||
    wanted === '' ||
    found === '';
  if (!errors.some((error) => error.location === 'body' && names(error.path))) {
    throw new Error(`${deed}: the refusal does not name the field: ${JSON.stringify(answer.body.data)}`);
  }
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\u0000');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, field]) => isStorable(name) && isStorable(field));
}

const hostileSegments = [
  '%00',
  'a%00b',
  '%ff',
  '%ed%a0%80',
  '%',
  '%zz',
  '%2e%2e%2f%2e%2e',
  '%252e%252e',
  'x'.repeat(6_000),
  '%F0%9F%98%80',
  '%E2%80%AE',
  '%27;%20drop%20table%20users;--',
  '%20',
  '%0d%0aset-cookie:%20a=b',
  '__proto__',
  'constructor',
  '-1',
  'null',
];

const knownIds = (cast: Cast): Record<string, string> => ({
  organisation_id: cast.organisationId,
  workspace_id: cast.workspaceId,
  user_id: cast.userId,
});

/** The path with real ids where the cast has them, and `instead` where a test wants something else. */
function pathOf({ path }: ListedOperation, cast: Cast, instead: Record<string, string> = {}): string {
  const real: Record<string, string> = {
    workspaceId: cast.workspaceId,
    userId: cast.userId,
    apiKeyId: cast.apiKeyId,
  };
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => instead[name] ?? real[name] ?? Bun.randomUUIDv7());
}

/** Someone with every right that the operation asks for. */
function credentialFor({ operation }: ListedOperation, cast: Cast): Record<string, string> {
  const callers = operation['x-callers'];
  if (callers.length === 0) return {};
  const name = callers.includes('admin-key')
    ? 'an admin key with every scope'
    : callers.includes('session')
      ? 'the organisation owner'
      : 'a workspace key with every scope';
  const actor = cast.actors.find((candidate) => candidate.name === name);
  if (!actor) throw new Error(`The cast lacks ${name}`);
  return actor.headers;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A request whose path goes out byte for byte; fetch would tidy it up. */
function rawCall(gateway: TestGateway, method: string, path: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.app.port, '127.0.0.1');
    const lines = Object.entries({ host: 'gw', connection: 'close', 'content-length': '0', ...headers });
    const chunks: Buffer[] = [];
    socket.on('connect', () =>
      socket.write(
        `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
      ),
    );
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    socket.on('error', reject);
    socket.on('close', () => {
      const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
      resolve({ status: Number(head.split(' ')[1]), body: parse(body) });
    });
  });
}
