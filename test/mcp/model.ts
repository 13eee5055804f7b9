/** A simulated model in three dialects: it calls the tools that a script names, then says what it was told. */

export interface ScriptedCall {
  name: string;
  arguments: object;
}

export interface SimulatedModel {
  url: string;
  /** The bodies that came, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: a body is whatever the gateway sent; each test looks at the fields it is about.
  asked: any[];
  /** The calls of each round; behind the last one it answers in words. */
  script: ScriptedCall[][];
  /** What it says before the calls of each round. */
  words: string[];
  /** It does not answer the second round before this. */
  hold: Promise<void> | null;
  /** It refuses every round but the first. */
  isAway: boolean;
  stop(): void;
}

export function startModel(): SimulatedModel {
  const model: Omit<SimulatedModel, 'url' | 'stop'> = { asked: [], script: [], words: [], hold: null, isAway: false };
  const served = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.json();
      model.asked.push(body);
      const calls = model.script.shift() ?? [];
      const text = model.words.shift() ?? (calls.length > 0 ? '' : 'done');
      if (model.asked.length > 1) await model.hold;
      if (model.asked.length > 1 && model.isAway) return Response.json({ error: { message: 'away' } }, { status: 503 });
      const { pathname } = new URL(request.url);
      if (pathname.endsWith('/chat/completions')) {
        return body.stream ? stream(chatEvents(calls, text)) : Response.json(chatAnswer(calls, text));
      }
      if (pathname.endsWith('/responses')) {
        return body.stream ? stream(responsesEvents(calls, text)) : Response.json(responsesAnswer(calls, text));
      }
      return body.stream ? stream(messagesEvents(calls, text)) : Response.json(messagesAnswer(calls, text));
    },
  });
  return Object.assign(model, { url: `http://127.0.0.1:${served.port}/v1`, stop: () => void served.stop(true) });
}

const stream = (events: readonly object[]): Response =>
  new Response(
    events
      .map((event) => `${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
      .join('') + ('type' in (events[0] ?? {}) ? '' : 'data: [DONE]\n\n'),
    { headers: { 'content-type': 'text/event-stream' } },
  );

const halves = (text: string): string[] => [text.slice(0, 2), text.slice(2)].filter(Boolean);

function chatEvents(calls: readonly ScriptedCall[], text: string): object[] {
  const { choices, usage, ...base } = chatAnswer(calls, text);
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const tools = (choices[0]?.message.tool_calls ?? []).flatMap(({ id, function: called }, index) => [
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name: called.name, arguments: '' } }] }),
    ...halves(called.arguments).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
  ]);
  return [
    chunk({ role: 'assistant', content: '' }),
    ...halves(text).map((content) => chunk({ content })),
    ...tools,
    chunk({}, choices[0]?.finish_reason ?? 'stop'),
    { ...base, object: 'chat.completion.chunk', choices: [], usage },
  ];
}

function responsesEvents(calls: readonly ScriptedCall[], text: string): object[] {
  const answer = responsesAnswer(calls, text);
  const events: object[] = [{ type: 'response.created', response: { ...answer, status: 'in_progress', output: [] } }];
  for (const [output_index, item] of answer.output.entries()) {
    const at = { output_index, item_id: item.id };
    events.push({ type: 'response.output_item.added', output_index, item: { ...item, content: [], arguments: '' } });
    if (item.type === 'message') {
      for (const delta of halves(text))
        events.push({ type: 'response.output_text.delta', ...at, content_index: 0, delta });
      events.push({ type: 'response.output_text.done', ...at, content_index: 0, text });
    } else {
      events.push({ type: 'response.function_call_arguments.delta', ...at, delta: item.arguments });
      events.push({ type: 'response.function_call_arguments.done', ...at, arguments: item.arguments });
    }
    events.push({ type: 'response.output_item.done', output_index, item });
  }
  events.push({ type: 'response.completed', response: answer });
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

function messagesEvents(calls: readonly ScriptedCall[], text: string): object[] {
  const { content, stop_reason, stop_sequence, usage, ...head } = messagesAnswer(calls, text);
  const message = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const blocks = content.flatMap((block, index) => [
    {
      type: 'content_block_start',
      index,
      content_block: block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} },
    },
    ...(block.type === 'text'
      ? halves(text).map((part) => ({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: part } }))
      : halves(JSON.stringify('input' in block ? block.input : {})).map((partial_json) => ({
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json },
        }))),
    { type: 'content_block_stop', index },
  ]);
  return [
    { type: 'message_start', message },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens: usage.output_tokens } },
    { type: 'message_stop' },
  ];
}

const chatAnswer = (calls: readonly ScriptedCall[], text: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  choices: [
    {
      index: 0,
      finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      message: {
        role: 'assistant',
        content: text || null,
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ name, arguments: given }, index) => ({
            id: `call_${index}`,
            type: 'function',
            function: { name, arguments: JSON.stringify(given) },
          })),
        }),
      },
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});

const responsesAnswer = (calls: readonly ScriptedCall[], text: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-4o',
  output: [
    ...(text === ''
      ? []
      : [
          {
            type: 'message' as const,
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]),
    ...calls.map(({ name, arguments: given }, index) => ({
      type: 'function_call' as const,
      id: `fc_${index}`,
      call_id: `call_${index}`,
      name,
      arguments: JSON.stringify(given),
      status: 'completed',
    })),
  ],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
});

const messagesAnswer = (calls: readonly ScriptedCall[], text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ name, arguments: input }, index) => ({
      type: 'tool_use' as const,
      id: `toolu_${index}`,
      name,
      input,
    })),
  ],
  stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
});
