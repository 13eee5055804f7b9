/** What of a request and its target the answer depends on, as the parts of a cache key. */

import type { CachePlace } from '../../cache/engine.ts';
import { cacheKey } from '../../cache/key.ts';
import type { WorkspaceCatalog } from '../../catalog/catalog.ts';
import { guardsOf } from '../../catalog/guards.ts';
import type { CacheRule, Leaf } from '../../catalog/plan.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import type { AttemptContext } from '../attempt/context.ts';

/** Operations whose answers are kept; those on files, batches, jobs and stored things are not, and neither is passthrough, which may create something. */
const cacheable: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'chatComplete',
  'complete',
  'embed',
  'rerank',
  'moderate',
  'imageGenerate',
  'createSpeech',
  'createModelResponse',
  'messages',
  'messagesCountTokens',
  'ocr',
]);

/** Client headers that reach providers by themselves and change what they answer. */
const providerHeaders = [
  'anthropic-beta',
  'anthropic-version',
  'openai-beta',
  'openai-organization',
  'openai-project',
] as const;

export const cacheRuleOf = ({ context, leaf }: Pick<AttemptContext, 'context' | 'leaf'>): CacheRule | null =>
  leaf.cache ?? context.rules.cache;

export const isCacheable = ({ context, leaf, target, shaped }: AttemptContext): boolean =>
  cacheRuleOf({ context, leaf }) !== null &&
  cacheable.has(context.matched.route.kind) &&
  context.body.form === 'json' &&
  !context.plan.passthrough &&
  target.provider.id !== 'passthrough' &&
  // It goes on at the provider after the answer, or refers to what is kept there.
  shaped.background !== true;

export const placeOf = (call: AttemptContext): CachePlace => ({
  workspaceId: call.context.workspace.workspaceId,
  namespace: call.context.own.get('cache-namespace') ?? '',
  key: keyOf(call),
});

export function keyOf({ context, leaf, target, shaped }: AttemptContext): string {
  const { caller, workspace, own, request } = context;
  const namespace = own.get('cache-namespace');
  const headers: Record<string, string> = {};
  if (namespace === null) {
    for (const name of providerHeaders) note(headers, name, request.headers.get(name));
    for (const { from, to } of context.rules.forwardHeaders ?? leaf.forwardHeaders) {
      note(headers, to, request.headers.get(from));
    }
  }
  return cacheKey({
    organisationId: caller.organisationId,
    workspaceId: workspace.workspaceId,
    kind: context.matched.route.kind,
    provider: target.provider.id,
    savedProvider: target.saved?.slug ?? '',
    host: target.customHost ?? '',
    fields: target.fields,
    model: target.model,
    body: shaped,
    strict: leaf.strictOpenAiCompliance && !context.rules.strictOff,
    guardrails: { hooks: leaf.hooks, output: outputGuardrails(workspace, leaf) },
    namespace,
    metadata: context.metadata,
    headers,
  });
}

function note(headers: Record<string, string>, name: string, value: string | null): void {
  if (value !== null) headers[name] = value;
}

/** A guardrail that was attached since, or saved anew, has not looked at what was kept. */
const outputGuardrails = (workspace: WorkspaceCatalog, leaf: Leaf): unknown =>
  guardsOf(workspace, leaf)?.output.sync.map(({ id, versionId }) => [id, versionId]) ?? null;
