/** The routes of the data plane: which operation a method and a path ask for. */
import { RouteTable } from '../../http/routes.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import type { ErrorForm } from '../errors.ts';

export interface GatewayRoute {
  kind: EndpointKind;
  /** How the body is read: parsed, parsed as a form, or carried through unread. */
  body: 'json' | 'form' | 'none' | 'raw';
  errorForm: ErrorForm;
  /** Below the provider's address, when the provider does not say otherwise. */
  upstreamPath: string;
  /** The path names a saved prompt, which the body is made from. */
  prompt?: 'render' | 'complete';
  /** The scopes of which the caller needs one, where the kind does not say. */
  scopes?: readonly Scope[];
}

export interface MatchedRoute {
  route: GatewayRoute;
  params: Readonly<Record<string, string>>;
}

type Declared = [method: string, path: string, kind: EndpointKind, body: GatewayRoute['body'], aliases?: string[]];

const declared: Declared[] = [
  ['POST', '/chat/completions', 'chatComplete', 'json'],
  ['POST', '/completions', 'complete', 'json'],
  ['POST', '/embeddings', 'embed', 'json'],
  ['POST', '/rerank', 'rerank', 'json'],
  ['POST', '/moderations', 'moderate', 'json'],
  ['POST', '/images/generations', 'imageGenerate', 'json'],
  ['POST', '/images/edits', 'imageEdit', 'form'],
  ['POST', '/images/variations', 'imageVariation', 'form'],
  ['POST', '/audio/speech', 'createSpeech', 'json', ['/speech']],
  ['POST', '/audio/transcriptions', 'createTranscription', 'form'],
  ['POST', '/audio/translations', 'createTranslation', 'form'],
  ['POST', '/responses', 'createModelResponse', 'json'],
  ['GET', '/responses/:id', 'getModelResponse', 'none'],
  ['DELETE', '/responses/:id', 'deleteModelResponse', 'none'],
  ['GET', '/responses/:id/input_items', 'listResponseInputItems', 'none'],
  ['POST', '/messages', 'messages', 'json'],
  ['POST', '/messages/count_tokens', 'messagesCountTokens', 'json'],
  ['POST', '/ocr', 'ocr', 'json'],
  ['GET', '/models', 'listModels', 'none'],
  ['GET', '/models/:id', 'retrieveModel', 'none'],
  ['DELETE', '/models/:id', 'deleteModel', 'none'],
  ['POST', '/files', 'uploadFile', 'raw'],
  ['GET', '/files', 'listFiles', 'none'],
  ['GET', '/files/:id', 'retrieveFile', 'none'],
  ['DELETE', '/files/:id', 'deleteFile', 'none'],
  ['GET', '/files/:id/content', 'retrieveFileContent', 'none'],
  ['POST', '/batches', 'createBatch', 'json'],
  ['GET', '/batches', 'listBatches', 'none'],
  ['GET', '/batches/:id', 'retrieveBatch', 'none'],
  ['POST', '/batches/:id/cancel', 'cancelBatch', 'raw'],
  ['GET', '/batches/:id/output', 'getBatchOutput', 'none'],
  ['POST', '/fine_tuning/jobs', 'createFinetune', 'json', ['/fine-tuning/jobs']],
  ['GET', '/fine_tuning/jobs', 'listFinetunes', 'none', ['/fine-tuning/jobs']],
  ['GET', '/fine_tuning/jobs/:id', 'retrieveFinetune', 'none', ['/fine-tuning/jobs/:id']],
  ['POST', '/fine_tuning/jobs/:id/cancel', 'cancelFinetune', 'raw', ['/fine-tuning/jobs/:id/cancel']],
  ['GET', '/realtime', 'realtime', 'none'],
];

export interface DeclaredRoute {
  method: string;
  path: string;
  /** Other spellings of the path. */
  aliases: readonly string[];
  route: GatewayRoute;
}

const promptRoute = (ending: string, prompt: NonNullable<GatewayRoute['prompt']>): DeclaredRoute => ({
  method: 'POST',
  path: `/prompts/:id/${ending}`,
  aliases: [],
  route: { kind: 'chatComplete', body: 'json', errorForm: 'openai', upstreamPath: '/chat/completions', prompt },
});

/** All that the router serves besides passthrough; the OpenAPI document tells the same. */
export const declaredRoutes: readonly DeclaredRoute[] = [
  ...declared.map(([method, path, kind, body, aliases = []]): DeclaredRoute => {
    const errorForm = path.startsWith('/messages') ? 'anthropic' : 'openai';
    return { method, path, aliases, route: { kind, body, errorForm, upstreamPath: path } };
  }),
  promptRoute('render', 'render'),
  promptRoute('completions', 'complete'),
];

const fixed = new Map<string, MatchedRoute>();
const table = new RouteTable<GatewayRoute>();

for (const { method, path, aliases, route } of declaredRoutes) {
  for (const spelling of [path, ...aliases]) {
    if (spelling.includes(':')) table.add(method, spelling, route);
    else fixed.set(`${method} ${spelling}`, { route, params: {} });
  }
}

/** A route of a service that is no model provider. */
export const serviceRoute = (kind: EndpointKind, scope: Scope): MatchedRoute => ({
  route: { kind, body: 'none', errorForm: 'openai', upstreamPath: '', scopes: [scope] },
  params: {},
});

const declaredRoute = (name: string): MatchedRoute => {
  const found = fixed.get(name);
  if (!found) throw new Error(`${name} is not declared`);
  return found;
};

export const embeddingsRoute = declaredRoute('POST /embeddings');

/** The routes that a rendered prompt goes to. */
export const completionRoutes = {
  chat: declaredRoute('POST /chat/completions'),
  text: declaredRoute('POST /completions'),
};

const savedModelPrefix = '/models/@';

/** A model of a saved provider has a slash in its name, written or encoded. */
function savedModel(path: string): MatchedRoute {
  const route: GatewayRoute = { kind: 'retrieveModel', body: 'none', errorForm: 'openai', upstreamPath: '/models/:id' };
  return { route, params: { id: decodedPart(path.slice(savedModelPrefix.length - 1)) } };
}

function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that begins nothing stands for itself.
    return text;
  }
}

/** The unified route for a path below `/v1`, or null. */
export function matchRoute(method: string, path: string): MatchedRoute | null {
  const exact = fixed.get(`${method} ${path}`);
  if (exact) return exact;
  if (method === 'GET' && path.startsWith(savedModelPrefix)) return savedModel(path);
  const match = table.match(method, path);
  return match.found === 'route' ? { route: match.value, params: match.params } : null;
}

const proxyPrefix = '/proxy/';

/** Any other path: it goes to the provider as it is; `/proxy/` in front of it forces that for unified paths too. */
export function passthroughRoute(path: string): MatchedRoute {
  const upstreamPath = path.startsWith(proxyPrefix) ? path.slice(proxyPrefix.length - 1) : path;
  return { route: { kind: 'proxy', body: 'raw', errorForm: 'openai', upstreamPath }, params: {} };
}

export const isForcedPassthrough = (path: string): boolean => path.startsWith(proxyPrefix);
