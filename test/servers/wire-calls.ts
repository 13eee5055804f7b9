/** Calls over the wire, as short as tests want them. */
import type { ByteReader, WireAnswer } from '../../src/wire/client/answer.ts';
import { collected } from '../../src/wire/client/collected.ts';
import type { HttpClient } from '../../src/wire/client/http-client.ts';
import type { WireCall } from '../../src/wire/client/request.ts';

type Asked = Partial<Omit<WireCall, 'url'>> & { signal?: AbortSignal };

export const ask = (
  wire: HttpClient,
  url: string,
  { signal = new AbortController().signal, ...call }: Asked = {},
): Promise<WireAnswer> =>
  wire.call({ url, pinned: null, method: 'GET', headers: {}, unlessSaid: {}, body: null, ...call }, signal);

export const textOf = async ({ body }: WireAnswer): Promise<string> =>
  Buffer.from(body ? await collected(body, 1e9) : []).toString('latin1');

export const askText = async (wire: HttpClient, url: string, asked?: Asked): Promise<string> =>
  textOf(await ask(wire, url, asked));

export function bodyOf({ body }: WireAnswer): ByteReader {
  if (!body) throw new Error('an answer without a body');
  return body;
}

/** The code of the fault that a call ends with, or how it was told otherwise. */
export const faultOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'no fault',
    (fault) => (fault instanceof Error && 'code' in fault ? String(fault.code) : String(fault)),
  );

/** Resolves once something holds that others bring about. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
