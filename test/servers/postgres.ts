/** A PostgreSQL server for the tests, started from the installed program on a free loopback port; one for each process of the run. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port.ts';
import { migrateAt } from './migrated.ts';

const binaries = findBinaries();

/** False where PostgreSQL is not installed; tests that need it are then skipped by name. */
export const postgresInstalled = binaries !== null;

let server: Promise<{ port: number }> | undefined;
let template: Promise<string> | undefined;

/** The address of a new, empty database. */
export const newDatabase = (): Promise<string> => createDatabase('');

/** The address of a new database that is at this program's schema version: a copy costs a tenth of the migrations. */
export async function newMigratedDatabase(): Promise<string> {
  template ??= migratedDatabase();
  return createDatabase(`template ${await template} strategy file_copy`);
}

async function createDatabase(options: string): Promise<string> {
  server ??= start();
  const { port } = await server;
  const name = `gw_${Bun.randomUUIDv7().replaceAll('-', '')}`;
  const client = new Client({ connectionString: address(port, 'postgres') });
  await client.connect();
  await client.query(`create database ${name} ${options}`);
  await client.end();
  return address(port, name);
}

/** The name of a database that nothing but its migrations have written to. */
async function migratedDatabase(): Promise<string> {
  const url = await newDatabase();
  await migrateAt({ engine: 'postgres', url });
  return new URL(url).pathname.slice(1);
}

const address = (port: number, database: string) => `postgres://gw@127.0.0.1:${port}/${database}`;

const keepWhilePipeIsOpen = `
folder=$1; shift
"$@" </dev/null &
cat >/dev/null
kill -QUIT "$(head -n 1 "$folder/data/postmaster.pid")"
wait
rm -rf "$folder"
`;

async function start(): Promise<{ port: number }> {
  if (!binaries) throw new Error('PostgreSQL is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'gw-postgres-'));
  const data = join(folder, 'data');
  const port = await freePort();
  // PostgreSQL refuses to run as root; Debian's package brings a user for it.
  const asUser = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];
  if (asUser.length > 0) spawnSync('chown', ['postgres', folder]);
  const run = (program: string, args: string[]): [string, string[]] => {
    const [first = program, ...rest] = [...asUser, join(binaries, program), ...args];
    return [first, rest];
  };
  const initialised = spawnSync(
    ...run('initdb', ['-D', data, '-U', 'gw', '--auth=trust', '--locale=C.UTF-8', '--no-sync']),
    { cwd: folder, encoding: 'utf8' },
  );
  if (initialised.status !== 0) throw new Error(`initdb failed: ${initialised.stderr}`);
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'fsync=off',
    'max_connections=200',
  ];
  const [program, args] = run('postgres', ['-D', data, '-p', String(port), ...settings.flatMap((s) => ['-c', s])]);
  // The pipe closes when this process ends, however it ends; then the server is told to end too.
  const keeper = spawn('sh', ['-c', keepWhilePipeIsOpen, 'sh', folder, program, ...args], {
    cwd: folder,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  keeper.unref();
  await untilReady(port);
  return { port };
}

async function untilReady(port: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = new Client({ connectionString: address(port, 'postgres') });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (attempt > 300) throw error;
      await Bun.sleep(50);
    }
  }
}

/** Debian keeps the server's programs out of PATH, by version. */
function findBinaries(): string | null {
  const versions = '/usr/lib/postgresql';
  if (existsSync(versions)) {
    const newest = readdirSync(versions)
      .sort((a, b) => Number(b) - Number(a))
      .find((version) => existsSync(join(versions, version, 'bin', 'initdb')));
    if (newest) return join(versions, newest, 'bin');
  }
  const onPath = Bun.which('initdb');
  return onPath ? join(onPath, '..') : null;
}
