/** OpenAI's responses API: whole answers, and streams of numbered events as it sends them. */
import { type Behaviour, json, stream } from './simulated.ts';

const item = (text: string, status = 'completed') => ({
  id: 'msg_1',
  type: 'message',
  status,
  content: text === '' ? [] : [{ type: 'output_text', annotations: [], logprobs: [], text }],
  role: 'assistant',
});

const usage = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 6,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 18,
};

export const modelResponse = (text: string, status = 'completed') => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_760_000_000,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: 'gpt-4o-mini',
  output: text === '' ? [] : [item(text)],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: status === 'completed' ? usage : null,
  user: null,
  metadata: {},
});

export const inputItems = {
  object: 'list',
  data: [{ id: 'msg_0', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Say hello.' }] }],
  first_id: 'msg_0',
  last_id: 'msg_0',
  has_more: false,
};

/** All events of a stream that says these words. */
export function responseEvents(words: readonly string[]): string[] {
  const whole = words.join('');
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const part = (text: string) => ({ type: 'output_text', annotations: [], logprobs: [], text });
  const events: ({ type: string } & Record<string, unknown>)[] = [
    { type: 'response.created', response: modelResponse('', 'in_progress') },
    { type: 'response.in_progress', response: modelResponse('', 'in_progress') },
    { type: 'response.output_item.added', output_index: 0, item: item('', 'in_progress') },
    { type: 'response.content_part.added', ...place, part: part('') },
    ...words.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...place, text: whole, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: part(whole) },
    { type: 'response.output_item.done', output_index: 0, item: item(whole) },
    { type: 'response.completed', response: modelResponse(whole) },
  ];
  return events.map(
    ({ type, ...fields }, sequence_number) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`,
  );
}

const answers: Record<string, Behaviour | undefined> = {
  'GET /v1/responses/resp_1': json(200, modelResponse('Hello')),
  'DELETE /v1/responses/resp_1': json(200, { id: 'resp_1', object: 'response', deleted: true }),
  'GET /v1/responses/resp_1/input_items': json(200, inputItems),
  'POST /v1/responses/resp_1/cancel': json(200, modelResponse('', 'cancelled')),
};

/** Says these words, streamed when asked to, and keeps what it said. */
export const respondsWith =
  (...words: string[]): Behaviour =>
  (call, response) => {
    const kept = answers[`${call.method} ${call.path.split('?', 1)[0]}`];
    if (kept) return kept(call, response);
    return call.json?.stream
      ? stream(responseEvents(words))(call, response)
      : json(200, modelResponse(words.join('')))(call, response);
  };
