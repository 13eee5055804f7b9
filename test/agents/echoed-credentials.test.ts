/** An agent that repeats the credential in errors under the status of a success: neither the client nor the log sees it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { saveAgent, trustLoopback } from './upstream.ts';

const secret = 'canary-0123456789';
const other = 'custom-canary-42';

interface Asked {
  id: number;
  params: { message: { parts: { text: string }[] } };
}

/** Answers with the headers that came, in the way that the message says. */
function answerTo({ id, params }: Asked, headers: Headers): Response {
  const words = `you said ${headers.get('authorization')} and ${headers.get('x-tenant')}`;
  const way = params.message.parts[0]?.text ?? '';
  const rpc = (more: object) => ({ jsonrpc: '2.0', id, ...more });
  const failure = rpc({ error: { code: -32000, message: words, data: { echoed: words } } });
  const message = rpc({
    result: { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: words }] },
  });
  const events = (...all: object[]) =>
    new Response(all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    });
  if (way === 'error') return Response.json(failure);
  if (way === 'error-event') return events(failure);
  if (way === 'late-error-event') return events(rpc({ result: { kind: 'message', parts: [] } }), failure);
  return Response.json(message);
}

const ways: [way: string, concealed: boolean][] = [
  ['error', true],
  ['error-event', true],
  ['late-error-event', true],
  ['result', false],
];

let gateway: TestGateway;
const agent = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method !== 'POST') return new Response(null, { status: 404 });
    return answerTo((await request.json()) as Asked, request.headers);
  },
});

beforeAll(async () => {
  gateway = await startGateway(trustLoopback);
  await saveAgent(gateway, {
    slug: 'echo',
    url: `http://127.0.0.1:${agent.port}`,
    auth_type: 'headers',
    configurations: { headers: { authorization: `Bearer ${secret}`, 'x-tenant': other } },
  });
});

afterAll(async () => {
  await gateway.stopWithoutFaults();
  await agent.stop(true);
});

test.each(ways)('%s: concealed is %p', async (way, concealed) => {
  const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: way }] };
  const response = await fetch(`${gateway.url}/v1/agent/echo`, {
    method: 'POST',
    headers: { 'x-gw-api-key': gateway.workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 5,
      method: way.endsWith('event') ? 'message/stream' : 'message/send',
      params: { message },
    }),
  });
  expect(response.status).toBe(200);
  const told = await response.text();
  const logged = Buffer.from(gateway.records.at(-1)?.bodies.response?.body ?? []).toString();
  expect(told).toContain('you said ');
  expect(logged).toContain('you said ');
  for (const value of [secret, other]) {
    expect([told.includes(value), logged.includes(value)]).toEqual([!concealed, !concealed]);
  }
});
