/** Jobs of the agent gateway: cards are fetched anew, and owners of tasks are forgotten in the end. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { saveAgent, startAgent, trustLoopback, type UpstreamServer } from '../../test/agents/upstream.ts';
import { startGateway, type TestGateway } from '../../test/harness.ts';
import { storeOf } from '../../test/people.ts';
import { createTaskOwnerJob } from './task-owners.ts';

let gateway: TestGateway;
let agent: UpstreamServer;

beforeAll(async () => {
  agent = await startAgent('changing-agent.ts');
  gateway = await startGateway(trustLoopback);
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  agent.stop();
});

describe('stored cards', () => {
  const become = (card: object) => fetch(`${agent.url}/become`, { method: 'POST', body: JSON.stringify(card) });
  const own = () => ({ key: gateway.workspaceKey });
  const read = async () => (await gateway.get('/v1/agent-integrations/changing', own())).body;
  const skills = async () => (await gateway.get('/v1/agent-servers/changing/skills', own())).body.data;

  test('are fetched anew once they are an hour old, and not before', async () => {
    const card = { name: 'First', url: agent.url, skills: [{ id: 'one', name: 'One' }] };
    await become(card);
    await saveAgent(gateway, { slug: 'changing', url: agent.url });
    await become({ ...card, name: 'Second', skills: [{ id: 'two', name: 'Two' }] });
    await gateway.app.jobs.runOnce('agent-cards');
    expect((await read()).agent_card.name).toBe('First');
    gateway.clock.advance({ minutes: 61 });
    await gateway.app.jobs.runOnce('agent-cards');
    expect((await read()).agent_card.name).toBe('Second');
    expect(await skills()).toMatchObject([
      { id: 'one', missing_since: expect.any(String) },
      { id: 'two', missing_since: null },
    ]);
  });

  test('stay when the agent has none to give, which is told, and are asked for again an hour later', async () => {
    await become([]);
    gateway.clock.advance({ minutes: 61 });
    await gateway.app.jobs.runOnce('agent-cards');
    expect(await read()).toMatchObject({ agent_card: { name: 'Second' }, card_status: 'failed' });
    await become({ name: 'Third', url: agent.url });
    await gateway.app.jobs.runOnce('agent-cards');
    expect((await read()).agent_card.name).toBe('Second');
    gateway.clock.advance({ minutes: 61 });
    await gateway.app.jobs.runOnce('agent-cards');
    expect(await read()).toMatchObject({ agent_card: { name: 'Third' }, card_status: 'fetched', card_error: null });
  });

  test('forget a skill, with its switches, a month after the agent has', async () => {
    gateway.clock.advance({ days: 31 });
    await gateway.app.jobs.runOnce('agent-cards');
    expect(await skills()).toEqual([]);
  });
});

describe('owners of tasks', () => {
  const add = (key: string, ageInDays: number) => {
    const created_at = new Date(gateway.clock.now().getTime() - ageInDays * 86_400_000).toISOString();
    const row = { key, workspace_id: 'w', owner: 'key:k', created_at };
    return storeOf(gateway).db.insertInto('agent_owners').values(row).execute();
  };
  const keys = async () =>
    (await storeOf(gateway).db.selectFrom('agent_owners').select('key').orderBy('key').execute()).map(({ key }) => key);

  test('are forgotten after 90 days, and the oldest where there are too many', async () => {
    for (const [key, age] of [
      ['a', 91],
      ['b', 89],
      ['c', 2],
      ['d', 1],
    ] as const) {
      await add(key, age);
    }
    await gateway.app.jobs.runOnce('task-owners');
    expect(await keys()).toEqual(['b', 'c', 'd']);
    await createTaskOwnerJob({ store: storeOf(gateway) }, 2).run(gateway.clock.now());
    expect(await keys()).toEqual(['c', 'd']);
  });
});
