/** Recalls an answer from the cache before its target is asked; waits for an equal call that is under way where the config says so. */
import type { ResponseCache } from '../../cache/cache.ts';
import type { CacheEntry, CachePlace } from '../../cache/engine.ts';
import type { SemanticIndex } from '../../cache/semantic/semantic-index.ts';
import type { CacheRule } from '../../catalog/plan.ts';
import type { SemanticCacheSettings } from '../../environment.ts';
import { objectIn } from '../../providers/json.ts';
import { ReceivedHeaders } from '../../wire/client/answer.ts';
import type { Bytes } from '../../wire/client/collected.ts';
import type { Answer } from '../attempt/answer.ts';
import { type AttemptContext, holdFor } from '../attempt/context.ts';
import type { SendStep } from '../attempt/steps.ts';
import { timeoutOf } from '../context.ts';
import { countedFrom } from '../request/body-budget.ts';
import { readEvents, writeEvent } from '../streaming/sse.ts';
import type { Coalescing } from './coalesce.ts';
import { cacheRuleOf, isCacheable, placeOf } from './key.ts';
import { questionOf } from './question.ts';
import { rebuilt } from './rebuild.ts';
import { replayed } from './replay.ts';
import { verifyHit } from './verify.ts';

const defaultAgeSeconds = 604_800;

export function recallStep(cache: ResponseCache, coalescing: Coalescing, semantic: Semantic): SendStep {
  return {
    name: 'recall',
    applies: isCacheable,
    async run(call) {
      const begunAt = performance.now();
      try {
        return await recalled(call);
      } finally {
        call.record.cacheMs = performance.now() - begunAt;
      }
    },
  };

  async function recalled(call: AttemptContext): Promise<Answer | null> {
    const { record, context } = call;
    const rule = cacheRuleOf(call);
    if (!rule) return null;
    const place = placeOf(call);
    record.cache = { place, ttlSeconds: ageOf(rule, context.workspace.settings.default_cache_max_age), answer: null };
    const missed = rule.mode === 'semantic' ? 'SEMANTIC MISS' : 'MISS';
    if (context.own.flag('cache-force-refresh') === true) {
      record.cacheStatus = 'REFRESH';
      return null;
    }
    record.cacheStatus = missed;
    const found = await cache.get(place);
    const hit = found && answerOf(call, found);
    if (hit) return hit;
    const alike = rule.mode === 'semantic' ? await recallAlike(call, rule, cache, semantic) : null;
    if (alike || !rule.coalesce) return alike;
    return coalesced(call, place, coalescing);
  }
}

/** What is needed to find questions that mean the same. */
export interface Semantic {
  index: SemanticIndex;
  /** Of the organisation, or of the installation; null where neither says who embeds. */
  settingsOf(call: AttemptContext): SemanticCacheSettings | null;
  embed(call: AttemptContext, text: string, settings: SemanticCacheSettings): Promise<Float32Array | null>;
}

/** The answer to the nearest question of the same partition, if it is near enough. */
async function recallAlike(
  call: AttemptContext,
  { threshold, verify }: CacheRule,
  cache: ResponseCache,
  semantic: Semantic,
): Promise<Answer | null> {
  const settings = semantic.settingsOf(call);
  const question = settings && questionOf(call);
  const vector = question && (await semantic.embed(call, question.text, settings));
  if (!question || !vector) return null;
  // Vectors of two models say nothing of each other.
  const partition = `${settings.provider} ${settings.model} ${question.partition}`;
  if (call.record.cache) call.record.cache.question = { partition, vector };
  const nearest = await semantic.index.nearest(call.context.workspace.workspaceId, partition, vector);
  if (!nearest || nearest.similarity < (threshold ?? settings.threshold)) return null;
  const entry = await cache.get(nearest.place);
  const answer = entry && answerOf(call, entry);
  if (!answer) return null;
  call.record.cacheStatus = 'SEMANTIC HIT';
  if (call.deps.random() < verify) verifyBeside(call, entry, nearest.similarity, semantic, settings);
  return answer;
}

/** Nobody waits for it. */
function verifyBeside(
  call: AttemptContext,
  entry: CacheEntry,
  similarity: number,
  semantic: Semantic,
  settings: SemanticCacheSettings,
): void {
  const recalled = bodyOf(call.context.matched.route.kind, entry);
  if (!recalled) return;
  verifyHit(call, recalled, similarity, (text) => semantic.embed(call, text, settings)).catch((fault) =>
    call.deps.onFault(fault, call.context.requestId),
  );
}

/** What the request asks for, within the organisation's bound. */
function ageOf({ maxAgeSeconds }: CacheRule, bound: number | null): number {
  const asked = maxAgeSeconds ?? bound ?? defaultAgeSeconds;
  return bound === null ? asked : Math.min(asked, bound);
}

/** The answer of an equal call that is under way; null where this call is the one to make it. */
async function coalesced(call: AttemptContext, place: CachePlace, coalescing: Coalescing): Promise<Answer | null> {
  const deadline = performance.now() + timeoutOf(call.deps, call.context, call.leaf);
  for (;;) {
    const leading = coalescing.join(place);
    if (leading === 'lead') {
      if (call.record.cache) call.record.cache.leads = true;
      return null;
    }
    const entry = await leading(deadline - performance.now());
    if (entry === 'too late') return null;
    const answer = entry && answerOf(call, entry);
    if (answer) return answer;
  }
}

/** Null where the entry cannot be told in the form that this call wants: then it is a miss. */
function answerOf(call: AttemptContext, entry: CacheEntry): Answer | null {
  const { context, record, shaped } = call;
  const { kind } = context.matched.route;
  const bytes = shaped.stream === true ? streamOf(kind, entry) : bodyOf(kind, entry);
  if (!bytes) return null;
  if (bytes.length >= countedFrom) holdFor(call)(bytes.length);
  const contentType = shaped.stream === true ? 'text/event-stream; charset=utf-8' : entry.contentType;
  record.cacheStatus = 'HIT';
  record.status = 200;
  record.received = bytes;
  record.usage = entry.usage;
  record.model = entry.model;
  record.endedAt = performance.now();
  record.savedCents = entry.cents ?? 0;
  const headers = new ReceivedHeaders({
    'content-type': contentType,
    ...(shaped.stream === true && { 'cache-control': 'no-cache' }),
  });
  record.responseHeaders = headers;
  return { status: 200, headers, content: { form: 'bytes', bytes }, record, rescue: null };
}

type Kind = AttemptContext['context']['matched']['route']['kind'];

function streamOf(kind: Kind, { stream, body }: CacheEntry): Bytes | null {
  if (stream) return new Uint8Array(stream);
  const events = body && replayed(kind, objectIn(body));
  return events ? Buffer.concat(events.map(writeEvent)) : null;
}

function bodyOf(kind: Kind, { stream, body }: CacheEntry): Bytes | null {
  if (body) return new Uint8Array(body);
  const whole = stream && rebuilt(kind, readEvents(stream));
  return whole ? Buffer.from(JSON.stringify(whole)) : null;
}
