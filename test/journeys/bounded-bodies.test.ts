/** Bodies that would take more than their share of time or memory: refused early, and others are served meanwhile. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { countedFrom } from '../../src/gateway/request/body-budget.ts';
import { type Plane, savedProvider, startPlane, workspaceKey } from '../gateway-deps.ts';
import { bytes, json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { openCall } from '../raw-client.ts';

let plane: Plane;
let provider: SimulatedProvider;

const budget = 20 * countedFrom;

beforeAll(async () => {
  plane = startPlane({ settings: { bufferedBytes: budget } });
  provider = await startProvider(json(200, { ok: true }));
  plane.providers.set('a', savedProvider('a', { customHost: provider.url }));
  plane.providers.set('claude', savedProvider('claude', { provider: 'anthropic', customHost: provider.url }));
});
afterEach(() => {
  provider.script(json(200, { ok: true }));
});
afterAll(async () => {
  await plane.settled();
  expect([plane.faults, plane.deps.bodies.held]).toEqual([[], 0]);
  await plane.stop();
  await provider.stop();
});

const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const ask = async (body: unknown, slug = 'a', path = '/v1/chat/completions') => {
  const response = await plane.call(path, body, { 'x-gw-provider': `@${slug}` });
  const text = await response.text();
  const found = /"code":"(\w+)"/.exec(text);
  return { status: response.status, code: found?.[1] ?? null };
};

test('a request of very many fields is refused before it is parsed', async () => {
  const fields = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`).join();
  const { status, code } = await ask(`{"model":"m","messages":[],"metadata":{${fields}}}`);
  expect([status, code]).toEqual([400, 'invalid_body']);
});

const attacks: [what: string, text: string][] = [
  ['brackets', '['.repeat(1_000_000)],
  ['usage in brackets', `{"usage":${'['.repeat(1_000_000)}`],
];
for (const [what, text] of attacks) {
  test(`an answer of very many ${what} is nobody's answer, in any dialect`, async () => {
    for (const slug of ['a', 'claude']) {
      for (const status of [200, 400]) {
        const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
        provider.script(bytes(status, gzipSync(text), headers));
        const answer = await ask(question, slug);
        expect({ slug, status, told: answer.status >= 400 }).toEqual({ slug, status, told: true });
      }
    }
  });
}

test('bodies in memory have a share, and give it back', async () => {
  const large = JSON.stringify({ ...question, user: 'x'.repeat(6 * countedFrom) });
  let seen: () => void = () => undefined;
  let answer: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    seen = resolve;
  });
  provider.script(
    (_, response) => {
      answer = () => response.end('{"id":"x","choices":[]}');
      response.writeHead(200, { 'content-type': 'application/json' });
      seen();
    },
    json(200, { id: 'x', choices: [] }),
  );
  const first = ask(large);
  await arrived;
  expect(await ask(large)).toEqual({ status: 503, code: 'buffers_full' });
  expect((await ask(question)).status).toBe(200);
  answer();
  expect((await first).status).toBe(200);
  await plane.settled();
  expect((await ask(large)).status).toBe(200);
});

test('a body that does not say how long it is counts as it grows', async () => {
  const request = openCall(`${plane.url}/v1/chat/completions`, {
    'x-gw-api-key': workspaceKey,
    'x-gw-provider': '@a',
    'content-type': 'application/json',
    'transfer-encoding': 'chunked',
  });
  const status = new Promise<number>((resolve) => {
    request.on('response', (response) => resolve(response.statusCode ?? 0));
  });
  request.write('{"model":"m","user":"');
  for (let sent = 0; sent < 12; sent++) request.write('x'.repeat(countedFrom));
  expect(await status).toBe(503);
  request.destroy();
});

test('an answer counts until its client has taken it, or has left', async () => {
  const large = 64 * 1024 * 1024;
  const roomy = startPlane({ settings: { bufferedBytes: 4 * large } });
  roomy.providers.set('a', savedProvider('a', { customHost: provider.url }));
  const answer = Buffer.from(`{"id":"x","choices":[],"padding":"${'x'.repeat(large)}"}`);
  const held = async (isIt: (bytes: number) => boolean) => {
    while (!isIt(roomy.deps.bodies.held)) await new Promise((resolve) => setImmediate(resolve));
  };
  const slow = () => {
    const call = openCall(`${roomy.url}/v1/chat/completions`, {
      'x-gw-api-key': workspaceKey,
      'x-gw-provider': '@a',
      'content-type': 'application/json',
    });
    const begun = new Promise<IncomingMessage>((resolve) =>
      call.on('response', (response) => resolve(response.pause())),
    );
    call.end(JSON.stringify(question));
    return { call, begun };
  };
  provider.script(bytes(200, answer, { 'content-type': 'application/json' }));
  const first = slow();
  const response = await first.begun;
  await roomy.settled();
  expect(roomy.deps.bodies.held).toBeGreaterThanOrEqual(answer.length);
  let taken = 0;
  for await (const piece of response) taken += (piece as Buffer).length;
  expect([taken, response.headers['content-length']]).toEqual([answer.length, String(answer.length)]);
  await held((left) => left === 0);
  const second = slow();
  await second.begun;
  expect(roomy.deps.bodies.held).toBeGreaterThanOrEqual(answer.length);
  second.call.destroy();
  await held((left) => left === 0);
  await roomy.stop();
});
