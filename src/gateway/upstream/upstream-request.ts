/** The upstream request of one attempt: address, headers and body, with the client's own bytes wherever nothing changed them. */
import type { SavedProvider } from '../../catalog/catalog.ts';
import type { Leaf } from '../../catalog/plan.ts';
import { EncodedBody } from '../../providers/encoded-body.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, TargetFields, Translation } from '../../providers/provider.ts';
import type { Operation } from '../attempt/operation.ts';
import { restrictsModels, type Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import { type Bytes, parametersOf } from '../request/body.ts';
import { canonicalForm } from '../request/canonical-form.ts';
import { editFields } from '../request/form.ts';
import { rewritten } from '../request/json-rewrite.ts';
import { isRepeated, spliceString } from '../request/json-splice.ts';
import { sensitiveNames } from '../settle/log-headers.ts';
import { hidden, requirePassedModel } from './passthrough-model-guard.ts';
import { requirePassedRows } from './passthrough-row-guard.ts';
import { requireLentKind, requirePassedStorage } from './passthrough-storage-guard.ts';
import { asksForUsage, withUsageAsked } from './stream-usage.ts';
import { watchedRows } from './upload-rows.ts';
import {
  addressBelow,
  type BaseAddress,
  baseAddress,
  isAddress,
  requireEncodedOnce,
  wholeAddress,
} from './upstream-address.ts';
import { upstreamHeaders } from './upstream-headers.ts';

/** What is remembered of a request that was sent. */
export interface Sent {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: Bytes | ReadableStream<Uint8Array> | null;
  /** Set when the body is not the client's own bytes. */
  changed: boolean;
  /** Goes to the provider as it came, and its answer comes back as it is. */
  passthrough: boolean;
}

export interface Upstream extends Sent {
  headers: Record<string, string>;
  /** False for bodies that can be sent only once. */
  repeatable: boolean;
  /** The organisation for which it is sent. */
  tenant: string;
  /** True when the host was chosen by a customer and must be checked before it is dialled. */
  customHost: boolean;
  facts: CallFacts;
  endpoint: ProviderEndpoint;
  /** Null where the provider's answer is in the route's own dialect. */
  translation: Translation | null;
  /** Where the provider's API begins, for operations that take several calls. */
  base: BaseAddress;
  /** The stream was asked for its usage although the client did not ask. */
  usageAsked: boolean;
  /** Headers that the caller called sensitive: an error that says their values back does not. */
  sensitive: readonly string[];
}

export function buildUpstream(context: RequestContext, leaf: Leaf, target: Target, operation: Operation): Upstream {
  const { endpoint, facts, translation, passthrough } = operation;
  if (target.credential === null && target.provider.needsCredential) {
    throw new GatewayError(
      'missing_credential',
      `no credential for ${target.provider.id}: save one on an integration, or send it as Authorization: Bearer beside x-gw-api-key`,
    );
  }
  const base = baseAddress(target.customHost ?? addressOf(target, facts));
  const url = urlOf(context, operation, base);
  if (passthrough) {
    requirePassedCall(context, target, base, url);
    requirePassedStorage(context, target, facts, url);
  } else requireLentKind(target, facts);
  const { bytes: written, changed, contentType } = bodyBytes(context, target, operation);
  const usageAsked = asksForUsage(context, target, operation);
  const bytes = written && usageAsked ? withUsageAsked(written, facts.body.stream_options) : written;
  const watched =
    context.body.form === 'stream' && !endpoint.steps ? watchedRows(context, target, context.body, url) : null;
  const body = bytes ?? watched?.stream ?? null;
  const repeatable = !(body instanceof ReadableStream);
  const headers = upstreamHeaders(context, leaf, target, facts, { passthrough, repeatable });
  if (endpoint.headers) Object.assign(headers, endpoint.headers(facts));
  const judged = contentType ?? watched?.contentType ?? judgedType(context, target, passthrough);
  if (judged) headers['content-type'] = judged;
  // A form that is written anew has another length.
  if (watched?.contentType) delete headers['content-length'];
  return {
    url,
    method: endpoint.method ?? context.request.method,
    headers,
    body,
    repeatable,
    changed,
    tenant: context.caller.organisationId,
    customHost: target.customHost !== null || isWritten(url, target.fields),
    passthrough,
    facts,
    endpoint,
    translation,
    base,
    usageAsked,
    sensitive: context.own.once(sensitiveNames),
  };
}

/** JSON was read as such: where that decided, no other character set makes something else of it. */
const judgedType = ({ body }: RequestContext, { saved }: Target, passthrough: boolean): string | null =>
  passthrough && body.form === 'json' && saved && restrictsModels(saved) ? 'application/json' : null;

function urlOf(context: RequestContext, operation: Operation, base: BaseAddress): string {
  const { endpoint, facts, passthrough } = operation;
  const path =
    typeof endpoint.path === 'function' ? endpoint.path(facts, base.address) : (endpoint.path ?? ownPath(context));
  const query = queryOf(context, operation);
  if (isAddress(path)) return wholeAddress(path, query);
  if (!passthrough) return addressBelow(base, path, query);
  requireEncodedOnce(path);
  return addressBelow(base, withoutVersion(path, base), query);
}

/** An address that ends in a version, and a path that begins with the same one, mean it once. */
function withoutVersion(path: string, { address }: BaseAddress): string {
  const version = /\/v\d+(?:alpha|beta)?\d*$/.exec(address)?.[0];
  return version && path.startsWith(`${version}/`) ? path.slice(version.length) : path;
}

/** Models that may not be used are not reached by what passes through either. */
function requirePassedCall(context: RequestContext, target: Target, base: BaseAddress, url: string): void {
  if (!target.saved || !restrictsModels(target.saved)) return;
  requirePassedModel(context, target.saved, base, url);
  requirePassedRows(context, target, url);
}

const untold: Sent['headers'] = {};

/** Streams take long, and what they do not need would be kept thousands of times. */
export const sentOf = ({ url, method, headers, body, changed, passthrough }: Upstream): Sent => ({
  url,
  method,
  headers: changed ? headers : untold,
  body: changed ? body : null,
  changed,
  passthrough,
});

/** A provider may take its whole address from a setting: then it is as much the customer's choice as a custom host. */
function isWritten(url: string, fields: TargetFields): boolean {
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === 'string' && isAddress(value) && originOf(value) === originOf(url)) return true;
  }
  return false;
}

const originOf = (url: string): string | null => URL.parse(url)?.origin ?? null;

/** A call in another dialect has none of the client's query. */
function queryOf({ query }: RequestContext, { endpoint, translation, facts }: Operation): string {
  const own = endpoint.query?.(facts);
  if (own !== undefined) return own === '' ? '' : `?${own}`;
  return endpoint.steps || (translation && !translation.answersOnly) ? '' : query;
}

function addressOf(target: Target, facts: CallFacts): string {
  const { address, id } = target.provider;
  const base = typeof address === 'function' ? address(facts) : address;
  // Anything else that a connection would still make an address of would pass by the check of custom hosts.
  if (base && !(isAddress(base) && URL.canParse(base))) {
    throw new GatewayError('invalid_custom_host', `the address of ${id} must be a URL that begins with https://`);
  }
  if (base) return base;
  throw new GatewayError(
    'missing_provider',
    `the provider ${id} needs an address: set custom_host on its integration or target`,
  );
}

/** The route's own path with what it captured; colons of a path that only passes through are its own. */
const ownPath = ({ matched: { route, params } }: RequestContext): string =>
  route.kind === 'proxy' || !route.upstreamPath.includes(':')
    ? route.upstreamPath
    : route.upstreamPath.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));

interface BodyToSend {
  bytes: Bytes | null;
  changed: boolean;
  /** Where it is not what the route's body would have. */
  contentType?: string;
}

function bodyBytes(context: RequestContext, target: Target, { endpoint, facts, translation }: Operation): BodyToSend {
  const { body } = context;
  if (endpoint.steps) return { bytes: null, changed: false };
  if (translation && !translation.answersOnly)
    return translation.request ? translatedBytes(translation.request(facts), endpoint, facts) : noBody;
  if (body.form === 'bytes') return { bytes: body.bytes, changed: false };
  if (body.form !== 'json' && body.form !== 'form') return noBody;
  const shaped = endpoint.adjust ? endpoint.adjust(facts.body, facts) : facts.body;
  // A provider may know the model by another name still, and says so by adjusting it.
  const settled = shaped.model !== facts.body.model;
  if (body.form === 'form') return formBytes(body, shaped, settled ? '' : target.model, target.saved);
  const renamed = !settled && typeof shaped.model === 'string' && shaped.model !== target.model && target.model !== '';
  const addsModel = !settled && shaped.model === undefined && target.model !== '';
  if (shaped === body.json && !addsModel) {
    if (!renamed && !isAmbiguous(body.bytes, target)) return { bytes: body.bytes, changed: false };
    const spliced = spliceString(body.bytes, 'model', target.model);
    if (spliced) return { bytes: spliced, changed: true };
  }
  const wanted = renamed || addsModel ? { ...shaped, model: target.model } : shaped;
  return { bytes: rewritten(body.bytes, body.json, wanted), changed: true };
}

const noBody: BodyToSend = { bytes: null, changed: false };

function translatedBytes(body: JsonObject | EncodedBody, { adjust }: ProviderEndpoint, facts: CallFacts): BodyToSend {
  if (body instanceof EncodedBody) return { bytes: body.bytes, changed: true, contentType: body.contentType };
  return { bytes: encode(adjust ? adjust(body, facts) : body), changed: true, contentType: 'application/json' };
}

/** Where only some models are allowed, a body that names two must not let the provider pick the one we did not check. */
const isAmbiguous = (bytes: Bytes, { saved }: Target): boolean => hasModelRules(saved) && isRepeated(bytes, 'model');

const hasModelRules = (saved: Target['saved']): saved is SavedProvider =>
  saved !== null && !(saved.models.allowAll && saved.models.bySlug.size === 0);

const encoder = new TextEncoder();
const encode = (body: Readonly<JsonObject>): Bytes => encoder.encode(JSON.stringify(body));

/** Text fields of a form are edited where they stand; its files are never touched. */
function formBytes(
  body: Extract<RequestContext['body'], { form: 'form' }>,
  shaped: Readonly<JsonObject>,
  model: string,
  saved: Target['saved'],
): BodyToSend {
  const sent = parametersOf(body);
  const wanted = model === '' ? shaped : { ...shaped, model };
  const changes = new Map<string, string | null>();
  if (hasModelRules(saved)) {
    if (wanted.model === undefined && restrictsModels(saved)) throw hidden(saved);
    if (body.fields.filter(({ name }) => name === 'model').length > 1) changes.set('model', asText(wanted.model));
  }
  for (const name of Object.keys(sent)) if (wanted[name] === undefined) changes.set(name, null);
  for (const [name, value] of Object.entries(wanted)) {
    if (value !== sent[name] && value !== undefined) changes.set(name, asText(value));
  }
  const bytes = changes.size === 0 ? body.bytes : editFields(body.bytes, body.contentType, body.fields, changes);
  // What was judged is what is sent, whatever else a parser might find in the bytes.
  if (saved && restrictsModels(saved)) return { ...canonicalForm(bytes, body.contentType), changed: true };
  return { bytes, changed: changes.size > 0 };
}

const asText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));
