/** Makes the calls that checks ask for, over the gateway's own client: addresses are checked and pinned, times and sizes bounded. */
import type { SavedProvider } from '../../catalog/catalog.ts';
import {
  CallFault,
  type CheckCache,
  type CheckIo,
  type OutboundAnswer,
  type OutboundCall,
} from '../../guardrails/io.ts';
import { isObject, listOf, objectOf, parsed } from '../../providers/json.ts';
import { isOk, type WireAnswer } from '../../wire/client/answer.ts';
import type { Bytes } from '../../wire/client/collected.ts';
import { decodedBody } from '../../wire/client/decoded.ts';
import { unfitHeader } from '../../wire/client/request.ts';
import { WireFault } from '../../wire/fault.ts';
import { signed } from '../credentials/aws-signature.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import type { HoldBytes } from '../request/body-budget.ts';
import { filledProvider, renewedProvider, renewedSecrets } from '../secrets/filled-target.ts';
import { concealedBytes, secretsSent } from '../upstream/conceal.ts';
import { countedWhole } from '../upstream/counted-body.ts';
import { marked } from '../upstream/host-guard.ts';
import { checked, unlessSaid } from '../upstream/send.ts';

const largestAnswer = 5 * 1024 * 1024;

/** One for each set of dependencies: what checks keep is shared by all requests. */
const caches = new WeakMap<GatewayDeps, BoundedCache>();

/** What checks may do on behalf of a workspace. */
export function checkIo(deps: GatewayDeps, workspaceId: string | null): CheckIo {
  let cache = caches.get(deps);
  if (!cache) {
    cache = new BoundedCache(() => deps.clock.now().getTime());
    caches.set(deps, cache);
  }
  const kept = cache;
  const { secrets } = deps;
  const workspaceOf = async () => (workspaceId === null ? null : deps.catalog.workspace(workspaceId));
  /** Look-ups and connections count for the organisation. */
  const tenantOf = async () => (await workspaceOf())?.organisationId ?? '';
  const call = async (asked: OutboundCall) => outbound(deps, asked, await tenantOf());
  return {
    call,
    ...(secrets && {
      secrets: { resolve: secrets.resolve, renew: (uses, used) => renewedSecrets(secrets, uses, used) },
    }),
    // What is remembered for one workspace answers for no other; for none at all nothing is remembered.
    cache: {
      get: (key) => (workspaceId === null ? undefined : kept.get(`${workspaceId} ${key}`)),
      put: (key, value, ttlMs) => workspaceId !== null && kept.put(`${workspaceId} ${key}`, value, ttlMs),
    },
    now: () => deps.clock.now().getTime(),
    newId: () => Bun.randomUUIDv7(),
    async resolves(host, timeoutMs) {
      try {
        const tenant = await tenantOf();
        await withinTime(timeoutMs, (signal) => Promise.resolve(checked(deps, `http://${host}/`, tenant, signal)));
        return true;
      } catch (fault) {
        if (fault instanceof CallFault || fault instanceof GatewayError || isLookupFault(fault)) return false;
        throw fault;
      }
    },
    async moderate(slug, model, text, timeoutMs) {
      const workspace = await workspaceOf();
      const named = workspace?.provider(slug);
      const saved = named && (await filledProvider(deps, named));
      const provider = saved && deps.providers.get(saved.provider);
      const address = saved?.customHost ?? (typeof provider?.address === 'string' ? provider.address : null);
      if (!saved || !provider?.endpoints.moderate || address === null) {
        throw new CallFault(
          'Address Error',
          `@${slug} is no saved provider of this workspace with a moderation endpoint`,
        );
      }
      const ask = ({ credential, customHeaders }: SavedProvider) =>
        call({
          url: `${address.replace(/\/+$/, '')}/moderations`,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(credential !== null && { authorization: `Bearer ${credential}` }),
            ...customHeaders,
          },
          body: JSON.stringify({ input: text, ...(model !== null && { model }) }),
          timeoutMs,
        });
      let answer = await ask(saved);
      const renewed = answer.status === 401 || answer.status === 403 ? await renewedProvider(deps, saved) : null;
      if (renewed) answer = await ask(renewed);
      const [first] = listOf(objectOf(parsed(new TextDecoder().decode(answer.bytes))).results);
      if (answer.status !== 200 || !isObject(first)) {
        throw new CallFault('Connection Error', `@${slug} answered the moderation with the status ${answer.status}`);
      }
      const flags = Object.entries(objectOf(first.categories)).map(([name, value]) => [name, value === true] as const);
      return { categories: Object.fromEntries(flags), json: first };
    },
  };
}

async function outbound(deps: GatewayDeps, asked: OutboundCall, tenant: string): Promise<OutboundAnswer> {
  const { timeoutMs, maxBytes = largestAnswer, redirects = 0 } = asked;
  const lease = deps.bodies.lease(tenant);
  const asking = withinTime(timeoutMs, async (signal): Promise<OutboundAnswer> => {
    let url = asked.url;
    for (let hop = 0; ; hop++) {
      const answer = await once(deps, asked, url, tenant, signal);
      const location = answer.headers.get('location');
      if (hop < redirects && answer.status >= 300 && answer.status < 400 && location) {
        await answer.body?.cancel();
        url = URL.parse(location, url)?.href ?? '';
        continue;
      }
      const bytes = await bounded(answer, maxBytes, asked, lease.hold);
      return {
        status: answer.status,
        header: (name) => answer.headers.get(name),
        // Results tell what services answered, and some of them say back what they were sent.
        bytes: concealedBytes(bytes, secretsOf(asked)),
      };
    }
  });
  return asking.finally(lease.release);
}

const harmlessHeaders = new Set(['content-type', 'user-agent', 'accept']);

/** Any header that a check was given may be a credential. */
function secretsOf({ url, headers }: OutboundCall): readonly string[] {
  const own = Object.entries(headers).filter(([name]) => !harmlessHeaders.has(name.toLowerCase()));
  if (own.length === 0 && !url.includes('?')) return [];
  return secretsSent({ credential: null, fields: {}, customHeaders: Object.fromEntries(own) }, { url, headers });
}

async function once(
  deps: GatewayDeps,
  asked: OutboundCall,
  url: string,
  tenant: string,
  signal: AbortSignal,
): Promise<WireAnswer> {
  if (!/^https?:\/\//i.test(url)) throw new CallFault('Address Error', 'the address is no http or https address');
  const body = asked.body === null ? null : Buffer.from(asked.body);
  const { sign } = asked;
  const signature = sign
    ? await signed({ url, method: asked.method, headers: asked.headers, body }, sign, {
        service: sign.service,
        region: sign.region,
        at: deps.clock.now(),
      })
    : {};
  const headers = marked({ ...asked.headers, ...signature }, deps.hostGuard.mark);
  const unfit = unfitHeader(headers);
  if (unfit !== null)
    throw new CallFault('Address Error', `the header ${unfit} holds a character that no header can carry`);
  const pinned = await checked(deps, url, tenant, signal);
  return deps.http.call({ url, pinned, method: asked.method, headers, unlessSaid, body, tenant }, signal);
}

async function bounded(answer: WireAnswer, limit: number, { method }: OutboundCall, hold: HoldBytes): Promise<Bytes> {
  const announced = Number(answer.headers.get('content-length') ?? 0);
  if (method !== 'HEAD' && isOk(answer) && announced > limit) {
    await answer.body?.cancel();
    throw new CallFault('Size Error', `the answer is larger than ${limit} bytes`);
  }
  return answer.body ? countedWhole(decodedBody(answer.body, answer.headers), limit, hold) : new Uint8Array();
}

/** Nothing that a check asks for outlasts its time. */
async function withinTime<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await work(signal);
  } catch (fault) {
    if (signal.aborted) throw new CallFault('Timeout Error', `the service did not answer within ${timeoutMs} ms`);
    if (fault instanceof CallFault) throw fault;
    if (fault instanceof GatewayError)
      throw new CallFault('Address Error', fault.message.replace('Gateway error: ', ''));
    if (fault instanceof WireFault && fault.code === 'BodyTooLarge') throw new CallFault('Size Error', fault.message);
    if (isLookupFault(fault)) throw new CallFault('Connection Error', 'the service could not be reached');
    throw fault;
  }
}

/** Faults of sockets and name servers carry a code; faults of ours do not. */
const isLookupFault = (fault: unknown): boolean =>
  fault instanceof WireFault || (fault instanceof Error && 'code' in fault);

const mostKept = 1_000;

class BoundedCache implements CheckCache {
  readonly #now: () => number;
  readonly #kept = new Map<string, { value: unknown; until: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get(key: string): unknown {
    const kept = this.#kept.get(key);
    if (!kept || kept.until > this.#now()) return kept?.value;
    this.#kept.delete(key);
    return undefined;
  }

  put(key: string, value: unknown, ttlMs: number): void {
    if (this.#kept.size >= mostKept) {
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined) this.#kept.delete(oldest);
    }
    this.#kept.set(key, { value, until: this.#now() + ttlMs });
  }
}
