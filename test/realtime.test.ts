/** Realtime sessions through the running program, with a real WebSocket client. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type SimulatedRealtime, startRealtime } from './providers/realtime.ts';
import { RealtimeClient } from './realtime-client.ts';
import { startWorld, type World } from './world.ts';

let provider: SimulatedRealtime;
let world: World;

beforeAll(async () => {
  provider = startRealtime();
  world = await startWorld({});
  await world.saveProvider('voice', 'openai', provider);
});

afterAll(async () => {
  await world.stop();
  await provider.stop();
});

const open = async (headers: Record<string, string>, protocols: string[] = []) => {
  const opening = provider.session();
  const address = `${world.gateway.url.replace('http', 'ws')}/v1/realtime?model=@voice/gpt-realtime`;
  const client = await RealtimeClient.open(address, headers, protocols);
  return { client, session: await opening };
};

test('a browser talks to a saved provider, and the talk is in the log with its cost', async () => {
  const protocols = ['realtime', `openai-insecure-api-key.${world.gateway.workspaceKey}`];
  const { client, session } = await open({ 'x-gw-trace-id': 'browser' }, protocols);
  expect(session.headers.authorization).toBe('Bearer sk-voice-secret');
  client.say({ type: 'response.create' });
  await client.event('response.done');
  client.socket.close();
  await client.closed;
  const [response, whole] = await world.records('browser', 2);
  expect(response).toMatchObject({ virtual_key: 'voice', total_units: 253, response_status_code: 200 });
  expect(response?.cost).toBeGreaterThan(0);
  expect(whole).toMatchObject({ response_status_code: 101, is_success: true, cost: 0 });
});

test('a key that is deleted ends the sessions that were opened with it', async () => {
  const workspaces = await world.gateway.get('/v1/workspaces');
  const made = await world.gateway.post('/v1/api-keys/workspace/service', {
    name: 'Short-lived',
    workspace_id: workspaces.body.data[0].id,
    scopes: ['completions.write'],
  });
  expect(made.status).toBe(200);
  const { client } = await open({ 'x-gw-api-key': made.body.key });
  expect((await world.gateway.delete(`/v1/api-keys/${made.body.id}`)).status).toBe(200);
  const speaking = setInterval(() => client.socket.send('speech'), 20);
  expect((await client.closed).code).toBe(4401);
  clearInterval(speaking);
});
