/** Rows of batches that a provider runs: they name only models that the caller may use, wherever the gateway sees them. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { SavedProvider } from '../../src/catalog/catalog.ts';
import { type Plane, savedProvider, startPlane, workspaceKey } from '../gateway-deps.ts';
import type { Json } from '../harness.ts';
import { lastCall, type SimulatedProvider, json as says, startProvider } from '../providers/simulated.ts';
import * as vertex from '../providers/vertex.ts';

let plane: Plane;
let provider: SimulatedProvider;

beforeEach(async () => {
  plane = startPlane();
  provider = await startProvider(says(200, { id: 'file-1', object: 'file' }));
});
afterEach(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await provider.stop();
});

const rule = (enabled: boolean) => ({ enabled, baseModel: null, customHost: null, customHeaders: {}, prices: null });
const onlySmall: Partial<SavedProvider> = { models: { allowAll: false, bySlug: new Map([['small', rule(true)]]) } };

const save = (id: string, more: Partial<SavedProvider> = onlySmall) =>
  plane.providers.set('a', savedProvider('a', { provider: id, customHost: provider.url, ...more }));

const messages = [{ role: 'user', content: 'Hi' }];
const row = (id: string, model: string, more: object = {}) => ({
  custom_id: id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model, messages, ...more },
});
const lines = (...rows: object[]) => rows.map((each) => JSON.stringify(each)).join('\n');

type Field = [name: string, value: string | File];
const file = (content: string): Field => ['file', new File([content], 'rows.jsonl')];
const purpose = (word = 'batch'): Field => ['purpose', word];

const upload = async (fields: Field[], path = '/v1/files') => {
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  const headers = { 'x-gw-api-key': workspaceKey, 'x-gw-provider': '@a' };
  const response = await fetch(plane.url + path, { method: 'POST', headers, body });
  return { status: response.status, error: ((await response.json()) as Json).error };
};
const order = async (body: object, path = '/v1/batches', headers = {}) => {
  const response = await plane.call(path, body, { 'x-gw-provider': '@a', ...headers });
  return { status: response.status, error: ((await response.json()) as Json).error };
};
const notAllowed = (where: string) => ({
  status: 403,
  error: {
    code: 'model_not_allowed',
    field: 'model',
    message: expect.stringContaining(`${where}: the model "large" is not enabled on provider "@a"`),
  },
});

describe('an upload that the provider reads itself', () => {
  beforeEach(() => void save('openai'));

  test('of models that are allowed arrives byte for byte', async () => {
    const content = lines(row('a', 'small'), row('b', 'small', { metadata: { model: 'large' } }));
    expect((await upload([purpose(), file(content)])).status).toBe(200);
    expect(lastCall(provider).body.toString()).toContain(`\r\n\r\n${content}\r\n--`);
    expect(lastCall(provider).headers['content-type']).toContain('multipart/form-data; boundary=');
  });

  test.each([
    ['says so before its file', (content: string) => [purpose(), file(content)]],
    ['says so behind its file', (content: string) => [file(content), purpose()]],
  ])('and %s is refused for a model that is not', async (_, form) => {
    const refused = await upload(form(lines(row('a', 'small'), row('b', 'large'))));
    expect(refused).toMatchObject(notAllowed('the row "b"'));
    expect(provider.calls).toEqual([]);
  });

  test('is refused however long the file is', async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => row(`row-${index}`, 'small'));
    expect(await upload([file(lines(...many, row('last', 'large'))), purpose()])).toMatchObject(
      notAllowed('the row "last"'),
    );
    expect(await upload([purpose(), file(lines(row('first', 'large'), ...many))])).toMatchObject(
      notAllowed('the row "first"'),
    );
    expect((await upload([file(lines(...many)), purpose()])).status).toBe(200);
    expect(provider.calls).toHaveLength(1);
  });

  test('for something else than a batch may hold anything', async () => {
    for (const form of [
      [purpose('user_data'), file(lines(row('a', 'large')))],
      [file('no JSON at all'), purpose('fine-tune')],
    ]) {
      expect((await upload(form as Field[])).status).toBe(200);
    }
  });

  test.each([
    ['two models', '{"custom_id":"a","body":{"model":"small","model":"large"}}', 'line 1 has a field twice'],
    ['no row', 'hello', 'line 1 is not a row of a batch'],
    ['a model of another provider', lines(row('a', '@b/large')), 'the row "a": the model names provider @b'],
  ])('that has %s in a row is refused', async (_, content, words) => {
    plane.providers.set('b', savedProvider('b'));
    const { status, error } = await upload([purpose(), file(content)]);
    expect([status, error.message]).toEqual([400, expect.stringContaining(words)]);
    expect(provider.calls).toEqual([]);
  });

  test('is looked at in every file that the form has', async () => {
    const form: Field[] = [purpose(), file(lines(row('a', 'small'))), file(lines(row('b', 'large')))];
    expect(await upload(form)).toMatchObject(notAllowed('the row "b"'));
  });

  test('is looked at also where it only passes through', async () => {
    const content = file(lines(row('b', 'large')));
    expect(await upload([purpose(), content], '/v1/proxy/files')).toMatchObject(notAllowed('the row "b"'));
  });

  test('is not looked at where every model is allowed', async () => {
    save('openai', {});
    expect((await upload([purpose(), file('hello')])).status).toBe(200);
    save('openai', { models: { allowAll: true, bySlug: new Map([['large', rule(false)]]) } });
    expect(await upload([purpose(), file(lines(row('a', 'large')))])).toMatchObject(notAllowed('the row "a"'));
  });
});

describe('rows that name their provider with the model', () => {
  const named = lines(
    row('a', '@a/small'),
    row('b', 'small', { metadata: { model: '@a/small' } }),
    row('ž', '@a/small', { user: '"@a/small"' }),
    row('d', '@elsewhere/small'),
  );
  const rowsOf = () => {
    const body = lastCall(provider).body.toString();
    return body
      .slice(body.indexOf('{"custom_id"'), body.lastIndexOf('}') + 1)
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const plain = [
    row('a', 'small'),
    row('b', 'small', { metadata: { model: '@a/small' } }),
    row('ž', 'small', { user: '"@a/small"' }),
    row('d', '@elsewhere/small'),
  ];

  test('arrive under the name that the provider knows, in a form of the same length', async () => {
    save('openai', {});
    const body = new FormData();
    body.append('file', new File([named], 'rows.jsonl'));
    body.append('purpose', 'batch');
    const form = new Response(body);
    const contentType = form.headers.get('content-type') ?? '';
    const bytes = await form.bytes();
    for (const piece of [1, 7, 100_000]) {
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += piece) controller.enqueue(bytes.subarray(at, at + piece));
          controller.close();
        },
      });
      const headers = { 'x-gw-api-key': workspaceKey, 'x-gw-provider': '@a', 'content-type': contentType };
      const response = await fetch(`${plane.url}/v1/files`, { method: 'POST', headers, body: stream });
      expect(response.status).toBe(200);
      expect(lastCall(provider).body.length).toBe(bytes.length);
      expect(rowsOf()).toEqual(plain);
    }
  });

  test('are judged by that name where models are restricted', async () => {
    const restricted: Partial<SavedProvider> = {
      models: {
        allowAll: false,
        bySlug: new Map([
          ['small', rule(true)],
          ['@elsewhere/small', rule(true)],
        ]),
      },
    };
    save('openai', restricted);
    expect((await upload([purpose(), file(named)])).status).toBe(200);
    expect(rowsOf()).toEqual(plain);
    expect(await upload([purpose(), file(lines(row('b', '@a/large')))])).toMatchObject(notAllowed('the row "b"'));
  });

  test('of another provider are refused, whatever models are allowed', async () => {
    save('openai', {});
    plane.providers.set('b', savedProvider('b'));
    const { status, error } = await upload([purpose(), file(lines(row('a', '@b/large')))]);
    expect([status, error.code]).toEqual([400, 'provider_conflict']);
  });
});

describe('an upload that the gateway rewrites', () => {
  test('for Vertex AI is refused with its row', async () => {
    save('vertex-ai', { ...onlySmall, fields: { ...vertex.settings, vertex_storage_bucket_name: 'rows-1' } });
    expect(await upload([purpose(), file(lines(row('a', 'small'), row('b', 'large')))])).toMatchObject(
      notAllowed('the row "b"'),
    );
  });

  test('for Bedrock is refused with its row', async () => {
    const fields = { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_s3_bucket: 'rows' };
    save('bedrock', { ...onlySmall, fields });
    expect(await upload([purpose(), file(lines(row('b', 'large')))])).toMatchObject(notAllowed('the row "b"'));
  });

  test('for AI Studio is refused with its row', async () => {
    save('google');
    expect(await upload([purpose(), file(lines(row('b', 'large')))])).toMatchObject(notAllowed('the row "b"'));
  });
});

describe('a batch', () => {
  test.each([
    ['rows of chat completions', { requests: [row('a', 'small'), row('b', 'large')] }],
    ['rows of messages', { requests: [{ custom_id: 'b', params: { model: '@a/large', max_tokens: 9, messages } }] }],
  ])('of Anthropic’s with %s is refused', async (_, body) => {
    save('anthropic');
    expect(await order(body)).toMatchObject(notAllowed('the row "b"'));
    expect(provider.calls).toEqual([]);
  });

  test('in Anthropic’s own dialect is refused, too', async () => {
    save('anthropic');
    const requests = [{ custom_id: 'b', params: { model: 'large', max_tokens: 9, messages } }];
    const version = { 'anthropic-version': '2023-06-01' };
    expect(await order({ requests }, '/v1/messages/batches', version)).toMatchObject({
      status: 403,
      error: { message: expect.stringContaining('the row "b": the model "large"') },
    });
    const twice = '{"requests":[{"custom_id":"b","params":{"model":"large","model":"small"}}]}';
    const answer = await plane.call('/v1/messages/batches', twice, { 'x-gw-provider': '@a', ...version });
    expect(answer.status).toBe(400);
    expect(provider.calls).toEqual([]);
  });

  test('for one model names an allowed one, wherever it names it', async () => {
    const fields = { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_s3_bucket: 'rows' };
    save('bedrock', { ...onlySmall, fields });
    const input_file_id = encodeURIComponent('s3://rows/gw/workspace-1/a.jsonl');
    const asked = { input_file_id, role_arn: 'arn:aws:iam::1:role/a', provider_options: { model: 'large' } };
    expect(await order(asked)).toMatchObject(notAllowed('the batch'));
  });
});
