/** Who made a task is known to every process on the same store, at once and after a restart. */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTaskOwners } from '../../src/mcp/tasks/owners.ts';
import { onEachEngine, startGateway } from '../harness.ts';
import { addKey, addPerson, home } from '../people.ts';
import { serve } from '../process.ts';
import { newMigratedDatabase, postgresInstalled } from '../servers/postgres.ts';
import { askStateless } from './stateless-tasks.ts';
import { saveIntegration, startUpstream, trustLoopback } from './upstream.ts';

onEachEngine('the owner of a task', (start) => {
  test('is who claimed it first, in every process and after a restart', async () => {
    const gateway = await start();
    const { store } = gateway.app.services;
    const refused: unknown[] = [];
    const owners = () => createTaskOwners(store, gateway.clock, (fault) => void refused.push(fault));
    const first = owners();
    first.claim('server', 'task', { owner: 'user:ada', tool: 'work' });
    first.claim('server', 'task', { owner: 'user:grace', tool: 'work' });
    await first.close();
    const second = owners();
    second.claim('server', 'task', { owner: 'user:grace', tool: 'work' });
    await second.close();
    expect(await owners().of('server', 'task')).toEqual({ owner: 'user:ada', tool: 'work' });
    expect(await owners().of('another server', 'task')).toBeNull();
    expect(refused).toEqual([]);
    await gateway.stopWithoutFaults();
  });
});

onEachEngine('the result of a task', (start) => {
  test('is counted once, in every process and after a restart, and again where counting failed', async () => {
    const gateway = await start();
    const owners = () => createTaskOwners(gateway.app.services.store, gateway.clock, () => undefined);
    const facts = { owner: 'user:ada', tool: 'work' };
    let counts = 0;
    const count = async () => void counts++;
    const first = owners();
    const full = async () => {
      throw new Error('full');
    };
    await expect(first.countOnce('server', 'task', facts, full)).rejects.toThrow('full');
    await Promise.all([
      first.countOnce('server', 'task', facts, count),
      first.countOnce('server', 'task', facts, count),
    ]);
    await first.close();
    await owners().countOnce('server', 'task', facts, count);
    expect(counts).toBe(1);
    await owners().countOnce('another server', 'task', facts, count);
    expect(counts).toBe(2);
    expect(await owners().of('server', 'task')).toBeNull();
    await gateway.stopWithoutFaults();
  });
});

describe.if(postgresInstalled)('two processes on one PostgreSQL', () => {
  test('each knows at once who made a task at the other, and nobody else has it', async () => {
    const upstream = await startUpstream('task-server.ts');
    const env = {
      ...trustLoopback,
      DATABASE_URL: await newMigratedDatabase(),
      GW_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    const gateway = await startGateway(env);
    const otherFolder = mkdtempSync(join(tmpdir(), 'gw-test-'));
    const other = await serve({ ...env, GW_DATA_DIR: otherFolder });
    try {
      await saveIntegration(gateway, { slug: 'tasks', url: upstream.url });
      const { organisationId, workspaceId } = await home(gateway);
      const newKey = async () => {
        const workspaces = { [workspaceId]: 'member' } as const;
        const { userId } = await addPerson(gateway, organisationId, 'member', { workspaces });
        const scopes = ['mcp.invoke'] as const;
        const added = await addKey(gateway, { organisationId, workspaceId, userId, type: 'workspace-user', scopes });
        return added.secret;
      };
      const [ada, grace] = [await newKey(), await newKey()];
      const places = [gateway.url, other.url].map((url) => `${url}/tasks/mcp`);
      for (const [here = '', there = ''] of [places, places.toReversed()]) {
        const call = { name: 'slow_compute', arguments: { seconds: 60 } };
        const { result } = await askStateless(here, ada, 'tools/call', call);
        expect(result?.resultType).toBe('task');
        const taskId: string = result?.taskId;
        for (const method of ['tasks/get', 'tasks/cancel']) {
          const stolen = await askStateless(there, grace, method, { taskId });
          expect(stolen).toEqual(await askStateless(there, grace, method, { taskId: 'never' }));
          expect(stolen.error?.code).toBe(-32602);
        }
        expect((await askStateless(there, ada, 'tasks/get', { taskId })).result).toMatchObject({ status: 'working' });
        expect((await askStateless(there, ada, 'tasks/cancel', { taskId })).error).toBeUndefined();
        expect((await askStateless(here, ada, 'tasks/get', { taskId })).result.status).toBe('cancelled');
      }
    } finally {
      other.kill('SIGTERM');
      await other.ended;
      await gateway.stopWithoutFaults();
      rmSync(otherFolder, { recursive: true, force: true });
      upstream.stop();
    }
  });
});
