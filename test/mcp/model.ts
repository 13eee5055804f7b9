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
  stop(): void;
}

export function startModel(): SimulatedModel {
  const model: Omit<SimulatedModel, 'url' | 'stop'> = { asked: [], script: [] };
  const served = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.json();
      model.asked.push(body);
      const calls = model.script.shift() ?? [];
      const { pathname } = new URL(request.url);
      if (pathname.endsWith('/chat/completions')) return Response.json(chatAnswer(calls));
      if (pathname.endsWith('/responses')) return Response.json(responsesAnswer(calls));
      return Response.json(messagesAnswer(calls));
    },
  });
  return Object.assign(model, { url: `http://127.0.0.1:${served.port}/v1`, stop: () => void served.stop(true) });
}

const chatAnswer = (calls: readonly ScriptedCall[]) => ({
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
        content: calls.length > 0 ? null : 'done',
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

const responsesAnswer = (calls: readonly ScriptedCall[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-4o',
  output:
    calls.length > 0
      ? calls.map(({ name, arguments: given }, index) => ({
          type: 'function_call',
          id: `fc_${index}`,
          call_id: `call_${index}`,
          name,
          arguments: JSON.stringify(given),
          status: 'completed',
        }))
      : [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'done', annotations: [] }],
          },
        ],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
});

const messagesAnswer = (calls: readonly ScriptedCall[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content:
    calls.length > 0
      ? calls.map(({ name, arguments: input }, index) => ({ type: 'tool_use', id: `toolu_${index}`, name, input }))
      : [{ type: 'text', text: 'done' }],
  stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
});
