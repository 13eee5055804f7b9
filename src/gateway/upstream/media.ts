/** Fetches what URLs in a request point to, for providers that take bytes only. The addresses are the client's: they are checked like custom hosts, and bounded. */
import type { FetchedMedia } from '../../providers/provider.ts';
import type { Abortable } from '../../wire/abort.ts';
import { isOk, type WireAnswer } from '../../wire/client/answer.ts';
import { decodedBody } from '../../wire/client/decoded.ts';
import { WireFault } from '../../wire/fault.ts';
import { type AttemptContext, holdFor } from '../attempt/context.ts';
import type { Operation } from '../attempt/operation.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import type { HoldBytes } from '../request/body-budget.ts';
import { countedWhole } from './counted-body.ts';
import { marked } from './host-guard.ts';
import { checked, unlessSaid } from './send.ts';

const largestBytes = 32 * 1024 * 1024;
const mostAtOnce = 20;
const redirectsFollowed = 3;
const timeoutMs = 20_000;

export async function withMedia(
  call: AttemptContext,
  operation: Operation,
  urls: readonly string[],
): Promise<Operation> {
  const distinct = [...new Set(urls)];
  if (distinct.length > mostAtOnce) {
    throw new GatewayError(
      'invalid_body',
      `at most ${mostAtOnce} different addresses of media can be fetched for a call`,
    );
  }
  const signal = AbortSignal.any([call.context.request.gone, AbortSignal.timeout(timeoutMs)]);
  const fetched = await Promise.all(distinct.map((url) => fetchMedia(call, url, signal)));
  const media = new Map(distinct.flatMap((url, index) => (fetched[index] ? [[url, fetched[index]] as const] : [])));
  return { ...operation, facts: { ...operation.facts, media } };
}

async function fetchMedia(call: AttemptContext, url: string, signal: Abortable): Promise<FetchedMedia> {
  const { deps, context } = call;
  let address = URL.parse(url)?.href ?? '';
  for (let hop = 0; hop <= redirectsFollowed; hop++) {
    const response = await fetched(deps, address, context.caller.organisationId, signal).catch((fault) => {
      throw fault instanceof GatewayError ? fault : refused(url, 'it cannot be reached');
    });
    const location = response.headers.get('location');
    if (!isOk(response)) await response.body?.cancel();
    if (response.status >= 300 && response.status < 400 && location) {
      address = URL.parse(location, address)?.href ?? '';
      continue;
    }
    if (!isOk(response)) throw refused(url, `its server answered ${response.status}`);
    const mime = response.headers.get('content-type')?.split(';', 1)[0]?.trim() || 'application/octet-stream';
    return { mime, base64: (await bounded(response, url, holdFor(call))).toBase64() };
  }
  throw refused(url, 'it redirects too often');
}

async function fetched(deps: GatewayDeps, url: string, tenant: string, signal: Abortable): Promise<WireAnswer> {
  const pinned = await checked(deps, url, tenant, signal);
  const headers = marked({}, deps.hostGuard.mark);
  return deps.http.call({ url, pinned, method: 'GET', headers, unlessSaid, body: null, tenant }, signal);
}

async function bounded({ body, headers }: WireAnswer, url: string, hold: HoldBytes): Promise<Uint8Array> {
  try {
    return body ? await countedWhole(decodedBody(body, headers), largestBytes, hold) : new Uint8Array();
  } catch (fault) {
    if (fault instanceof GatewayError) throw fault;
    const large = fault instanceof WireFault && fault.code === 'BodyTooLarge';
    throw refused(url, large ? `it is larger than ${largestBytes} bytes` : 'its server broke off');
  }
}

const refused = (url: string, reason: string): GatewayError =>
  new GatewayError('invalid_body', `the media at ${url.slice(0, 200)} cannot be sent on: ${reason}`);
