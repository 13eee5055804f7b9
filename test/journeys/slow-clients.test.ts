/** Clients that begin a body and do not end it: they are told so, and their connection is closed. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { IncomingMessage } from 'node:http';
import { type Plane, savedProvider, startPlane, workspaceKey } from '../gateway-deps.ts';
import * as openai from '../providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { openCall } from '../raw-client.ts';

let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  plane = startPlane({ settings: { bodyTimeout: 20 } });
  provider = await startProvider(openai.says('fine'));
  plane.providers.set('a', savedProvider('a', { provider: 'openai', customHost: provider.url }));
});
afterAll(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await provider.stop();
});

interface Ended {
  status: number;
  code: string;
}

/** Begins a body of this length and waits until the connection is closed. */
const begin = async (path: string, headers: Record<string, string>): Promise<Ended> => {
  const request = openCall(plane.url + path, { 'x-gw-api-key': workspaceKey, 'x-gw-provider': '@a', ...headers });
  const closed = new Promise<void>((resolve) => request.on('close', () => resolve()));
  const answered = new Promise<IncomingMessage>((resolve) => request.on('response', resolve));
  request.write('{');
  const response = await answered;
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  await closed;
  const { error } = JSON.parse(Buffer.concat(chunks).toString());
  return { status: response.statusCode ?? 0, code: error.code };
};

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'multipart/form-data; boundary=cut' };
const cases: [what: string, path: string, headers: Record<string, string>][] = [
  ['JSON of known length', '/v1/chat/completions', { ...json, 'content-length': '100' }],
  ['JSON of unknown length', '/v1/chat/completions', json],
  ['JSON that passes through', '/v1/proxy/anything', { ...json, 'content-length': '100' }],
  ['a form', '/v1/audio/transcriptions', { ...form, 'content-length': '100' }],
];
for (const [what, path, headers] of cases) {
  test(`${what} that never ends is given up`, async () => {
    expect(await begin(path, headers)).toEqual({ status: 408, code: 'body_too_slow' });
    expect(provider.calls).toEqual([]);
    const [record] = await plane.settled();
    expect(record?.metrics.response_status_code).toBe(408);
  });
}
