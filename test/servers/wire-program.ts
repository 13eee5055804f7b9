/** Makes calls over the wire in a process of its own, whose environment says whom to trust and which proxy to ask. */
import { join } from 'node:path';
import type { Pinned } from '../../src/wire/client/address.ts';
import { HttpClient } from '../../src/wire/client/http-client.ts';
import { ask, faultOf, textOf } from './wire-calls.ts';

interface ToldCall {
  url: string;
  pinned?: Pinned;
  method?: string;
  headers?: Record<string, string>;
  /** How many bytes to send. */
  size?: number;
}

/** For each call, one after the other: the text of its answer, or the code of its fault. */
export async function callsIn(env: Record<string, string>, ...calls: ToldCall[]): Promise<string[]> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(calls)], {
    cwd: join(import.meta.dir, '../..'),
    env: { PATH: process.env.PATH ?? '', ...env },
    stderr: 'pipe',
  });
  const [told, failed] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if (failed) throw new Error(failed);
  return JSON.parse(told);
}

async function outcomeOf(wire: HttpClient, { url, size, ...asked }: ToldCall): Promise<string> {
  const body = size === undefined ? null : Buffer.alloc(size, 'x');
  const call = ask(wire, url, { ...asked, body }).then(textOf);
  return call.catch(() => faultOf(call));
}

if (import.meta.main) {
  const wire = new HttpClient(process.env);
  const outcomes: string[] = [];
  for (const call of JSON.parse(process.argv[2] ?? '[]')) outcomes.push(await outcomeOf(wire, call));
  process.stdout.write(JSON.stringify(outcomes));
  wire.close();
}
