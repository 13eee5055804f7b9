/** The upstream request of one attempt: address, headers and body, with the client's own bytes wherever nothing changed them. */
import type { Leaf } from '../catalog/plan.ts';
import type { CallFacts, JsonObject } from '../providers/provider.ts';
import { type Bytes, parametersOf } from './body.ts';
import { GatewayError } from './errors.ts';
import { editFields } from './form.ts';
import type { Journey } from './journey.ts';
import { isRepeated, spliceString } from './json-splice.ts';
import type { Target } from './target.ts';
import { upstreamHeaders } from './upstream-headers.ts';

export interface Upstream {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: Bytes | ReadableStream<Uint8Array> | null;
  /** False for bodies that can be sent only once. */
  repeatable: boolean;
  /** Set when the body is not the client's own bytes. */
  changed: boolean;
  /** True when the host was chosen by a customer and must be checked before it is dialled. */
  customHost: boolean;
  /** Goes to the provider as it came, and its answer comes back as it is. */
  passthrough: boolean;
  facts: CallFacts;
}

export function buildUpstream(
  journey: Journey,
  leaf: Leaf,
  target: Target,
  shaped: JsonObject,
  stream: boolean,
): Upstream {
  const { matched, request } = journey;
  const { kind } = matched.route;
  const facts: CallFacts = {
    kind,
    model: target.model,
    stream,
    credential: target.credential,
    fields: target.fields,
    pathParams: matched.params,
    clientHeader: (name) => request.headers.get(name),
  };
  const passthrough = kind === 'proxy' || journey.plan.passthrough;
  const endpoint = passthrough ? {} : target.provider.endpoints[kind];
  if (!endpoint) {
    throw new GatewayError('unsupported_endpoint', `the provider ${target.provider.id} does not offer ${kind}`);
  }
  if (target.credential === null && target.provider.needsCredential) {
    throw new GatewayError(
      'missing_credential',
      `no credential for ${target.provider.id}: save one on an integration, or send it as Authorization: Bearer beside x-gw-api-key`,
    );
  }
  const base = target.customHost ?? addressOf(target, facts);
  const path = typeof endpoint.path === 'function' ? endpoint.path(facts) : (endpoint.path ?? ownPath(journey));
  const { bytes, changed } = bodyBytes(journey, target, shaped, endpoint.translation?.request(shaped, facts));
  const body = bytes ?? (journey.body.form === 'stream' ? journey.body.stream : null);
  const repeatable = !(body instanceof ReadableStream);
  return {
    url: base.replace(/\/$/, '') + path + journey.query,
    method: endpoint.method ?? request.method,
    headers: upstreamHeaders(journey, leaf, target, facts, { passthrough, repeatable }),
    body,
    repeatable,
    changed,
    customHost: target.customHost !== null,
    passthrough,
    facts,
  };
}

function addressOf(target: Target, facts: CallFacts): string {
  const { address, id } = target.provider;
  const base = typeof address === 'function' ? address(facts) : address;
  if (base) return base;
  throw new GatewayError(
    'missing_provider',
    `the provider ${id} needs an address: set custom_host on its integration or target`,
  );
}

/** The route's own path with what it captured. */
const ownPath = ({ matched }: Journey): string =>
  matched.route.upstreamPath.includes(':')
    ? matched.route.upstreamPath.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(matched.params[name] ?? ''))
    : matched.route.upstreamPath;

function bodyBytes(
  journey: Journey,
  target: Target,
  shaped: JsonObject,
  translated: JsonObject | undefined,
): { bytes: Bytes | null; changed: boolean } {
  const { body } = journey;
  if (translated) return { bytes: encode(translated), changed: true };
  if (body.form === 'form') return formBytes(body, shaped, target);
  if (body.form === 'bytes') return { bytes: body.bytes, changed: false };
  if (body.form !== 'json') return { bytes: null, changed: false };
  const renamed = typeof shaped.model === 'string' && shaped.model !== target.model && target.model !== '';
  const addsModel = shaped.model === undefined && target.model !== '';
  if (shaped === body.json && !addsModel) {
    if (!renamed && !isAmbiguous(body.bytes, target)) return { bytes: body.bytes, changed: false };
    const spliced = spliceString(body.bytes, 'model', target.model);
    if (spliced) return { bytes: spliced, changed: true };
  }
  return { bytes: encode(renamed || addsModel ? { ...shaped, model: target.model } : shaped), changed: true };
}

/** Where only some models are allowed, a body that names two must not let the provider pick the one we did not check. */
const isAmbiguous = (bytes: Bytes, { saved }: Target): boolean =>
  saved !== null && !(saved.models.allowAll && saved.models.bySlug.size === 0) && isRepeated(bytes, 'model');

const encode = (body: JsonObject): Bytes => Buffer.from(JSON.stringify(body));

/** Text fields of a form are edited where they stand; its files are never touched. */
function formBytes(
  body: Extract<Journey['body'], { form: 'form' }>,
  shaped: JsonObject,
  target: Target,
): { bytes: Bytes; changed: boolean } {
  const sent = parametersOf(body);
  const wanted = target.model === '' ? shaped : { ...shaped, model: target.model };
  const changes = new Map<string, string | null>();
  for (const name of Object.keys(sent)) if (wanted[name] === undefined) changes.set(name, null);
  for (const [name, value] of Object.entries(wanted)) {
    if (value !== sent[name] && value !== undefined) changes.set(name, asText(value));
  }
  if (changes.size === 0) return { bytes: body.bytes, changed: false };
  return { bytes: editFields(body.bytes, body.contentType, body.fields, changes), changed: true };
}

const asText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));
