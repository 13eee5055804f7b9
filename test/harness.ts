/** Starts the program inside the test on a free loopback port, with a data folder and a clock of its own, and talks to it over HTTP. */
import { describe, expect } from 'bun:test';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, type AppOptions, startApp } from '../src/app.ts';
import type { Clock } from '../src/clock.ts';
import { readEnvironment } from '../src/environment.ts';
import type { Log } from '../src/log.ts';
import type { LogRecord } from '../src/logs/record.ts';
import { migratedFile } from './servers/migrated.ts';
import { newMigratedDatabase, postgresInstalled } from './servers/postgres.ts';

/** The least that argon2id takes: no test is about how long a password is hashed. */
const passwordCost = { memoryCost: 8, timeCost: 1 };

export class TestClock implements Clock {
  #offsetMs = 0;

  now(): Date {
    return new Date(Date.now() + this.#offsetMs);
  }

  advance(by: { days?: number; hours?: number; minutes?: number; seconds?: number }): void {
    const { days = 0, hours = 0, minutes = 0, seconds = 0 } = by;
    this.#offsetMs += (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
  }

  /** Moves so that `now()` is this moment. */
  moveTo(moment: string): void {
    this.#offsetMs = Date.parse(moment) - Date.now();
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a reply is whatever the service sent; each test looks at the fields it is about.
export type Json = any;

interface Reply {
  status: number;
  headers: Headers;
  body: Json;
}

interface Ask {
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export class TestGateway {
  readonly app: App;
  readonly clock: TestClock;
  readonly dataDir: string;
  readonly adminKey: string;
  readonly workspaceKey: string;
  readonly owner: { email: string; password: string };
  /** Faults that the program logged; a test that expects none may check. */
  readonly faults: string[];
  /** The log records of calls, as they were written. */
  readonly records: LogRecord[];
  /** Every line that the program would have written to standard error. */
  readonly lines: readonly string[];

  constructor(
    app: App,
    clock: TestClock,
    dataDir: string,
    { faults, lines, records }: { faults: string[]; lines: string[]; records: LogRecord[] },
  ) {
    if (!app.firstStart) throw new Error('The data folder was not empty');
    this.app = app;
    this.clock = clock;
    this.dataDir = dataDir;
    this.faults = faults;
    this.records = records;
    this.lines = lines;
    this.adminKey = app.firstStart.adminKey;
    this.workspaceKey = app.firstStart.workspaceKey;
    this.owner = { email: app.firstStart.ownerEmail, password: app.firstStart.ownerPassword };
  }

  get url(): string {
    return this.app.url;
  }

  /** Asks with the admin key unless another credential is given; `key: ''` asks without any. */
  async ask(method: string, path: string, ask: Ask = {}): Promise<Reply> {
    const key = ask.key ?? this.adminKey;
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(key !== '' && { 'x-gw-api-key': key }),
        ...(ask.body !== undefined && { 'content-type': 'application/json' }),
        ...ask.headers,
      },
      ...(ask.body !== undefined && { body: typeof ask.body === 'string' ? ask.body : JSON.stringify(ask.body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : parse(text) };
  }

  get = (path: string, ask?: Ask) => this.ask('GET', path, ask);
  post = (path: string, body?: unknown, ask?: Ask) => this.ask('POST', path, { ...ask, body });
  put = (path: string, body?: unknown, ask?: Ask) => this.ask('PUT', path, { ...ask, body });
  delete = (path: string, body?: unknown, ask?: Ask) => this.ask('DELETE', path, { ...ask, body });

  async stop(): Promise<void> {
    await this.app.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** For suites that give the program no reason to log a fault. */
  async stopWithoutFaults(): Promise<void> {
    await this.stop();
    expect(this.faults).toEqual([]);
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export async function startGateway(
  env: Record<string, string> = {},
  more: Pick<AppOptions, 'names'> = {},
): Promise<TestGateway> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gw-test-'));
  if (env.DATABASE_URL === undefined) copyFileSync(await migratedFile(), join(dataDir, 'state.db'));
  const clock = new TestClock();
  const faults: string[] = [];
  const lines: string[] = [];
  const line = (message: string, fields?: object) => `${message} ${JSON.stringify(fields)}`;
  const log: Log = {
    info: (message, fields) => void lines.push(line(message, fields)),
    warn: (message, fields) => void lines.push(line(message, fields)),
    error: (message, fields) => {
      lines.push(line(message, fields));
      faults.push(line(message, fields));
    },
  };
  const settings = readEnvironment({
    PORT: '0',
    GW_DATA_DIR: dataDir,
    NODE_ENV: 'production',
    ADMIN_RATE_LIMIT: '0',
    ADMIN_SENSITIVE_RATE_LIMIT: '0',
    ...env,
  });
  const records: LogRecord[] = [];
  const watchLogs = (record: LogRecord) => void records.push(record);
  const app = await startApp(settings, { clock, log, checkReplies: true, watchLogs, passwordCost, ...more });
  // No name server is sure to answer where tests run.
  app.services.hostFault = async () => null;
  return new TestGateway(app, clock, dataDir, { faults, lines, records });
}

/** Runs a suite on the embedded store and, where it is installed, on PostgreSQL. */
export function onEachEngine(title: string, suite: (start: typeof startGateway) => void): void {
  describe(`${title} (SQLite)`, () => suite(startGateway));
  describe.if(postgresInstalled)(`${title} (PostgreSQL)`, () =>
    suite(async (env = {}) => startGateway({ DATABASE_URL: await newMigratedDatabase(), ...env })),
  );
}
