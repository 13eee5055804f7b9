/** A provider that repeats the credential in its errors: neither the client nor the log sees it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { LogRecord } from '../../src/logs/record.ts';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';
import { startRealtime } from '../providers/realtime.ts';
import { type Behaviour, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startTokenServices } from '../providers/token-services.ts';
import { RealtimeClient } from '../realtime-client.ts';
import { startRealtimeWorld, workspaceKey } from '../realtime-world.ts';

const credential = 'sk-canary/"quoted"+0123456789abcdef';
const customValue = 'custom-canary-0123456789';
let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  plane = startPlane();
  provider = await startProvider();
  const customHeaders = { 'x-tenant-secret': customValue };
  for (const name of ['openai', 'anthropic', 'google']) {
    const saved = savedProvider(name, { provider: name, customHost: provider.url, credential, customHeaders });
    plane.providers.set(name, saved);
  }
});
afterAll(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await provider.stop();
});

const spellings = [credential, JSON.stringify(credential).slice(1, -1), encodeURIComponent(credential), customValue];
const words = `Wrong key ${credential} (${encodeURIComponent(credential)}), tenant ${customValue}`;

const textOf = (record: LogRecord): string => {
  const bodies = Object.values(record.bodies).map((message) => [
    Buffer.from(message?.body ?? []).toString(),
    message?.headers,
  ]);
  return JSON.stringify([record.metrics, bodies]);
};

/** What the client got and what was logged, once no spelling of the credential is in either. */
let loggedLast = '';
async function asked(path: string, slug: string, body: object, behaviour: Behaviour): Promise<string> {
  provider.script(behaviour);
  const response = await plane.call(path, body, { 'x-gw-provider': `@${slug}` });
  const told = `${response.status} ${JSON.stringify(Object.fromEntries(response.headers))} ${await response.text()}`;
  const logged = (await plane.settled()).map(textOf).join('\n');
  loggedLast = logged;
  expect(logged).not.toBe('');
  for (const secret of spellings) {
    expect(told).not.toContain(secret);
    expect(logged).not.toContain(secret);
    // As it stands inside a text that is JSON once more.
    expect(logged).not.toContain(JSON.stringify(secret).slice(1, -1));
  }
  return told;
}

const question = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
const send = (response: ServerResponse, status: number, type: string, body: string | Buffer, more = {}) => {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body), ...more });
  response.end(body);
};
const inError =
  (status: number): Behaviour =>
  (_, response) =>
    send(response, status, 'application/json', JSON.stringify({ error: { message: words, type: 'e', code: 401 } }), {
      'x-echo': `Bearer ${credential}`,
    });

const routes = [
  ['unary', '/v1/chat/completions', 'openai'],
  ['translated', '/v1/chat/completions', 'anthropic'],
  ['translated', '/v1/chat/completions', 'google'],
  ['messages', '/v1/messages', 'anthropic'],
  ['passed through', '/v1/proxy/anything', 'openai'],
] as const;

for (const [kind, path, slug] of routes) {
  test(`${kind}: an error of @${slug}`, async () => {
    const told = await asked(path, slug, question, inError(401));
    expect(told).toStartWith('401');
    expect(told).toContain('Wrong key ****');
  });
}

test('an error that comes packed, in pieces, on passthrough', async () => {
  const told = await asked('/v1/proxy/anything', 'openai', question, async (_, response) => {
    const packed = gzipSync(words);
    response.writeHead(403, { 'content-type': 'text/plain', 'content-encoding': 'gzip' });
    for (const byte of packed) response.write(Buffer.of(byte));
    response.end();
  });
  expect(told).toContain('Wrong key ****');
});

test('an error under the wrong status', async () => {
  expect(await asked('/v1/chat/completions', 'openai', question, inError(200))).toContain('Wrong key ****');
  expect(await asked('/v1/chat/completions', 'anthropic', question, inError(200))).toMatch(/^[45]/);
});

describe('an error inside a stream', () => {
  const stream = { ...question, stream: true };
  const events =
    (...data: string[]): Behaviour =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of data) response.write(event);
      response.end();
    };
  const chunk = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'Hel' } }] })}\n\n`;
  const fault = JSON.stringify({ type: 'error', error: { type: 'api_error', message: words } });

  test('at its beginning', async () => {
    expect(await asked('/v1/chat/completions', 'openai', stream, events(`data: ${fault}\n\n`))).toContain('****');
  });

  test('in its middle', async () => {
    expect(await asked('/v1/chat/completions', 'openai', stream, events(chunk, `data: ${fault}\n\n`))).toContain(
      'Wrong key ****',
    );
  });

  test('that is translated', async () => {
    const opening = `event: message_start\ndata: ${JSON.stringify({
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } },
    })}\n\n`;
    const behaviour = events(opening, `event: error\ndata: ${fault}\n\n`);
    expect(await asked('/v1/chat/completions', 'anthropic', stream, behaviour)).toContain('Wrong key ****');
    expect(await asked('/v1/messages', 'anthropic', stream, behaviour)).toContain('Wrong key ****');
  });
});

test('a token that was fetched for the call, in an error under the wrong status and inside a stream', async () => {
  const services = await startTokenServices((count) => ({
    token_type: 'Bearer',
    expires_in: 3599,
    access_token: `token-canary-${count}`,
  }));
  plane.deps.credentials = services.credentials({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1' }, {});
  const fields = {
    azure_auth_mode: 'entra',
    azure_entra_tenant_id: 't',
    azure_entra_client_id: 'c',
    azure_entra_client_secret: 's',
    azure_deployment_id: 'd',
  };
  const customHost = provider.url.replace(/\/v1$/, '/openai');
  plane.providers.set(
    'entra',
    savedProvider('entra', { provider: 'azure-openai', customHost, credential: null, fields }),
  );
  let sent = '';
  const echo =
    (form: (told: string) => { type: string; body: string }): Behaviour =>
    (request, response) => {
      sent = String(request.headers.authorization).replace('Bearer ', '');
      const { type, body } = form(JSON.stringify({ error: { message: `Wrong token ${sent}`, type: 'e' } }));
      send(response, 200, type, body);
    };
  const whole = echo((body) => ({ type: 'application/json', body }));
  const streamed = echo((told) => ({ type: 'text/event-stream', body: `data: ${told}\n\n` }));
  for (const [behaviour, stream] of [
    [whole, false],
    [streamed, true],
  ] as const) {
    sent = '';
    const told = await asked('/v1/chat/completions', 'entra', { ...question, stream }, behaviour);
    expect(sent).toMatch(/^token-/);
    expect(told).toContain('Wrong token *');
    expect(told).not.toContain(sent);
    expect(loggedLast).not.toContain(sent);
  }
  await services.service.stop();
});

test('an error inside a realtime session, and the reason of its end', async () => {
  const upstream = startRealtime();
  const world = startRealtimeWorld({ a: { url: upstream.url, more: { credential } } });
  const opening = upstream.session();
  const client = await RealtimeClient.open(`${world.socketUrl}?model=@a/gpt-realtime`, {
    'x-gw-api-key': workspaceKey,
  });
  const session = await opening;
  expect(session.headers.authorization).toContain(credential);
  session.socket.send(JSON.stringify({ type: 'error', error: { message: `Wrong key ${credential}` } }));
  expect(JSON.stringify(await client.event('error'))).toContain('Wrong key ****');
  session.socket.close(4001, `Wrong key ${credential}`);
  expect((await client.closed).reason).toStartWith('Wrong key ****');
  await world.idle();
  for (const spelling of spellings) expect(world.records.map(textOf).join('\n')).not.toContain(spelling);
  await world.stop();
  await upstream.stop();
});
