/** PostgreSQL goes away under a running gateway and comes back. */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from './process.ts';
import { freePort } from './servers/free-port.ts';
import { newDatabase, postgresInstalled } from './servers/postgres.ts';

/** A line to PostgreSQL that the test can cut; cut, it refuses connections as a stopped server does. */
async function openLine(database: URL) {
  const open = new Set<Socket>();
  const port = await freePort();
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((near) => {
    const far = connect(Number(database.port), database.hostname);
    keep(near);
    keep(far);
    near.pipe(far).pipe(near);
  });
  const restore = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  };
  await restore();
  const url = new URL(database);
  url.port = String(port);
  return { url: url.href, cut, restore };
}

describe.if(postgresInstalled)('a gateway whose PostgreSQL goes away', () => {
  test('says so, stays up, recovers by itself, and still ends when told to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-outage-'));
    const line = await openLine(new URL(await newDatabase()));
    const served = await serve({ GW_DATA_DIR: folder, DATABASE_URL: line.url });
    const ask = (method: string, path: string) =>
      fetch(served.url + path, { method, headers: { 'x-gw-api-key': served.adminKey } });
    const recovered = async () => {
      while ((await ask('GET', '/v1/workspaces')).status !== 200) await Bun.sleep(20);
    };
    // Many at once, so that several connections lie idle when the line is cut.
    await Promise.all(Array.from({ length: 10 }, () => ask('GET', '/v1/workspaces')));

    await line.cut();
    const refused = await ask('GET', '/v1/workspaces');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ success: false, data: { errorCode: 'AB04' } });
    expect((await ask('GET', '/v1/health')).status).toBe(200);
    const call = await ask('GET', '/v1/models');
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
});
