/** Another master key, on both engines, while the program serves: nothing is lost, nothing is left behind, and a kill costs nothing. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type Json, onEachEngine, type TestGateway } from '../../test/harness.ts';
import { masterKeyCommand } from '../master-key.ts';
import { learnMasterKeys, requireSameMasterKey } from './master-key.ts';
import { rotateMasterKey } from './rotate-master-key.ts';
import { createVault, masterKeyFrom } from './vault.ts';

onEachEngine('rotation of the master key', (start) => {
  let gateway: TestGateway;
  let workspaceId: string;
  beforeAll(async () => {
    gateway = await start();
    workspaceId = (await gateway.get('/v1/workspaces')).body.data[0].id;
    const key = 'sk-0123456789-the-provider-key';
    for (let index = 0; index < 205; index++) {
      await gateway.post('/v1/integrations', {
        name: `I ${index}`,
        ai_provider_id: 'openai',
        key: `${key}-${index}`,
        workspace_id: workspaceId,
      });
    }
    await gateway.post('/v1/configs', { name: 'C', workspace_id: workspaceId, config: { provider: '@i-0' } });
    await gateway.post('/v1/secret-references', {
      name: 'R',
      manager_type: 'environment',
      auth_config: {},
      secret_path: 'A',
    });
    await gateway.post('/v1/plugins', { id: 'lakera', credentials: { apiKey: 'lakera-key' } });
    await gateway.post('/v1/users/invites', { email: 'ada@example.com', role: 'member', workspaces: [] });
  });
  afterAll(() => gateway.stopWithoutFaults());

  const services = () => gateway.app.services;
  /** Every place of the whole database in which a value begins like this. */
  const valuesLike = async (beginning: string): Promise<string[]> => {
    const { db } = services().store;
    const tables = await db.introspection.getTables();
    const found: string[] = [];
    for (const { name, columns } of tables) {
      for (const column of columns.filter(({ dataType }) => dataType.toLowerCase() === 'text')) {
        const { rows } = await sql<{ total: number }>`select count(*) as total from ${sql.table(name)}
          where substr(${sql.ref(column.name)}, 1, ${beginning.length}) = ${beginning}`.execute(db);
        if (Number(rows[0]?.total) > 0) found.push(`${name}.${column.name}`);
      }
    }
    return found;
  };
  const readable = async (): Promise<Json> =>
    (await gateway.get('/v1/integrations?page_size=1000')).body.data.length > 0 &&
    (await gateway.get('/v1/integrations/i-204')).body.masked_key;

  const oldKey = () => Buffer.from(readFileSync(join(gateway.dataDir, 'master.key'), 'utf8'), 'hex');
  const opened = async (key: Buffer) => {
    const vault = createVault(key);
    await requireSameMasterKey(services().store, vault);
    return vault;
  };
  const printed: string[] = [];
  const run = (action: string, settings = services().settings) =>
    masterKeyCommand(
      settings,
      [action],
      (text) => void printed.push(text),
      async () => learnMasterKeys(services().store.db, services().vault),
    );

  test('a rotation that is killed leaves everything readable, under both keys, and goes on when it is begun again', async () => {
    const { store } = services();
    const current = oldKey();
    const next = masterKeyFrom('the next master key, which is long enough');
    let seen = 0;
    const killed = rotateMasterKey({
      store,
      current,
      next,
      now: () => new Date(),
      pause: async () => undefined,
      onProgress: () => {
        seen++;
        if (seen === 2) throw new Error('killed');
      },
    });
    expect(await killed.catch((fault) => fault.message)).toBe('killed');
    const marks = [createVault(current), createVault(next)].map(({ sealingKey }) => `v2.${sealingKey}`);
    for (const mark of marks) expect((await valuesLike(mark)).length).toBeGreaterThan(0);
    await learnMasterKeys(store.db, services().vault);
    expect(await readable()).toBe('sk*******04');
    for (const key of [current, next]) expect((await opened(key)).knows(createVault(next).sealingKey)).toBe(true);
    // What is saved now is under the next key, and a process that began with either reads it.
    await gateway.put('/v1/integrations/i-204', { key: 'sk-saved-meanwhile-000' });
    const { values } = await rotateMasterKey({
      store,
      current,
      next,
      now: () => new Date(),
      pause: async () => undefined,
      onProgress: () => undefined,
    });
    expect(values).toBeGreaterThan(0);
    expect(await valuesLike(marks[0] ?? '')).toEqual(['master_keys.wrapped']);
    expect(await readable()).toBe('sk*******00');
    // Back to the file's own key, so that the next test begins as an operator would.
    await rotateMasterKey({
      store,
      current: next,
      next: current,
      now: () => new Date(),
      pause: async () => undefined,
      onProgress: () => undefined,
    });
    await learnMasterKeys(store.db, services().vault);
    await store.db.deleteFrom('master_keys').execute();
    expect(await valuesLike(marks[1] ?? '')).toEqual([]);
  });

  test('gw master-key rotate makes a new key file, seals everything anew and leaves nothing under the old key', async () => {
    const before = oldKey();
    const mark = `v2.${createVault(before).sealingKey}`;
    await run('rotate');
    const after = oldKey();
    expect(after.equals(before)).toBe(false);
    expect(existsSync(join(gateway.dataDir, 'master.key.next'))).toBe(false);
    expect(printed.join('')).toContain('integrations.key_sealed: 205');
    expect(await valuesLike(mark)).toEqual([]);
    expect(await readable()).toBe('sk*******00');
    expect((await gateway.put('/v1/integrations/i-1', { key: 'sk-after-rotation-1234' })).status).toBe(200);
    await opened(after);
    expect(await opened(before).catch((fault) => fault.message)).toContain('another master key');
    printed.length = 0;
    await run('status');
    expect(printed.join('')).toBe(
      'The master key comes from master.key in the data folder.\nNo rotation is under way.\n0 sealed values are under another key.\n',
    );
  });

  test('a key of the environment is replaced in two steps, and the old one cannot end the rotation', async () => {
    const secret = 'a master key of the environment, long enough';
    const fromFile = services().settings;
    const next = { from: 'environment', secret } as const;
    await run('rotate', { ...fromFile, nextMasterKey: next });
    expect(await run('retire', fromFile).catch((fault) => fault.message)).toContain(
      'Another master key takes the place',
    );
    await run('retire', { ...fromFile, masterKey: next });
    await opened(masterKeyFrom(secret));
    expect(await opened(oldKey()).catch((fault) => fault.message)).toContain('another master key');
    expect(await readable()).toBe('sk*******00');
    const other = { ...fromFile, masterKey: next };
    expect(await run('rotate', other).catch((fault) => fault.message)).toContain('set GW_NEXT_MASTER_KEY');
    expect(await run('rotate', { ...other, nextMasterKey: next }).catch((fault) => fault.message)).toContain(
      'choose another',
    );
    expect(await run('dance', other).catch((fault) => fault.message)).toContain('gw master-key rotate');
  });
});
