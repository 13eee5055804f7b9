/** The program as an operator meets it: its commands, its faults in one line, its first and later starts, its end. */
import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, serve } from './process.ts';
import { newDatabase, postgresInstalled } from './servers/postgres.ts';

const folders: string[] = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-cli-'));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const oneLine = (text: string) => text.trim().split('\n').length === 1;

describe('commands', () => {
  test('--help lists every command and exits 0', async () => {
    const { code, stdout } = await run(['--help']);
    expect(code).toBe(0);
    for (const command of ['serve', 'migrate', 'keys', 'prices']) expect(stdout).toContain(`  ${command} `);
  });

  test('--version prints the release', async () => {
    const { code, stdout } = await run(['--version']);
    expect({ code, matches: /^\d+\.\d+\.\d+\n$/.test(stdout) }).toEqual({ code: 0, matches: true });
  });

  test.each([
    ['an unknown flag', ['serve', '--prot', '1'], '--prot'],
    ['an unknown command', ['srve'], 'srve'],
    ['a flag without its value', ['serve', '--port'], '--port'],
    ['a second command', ['serve', 'migrate'], 'migrate'],
  ])('%s is told in one line that names it, with exit code 1', async (_, args, named) => {
    const { code, stderr } = await run(args, { GW_DATA_DIR: newFolder() });
    expect(code).toBe(1);
    expect(stderr).toContain(named);
    expect(stderr).toContain('gw --help');
    expect(oneLine(stderr)).toBe(true);
  });

  test.each([
    ['PORT', 'eighty'],
    ['GW_ADMIN_API_KEY', 'short'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['TRUSTED_PROXIES', '10.0.0.0/8,proxy.local'],
  ])('a wrong %s is told in one line that names it', async (name, value) => {
    const { code, stderr } = await run(['serve'], { [name]: value, GW_DATA_DIR: newFolder() });
    expect(code).toBe(1);
    expect(stderr).toContain(name);
    expect(oneLine(stderr)).toBe(true);
  });
});

describe('starting', () => {
  test('a port that another gateway has taken is told in one line', async () => {
    const other = await serve({ GW_DATA_DIR: newFolder() });
    const { port } = new URL(other.url);
    const { code, stderr } = await run(['serve'], { PORT: port, GW_DATA_DIR: newFolder() });
    other.kill('SIGKILL');
    expect(code).toBe(1);
    expect(stderr).toContain(port);
    expect(oneLine(stderr)).toBe(true);
  });

  test('a first start that cannot listen shows the secrets that it made, and they work', async () => {
    const folder = newFolder();
    const other = await serve({ GW_DATA_DIR: newFolder() });
    const failed = await run(['serve'], { PORT: new URL(other.url).port, GW_DATA_DIR: folder });
    other.kill('SIGKILL');
    const adminKey = /admin key\s+(\S+)/.exec(failed.stdout)?.[1] ?? '';
    expect({ code: failed.code, urls: failed.stdout.includes('http') }).toEqual({ code: 1, urls: false });
    const served = await serve({ GW_DATA_DIR: folder });
    const answer = await fetch(`${served.url}/v1/workspaces`, { headers: { 'x-gw-api-key': adminKey } });
    expect(answer.status).toBe(200);
    served.kill('SIGTERM');
    await served.ended;
  });

  test.each([
    ['a file that is not there', 'TLS_KEY_PATH', undefined],
    ['a file without a key', 'TLS_KEY_PATH', 'no PEM'],
  ])('%s is told in one line that names %s', async (_, name, content) => {
    const path = join(newFolder(), 'tls.pem');
    if (content) writeFileSync(path, content);
    const { code, stderr } = await run(['serve'], {
      PORT: '0',
      GW_DATA_DIR: newFolder(),
      TLS_KEY_PATH: path,
      TLS_CERT_PATH: path,
    });
    expect(code).toBe(1);
    expect(stderr).toContain(`Wrong environment: ${name}`);
    expect(oneLine(stderr)).toBe(true);
  });

  test.each([
    ['203.0.113.1', 'Cannot listen at 203.0.113.1'],
    ['no-such-host.invalid', 'Cannot listen at no-such-host.invalid'],
    ['http://localhost', 'Wrong environment: HOST'],
    ['localhost:8787', 'Cannot listen at localhost:8787'],
  ])('an address that is not of this machine is told in one line: %s', async (host, words) => {
    const { code, stderr } = await run(['serve'], { PORT: '0', HOST: host, GW_DATA_DIR: newFolder() });
    expect(code).toBe(1);
    expect(stderr).toContain(words);
    expect(oneLine(stderr)).toBe(true);
  });

  test('a data folder that cannot be used is told in one line', async () => {
    const file = join(newFolder(), 'a-file');
    writeFileSync(file, '');
    const { code, stderr } = await run(['serve'], { PORT: '0', GW_DATA_DIR: join(file, 'data') });
    expect(code).toBe(1);
    expect(stderr).toContain('data folder');
    expect(oneLine(stderr)).toBe(true);
  });

  test('a database of a newer release is refused in one line', async () => {
    const folder = newFolder();
    expect((await run(['migrate'], { GW_DATA_DIR: folder })).code).toBe(0);
    const database = new Database(join(folder, 'state.db'));
    database.run("insert into schema_migrations values (9999, 'from the future', '2030-01-01T00:00:00.000Z')");
    database.close();
    const { code, stderr } = await run(['serve'], { PORT: '0', GW_DATA_DIR: folder });
    expect(code).toBe(1);
    expect(stderr).toContain('9999');
    expect(oneLine(stderr)).toBe(true);
  });

  test('a master key other than that of the first start is refused in one line', async () => {
    const folder = newFolder();
    const first = await serve({ GW_DATA_DIR: folder, GW_MASTER_KEY: 'a'.repeat(32) });
    first.kill('SIGKILL');
    await first.ended;
    const { code, stderr } = await run(['serve'], { PORT: '0', GW_DATA_DIR: folder, GW_MASTER_KEY: 'b'.repeat(32) });
    expect(code).toBe(1);
    expect(stderr).toContain('GW_MASTER_KEY');
    expect(oneLine(stderr)).toBe(true);
  });

  test('a PostgreSQL that does not answer is told in one line', async () => {
    const { code, stderr } = await run(['serve'], {
      PORT: '0',
      GW_DATA_DIR: newFolder(),
      DATABASE_URL: 'postgres://gw@127.0.0.1:1/gw',
    });
    expect(code).toBe(1);
    expect(stderr).toContain('DATABASE_URL');
    expect(oneLine(stderr)).toBe(true);
  });

  test.if(postgresInstalled)('a PostgreSQL without the named database is told in one line', async () => {
    const url = new URL(await newDatabase());
    url.pathname = '/nowhere';
    const { code, stderr } = await run(['serve'], { PORT: '0', GW_DATA_DIR: newFolder(), DATABASE_URL: url.href });
    expect(code).toBe(1);
    expect(stderr).toContain('nowhere');
    expect(stderr).toContain('DATABASE_URL');
    expect(oneLine(stderr)).toBe(true);
  });

  test('the first start prints working secrets, later ones print none', async () => {
    const folder = newFolder();
    const first = await serve({ GW_DATA_DIR: folder });
    const [command = ''] = /curl [\s\S]*?}'/.exec(first.greeting) ?? [];
    const curl = Bun.spawn(['sh', '-c', `${command} --silent`]);
    expect(JSON.parse(await new Response(curl.stdout).text())).toMatchObject({
      choices: [{ message: { content: 'You said: Hello' } }],
    });
    expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600);
    first.kill('SIGTERM');
    expect(await first.ended).toBe(0);

    const second = await serve({ GW_DATA_DIR: folder });
    expect(second.greeting).not.toContain('key');
    const health = await fetch(`${second.url}/v1/health`);
    expect(await health.json()).toMatchObject({ status: 'success' });
    second.kill('SIGTERM');
    expect(await second.ended).toBe(0);
  });

  test('chosen credentials are taken instead of generated ones', async () => {
    const chosen = 'chosen-admin-key-0123456789-abcdefghij';
    const password = 'a password that was chosen';
    const served = await serve({ GW_DATA_DIR: newFolder(), GW_ADMIN_API_KEY: chosen, GW_OWNER_PASSWORD: password });
    const answer = await fetch(`${served.url}/v1/workspaces`, { headers: { 'x-gw-api-key': chosen } });
    expect(answer.status).toBe(200);
    served.kill('SIGTERM');
    await served.ended;
    // Only what nobody could know otherwise is printed.
    expect(served.greeting).toMatch(/workspace key\s+[\w-]{40,}/);
    expect(served.greeting).not.toContain(chosen);
    expect(served.greeting).not.toContain(password);
  });

  test('gw password lets somebody in again, ends their sessions, and is in the audit trail', async () => {
    const folder = newFolder();
    const served = await serve({ GW_DATA_DIR: folder });
    const [, email = '', before = ''] = /console login\s+(\S+)\s+password\s+(\S+)/.exec(served.greeting) ?? [];
    const [, adminKey = ''] = /admin key\s+(\S+)/.exec(served.greeting) ?? [];
    const post = (path: string, body: object) =>
      fetch(served.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const { token } = (await (await post('/v1/auth/login', { email, password: before })).json()) as { token: string };
    const { code, stdout } = await run(['password', email.toUpperCase()], { GW_DATA_DIR: folder });
    expect(code).toBe(0);
    expect((await post('/v1/auth/login', { email, password: before })).status).toBe(401);
    expect((await post('/v1/auth/login', { email, password: stdout.trim() })).status).toBe(200);
    const self = await fetch(`${served.url}/v1/auth/self`, { headers: { authorization: `Bearer ${token}` } });
    expect(self.status).toBe(401);
    const moment = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const range = `start_time=${moment(-1)}&end_time=${moment(1)}`;
    const trail = await fetch(`${served.url}/v1/audit-logs?${range}&resource_type=user&action=update`, {
      headers: { 'x-gw-api-key': adminKey },
    });
    const rows = await trail.text();
    expect(rows).toContain('command line');
    expect(rows).not.toContain(stdout.trim());
    served.kill('SIGTERM');
    await served.ended;
  });

  test('gw owner gives an organisation an owner again, who need not have had an account', async () => {
    const folder = newFolder();
    const served = await serve({ GW_DATA_DIR: folder });
    const email = 'next@example.com';
    const { code, stdout } = await run(['owner', email], { GW_DATA_DIR: folder });
    expect({ code, named: stdout.includes(email) }).toEqual({ code: 0, named: true });
    const password = (await run(['password', email], { GW_DATA_DIR: folder })).stdout.trim();
    const login = await fetch(`${served.url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    const { token } = (await login.json()) as { token: string };
    const self = await fetch(`${served.url}/v1/auth/self`, { headers: { authorization: `Bearer ${token}` } });
    expect(await self.json()).toMatchObject({ organisation: { role: 'owner' } });
    served.kill('SIGTERM');
    await served.ended;
  });

  test.each([
    [['password'], 'e-mail address'],
    [['password', 'nobody@example.com'], 'nobody@example.com'],
    [['password', 'a@example.com', 'b@example.com'], 'e-mail address'],
    [['owner', 'no-address'], 'no-address'],
    [['owner', 'a@example.com', '--organisation', 'nowhere'], 'nowhere'],
  ])('gw %p is told in one line what is wrong', async (args, named) => {
    const { code, stderr } = await run(args, { GW_DATA_DIR: newFolder() });
    expect({ code, lines: oneLine(stderr) }).toEqual({ code: 1, lines: true });
    expect(stderr).toContain(named);
  });

  test('a second server on the same data folder is refused in one line that names the first', async () => {
    const folder = newFolder();
    const first = await serve({ GW_DATA_DIR: folder });
    const { code, stdout, stderr } = await run(['serve'], { PORT: '0', GW_DATA_DIR: folder });
    expect({ code, stdout, lines: oneLine(stderr) }).toEqual({ code: 1, stdout: '', lines: true });
    expect(stderr).toContain(folder);
    expect(stderr).toContain(`process ${first.pid} `);
    // A kill leaves no lock behind.
    first.kill('SIGKILL');
    await first.ended;
    const next = await serve({ GW_DATA_DIR: folder });
    next.kill('SIGTERM');
    expect(await next.ended).toBe(0);
  });

  test('every file of the data folder is its owner’s alone, also one of an earlier release', async () => {
    const folder = newFolder();
    await run(['migrate'], { GW_DATA_DIR: folder });
    chmodSync(join(folder, 'state.db'), 0o644);
    const served = await serve({ GW_DATA_DIR: folder });
    const [command = ''] = /curl [\s\S]*?}'/.exec(served.greeting) ?? [];
    await Bun.spawn(['sh', '-c', `${command} --silent`]).exited;
    const open = () =>
      readdirSync(folder, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile() && (statSync(join(entry.parentPath, entry.name)).mode & 0o077) !== 0)
        .map((entry) => entry.name);
    expect(open()).toEqual([]);
    served.kill('SIGTERM');
    await served.ended;
    expect(open()).toEqual([]);
    expect(statSync(folder).isDirectory() && existsSync(join(folder, 'state.db'))).toBe(true);
  });

  test('gw prices takes newer prices from a file, which a running server follows', async () => {
    const folder = newFolder();
    const env = { GW_DATA_DIR: folder };
    const served = await serve(env);
    const file = join(folder, 'prices.json');
    const model = { provider: 'openai', model: 'gpt-4o', pay_as_you_go: { request_token: { price: 0.5 } } };
    writeFileSync(file, JSON.stringify({ models: [model] }));
    expect(await run(['prices', 'update', file], env)).toMatchObject({ code: 0, stderr: '' });
    expect((await run(['prices', 'show', 'openai', 'gpt-4o'], env)).stdout).toContain('request_token\t0.5\n');
    const told = async () => {
      const answer = await fetch(`${served.url}/model-configs/pricing/openai/gpt-4o`);
      return ((await answer.json()) as { pay_as_you_go: { request_token: { price: number } } }).pay_as_you_go
        .request_token;
    };
    while ((await told()).price !== 0.5) await Bun.sleep(50);
    served.kill('SIGTERM');
    await served.ended;
  });

  test.each([
    ['nothing to do', ['prices'], 'gw prices update FILE'],
    ['a file that is not there', ['prices', 'update', 'no-such-file.json'], 'no-such-file.json'],
    ['a file that is none of prices', ['prices', 'update', 'package.json'], 'package.json'],
  ])('gw prices with %s is told in one line', async (_, args, named) => {
    const { code, stderr } = await run(args, { GW_DATA_DIR: newFolder() });
    expect({ code, one: oneLine(stderr) }).toEqual({ code: 1, one: true });
    expect(stderr).toContain(named);
  });

  test('gw keys makes an admin key that works', async () => {
    const folder = newFolder();
    const served = await serve({ GW_DATA_DIR: folder });
    const { stdout } = await run(['keys'], { GW_DATA_DIR: folder });
    const answer = await fetch(`${served.url}/v1/workspaces`, { headers: { 'x-gw-api-key': stdout.trim() } });
    expect(answer.status).toBe(200);
    served.kill('SIGTERM');
    await served.ended;
  });
});
