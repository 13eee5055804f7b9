/** Tells the client what guardrails said: in the body, in the stream, and by the status. */

import type { EndpointKind } from '../../providers/endpoints.ts';
import { isObject, parsed } from '../../providers/json.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import type { Answer } from '../attempt/answer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import type { AnswerStep } from '../attempt/steps.ts';
import { readEvents, writeEvent } from '../streaming/sse.ts';
import type { StreamStage } from '../streaming/stages.ts';
import { lensOf } from './lenses/index.ts';
import { restored, TokenScanner } from './restoring.ts';
import { ResultEvents, resultsTold } from './result-events.ts';
import { type GuardState, hookResults } from './state.ts';
import { TextWindow } from './text-window.ts';

/** Stands behind all other steps: what is cached is the answer without it. */
export const reportHooks: AnswerStep = {
  name: 'report hooks',
  applies: ({ record }) => record.guard !== null,
  run: (call, answer) => reported(call, answer),
};

const failedStatus = 246;

/** Also for answers that another step gave, such as a cached one. */
export function reported(call: AttemptContext, answer: Answer): Answer {
  const state = call.record.guard;
  if (!state || answer.status !== 200) return answer;
  const { content } = answer;
  const { kind } = call.context.matched.route;
  if (!lensOf(kind) && kind !== 'embed') return answer;
  if (content.form === 'bytes' && isEventStream(answer)) return inKeptStream(call, state, answer, content.bytes);
  if (content.form === 'bytes') return inBody(call, state, withRestored(kind, state, answer, content.bytes));
  if (content.form !== 'events') return answer;
  const stages = [...content.stages, ...tellingStages(call, state)];
  // Of a stream that was held until its end, it is known already what guardrails say of it.
  return marked(call, hasFailed(state), { ...answer, content: { ...content, stages } });
}

const hasFailed = ({ inputFailed, outputFailed, softDenied }: GuardState): boolean =>
  (inputFailed || outputFailed) && !softDenied;

/** A stage that refuses nothing and waits for nobody. */
interface PlainStage extends StreamStage {
  push(events: readonly ServerEvent[]): readonly ServerEvent[];
  end(): readonly ServerEvent[];
}

function tellingStages(call: AttemptContext, state: GuardState): PlainStage[] {
  const { kind } = call.context.matched.route;
  return [...restoringStages(kind, state), ...(resultsTold(call) ? [new ResultEvents(state, kind)] : [])];
}

const isEventStream = ({ headers }: Answer): boolean =>
  headers?.get('content-type')?.startsWith('text/event-stream') ?? false;

/** A stream that the cache has kept whole is told like one that comes. */
function inKeptStream(call: AttemptContext, state: GuardState, answer: Answer, bytes: Uint8Array): Answer {
  let events: readonly ServerEvent[] = readEvents(bytes);
  for (const stage of tellingStages(call, state)) events = [...stage.push(events), ...stage.end()];
  const told = new Uint8Array(Buffer.concat(events.map(writeEvent)));
  return marked(call, hasFailed(state), { ...answer, content: { form: 'bytes', bytes: told } });
}

/** What was replaced for the provider is put back for the client, behind the cache, which others read too. */
function withRestored(kind: string, { restores }: GuardState, answer: Answer, bytes: Uint8Array): Answer {
  const json = restores && restores.size > 0 ? parsed(new TextDecoder().decode(bytes)) : null;
  if (!restores || !isObject(json)) return answer;
  const content = { form: 'bytes' as const, bytes: Buffer.from(JSON.stringify(restored(kind, json, restores))) };
  return { ...answer, content };
}

function restoringStages(kind: EndpointKind, { restores }: GuardState): PlainStage[] {
  const lens = lensOf(kind);
  if (!restores || restores.size === 0 || !lens) return [];
  const window = new TextWindow(lens, [() => new TokenScanner(restores)], { leavesSigned: true });
  const passed = (events: readonly ServerEvent[] | string) => (typeof events === 'string' ? [] : events);
  return [{ name: 'restore', push: (events) => passed(window.push(events)), end: () => passed(window.end()) }];
}

function inBody(call: AttemptContext, state: GuardState, answer: Answer): Answer {
  if (state.before.length + state.after.length === 0 || answer.content.form !== 'bytes') return answer;
  const spliced = withField(answer.content.bytes, hookResults(state));
  return marked(call, hasFailed(state), spliced ? { ...answer, content: { form: 'bytes', bytes: spliced } } : answer);
}

function marked(call: AttemptContext, failed: boolean, answer: Answer): Answer {
  if (!failed) return answer;
  call.record.status = failedStatus;
  return { ...answer, status: failedStatus };
}

const closing = 125;

/** The object with a field more; everything else stays byte for byte. */
function withField(bytes: Uint8Array, results: object): Uint8Array<ArrayBuffer> | null {
  const end = bytes.lastIndexOf(closing);
  const value = `"hook_results":${JSON.stringify(results)}}`;
  if (end < 1 || bytes[0] !== 123) return whole(bytes, results);
  let before = end - 1;
  while (before > 0 && (bytes[before] ?? 0) <= 32) before--;
  const separator = bytes[before] === 123 ? '' : ',';
  return new Uint8Array(Buffer.concat([bytes.subarray(0, end), Buffer.from(separator + value)]));
}

function whole(bytes: Uint8Array, results: object): Uint8Array<ArrayBuffer> | null {
  const json = parsed(new TextDecoder().decode(bytes));
  return isObject(json) ? new Uint8Array(Buffer.from(JSON.stringify({ ...json, hook_results: results }))) : null;
}
