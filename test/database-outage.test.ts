/** PostgreSQL goes away under a running gateway and comes back. */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from './process.ts';
import { freePort } from './servers/free-port.ts';
import { newMigratedDatabase, postgresInstalled } from './servers/postgres.ts';

/**
 * A line to PostgreSQL that the test can cut and freeze: cut, it refuses connections as a stopped server does; frozen, it
 * takes them and whatever is said, and answers nothing, as a server does whose processes are stopped.
 */
async function openLine(database: URL) {
  const open = new Set<Socket>();
  const port = await freePort();
  let frozen = false;
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const carry = (from: Socket, to: Socket) => {
    from.on('data', (bytes) => void to.write(bytes));
    from.on('close', () => to.destroy());
    if (frozen) from.pause();
  };
  const server = createServer((near) => {
    const far = connect(Number(database.port), database.hostname);
    keep(near);
    keep(far);
    carry(near, far);
    carry(far, near);
  });
  const freeze = () => {
    frozen = true;
    for (const socket of open) socket.pause();
  };
  const thaw = () => {
    frozen = false;
    for (const socket of open) socket.resume();
  };
  const restore = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  };
  await restore();
  const url = new URL(database);
  url.port = String(port);
  return { url, cut, restore, freeze, thaw };
}

describe.if(postgresInstalled)('a gateway whose PostgreSQL goes away', () => {
  test('says so, stays up, recovers by itself, and still ends when told to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-outage-'));
    const line = await openLine(new URL(await newMigratedDatabase()));
    const served = await serve({ GW_DATA_DIR: folder, DATABASE_URL: line.url.href });
    const ask = (method: string, path: string, key = served.adminKey) =>
      fetch(served.url + path, { method, headers: { 'x-gw-api-key': key } });
    const recovered = async () => {
      while ((await ask('GET', '/v1/workspaces')).status !== 200) await Bun.sleep(20);
    };
    const models = () => ask('GET', '/v1/models', served.workspaceKey);
    expect((await models()).status).toBe(200);
    // Many at once, so that several connections lie idle when the line is cut.
    await Promise.all(Array.from({ length: 10 }, () => ask('GET', '/v1/workspaces')));

    await line.cut();
    const refused = await ask('GET', '/v1/workspaces');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ success: false, data: { errorCode: 'AB04' } });
    expect((await ask('GET', '/v1/health')).status).toBe(200);
    // Who was seen before goes on; of anyone else nothing is known.
    expect((await models()).status).toBe(200);
    const call = await ask('GET', '/v1/models', 'gw-unseen-0123456789012345678901234567890');
    expect([call.status, await call.json()]).toMatchObject([503, { error: { code: 'store_unavailable' } }]);

    await line.restore();
    await recovered();

    // A refusal is on its way into the audit trail when the line is cut for good.
    const rejected = ask('POST', '/v1/workspaces');
    await line.cut();
    await rejected;
    served.kill('SIGTERM');
    expect(await served.ended).toBe(0);
    rmSync(folder, { recursive: true, force: true });
  }, 30_000);

  test('is answered 503 while it is silent, and served as before once it speaks again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-silence-'));
    const line = await openLine(new URL(await newMigratedDatabase()));
    line.url.searchParams.set('query_timeout', '500');
    const served = await serve({ GW_DATA_DIR: folder, DATABASE_URL: line.url.href });
    const ask = (method: string, path: string, body?: object) =>
      fetch(served.url + path, {
        method,
        headers: { 'x-gw-api-key': served.adminKey, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    // More than the pool holds, so that all its connections are there when the server falls silent.
    await Promise.all(Array.from({ length: 20 }, () => ask('GET', '/v1/workspaces')));

    line.freeze();
    const refusals = await Promise.all([
      ask('GET', '/v1/workspaces'),
      ask('POST', '/v1/workspaces', { name: 'asked of a silent store' }),
      ...Array.from({ length: 20 }, () => ask('GET', '/v1/api-keys')),
    ]);
    expect(new Set(refusals.map((answer) => answer.status))).toEqual(new Set([503]));
    expect(await refusals[0]?.json()).toMatchObject({ success: false, data: { errorCode: 'AB04' } });
    expect((await ask('GET', '/v1/health')).status).toBe(200);

    line.thaw();
    while ((await ask('GET', '/v1/workspaces')).status !== 200) await Bun.sleep(20);
    expect((await ask('POST', '/v1/workspaces', { name: 'asked again' })).status).toBe(200);
    const all = await Promise.all(Array.from({ length: 20 }, () => ask('GET', '/v1/workspaces')));
    expect(new Set(all.map((answer) => answer.status))).toEqual(new Set([200]));

    line.freeze();
    served.kill('SIGTERM');
    expect(await served.ended).toBe(0);
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);
});
