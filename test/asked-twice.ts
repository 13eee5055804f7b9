/** One question asked whole and streamed through OpenAI's SDK: the provider is asked the same, and both answers say the same. */
import { expect } from 'bun:test';
import type OpenAI from 'openai';
import type { ChatCompletion } from 'openai/resources/chat/completions';
import type { Json } from './harness.ts';
import type { SimulatedProvider } from './providers/simulated.ts';

export async function askedTwice(client: OpenAI, provider: SimulatedProvider, question: Json): Promise<ChatCompletion> {
  const whole: ChatCompletion = await client.chat.completions.create(question);
  const asked = provider.calls.at(-1)?.json;
  const streamed = await client.chat.completions
    .stream({ ...question, stream: true, stream_options: { include_usage: true } })
    .finalChatCompletion();
  const { stream, ...rest } = provider.calls.at(-1)?.json ?? {};
  expect([stream, rest]).toEqual([true, asked]);
  expect(said(streamed)).toEqual(said(whole));
  return whole;
}

const said = ({ id, model, usage, choices: [choice] }: ChatCompletion): Json => ({
  id,
  model,
  usage,
  finish: choice?.finish_reason,
  content: choice?.message.content ?? '',
  calls: choice?.message.tool_calls?.map((call: Json) => [call.id, call.function.name, call.function.arguments]),
});
