/** Which publisher's model a name means, and what the publisher calls it. */

type VertexModel =
  | { kind: 'google' | 'anthropic' | 'mistralai'; name: string }
  /** Partners behind the endpoint that speaks OpenAI's dialect, named `publisher/model`. */
  | { kind: 'open'; name: string }
  /** A deployed endpoint, by its id. */
  | { kind: 'endpoint'; name: string };

const native = new Set(['google', 'anthropic', 'mistralai']);
const partners = new Set([
  'meta',
  'zai-org',
  'moonshotai',
  'qwen',
  'xai',
  'deepseek-ai',
  'openai',
  'minimaxai',
  'ai21',
  'nvidia',
]);

/** `anthropic.claude-…`, `meta/llama-…`, `endpoints.123`; without a publisher it is Google's, unless the name is another's own. */
export function vertexModel(model: string): VertexModel {
  if (model.startsWith('endpoints.')) return { kind: 'endpoint', name: model.slice('endpoints.'.length) };
  const [, publisher = '', name = ''] = /^([a-z0-9-]+)[./](.+)$/.exec(model) ?? [];
  if (isNative(publisher)) return { kind: publisher, name };
  if (partners.has(publisher) || model.includes('/')) return { kind: 'open', name: `${publisher}/${name}` };
  if (model.startsWith('claude-')) return { kind: 'anthropic', name: model };
  if (/^(mistral|codestral|ministral)-/.test(model)) return { kind: 'mistralai', name: model };
  return { kind: 'google', name: model };
}

const isNative = (publisher: string): publisher is 'google' | 'anthropic' | 'mistralai' => native.has(publisher);
