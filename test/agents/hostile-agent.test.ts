/** Agents that misbehave: the client gets the exact error, nothing leaks, and nobody else notices. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startGateway, type TestGateway } from '../harness.ts';
import { saveAgent, startAgent, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let agent: UpstreamServer;
const canary = 'canary-credential-of-the-integration';

beforeAll(async () => {
  agent = await startAgent('hostile-agent.ts');
  gateway = await startGateway(trustLoopback);
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  agent.stop();
});

const fetchCard = (way: string) =>
  gateway.post('/v2/agent-integrations/fetch-agent-card', { endpoint: `${agent.url}/${way}` });

describe('a card', () => {
  test.each([
    ['of exactly 1 MB', 'fits'],
    ['at the second well-known path', 'second'],
  ])('%s is taken', async (_, way) => {
    expect(await fetchCard(way)).toMatchObject({ status: 200, body: { name: 'Hostile agent' } });
  });

  test.each([
    ['of a byte more', 'too-large', 400, 'larger than'],
    ['that is a list', 'array', 400, 'no JSON object'],
    ['without a name', 'nameless', 400, 'name'],
    ['without an address', 'addressless', 400, 'url'],
    ['that is a page', 'html', 400, 'no JSON'],
    ['that is nested without end', 'deep', 400, 'no JSON'],
    ['behind a redirect to a private host', 'private-redirect', 400, 'metadata'],
    ['that the agent refuses', 'refused', 502, 'status 503'],
  ])('%s is refused', async (_, way, status, words) => {
    const { status: got, body } = await fetchCard(way);
    expect(got).toBe(status);
    expect(body.data.message).toContain(words);
  });

  test('of an agent that cannot be reached is a 502', async () => {
    const asked = await gateway.post('/v2/agent-integrations/fetch-agent-card', { endpoint: 'http://127.0.0.1:9/x' });
    expect(asked.status).toBe(502);
  });

  test.each(['hanging', 'dripping'])('of an agent that is %s is given up, and a 504', async (way) => {
    const impatient = await startGateway({ ...trustLoopback, MCP_REQUEST_TIMEOUT_MS: '200' });
    try {
      const own = { key: impatient.workspaceKey };
      const endpoint = `${agent.url}/${way}`;
      expect((await impatient.post('/v2/agent-integrations/fetch-agent-card', { endpoint })).status).toBe(504);
      await saveAgent(impatient, { slug: 'hanging', url: endpoint });
      const { body } = await impatient.get('/v1/agent-integrations/hanging', own);
      expect(body).toMatchObject({ card_status: 'failed', card_error: expect.stringContaining('200 ms') });
      expect((await impatient.get('/v1/agent-servers/hanging/agent-card', own)).status).toBe(504);
      expect((await impatient.get('/v1/agent/hanging/.well-known/agent-card.json', own)).status).toBe(504);
    } finally {
      await impatient.stopWithoutFaults();
    }
  });

  test('of a server that is none is a 422, and a 502 for its clients', async () => {
    await saveAgent(gateway, { slug: 'no-card', url: `${agent.url}/html` });
    const own = { key: gateway.workspaceKey };
    expect((await gateway.get('/v1/agent-servers/no-card/agent-card', own)).status).toBe(422);
    expect((await gateway.get('/v1/agent/no-card/.well-known/agent-card.json', own)).status).toBe(502);
    const tried = await gateway.post('/v1/agent-servers/no-card/test', undefined, own);
    expect(tried).toMatchObject({ status: 200, body: { success: false, error: 'is no JSON' } });
  });
});

describe('an answer', () => {
  const ask = async (
    way: string,
    configurations: Record<string, unknown> = {},
    method = 'message/send',
    signal: AbortSignal | null = null,
  ) => {
    const slug = `bad-${way}`;
    const known = await gateway.get(`/v1/agent-servers/${slug}`, { key: gateway.workspaceKey });
    if (known.status === 404) {
      await saveAgent(gateway, {
        slug,
        url: `${agent.url}/${way}`,
        auth_type: 'headers',
        configurations: { headers: { 'x-agent-secret': canary }, ...configurations },
      });
    }
    const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hello' }] };
    return fetch(`${gateway.url}/v1/agent/${slug}`, {
      method: 'POST',
      headers: { 'x-gw-api-key': gateway.workspaceKey, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 5, method, params: { message } }),
      signal,
    });
  };

  test.each([
    ['that never comes', 'silent', 504, 'upstream_timeout', { timeout_ms: 300 }],
    ['without end', 'flood', 502, 'upstream_error', {}],
    ['that redirects to a private host', 'private-redirect', 502, 'upstream_error', {}],
    ['that is a page', 'html', 502, 'upstream_error', {}],
    ['that refuses our credential', 'unauthorized', 502, 'upstream_error', {}],
  ])('%s', async (_, way, status, code, configurations) => {
    const response = await ask(way, configurations);
    const text = await response.text();
    expect(response.status).toBe(status);
    expect(JSON.parse(text)).toMatchObject({ id: 5, error: { code: -32000, data: { code } } });
    expect(text).not.toContain('canary');
    expect(text).not.toContain(String(agent.port));
  });

  test('whose stream breaks ends in an error event, and what came before it is whole', async () => {
    const text = await (await ask('cut-stream', {}, 'message/stream')).text();
    const events = text.split('\n\n').filter((event) => event.startsWith('data: '));
    expect(events.map((event) => JSON.parse(event.slice(6)))).toMatchObject([
      { id: 5, result: { id: 'cut-task' } },
      { id: 5, error: { code: -32000, data: { code: 'upstream_error' } } },
    ]);
  });

  test('whose stream holds an event without end is given up', async () => {
    const text = await (await ask('flood-stream', {}, 'message/stream')).text();
    expect(JSON.parse(text.slice(6))).toMatchObject({ id: 5, error: { data: { code: 'upstream_error' } } });
  });

  test('that fails again and again opens the breaker, and others go on', async () => {
    const statuses: number[] = [];
    for (let call = 0; call < 6; call++) {
      const response = await ask('failing');
      statuses.push(response.status);
      await response.text();
    }
    expect(statuses.slice(0, 5).every((status) => status === 502)).toBe(true);
    expect(statuses.at(-1)).toBe(503);
    expect((await ask('echo')).status).toBe(200);
  });

  test('is tried once when the breaker has rested; a client that leaves decides nothing', async () => {
    const mood = (next: string) => fetch(`${agent.url}/mood/${next}`);
    const status = async () => (await ask('moody')).status;
    await mood('failing');
    for (let call = 0; call < 5; call++) expect(await status()).toBe(502);
    const refused = await ask('moody');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await refused.json()).toMatchObject({ id: 5, error: { code: -32000, data: { code: 'circuit_open' } } });
    gateway.clock.advance({ seconds: 31 });
    expect(await status()).toBe(502);
    expect(await status()).toBe(503);
    gateway.clock.advance({ seconds: 31 });
    await mood('silent');
    await fetch(`${agent.url}/seen`);
    const abort = new AbortController();
    const left = ask('moody', {}, 'message/send', abort.signal).catch(() => null);
    while (!(await (await fetch(`${agent.url}/seen`)).text()).includes('/moody')) await Bun.sleep(5);
    abort.abort();
    await left;
    await mood('echo');
    let answered = await status();
    // The gateway hears of the client's leaving a moment later.
    while (answered === 503) {
      await Bun.sleep(5);
      answered = await status();
    }
    expect(answered).toBe(200);
  });

  test('behind a redirect to another origin is asked for without the integration’s credentials', async () => {
    await fetch(`${agent.url}/seen`);
    expect((await ask('other-origin')).status).toBe(200);
    const seen = (await (await fetch(`${agent.url}/seen`)).json()) as { url: string; headers: object }[];
    expect(JSON.stringify(seen.find(({ url }) => url === '/other-origin'))).toContain(canary);
    expect(JSON.stringify(seen.find(({ url }) => url === '/echo'))).not.toContain(canary);
  });

  test('leaves the integration’s credential in no log record, no reply and no file', async () => {
    await (await ask('echo')).text();
    const kept = gateway.records.map(({ metrics, bodies }) => {
      const texts = Object.values(bodies).map((one) => [one?.headers, one?.body && Buffer.from(one.body).toString()]);
      return JSON.stringify([metrics, texts]);
    });
    expect(kept.join()).not.toContain(canary);
    const files = (folder: string): string[] =>
      readdirSync(folder).flatMap((name) => {
        const path = join(folder, name);
        return statSync(path).isDirectory() ? files(path) : [path];
      });
    for (const file of files(gateway.dataDir)) expect(readFileSync(file).includes(canary)).toBe(false);
    const { body } = await gateway.get('/v1/agent-integrations/bad-echo', { key: gateway.workspaceKey });
    expect(JSON.stringify(body)).not.toContain(canary);
  });
});
