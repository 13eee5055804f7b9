/** How a denial is told: refused with 446, or answered with 200 in the words of the route. */
import type { Denial } from '../../guardrails/engine.ts';
import type { JsonObject, ServerEvent } from '../../providers/provider.ts';
import { ReceivedHeaders } from '../../wire/client/answer.ts';
import type { Answer } from '../attempt/answer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { failed } from '../attempt/exchange.ts';
import { GatewayError } from '../errors.ts';
import { replayed } from './replay.ts';
import { type GuardState, hookResults } from './state.ts';

const refused =
  'The guardrail checks defined in the config failed. You can find more information in the `hook_results` object.';

export const denialError = ({ message }: Denial, state: GuardState): GatewayError =>
  new GatewayError('guardrail_denied', message ?? refused, {
    hookResults: hookResults(state),
    spoken: 'by a guardrail',
  });

export async function denied(call: AttemptContext, state: GuardState, denial: Denial): Promise<Answer> {
  const text = denial.softText;
  const shape = text === null ? undefined : shapes[call.context.matched.route.kind];
  if (text === null || !shape) return failed(call.record, denialError(denial, state));
  state.softDenied = true;
  call.record.status = 200;
  call.record.error = null;
  const model = typeof call.shaped.model === 'string' ? call.shaped.model : '';
  const made = {
    id: Bun.randomUUIDv7().replaceAll('-', ''),
    created: Math.floor(call.deps.clock.now().getTime() / 1_000),
    model,
    text,
  };
  if (call.shaped.stream === true) return replayed(call, shape.events(made), 200);
  const bytes = Buffer.from(JSON.stringify(shape.body(made)));
  const headers = new ReceivedHeaders({ 'content-type': 'application/json' });
  return { status: 200, headers, content: { form: 'bytes', bytes }, record: call.record, rescue: null };
}

interface Made {
  id: string;
  created: number;
  model: string;
  text: string;
}

interface Shape {
  body(made: Made): JsonObject;
  events(made: Made): ServerEvent[];
}

const data = (json: JsonObject): ServerEvent => ({ event: null, data: JSON.stringify(json) });
const named = (json: JsonObject): ServerEvent => ({ event: String(json.type), data: JSON.stringify(json) });
const done: ServerEvent = { event: null, data: '[DONE]' };
const noUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

const chat: Shape = {
  body: ({ id, created, model, text }) => ({
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop', logprobs: null }],
    usage: noUsage,
  }),
  events: ({ id, created, model, text }) => {
    const chunk = (delta: JsonObject, finish_reason: string | null) =>
      data({
        id: `chatcmpl-${id}`,
        object: 'chat.completion.chunk',
        created,
        model,
        choices: [{ index: 0, delta, finish_reason }],
      });
    return [chunk({ role: 'assistant', content: '' }, null), chunk({ content: text }, null), chunk({}, 'stop'), done];
  },
};

const completion: Shape = {
  body: ({ id, created, model, text }) => ({
    id: `cmpl-${id}`,
    object: 'text_completion',
    created,
    model,
    choices: [{ index: 0, text, finish_reason: 'stop', logprobs: null }],
    usage: noUsage,
  }),
  events: ({ id, created, model, text }) => [
    data({
      id: `cmpl-${id}`,
      object: 'text_completion',
      created,
      model,
      choices: [{ index: 0, text, finish_reason: 'stop' }],
    }),
    done,
  ],
};

const messageOf = ({ id, model }: Made): JsonObject => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 0, output_tokens: 0 },
});

const messages: Shape = {
  body: (made) => ({ ...messageOf(made), content: [{ type: 'text', text: made.text }], stop_reason: 'end_turn' }),
  events: (made) => [
    named({ type: 'message_start', message: messageOf(made) }),
    named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: made.text } }),
    named({ type: 'content_block_stop', index: 0 }),
    named({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 0 },
    }),
    named({ type: 'message_stop' }),
  ],
};

const responseOf = ({ id, created, model }: Made, status: string, output: unknown[]): JsonObject => ({
  id: `resp_${id}`,
  object: 'response',
  created_at: created,
  status,
  model,
  output,
  error: null,
  incomplete_details: null,
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  usage: {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  },
});

const partOf = (text: string) => ({ type: 'output_text', text, annotations: [] });
const itemOf = ({ id, text }: Made, status: string, parts = [partOf(text)]) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  status,
  content: parts,
});

const responses: Shape = {
  body: (made) => responseOf(made, 'completed', [itemOf(made, 'completed')]),
  events: (made) => {
    const place = { item_id: `msg_${made.id}`, output_index: 0, content_index: 0 };
    const events: JsonObject[] = [
      { type: 'response.created', response: responseOf(made, 'in_progress', []) },
      { type: 'response.in_progress', response: responseOf(made, 'in_progress', []) },
      { type: 'response.output_item.added', output_index: 0, item: itemOf(made, 'in_progress', []) },
      { type: 'response.content_part.added', ...place, part: partOf('') },
      { type: 'response.output_text.delta', ...place, delta: made.text },
      { type: 'response.output_text.done', ...place, text: made.text },
      { type: 'response.content_part.done', ...place, part: partOf(made.text) },
      { type: 'response.output_item.done', output_index: 0, item: itemOf(made, 'completed') },
      { type: 'response.completed', response: responseOf(made, 'completed', [itemOf(made, 'completed')]) },
    ];
    return events.map((event, sequence_number) => named({ ...event, sequence_number }));
  },
};

/** Embeddings have no shape for a text. */
const shapes: Readonly<Record<string, Shape>> = {
  chatComplete: chat,
  complete: completion,
  messages,
  createModelResponse: responses,
};
