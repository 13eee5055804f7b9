/** The command line: serve, migrate, keys, prices, prompts. */
// Before everything else, since nothing of it is needed should the program begin again.
import { parseArgs } from 'node:util';
import { makeOwner, resetPassword } from './account-recovery.ts';
import { type App, startApp } from './app.ts';
import { systemClock } from './clock.ts';
import { FolderTakenError } from './data-folder.ts';
import { EnvironmentError, readEnvironment, type Settings } from './environment.ts';
import { KmsError } from './gateway/credentials/kms.ts';
import { firstSecrets, greeting } from './greeting.ts';
import { CannotListenError } from './http/server.ts';
import { MasterKeyError, masterKeyCommand } from './master-key.ts';
import { openState } from './open-services.ts';
import { PricesError, pricesCommand } from './prices.ts';
import { promptsCommand } from './prompts/files/command.ts';
import { PromptFilesError } from './prompts/files/file.ts';
import { mintRecoveryKey } from './recovery.ts';
import { WrongMasterKeyError } from './store/master-key.ts';
import { NewerSchemaError } from './store/migrate.ts';
import { isAway } from './store/unavailable.ts';
import { version } from './version.ts';

const help = `gw ${version} - an AI gateway with its administration service

Usage: gw <command> [options]

Commands
  serve          start the gateway, the administration service and the console
  migrate        bring the database to this release's schema and exit
  keys           make a new admin key for the first organisation and print it (for lost keys)
  password EMAIL give a person a new password, end their sessions, and print it
  owner EMAIL    make a person an owner of the organisation (--organisation, where there are several)
  master-key     rotate: put another master key in the place of the present one; retire; status
  prices         update FILE: take newer prices from a file; show PROVIDER MODEL; reset
  prompts        export FOLDER, import FOLDER: prompts as files, through the server at GW_URL with GW_API_KEY

Options
  --port <n>         port to listen on (PORT, 8787)
  --host <address>   address to listen on (HOST, 127.0.0.1)
  --data-dir <path>  folder of the embedded databases and the key file (GW_DATA_DIR, ./data)
  --organisation <id or slug>  the organisation that owner is about
  --workspace <id or slug>     the workspace that prompts is about, for keys that have none
  --draft, --dry-run           prompts import: publish nothing; change nothing and tell what would be done
  --help             show this
  --version          show the release

Everything else is set by environment variables; docs/configuration.md lists them.
`;

/** A fault of the operator's, told in one line. */
class UsageError extends Error {}

async function main(argv: string[]): Promise<void> {
  const { command, rest, options } = readCommandLine(argv);
  if (options.version) return print(`${version}\n`);
  if (options.help || command === undefined) return print(help);
  const settings = readEnvironment({
    ...process.env,
    ...(options.port !== undefined && { PORT: options.port }),
    ...(options.host !== undefined && { HOST: options.host }),
    ...(options['data-dir'] !== undefined && { GW_DATA_DIR: options['data-dir'] }),
  });
  if (command === 'serve') return serve(settings);
  if (command === 'migrate') return migrateAndReport(settings);
  if (command === 'keys') return print(await mintRecoveryKey(settings));
  if (command === 'password') return print(await resetPassword(settings, soleArgument(command, rest)));
  if (command === 'owner') {
    return print(await makeOwner(settings, soleArgument(command, rest), options.organisation));
  }
  if (command === 'master-key') return masterKeyCommand(settings, rest, print);
  if (command === 'prices') return print(await pricesCommand(settings, rest));
  if (command === 'prompts') {
    const { workspace, draft = false, 'dry-run': dryRun = false } = options;
    return print(await promptsCommand(settings, rest, { workspace, draft, dryRun }));
  }
  throw new UsageError(`Unknown command ${command}; gw --help lists the commands.`);
}

/** Commands that are told more than their name. */
const withArguments: ReadonlySet<string | undefined> = new Set([
  'password',
  'owner',
  'prices',
  'prompts',
  'master-key',
]);

function soleArgument(command: string, [argument, ...more]: string[]): string {
  if (argument !== undefined && more.length === 0) return argument;
  throw new UsageError(`gw ${command} needs one e-mail address; gw --help shows the usage.`);
}

function readCommandLine(argv: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        'data-dir': { type: 'string' },
        organisation: { type: 'string' },
        workspace: { type: 'string' },
        draft: { type: 'boolean' },
        'dry-run': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    });
    const [command, ...rest] = positionals;
    if (rest.length > 0 && !withArguments.has(command))
      throw new UsageError(`Unexpected argument ${rest[0]}; gw --help shows the usage.`);
    return { command, rest, options: values };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new UsageError(`${reason}; gw --help lists the options.`);
  }
}

async function serve(settings: Settings): Promise<void> {
  const app = await started(settings);
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    await app.stop();
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop());
  if (process.env.npm_lifecycle_event !== undefined) onOrphaned(() => void stop());
  process.on('SIGINT', () => {
    // Whoever presses it again wants no goodbye.
    if (stopping) process.exit(130);
    const { requests } = app;
    if (requests > 0)
      process.stderr.write(`gw: finishing ${counted(requests, 'request')}; press Ctrl-C again to end at once.\n`);
    void stop();
  });
  // Whoever reads it may ask us to end at once.
  print(greeting(app));
}

const orphanCheckMs = 1_000;

/** npm waits for what it started, and cannot hand on a signal that kills it: the program then ends by itself. */
function onOrphaned(end: () => void): void {
  const parent = process.ppid;
  const checking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(checking);
    end();
  }, orphanCheckMs);
  checking.unref();
}

/** A first start that makes its secrets and then cannot listen shows them all the same: nobody can later. */
async function started(settings: Settings): Promise<App> {
  let secrets = '';
  try {
    return await startApp(settings, { onFirstStart: (made) => (secrets = firstSecrets(made)) });
  } catch (error) {
    print(secrets);
    throw error;
  }
}

async function migrateAndReport(settings: Settings): Promise<void> {
  const { store, migration } = await openState(settings, systemClock);
  await store.close();
  const { from, to } = migration;
  print(from === to ? `The schema is at version ${to} already.\n` : `The schema went from version ${from} to ${to}.\n`);
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function print(text: string): void {
  process.stdout.write(text);
}

/** These say in their own words what to do. */
const operatorFaults = [
  UsageError,
  PricesError,
  PromptFilesError,
  MasterKeyError,
  KmsError,
  EnvironmentError,
  CannotListenError,
  FolderTakenError,
  NewerSchemaError,
  WrongMasterKeyError,
];

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Faults that the operator can mend are told in one line that says how; anything else keeps its trace. */
function explain(error: unknown): string {
  if (operatorFaults.some((kind) => error instanceof kind)) return messageOf(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const message = messageOf(error);
  if (code === 'EADDRINUSE') return `${message}; stop the other program or choose another port with --port or PORT.`;
  if (typeof code !== 'string') return traceOf(error);
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT', 'ENOSPC'].includes(code)) {
    return `The data folder cannot be used (${message}); make it writable or choose another with --data-dir or GW_DATA_DIR.`;
  }
  if (/^SQLITE_(CANTOPEN|READONLY|NOTADB|CORRUPT|FULL|IOERR)/.test(code)) {
    return `The database in the data folder cannot be used (${message}); check the folder's rights, or choose another with --data-dir.`;
  }
  if (code.startsWith('SQLITE_BUSY')) {
    return `Another program holds the database in the data folder (${message}); end it, or choose another with --data-dir.`;
  }
  // 28: not let in; 3D: no such database.
  if (isAway(error) || /^(28|3D)...$/.test(code))
    return `PostgreSQL does not serve us (${message}); check DATABASE_URL.`;
  return traceOf(error);
}

const traceOf = (error: unknown): string => (error instanceof Error && error.stack ? error.stack : String(error));

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`gw: ${explain(error)}\n`);
  process.exit(1);
});
