/** The dialects in which clients ask a guarded provider, and what their answers say. */
import type { Json } from './harness.ts';
import * as anthropic from './providers/anthropic.ts';
import * as openai from './providers/openai.ts';
import { modelResponse, responseEvents } from './providers/responses.ts';
import { type Behaviour, json, stream } from './providers/simulated.ts';

/** A dialect with which a client speaks to us, and how its provider answers. */
export interface Spoken {
  path: string;
  target: object;
  ask(text: string): object;
  says(...words: string[]): Behaviour;
  /** The text of a whole answer. */
  text(body: Json): string;
  /** The text that an event of a stream brings. */
  part(json: Json): string;
  sent(call: Json): string;
}

const completion = (text: string) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, text, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const completionEvents = (words: readonly string[]) => [
  ...words.map(
    (text) =>
      `data: ${JSON.stringify({ id: 'cmpl-1', object: 'text_completion', model: 'm', choices: [{ index: 0, text, finish_reason: null }] })}\n\n`,
  ),
  `data: ${JSON.stringify({ id: 'cmpl-1', object: 'text_completion', model: 'm', choices: [{ index: 0, text: '', finish_reason: 'stop' }] })}\n\n`,
  'data: [DONE]\n\n',
];

export const spoken: Record<string, Spoken> = {
  chat: {
    path: '/v1/chat/completions',
    target: { provider: '@a' },
    ask: (content) => ({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
    says: openai.says,
    text: (body) => body.choices[0].message.content,
    part: (event) => event.choices?.[0]?.delta?.content ?? '',
    sent: (body) => body.messages.at(-1).content,
  },
  completions: {
    path: '/v1/completions',
    target: { provider: '@a' },
    ask: (prompt) => ({ model: 'gpt-3.5-turbo-instruct', prompt }),
    says:
      (...words) =>
      (call, response) =>
        (call.json?.stream ? stream(completionEvents(words)) : json(200, completion(words.join(''))))(call, response),
    text: (body) => body.choices[0].text,
    part: (event) => event.choices?.[0]?.text ?? '',
    sent: (body) => body.prompt,
  },
  messages: {
    path: '/v1/messages',
    target: { provider: '@claude' },
    ask: (content) => ({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: content }] }],
    }),
    says: anthropic.says,
    text: (body) => body.content[0].text,
    part: (event) => event.delta?.text ?? '',
    sent: (body) => body.messages.at(-1).content[0].text,
  },
  responses: {
    path: '/v1/responses',
    target: { provider: '@a' },
    ask: (input) => ({ model: 'gpt-4o-mini', input }),
    says:
      (...words) =>
      (call, response) =>
        (call.json?.stream ? stream(responseEvents(words)) : json(200, modelResponse(words.join(''))))(call, response),
    text: (body) => body.output[0].content[0].text,
    part: (event) => (event.type === 'response.output_text.delta' ? event.delta : ''),
    sent: (body) => body.input,
  },
};

export const eventsIn = (text: string): { event: string | null; data: string }[] =>
  text
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => ({
      event: /^event: (.*)$/m.exec(block)?.[1] ?? null,
      data: /^data: (.*)$/m.exec(block)?.[1] ?? '',
    }));

export const jsonIn = ({ data }: { data: string }): Json => (data.startsWith('{') ? JSON.parse(data) : {});
export const textIn = (dialect: Spoken, text: string): string =>
  eventsIn(text)
    .map((event) => dialect.part(jsonIn(event)))
    .join('');

export const noSecret = (more: object = {}) => ({
  'default.contains': { words: ['secret'], operator: 'none' },
  ...more,
});
export const hideKeys = (more: object = {}) => ({
  'default.regexReplace': { rule: '/sk-[a-z0-9]+/g', redactText: '[KEY]' },
  ...more,
});

interface Told {
  status: number;
  body: string;
  before: Json[];
  after: Json[];
  text: string;
}

/** What a client that wants to hear of guardrails is told, however the answer comes. */
export async function told(dialect: Spoken, response: Response): Promise<Told> {
  const body = await response.text();
  const isStream = response.headers.get('content-type')?.includes('event-stream') ?? false;
  const parts = isStream ? eventsIn(body).map(jsonIn) : [body.startsWith('{') ? JSON.parse(body) : {}];
  const results = parts.flatMap(({ hook_results }) => hook_results ?? []);
  return {
    status: response.status,
    body,
    before: results.flatMap(({ before_request_hooks }) => before_request_hooks ?? []),
    after: results.flatMap(({ after_request_hooks }) => after_request_hooks ?? []),
    text: isStream ? textIn(dialect, body) : response.status < 300 ? dialect.text(parts[0]) : '',
  };
}

/** An answer of chat whose message has these fields. */
export const chatAnswer = (message: object, more: object = {}) => ({
  ...openai.completion(''),
  choices: [{ index: 0, message: { role: 'assistant', content: 'fine', ...message }, finish_reason: 'stop', ...more }],
});

/** An answer of responses with these items. */
export const responseAnswer = (...output: object[]) => ({ ...modelResponse('fine'), output });
