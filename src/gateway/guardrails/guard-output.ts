/** Output guardrails: on whole answers, and on streams as far as their guardrails ask for it. */
import { isObject, parsed } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { Answer, Content } from '../attempt/answer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import type { AnswerStep } from '../attempt/steps.ts';
import { buffered } from './buffered-stream.ts';
import { judge } from './judge.ts';
import { lensOf } from './lenses/index.ts';
import type { GuardState } from './state.ts';
import { streamStages } from './stream-guard.ts';

export const guardOutput: AnswerStep = {
  name: 'guard output',
  applies: ({ record }, { status, content }) =>
    record.guard !== null &&
    status === 200 &&
    (content.form === 'bytes' || content.form === 'events') &&
    guards(record.guard),
  async run(call, answer) {
    const state = call.record.guard;
    if (!state) return answer;
    const { content } = answer;
    state.after = [];
    state.outputFailed = false;
    if (content.form === 'bytes') return guardWhole(call, state, answer, content.bytes);
    return content.form === 'events' ? guardStream(call, state, answer, content) : answer;
  },
};

/** Something looks at answers. */
const guards = ({ guards: { output } }: GuardState): boolean => output.sync.length > 0 || output.async.length > 0;

const decoder = new TextDecoder();

async function guardWhole(call: AttemptContext, state: GuardState, answer: Answer, bytes: Uint8Array): Promise<Answer> {
  const { kind } = call.context.matched.route;
  if (!lensOf(kind)) return answer;
  const json = parsed(decoder.decode(bytes));
  if (!isObject(json)) return answer;
  const judged = await judge(call, state, json);
  if ('denial' in judged) return judged.denial;
  return judged.json === json ? answer : withJson(answer, judged.json);
}

const withJson = (answer: Answer, json: JsonObject): Answer => ({
  ...answer,
  content: { form: 'bytes', bytes: Buffer.from(JSON.stringify(unspelled(json))) },
});

/** Log probabilities spell the text token by token, as it was before it was changed. */
function unspelled(json: JsonObject): JsonObject {
  if (Array.isArray(json.choices)) {
    const choices = json.choices.map((choice) =>
      isObject(choice) && choice.logprobs ? { ...choice, logprobs: null } : choice,
    );
    return { ...json, choices };
  }
  if (!Array.isArray(json.output)) return json;
  const output = json.output.map((item) => {
    if (!isObject(item) || !Array.isArray(item.content)) return item;
    const content = item.content.map((part) => (isObject(part) && part.logprobs ? { ...part, logprobs: [] } : part));
    return { ...item, content };
  });
  return { ...json, output };
}

async function guardStream(
  call: AttemptContext,
  state: GuardState,
  answer: Answer,
  content: Extract<Content, { form: 'events' }>,
): Promise<Answer> {
  const lens = lensOf(call.context.matched.route.kind);
  if (!lens) return answer;
  if (state.guards.output.sync.some(({ bufferStream }) => bufferStream)) return buffered(call, state, content, lens);
  const stages = [...content.stages, ...streamStages(call, state, lens)];
  return { ...answer, content: { ...content, stages } };
}
