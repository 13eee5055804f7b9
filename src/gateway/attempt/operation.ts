/** What a call becomes at its provider: the endpoint that serves it, the facts that it is made from, and the translation where dialects differ. */
import { lazy } from '../../lazy.ts';
import { translate } from '../../providers/chat/family.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import { fronts } from '../../providers/fronts/index.ts';
import { countTokens } from '../../providers/fronts/messages/token-estimate.ts';
import { openAiFamily } from '../../providers/openai/family.ts';
import type { CallFacts, JsonObject, Provider, ProviderEndpoint, Translation } from '../../providers/provider.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import type { ClientBody } from '../request/body.ts';
import { readFormFiles } from '../request/form.ts';
import { requireNative } from '../request/nitro.ts';
import { ownStorage } from '../upstream/own-storage.ts';
import { asItComes, permittedModel, type Target } from './target.ts';

export interface Operation {
  endpoint: ProviderEndpoint;
  facts: CallFacts;
  /** Null where the provider speaks the route's own dialect. */
  translation: Translation | null;
  /** Goes to the provider as it came, and its answer comes back as it is. */
  passthrough: boolean;
}

export function operationOf(
  context: RequestContext,
  target: Target,
  shaped: JsonObject,
  { stream, strict }: { stream: boolean; strict: boolean },
): Operation {
  const { kind } = context.matched.route;
  const facts = factsOf(context, target, shaped, stream, strict);
  const passthrough = kind === 'proxy' || context.plan.passthrough || target.provider === asItComes;
  if (passthrough) {
    const { passedQuery: query } = target.provider;
    return { endpoint: query ? { query } : {}, facts, translation: null, passthrough };
  }
  const endpoint = offered(target.provider, kind, facts);
  const operation = endpoint
    ? { endpoint, facts, translation: ownTranslation(kind, endpoint), passthrough }
    : adapted(target.provider, facts);
  if (context.body.form === 'stream') requireNative(context, target, operation);
  return operation;
}

function offered({ endpoints }: Provider, kind: EndpointKind, facts: CallFacts): ProviderEndpoint | null {
  const endpoint = endpoints[kind];
  return typeof endpoint === 'function' ? endpoint(facts) : (endpoint ?? null);
}

function ownTranslation(kind: EndpointKind, { translation, chat }: ProviderEndpoint): Translation | null {
  const front = fronts[kind];
  if (translation) return translation;
  return chat && front ? translate(front, chat) : null;
}

/** Another dialect of conversation is served by the provider's chat, under the path that chat has. */
function adapted(provider: Provider, facts: CallFacts): Operation {
  const front = fronts[facts.kind];
  const counts = facts.kind === 'messagesCountTokens';
  const chatFacts: CallFacts = { ...facts, kind: 'chatComplete' };
  const endpoint = front || counts ? offered(provider, 'chatComplete', chatFacts) : null;
  if (endpoint && counts) return { endpoint: { steps: countTokens }, facts, translation: null, passthrough: false };
  // Chat in steps without a family answers in chat's own dialect.
  if (!front || !endpoint || (endpoint.steps && !endpoint.chat)) {
    throw new GatewayError('unsupported_endpoint', `the provider ${provider.id} does not offer ${facts.kind}`);
  }
  const translation = translate(front, endpoint.chat ?? openAiFamily);
  const path = endpoint.path ?? '/chat/completions';
  return { endpoint: { ...endpoint, path }, facts: chatFacts, translation, passthrough: false };
}

const newId: CallFacts['newId'] = (prefix) => prefix + Bun.randomUUIDv7().replaceAll('-', '');
const noMedia: CallFacts['media'] = new Map();
const noFiles: CallFacts['files'] = new Map();

export function factsOf(
  context: RequestContext,
  target: Target,
  shaped: JsonObject,
  stream: boolean,
  strict: boolean,
): CallFacts {
  const { matched, request, own, body, query, receivedAt, metadata, labelPrefix } = context;
  const facts: CallFacts = {
    provider: target.provider.id,
    kind: matched.route.kind,
    model: target.model,
    stream,
    credential: target.credential,
    fields: target.fields,
    customHost: target.customHost,
    pathParams: matched.params,
    query: query.slice(1),
    body: shaped,
    files: noFiles,
    media: noMedia,
    strict,
    now: () => Math.floor(receivedAt / 1000),
    newId,
    metadata,
    labelPrefix,
    permittedModel: (named, where) => permittedModel(context, target, named, where),
    storage: () => ownStorage(context, target, facts),
    clientHeader: (name) => (name.startsWith('x-gw-') ? own.get(name.slice(5)) : request.headers.get(name)),
  };
  return body.form === 'form' ? withFiles(facts, body) : facts;
}

/** Files are only looked for by providers that take them in another form. */
const withFiles = (facts: CallFacts, { bytes, contentType }: Extract<ClientBody, { form: 'form' }>): CallFacts =>
  Object.defineProperty(facts, 'files', {
    get: lazy(() => readFormFiles(bytes, contentType)),
    enumerable: true,
  });
