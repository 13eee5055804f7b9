/** Processes under measurement: started, asked for their port, watched for what they use. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dir, '..');

export interface Child {
  pid: number;
  port: number;
  /** Everything that it printed until it was ready. */
  greeting: string;
  stop(): Promise<void>;
}

/** Starts a program and waits until it prints where it listens. */
export async function startChild(args: string[], env: Record<string, string> = {}): Promise<Child> {
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  let greeting = '';
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.on('data', (data) => {
      greeting += data;
      const match = /(?:listening at |serves at http:\/\/127\.0\.0\.1:)(\d+)/.exec(greeting);
      if (match) resolve(Number(match[1]));
    });
    void ended.then(() => reject(new Error(`${args.join(' ')} ended before it listened:\n${greeting}`)));
  });
  return {
    pid: child.pid ?? 0,
    port,
    greeting,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Where load goes: a program, and what each request to it carries. */
export interface Aim {
  child: Child;
  headers: Record<string, string>;
  model?: string;
}

/** The file that `npm start` runs. */
export const builtProgram = (): string =>
  execFileSync('node', ['scripts/program.mjs'], { cwd: root, encoding: 'utf8' });

const clockTicksPerSecond = 100;

/** User and system time of the whole process, all threads, in microseconds. */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond) * 1e6;
}

/** The same while nothing is asked of it, in microseconds a second: far less than the clock of above can tell. */
export async function idleMicroseconds(pid: number, ms: number): Promise<number> {
  const before = busyThreads(pid);
  await Bun.sleep(ms);
  let busy = 0;
  // One that ended meanwhile had little to do.
  for (const [thread, microseconds] of busyThreads(pid)) busy += microseconds - (before.get(thread) ?? microseconds);
  return (busy * 1_000) / ms;
}

function busyThreads(pid: number): Map<string, number> {
  const busy = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) busy.set(thread, nanosecondsOf(pid, thread) / 1_000);
  return busy;
}

function nanosecondsOf(pid: number, thread: number | string): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds);
}

/** The time of the processor that the thread of requests has used: what other processes take of a busy machine does not count. */
export const threadMilliseconds = (pid: number): number => nanosecondsOf(pid, pid) / 1e6;

export function residentMegabytes(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1] ?? 0) / 1024;
}
