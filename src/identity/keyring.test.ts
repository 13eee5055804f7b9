/** The keyring: who stands behind a key, from memory where possible, and never longer than it is true. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onEachEngine, startGateway, type TestGateway } from '../../test/harness.ts';
import { addKey, addPerson, addWorkspace, archiveWorkspace, type Home, home } from '../../test/people.ts';
import { newMigratedDatabase, postgresInstalled } from '../../test/servers/postgres.ts';
import { startApp } from '../app.ts';
import { readEnvironment } from '../environment.ts';
import { silentLog } from '../log.ts';
import type { Change, ChangeFeed, ChangeListener } from '../store/changes.ts';
import type { Db } from '../store/database.ts';
import { createKeyring } from './keyring.ts';
import { digestOf } from './secrets.ts';

onEachEngine('the keyring', (start) => {
  let gateway: TestGateway;
  let place: Home;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
  });

  afterAll(() => gateway.stop());

  const db = () => gateway.app.services.store.db;

  /** A keyring of its own on the program's store and feed, with the statements that it made. */
  const watched = (more: { feed?: ChangeFeed; capacity?: number } = {}) => {
    const counted = countStatements(db());
    const feed = more.feed ?? gateway.app.services.feed;
    return { keyring: createKeyring(counted.db, feed, gateway.clock, more), statements: counted.statements };
  };
  const adminKey = () =>
    addKey(gateway, { ...place, workspaceId: null, type: 'organisation-service', scopes: ['audit_logs.list'] });
  const userKey = (userId: string, workspaceId = place.workspaceId) =>
    addKey(gateway, {
      ...place,
      workspaceId,
      userId,
      type: 'workspace-user',
      scopes: ['completions.write', 'configs.create'],
    });
  const announce = (...changes: Change[]) => gateway.app.services.feed.announce(changes);

  describe('finding', () => {
    test('each kind of key has its rights where it belongs', async () => {
      const { keyring } = watched();
      const admin = await keyring.find(gateway.adminKey);
      expect(admin).toMatchObject({ kind: 'admin-key', workspaceId: null, userId: null });
      expect(admin?.rights.everyWorkspace?.has('configs.create')).toBe(true);
      expect(admin?.rights.organisation.has('workspaces.create')).toBe(true);
      const workspace = await keyring.find(gateway.workspaceKey);
      expect(workspace).toMatchObject({ kind: 'workspace-key', workspaceId: place.workspaceId });
      expect(workspace?.rights.organisation.size).toBe(0);
      expect([...(workspace?.rights.workspaces.keys() ?? [])]).toEqual([place.workspaceId]);
      const person = await addPerson(gateway, place.organisationId, 'member', {
        workspaces: { [place.workspaceId]: 'member' },
      });
      const user = await keyring.find((await userKey(person.userId)).secret);
      expect(user).toMatchObject({ kind: 'user-key', userId: person.userId });
      // A member may not write configs, so neither may their key, whatever it was given.
      expect([...(user?.rights.workspaces.get(place.workspaceId) ?? [])]).toEqual(['completions.write']);
    });

    test('a key seen before is found without a query', async () => {
      const { keyring, statements } = watched();
      const key = await adminKey();
      const first = await keyring.find(key.secret);
      expect(statements()).toBe(1);
      expect(await keyring.find(key.secret)).toBe(first);
      expect(statements()).toBe(1);
    });

    test('an unknown key is nobody, and is looked for again the next time', async () => {
      const { keyring, statements } = watched();
      expect(await keyring.find('unknown')).toBeNull();
      expect(await keyring.find('unknown')).toBeNull();
      expect(statements()).toBe(2);
    });

    test('no more keys are remembered than there is room for; the oldest goes', async () => {
      const { keyring, statements } = watched({ capacity: 2 });
      const keys = [await adminKey(), await adminKey(), await adminKey()];
      for (const key of keys) await keyring.find(key.secret);
      expect(statements()).toBe(3);
      await keyring.find(keys[2]?.secret ?? '');
      await keyring.find(keys[1]?.secret ?? '');
      expect(statements()).toBe(3);
      await keyring.find(keys[0]?.secret ?? '');
      expect(statements()).toBe(4);
    });

    test.each(['expired', 'archived'] as const)('a key that is %s is refused', async (status) => {
      const key = await adminKey();
      await db().updateTable('api_keys').set({ status }).where('id', '=', key.id).execute();
      expect(await watched().keyring.find(key.secret)).toBeNull();
    });

    test('an exhausted key is found and says so', async () => {
      const key = await adminKey();
      await db().updateTable('api_keys').set({ status: 'exhausted' }).where('id', '=', key.id).execute();
      expect((await watched().keyring.find(key.secret))?.exhausted).toBe(true);
    });
  });

  describe('forgetting', () => {
    test('a change notice about the key, its owner, its workspace or its organisation makes it forgotten', async () => {
      const { keyring, statements } = watched();
      const person = await addPerson(gateway, place.organisationId, 'admin');
      const key = await userKey(person.userId);
      await keyring.find(key.secret);
      const about: Change[] = [
        { topic: 'api_key', id: key.id },
        { topic: 'user', id: person.userId },
        { topic: 'workspace', id: place.workspaceId },
        { topic: 'organisation', id: place.organisationId },
      ];
      for (const [index, change] of about.entries()) {
        announce(change);
        await keyring.find(key.secret);
        expect(statements()).toBe(index + 2);
      }
      announce({ topic: 'api_key', id: Bun.randomUUIDv7() });
      await keyring.find(key.secret);
      expect(statements()).toBe(about.length + 1);
    });

    test('a look-up that a change overtook is not remembered', async () => {
      const { keyring, statements } = watched();
      const key = await adminKey();
      const underway = keyring.find(key.secret);
      announce({ topic: 'api_key', id: key.id });
      await underway;
      await keyring.find(key.secret);
      expect(statements()).toBe(2);
    });

    test('while notices may be missed nothing is believed, and everything is asked anew', async () => {
      const feed = unreliableFeed();
      const { keyring, statements } = watched({ feed });
      const key = await adminKey();
      await keyring.find(key.secret);
      feed.live = false;
      await keyring.find(key.secret);
      await keyring.find(key.secret);
      expect(statements()).toBe(3);
      feed.live = true;
      feed.tell('all');
      await keyring.find(key.secret);
      await keyring.find(key.secret);
      expect(statements()).toBe(4);
    });
  });

  describe('time', () => {
    test('a remembered key is refused from the moment it expires, without a query', async () => {
      const { keyring, statements } = watched();
      const expiresAt = new Date(gateway.clock.now().getTime() + 60_000).toISOString();
      const key = await addKey(gateway, { ...place, type: 'workspace-service', scopes: ['logs.view'], expiresAt });
      expect(await keyring.find(key.secret)).not.toBeNull();
      gateway.clock.advance({ minutes: 1 });
      expect(await keyring.find(key.secret)).toBeNull();
      expect(statements()).toBe(1);
    });

    test('both secrets of a rotating key are good until the transition ends, then only the new one', async () => {
      const { keyring } = watched();
      const key = await adminKey();
      const ends = new Date(gateway.clock.now().getTime() + 30 * 60_000).toISOString();
      await db()
        .updateTable('api_key_secrets')
        .set({ transition_expires_at: ends })
        .where('digest', '=', digestOf(key.secret))
        .execute();
      const renewed = `renewed ${key.secret}`;
      const old = await db()
        .selectFrom('api_key_secrets')
        .selectAll()
        .where('api_key_id', '=', key.id)
        .executeTakeFirstOrThrow();
      await db()
        .insertInto('api_key_secrets')
        .values({ ...old, digest: digestOf(renewed), transition_expires_at: null })
        .execute();
      const keyIds = async () => [(await keyring.find(key.secret))?.keyId, (await keyring.find(renewed))?.keyId];
      expect(await keyIds()).toEqual([key.id, key.id]);
      announce({ topic: 'api_key', id: key.id });
      expect(await keyIds()).toEqual([key.id, key.id]);
      gateway.clock.advance({ minutes: 30 });
      expect(await keyIds()).toEqual([undefined, key.id]);
      await db().updateTable('api_keys').set({ status: 'archived' }).where('id', '=', key.id).execute();
      announce({ topic: 'api_key', id: key.id });
      expect(await keyIds()).toEqual([undefined, undefined]);
    });

    test('a secret that was marked as expired is refused', async () => {
      const key = await adminKey();
      await db().updateTable('api_key_secrets').set({ status: 'EXPIRED' }).where('api_key_id', '=', key.id).execute();
      expect(await watched().keyring.find(key.secret)).toBeNull();
    });
  });

  describe('what a key depends on', () => {
    test("a demoted owner's key loses the rights that the owner lost", async () => {
      const { keyring } = watched();
      const person = await addPerson(gateway, place.organisationId, 'admin', {
        workspaces: { [place.workspaceId]: 'member' },
      });
      const key = await userKey(person.userId);
      const scopes = async () => [
        ...((await keyring.find(key.secret))?.rights.workspaces.get(place.workspaceId) ?? []),
      ];
      expect(await scopes()).toEqual(['completions.write', 'configs.create']);
      expect((await gateway.put(`/v1/users/${person.userId}`, { role: 'member' })).status).toBe(200);
      expect(await scopes()).toEqual(['completions.write']);
    });

    test("a removed owner's key is refused", async () => {
      const { keyring } = watched();
      const person = await addPerson(gateway, place.organisationId, 'admin');
      const key = await userKey(person.userId);
      expect(await keyring.find(key.secret)).not.toBeNull();
      expect((await gateway.delete(`/v1/users/${person.userId}`)).status).toBe(200);
      expect(await keyring.find(key.secret)).toBeNull();
    });

    test('keys of an archived workspace are refused', async () => {
      const { keyring } = watched();
      const workspace = await addWorkspace(gateway, place.organisationId, 'Closing');
      const service = await addKey(gateway, {
        ...place,
        workspaceId: workspace.id,
        type: 'workspace-service',
        scopes: ['logs.view'],
      });
      const user = await userKey(place.owner.userId, workspace.id);
      expect(await keyring.find(service.secret)).not.toBeNull();
      expect(await keyring.find(user.secret)).not.toBeNull();
      await archiveWorkspace(gateway, workspace.id);
      announce({ topic: 'workspace', id: workspace.id });
      expect(await keyring.find(service.secret)).toBeNull();
      expect(await keyring.find(user.secret)).toBeNull();
    });
  });
});

describe.if(postgresInstalled)('two nodes on one PostgreSQL', () => {
  test('a key revoked on one is refused on the other within a second', async () => {
    const DATABASE_URL = await newMigratedDatabase();
    const GW_MASTER_KEY = 'one key for both nodes, as the manual says';
    const one = await startGateway({ DATABASE_URL, GW_MASTER_KEY });
    const folder = mkdtempSync(join(tmpdir(), 'gw-second-node-'));
    const settings = readEnvironment({ PORT: '0', GW_DATA_DIR: folder, DATABASE_URL, GW_MASTER_KEY });
    const two = await startApp(settings, { clock: one.clock, log: silentLog, checkReplies: true });
    try {
      const { organisationId, workspaceId } = await home(one);
      const person = await addPerson(one, organisationId, 'admin');
      const admin = await addKey(one, {
        organisationId,
        type: 'organisation-service',
        scopes: ['organisation_users.list'],
      });
      const user = await addKey(one, {
        organisationId,
        workspaceId,
        userId: person.userId,
        type: 'workspace-user',
        scopes: ['completions.write'],
      });
      const onTwo = async (key: string) =>
        (await fetch(`${two.url}/v1/users`, { headers: { 'x-gw-api-key': key } })).status;
      // Known on the second node, one let in and one not; both are remembered there from now on.
      expect(await onTwo(admin.secret)).toBe(200);
      expect(await onTwo(user.secret)).toBe(403);
      expect((await one.delete(`/v1/api-keys/${admin.id}`)).status).toBe(200);
      expect((await one.delete(`/v1/users/${person.userId}`)).status).toBe(200);
      const revokedAt = performance.now();
      for (const key of [admin.secret, user.secret]) {
        let status = await onTwo(key);
        while (status !== 401 && performance.now() - revokedAt < 1_000) status = await onTwo(key);
        expect(status).toBe(401);
      }
    } finally {
      await two.stop();
      await one.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

function countStatements(db: Db): { db: Db; statements(): number } {
  let count = 0;
  const counting = db.withPlugin({
    transformQuery({ node }) {
      count++;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return { db: counting, statements: () => count };
}

/** A feed that can lose its connection, as PostgreSQL's can. */
function unreliableFeed(): ChangeFeed & { live: boolean; tell(changes: 'all'): void } {
  const listeners: ChangeListener[] = [];
  const tell = (changes: readonly Change[] | 'all') => {
    for (const listener of listeners) listener(changes);
  };
  return {
    live: true,
    subscribe: (listener) => void listeners.push(listener),
    publish: async () => undefined,
    announce: tell,
    tell,
    close: async () => undefined,
  };
}
