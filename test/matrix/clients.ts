/** The columns of the matrix: each dialect's own SDK, asked the same and read the same. */
import { anthropicClient, openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import type { World } from '../world.ts';
import { limit, place, type Question, type Told, weather } from './cells.ts';

export type ClientName = 'chat' | 'messages' | 'responses';

export interface MatrixClient {
  name: ClientName;
  /** The request as its SDK sends it, streaming aside. */
  body(question: Question, model: string): Json;
  /** Where streams are asked for. */
  streamed: Json;
  /** Asks, whole or streamed, and reads the answer. */
  ask(world: World, headers: Record<string, string>, body: Json, stream: boolean): Promise<Read>;
  /** The next request of a conversation: what was answered, as the SDK gave it, and the results of its calls. */
  goOn(body: Json, answer: Json, results: readonly { id: string; text: string }[]): Json;
}

export interface Read {
  told: Told;
  usage: { input: number; cached: number; output: number };
  /** As the SDK gave it. */
  answer: Json;
}

const dataUrl = (image: string): string => `data:image/png;base64,${image}`;

export const chat: MatrixClient = {
  name: 'chat',
  streamed: { stream: true, stream_options: { include_usage: true } },
  body: ({ system, turns, tools, structured, effort, stop }, model) => ({
    model,
    max_completion_tokens: limit,
    messages: [...(system ? [{ role: 'system', content: system }] : []), ...turns.flatMap(chatMessages)],
    ...(tools && {
      tools: [
        {
          type: 'function',
          function: { name: weather.name, description: weather.description, parameters: weather.schema },
        },
      ],
      tool_choice: 'auto',
    }),
    ...(structured && {
      response_format: { type: 'json_schema', json_schema: { name: 'structured_output', strict: true, schema: place } },
    }),
    ...(effort && { reasoning_effort: effort }),
    ...(stop && { stop: [stop] }),
  }),
  async ask(world, headers, body, stream) {
    const { completions } = openaiClient(world, headers).chat;
    if (!stream) return readChat(await completions.create(body));
    const running = completions.stream({ ...body, ...this.streamed });
    // The SDK puts together what OpenAI has; thoughts it keeps only as they come.
    const thoughts: string[] = [];
    running.on('chunk', ({ choices }: Json) => thoughts.push(choices[0]?.delta.reasoning_content ?? ''));
    const answer: Json = await running.finalChatCompletion();
    answer.choices[0].message.reasoning_content = thoughts.join('');
    return readChat(answer);
  },
  goOn: (body, { choices }, results) => ({
    ...body,
    messages: [...body.messages, choices[0].message, ...chatMessages({ results })],
  }),
};

const stops: Record<string, Told['stop']> = {
  tool_calls: 'calls',
  tool_use: 'calls',
  length: 'length',
  max_tokens: 'length',
};

function readChat(answer: Json): Read {
  const { choices, usage } = answer;
  const { message, finish_reason } = choices[0];
  return {
    told: {
      text: message.content ?? '',
      thought: message.reasoning_content ?? '',
      calls: (message.tool_calls ?? []).map(({ id, function: called }: Json) => ({
        id,
        name: called.name,
        args: JSON.parse(called.arguments),
      })),
      stop: stops[finish_reason] ?? 'done',
    },
    usage: {
      input: usage?.prompt_tokens ?? 0,
      cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      output: usage?.completion_tokens ?? 0,
    },
    answer,
  };
}

function chatMessages(turn: Question['turns'][number]): Json[] {
  if ('results' in turn) return turn.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }));
  if ('user' in turn) {
    const image = turn.image && { type: 'image_url', image_url: { url: dataUrl(turn.image) } };
    return [{ role: 'user', content: image ? [{ type: 'text', text: turn.user }, image] : turn.user }];
  }
  const calls = turn.calls?.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [{ role: 'assistant', content: turn.assistant, ...(calls && { tool_calls: calls }) }];
}

export const messages: MatrixClient = {
  name: 'messages',
  streamed: { stream: true },
  body: ({ system, turns, tools, structured, effort, stop }, model) => ({
    model,
    max_tokens: limit,
    ...(system && { system }),
    messages: turns.map(message),
    ...(tools && {
      tools: [{ name: weather.name, description: weather.description, input_schema: weather.schema }],
      tool_choice: { type: 'auto' },
    }),
    ...((structured || effort) && {
      output_config: {
        ...(structured && { format: { type: 'json_schema', schema: place } }),
        ...(effort && { effort }),
      },
    }),
    ...(stop && { stop_sequences: [stop] }),
  }),
  async ask(world, headers, body, stream) {
    const client = anthropicClient(world, headers).messages;
    const answer: Json = stream ? await client.stream(body).finalMessage() : await client.create(body);
    const { content, stop_reason, usage } = answer;
    const of = (type: string, field: string): string =>
      content.flatMap((block: Json) => (block.type === type ? [block[field]] : [])).join('');
    return {
      told: {
        text: of('text', 'text'),
        thought: of('thinking', 'thinking'),
        calls: content.flatMap(({ type, id, name, input }: Json) =>
          type === 'tool_use' ? [{ id, name, args: input }] : [],
        ),
        stop: stop_reason === 'tool_use' ? 'calls' : stop_reason === 'max_tokens' ? 'length' : 'done',
      },
      usage: {
        input: usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
        cached: usage.cache_read_input_tokens,
        output: usage.output_tokens,
      },
      answer,
    };
  },
  goOn: (body, { content }, results) => ({
    ...body,
    messages: [...body.messages, { role: 'assistant', content }, message({ results })],
  }),
};

function message(turn: Question['turns'][number]): Json {
  if ('results' in turn) {
    const content = turn.results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text }));
    return { role: 'user', content };
  }
  if ('user' in turn) {
    const source = turn.image && { type: 'base64', media_type: 'image/png', data: turn.image };
    return {
      role: 'user',
      content: source
        ? [
            { type: 'text', text: turn.user },
            { type: 'image', source },
          ]
        : turn.user,
    };
  }
  const calls = turn.calls?.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }));
  return { role: 'assistant', content: calls ? [{ type: 'text', text: turn.assistant }, ...calls] : turn.assistant };
}

export const responses: MatrixClient = {
  name: 'responses',
  streamed: { stream: true },
  body: ({ system, turns, tools, structured, effort }, model) => ({
    model,
    max_output_tokens: limit,
    ...(system && { instructions: system }),
    input: turns.flatMap(items),
    ...(tools && {
      tools: [{ type: 'function', name: weather.name, description: weather.description, parameters: weather.schema }],
      tool_choice: 'auto',
    }),
    ...(structured && {
      text: { format: { type: 'json_schema', name: 'structured_output', strict: true, schema: place } },
    }),
    ...(effort && { reasoning: { effort } }),
  }),
  async ask(world, headers, body, stream) {
    const client = openaiClient(world, headers).responses;
    const answer: Json = stream ? await client.stream(body).finalResponse() : await client.create(body);
    const { output, usage, incomplete_details } = answer;
    const calls = output.filter(({ type }: Json) => type === 'function_call');
    return {
      told: {
        text: answer.output_text,
        thought: output
          .flatMap(({ type, summary }: Json) => (type === 'reasoning' ? summary.map(({ text }: Json) => text) : []))
          .join(''),
        calls: calls.map(({ call_id, name, arguments: args }: Json) => ({ id: call_id, name, args: JSON.parse(args) })),
        stop: calls.length > 0 ? 'calls' : incomplete_details?.reason === 'max_output_tokens' ? 'length' : 'done',
      },
      usage: {
        input: usage?.input_tokens ?? 0,
        cached: usage?.input_tokens_details.cached_tokens ?? 0,
        output: usage?.output_tokens ?? 0,
      },
      answer,
    };
  },
  goOn: (body, { output }, results) => ({ ...body, input: [...body.input, ...output, ...items({ results })] }),
};

function items(turn: Question['turns'][number]): Json[] {
  if ('results' in turn)
    return turn.results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }));
  if ('user' in turn) {
    const image = turn.image && { type: 'input_image', image_url: dataUrl(turn.image) };
    return [{ role: 'user', content: image ? [{ type: 'input_text', text: turn.user }, image] : turn.user }];
  }
  const calls = (turn.calls ?? []).map(({ id, name, args }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: JSON.stringify(args),
  }));
  return [{ role: 'assistant', content: turn.assistant }, ...calls];
}

export const clients: readonly MatrixClient[] = [chat, messages, responses];
