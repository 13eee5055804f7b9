/** Runs the program as a process of its own, as an operator does. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import runtimeSettings from '../scripts/runtime-settings.json' with { type: 'json' };
import { lazy } from '../src/lazy.ts';

export const root = join(import.meta.dir, '..');

interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A command line before its arguments, and the folder that it runs in. */
export interface Command {
  words: readonly [string, ...string[]];
  folder: string;
}

/** The file that `npm start` runs, built from the sources as they are: it starts in half the time that the sources take. */
export const builtProgram = lazy((): string =>
  execFileSync('node', ['scripts/program.mjs'], { cwd: root, encoding: 'utf8' }),
);

const builtCommand = (): Command => ({ words: [process.execPath, builtProgram()], folder: root });

function launch(args: string[], env: Record<string, string>, { words, folder }: Command): ChildProcess {
  // Only what the program needs: a variable of the developer's shell must not reach a test.
  // With the settings that `npm start` hands it, too, so that it need not begin twice.
  const inherited = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...runtimeSettings };
  const [program, ...first] = words;
  const child = spawn(program, [...first, ...args], { cwd: folder, env: { ...inherited, ...env } });
  // A test that fails half-way must not leave its server behind.
  process.on('exit', () => child.kill('SIGKILL'));
  return child;
}

/** Runs a command to its end. */
export function run(args: string[], env: Record<string, string> = {}, command = builtCommand()): Promise<Finished> {
  const child = launch(args, env, command);
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

export interface Served {
  url: string;
  greeting: string;
  adminKey: string;
  workspaceKey: string;
  pid: number;
  /** What it has written to standard error. */
  log(): string;
  /** What it has written to standard output. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** The exit code; null when a signal ended it. */
  ended: Promise<number | null>;
}

/** Starts `gw serve` on a free port and waits until it says that it serves. */
export async function serve(env: Record<string, string>, command = builtCommand()): Promise<Served> {
  const child = launch(['serve'], { PORT: '0', ...env }, command);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  let stdout = '';
  let stderr = '';
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
      // The greeting comes in one piece and ends with an empty line on a first start.
      if (/serves at http\S+/.test(stdout)) resolve();
    });
    void ended.then((code) => reject(new Error(`gw ended with ${code} before it served: ${stderr}`)));
  });
  await ready;
  const url = /serves at (http\S+)/.exec(stdout)?.[1] ?? '';
  const key = (name: string) => new RegExp(`${name} key\\s+(\\S+)`).exec(stdout)?.[1] ?? '';
  return {
    url,
    greeting: stdout,
    adminKey: key('admin'),
    workspaceKey: key('workspace'),
    pid: child.pid ?? 0,
    log: () => stderr,
    output: () => stdout,
    kill: (signal) => void child.kill(signal),
    ended,
  };
}

/** Saves a provider of the OpenAI kind that is found at this address. */
export async function saveProvider({ url, workspaceKey }: Served, slug: string, customHost: string): Promise<void> {
  const saved = await fetch(`${url}/v1/integrations`, {
    method: 'POST',
    headers: { 'x-gw-api-key': workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: slug,
      slug,
      ai_provider_id: 'openai',
      key: 'sk-0123456789',
      configurations: { custom_host: customHost },
    }),
  });
  if (saved.status !== 200) throw new Error(`The provider was not saved: ${await saved.text()}`);
}
