/** Fetches what URLs in a request point to, for providers that take bytes only. The addresses are the client's: they are checked like custom hosts, and bounded. */
import type { FetchedMedia } from '../providers/provider.ts';
import { GatewayError } from './errors.ts';
import type { Try } from './exchange.ts';
import { clientGone } from './journey.ts';
import type { Operation } from './operation.ts';
import { fetchPinned } from './send.ts';

const largestBytes = 32 * 1024 * 1024;
const mostAtOnce = 20;
const redirectsFollowed = 3;
const timeoutMs = 20_000;

export async function withMedia(call: Try, operation: Operation, urls: readonly string[]): Promise<Operation> {
  const distinct = [...new Set(urls)];
  if (distinct.length > mostAtOnce) {
    throw new GatewayError(
      'invalid_body',
      `at most ${mostAtOnce} different addresses of media can be fetched for a call`,
    );
  }
  const signal = AbortSignal.any([clientGone(call.journey), AbortSignal.timeout(timeoutMs)]);
  const fetched = await Promise.all(distinct.map((url) => fetchMedia(call, url, signal)));
  const media = new Map(distinct.flatMap((url, index) => (fetched[index] ? [[url, fetched[index]] as const] : [])));
  return { ...operation, facts: { ...operation.facts, media } };
}

async function fetchMedia({ parts }: Try, url: string, signal: AbortSignal): Promise<FetchedMedia> {
  let address = url;
  for (let hop = 0; hop <= redirectsFollowed; hop++) {
    const response = await fetchPinned(parts, address, { method: 'GET', signal, redirect: 'manual' }).catch((fault) => {
      if (fault instanceof GatewayError) throw fault;
      throw refused(url, 'it cannot be reached');
    });
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location) {
      address = URL.parse(location, address)?.href ?? '';
      continue;
    }
    if (!response.ok) throw refused(url, `its server answered ${response.status}`);
    const mime = response.headers.get('content-type')?.split(';', 1)[0]?.trim() || 'application/octet-stream';
    return { mime, base64: (await bounded(response, url)).toString('base64') };
  }
  throw refused(url, 'it redirects too often');
}

async function bounded(response: Response, url: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > largestBytes) throw refused(url, `it is larger than ${largestBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (fault) {
    throw fault instanceof GatewayError ? fault : refused(url, 'its server broke off');
  }
  return Buffer.concat(chunks);
}

const refused = (url: string, reason: string): GatewayError =>
  new GatewayError('invalid_body', `the media at ${url.slice(0, 200)} cannot be sent on: ${reason}`);
