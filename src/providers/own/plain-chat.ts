/** Chat with providers that have a text in and a text out: what they cannot do is said, and their answer has one part. */
import type { ChatAnswer, FinishReason } from '../chat/answer.ts';
import type { Conversation } from '../chat/conversation.ts';
import { ownExtras } from '../chat/extras.ts';
import type { ChatFamily } from '../chat/family.ts';
import { unsupported } from '../chat/media.ts';
import { RequestFault } from '../faults.ts';
import type { Usage } from '../provider.ts';

export function refuseBeyondText({ turns, tools, hostedTools, count, format }: Conversation, name: string): void {
  if (tools.length > 0 || hostedTools.length > 0)
    throw new RequestFault('tools', `${name} has no tools: leave them out`);
  if (count > 1) throw new RequestFault('n', `${name} gives one answer a call: leave n out, or set it to 1`);
  if (format.type !== 'text') throw new RequestFault('response_format', `${name} answers in text only`);
  const spoken = turns.flatMap(({ parts }): readonly { type: string }[] => parts);
  if (spoken.some(({ type }) => type === 'tool-call' || type === 'tool-result')) {
    throw unsupported('messages', name, 'calls of tools and their results');
  }
}

/** For models that cannot be told to think: how hard they should would be lost. */
export function refuseReasoning({ reasoning }: Conversation, name: string): void {
  if (!reasoning || reasoning.mode === 'off') return;
  throw new RequestFault('reasoning_effort', `${name} does not reason: leave reasoning_effort out`);
}

export const plainAnswer = (
  text: string,
  {
    finish = 'stop',
    providerFinish = null,
    usage = null,
    id = null,
  }: {
    finish?: FinishReason;
    providerFinish?: string | null;
    usage?: Usage | null;
    id?: string | null;
  } = {},
): ChatAnswer => ({
  id,
  model: null,
  created: null,
  choices: [
    {
      index: 0,
      parts: text === '' ? [] : [{ type: 'text', text }],
      finish,
      providerFinish,
      stopSequence: null,
      logprobs: null,
      annotations: [],
      extras: {},
    },
  ],
  usage,
  extras: {},
});

/** The same is asked of every surface that a provider has: text, and no reasoning. */
export const textOnly = (family: ChatFamily, name: string): ChatFamily => ({
  ...family,
  request(conversation, facts) {
    refuseBeyondText(conversation, name);
    refuseReasoning(conversation, name);
    return family.request({ ...conversation, extras: ownExtras(conversation, name) }, facts);
  },
});

/** Streams are asked for at another surface. */
export const withoutStreams = (family: Omit<ChatFamily, 'reader'>): ChatFamily => ({
  ...family,
  reader: () => ({ read: () => [], end: () => [] }),
});
