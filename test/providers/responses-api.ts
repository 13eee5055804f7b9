/** OpenAI's responses from a script: thoughts, words and calls as items, whole or as the numbered events of a stream. */
import type { Json } from '../harness.ts';
import { type Behaviour, json, stream } from './simulated.ts';

export interface ResponseScript {
  text?: string;
  thought?: string;
  calls?: readonly { id: string; name: string; arguments: string }[];
  cutShort?: boolean;
}

const responseUsage = {
  input_tokens: 25,
  input_tokens_details: { cached_tokens: 10 },
  output_tokens: 15,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 40,
};

export const responds =
  (script: ResponseScript): Behaviour =>
  (call, response) =>
    (call.json.stream ? stream(eventsOf(script, call.json)) : json(200, responseOf(script, call.json)))(call, response);

const head = (model: string) => ({ id: 'resp_9', object: 'response', created_at: 1_760_000_000, model, error: null });

const responseOf = (script: ResponseScript, asked: Json): Json => ({
  ...head(asked.model),
  status: script.cutShort ? 'incomplete' : 'completed',
  incomplete_details: script.cutShort ? { reason: 'max_output_tokens' } : null,
  output: itemsOf(script, asked),
  usage: responseUsage,
});

const textPart = (text: string): Json => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const summaryPart = (text: string): Json => ({ type: 'summary_text', text });

const itemsOf = ({ text, thought, calls = [], cutShort }: ResponseScript, asked: Json): Json[] => [
  ...(thought ? [thoughtOf(thought, asked)] : []),
  ...(text === undefined
    ? []
    : [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: cutShort ? 'incomplete' : 'completed',
          content: [textPart(text)],
        },
      ]),
  ...calls.map(({ id, ...called }) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    ...called,
    status: 'completed',
  })),
];

/** Thoughts are summed up, and given sealed, only for those who ask. */
const thoughtOf = (thought: string, { reasoning, include }: Json): Json => ({
  type: 'reasoning',
  id: 'rs_1',
  summary: reasoning?.summary ? [summaryPart(thought)] : [],
  ...(include?.includes('reasoning.encrypted_content') && { encrypted_content: 'c2VhbGVk' }),
});

const piecesOf = (text: string): string[] => text.match(/[\s\S]{1,6}/g) ?? [];

function eventsOf(script: ResponseScript, asked: Json): string[] {
  const whole = responseOf(script, asked);
  const begun = { ...head(asked.model), status: 'in_progress', incomplete_details: null, output: [], usage: null };
  const events: Json[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...whole.output.flatMap(itemEvents),
    { type: `response.${whole.status}`, response: whole },
  ];
  return events.map(
    ({ type, ...fields }, sequence_number) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`,
  );
}

/** An item opens empty, is filled piece by piece, and closes with all that it holds. */
function itemEvents(item: Json, output_index: number): Json[] {
  const { opened, filled } = fillings(item, { item_id: item.id, output_index });
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', ...opened } },
    ...filled,
    { type: 'response.output_item.done', output_index, item },
  ];
}

function fillings(item: Json, place: Json): { opened: Json; filled: Json[] } {
  switch (item.type) {
    case 'reasoning': {
      const filled = item.summary.flatMap(({ text }: Json, summary_index: number) => {
        const at = { ...place, summary_index };
        return [
          { type: 'response.reasoning_summary_part.added', ...at, part: summaryPart('') },
          ...piecesOf(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
          { type: 'response.reasoning_summary_text.done', ...at, text },
          { type: 'response.reasoning_summary_part.done', ...at, part: summaryPart(text) },
        ];
      });
      return { opened: { summary: [] }, filled };
    }
    case 'message': {
      const [{ text }] = item.content;
      const at = { ...place, content_index: 0 };
      const filled = [
        { type: 'response.content_part.added', ...at, part: textPart('') },
        ...piecesOf(text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
        { type: 'response.output_text.done', ...at, text, logprobs: [] },
        { type: 'response.content_part.done', ...at, part: textPart(text) },
      ];
      return { opened: { content: [] }, filled };
    }
    default: {
      const filled = [
        ...piecesOf(item.arguments).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...place,
          delta,
        })),
        { type: 'response.function_call_arguments.done', ...place, name: item.name, arguments: item.arguments },
      ];
      return { opened: { arguments: '' }, filled };
    }
  }
}
