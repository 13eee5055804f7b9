/** Alerts on limits: by mail through a real SMTP server, by signed webhook, once each, and what happens when nobody takes them. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { SMTPServer } from 'smtp-server';
import { type Json, startGateway, type TestGateway } from '../../test/harness.ts';
import { type Home, home } from '../../test/people.ts';
import { freePort } from '../../test/servers/free-port.ts';

interface Received {
  to: string[];
  text: string;
}

let gateway: TestGateway;
let place: Home;
let smtp: SMTPServer;
let mails: Received[] = [];
let isFull = false;
let hook: ReturnType<typeof Bun.serve>;
let calls: { headers: Headers; body: string }[] = [];
let hookStatus = 200;

beforeAll(async () => {
  const port = await freePort();
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => done(isFull ? new Error('452 mailbox full') : null),
    onData(stream, session, done) {
      let text = '';
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      stream.on('end', () => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => {
    smtp.listen(port, '127.0.0.1', resolve);
  });
  hook = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      calls.push({ headers: request.headers, body: await request.text() });
      return new Response(null, { status: hookStatus });
    },
  });
  gateway = await startGateway({
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    MAIL_FROM: 'gw@example.com',
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
  });
  place = await home(gateway);
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  await hook.stop(true);
  await new Promise<void>((resolve) => {
    smtp.close(resolve);
  });
});
beforeEach(async () => {
  await gateway.app.jobs.runOnce('mail');
  mails = [];
  calls = [];
  isFull = false;
  hookStatus = 200;
});

const policy = async (body: object): Promise<string> => {
  const made = await gateway.post('/v1/policies/usage-limits', {
    workspace_id: place.workspaceId,
    group_by: [{ key: 'metadata.run' }],
    type: 'requests',
    ...body,
  });
  expect(made.status).toBe(200);
  return made.body.id;
};
const call = async (run: string) => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-gw-api-key': gateway.workspaceKey,
      'content-type': 'application/json',
      'x-gw-metadata': JSON.stringify({ run }),
    },
    body: JSON.stringify({ model: '@sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }),
  });
  await response.text();
  return response.status;
};
const subjects = () => mails.map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1] ?? '').sort();

test('threshold and exhaustion are mailed and posted once each, and again when the limit was raised', async () => {
  const hooked = await gateway.post('/v1/webhooks', {
    url: `http://127.0.0.1:${hook.port}/alerts`,
    workspace_id: place.workspaceId,
  });
  expect(hooked.status).toBe(200);
  const { secret } = hooked.body;
  const id = await policy({
    name: 'Runs',
    conditions: [{ key: 'metadata.run', value: 'one' }],
    credit_limit: 3,
    alert_threshold: 2,
  });
  expect(await call('one')).toBe(200);
  await gateway.app.services.limits.flush();
  expect([await call('one'), await call('one'), await call('one')]).toEqual([200, 200, 412]);
  await gateway.app.services.limits.flush();
  await gateway.app.jobs.runOnce('usage-sync');
  await gateway.app.jobs.runOnce('mail');
  await gateway.app.jobs.runOnce('mail');
  expect(subjects()).toEqual([
    'The policy Runs (metadata.run:one) has reached its alert threshold',
    'The policy Runs (metadata.run:one) is used up',
  ]);
  expect(mails[0]?.to).toEqual([place.owner.email]);
  expect(mails[0]?.text).toContain('text/html');

  await gateway.app.jobs.runOnce('webhooks');
  await gateway.app.jobs.runOnce('webhooks');
  expect(calls.map(({ body }) => JSON.parse(body).type).sort()).toEqual(['usage.exhausted', 'usage.threshold_reached']);
  for (const { headers, body } of calls) {
    const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`;
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    expect(headers.get('webhook-signature')).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    expect(JSON.parse(body).data).toMatchObject({ scope: 'policy', id, value_key: 'metadata.run:one', limit: 3 });
  }
  await gateway.put(`/v1/policies/usage-limits/${id}`, { credit_limit: 4 });
  mails = [];
  expect([await call('one'), await call('one')]).toEqual([200, 412]);
  await gateway.app.services.limits.flush();
  await gateway.app.jobs.runOnce('mail');
  expect(subjects()).toHaveLength(2);
  await gateway.delete(`/v1/webhooks/${hooked.body.id}`);
});

test('a webhook that fails is called again later, and its calls can be seen', async () => {
  const hooked = await gateway.post('/v1/webhooks', {
    url: `http://127.0.0.1:${hook.port}/alerts`,
    events: ['usage.exhausted'],
  });
  hookStatus = 500;
  await policy({ conditions: [{ key: 'metadata.run', value: 'two' }], credit_limit: 1 });
  expect(await call('two')).toBe(200);
  await gateway.app.services.limits.flush();
  await gateway.app.jobs.runOnce('webhooks');
  await gateway.app.jobs.runOnce('webhooks');
  expect(calls).toHaveLength(1);
  const deliveries = async (): Promise<Json> =>
    (await gateway.get(`/v1/webhooks/${hooked.body.id}/deliveries`)).body.data;
  expect(await deliveries()).toMatchObject([
    { status: 'queued', attempts: 1, last_error: 'it answered with status 500' },
  ]);
  hookStatus = 204;
  gateway.clock.advance({ minutes: 2 });
  await gateway.app.jobs.runOnce('webhooks');
  expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 2, last_error: null }]);
  expect(calls[0]?.headers.get('webhook-id')).toBe(calls[1]?.headers.get('webhook-id') ?? '');
  await gateway.delete(`/v1/webhooks/${hooked.body.id}`);
});

test('an address that customers may not call is refused when it is saved', async () => {
  for (const url of ['http://169.254.169.254/latest', 'http://10.0.0.1/x', 'ftp://example.com']) {
    expect((await gateway.post('/v1/webhooks', { url })).status).toBe(400);
  }
});

test('a mail that the server does not take is tried again, and in the end an operator sees it and may send it once more', async () => {
  isFull = true;
  await gateway.post('/v1/users/invites', { email: 'late@example.com', role: 'member' });
  await gateway.app.jobs.runOnce('mail');
  const [waiting] = (await gateway.get('/v1/notices')).body.data;
  expect(waiting).toMatchObject({ status: 'queued', attempts: 1, last_error: expect.stringContaining('mailbox full') });
  for (let n = 0; n < 8; n++) {
    gateway.clock.advance({ hours: 13 });
    await gateway.app.jobs.runOnce('mail');
  }
  expect((await gateway.get('/v1/notices?status=failed')).body.data).toMatchObject([{ id: waiting.id, attempts: 8 }]);
  isFull = false;
  expect((await gateway.post(`/v1/notices/${waiting.id}/retry`)).status).toBe(200);
  await gateway.app.jobs.runOnce('mail');
  expect((await gateway.get('/v1/notices?status=sent')).body.data[0]).toMatchObject({ id: waiting.id });
  expect(mails.map(({ to }) => to)).toEqual([['late@example.com']]);
});

test('a key is warned about a day before it expires, once', async () => {
  const made = await gateway.post('/v1/api-keys/workspace/service', {
    name: 'Ends soon',
    workspace_id: place.workspaceId,
    scopes: ['completions.write'],
    expires_at: new Date(gateway.clock.now().getTime() + 12 * 3_600_000).toISOString(),
  });
  expect(made.status).toBe(200);
  await gateway.app.jobs.runOnce('key-expiry');
  await gateway.app.jobs.runOnce('key-expiry');
  await gateway.app.jobs.runOnce('mail');
  expect(subjects()).toEqual(['The API key Ends soon expires soon']);
});

test('a policy that resets every day starts anew at midnight, also when the job comes late', async () => {
  gateway.clock.moveTo('2032-02-28T22:00:00.000Z');
  const id = await policy({
    conditions: [{ key: 'metadata.run', value: 'daily' }],
    credit_limit: 1,
    periodic_reset_days: 1,
  });
  expect([await call('daily'), await call('daily')]).toEqual([200, 412]);
  gateway.clock.moveTo('2032-02-29T00:00:00.000Z');
  expect([await call('daily'), await call('daily')]).toEqual([200, 412]);
  gateway.clock.moveTo('2032-03-03T05:00:00.000Z');
  await gateway.app.jobs.runOnce('usage-reset');
  expect((await gateway.get(`/v1/policies/usage-limits/${id}`)).body).toMatchObject({
    next_usage_reset_at: '2032-03-04T00:00:00.000Z',
    last_reset_at: expect.stringContaining('2032-03-03T05:00'),
  });
  expect([await call('daily'), await call('daily')]).toEqual([200, 412]);
});
