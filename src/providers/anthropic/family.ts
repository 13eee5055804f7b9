/** Anthropic's messages as providers speak it: chat over it, and its native route on clouds that differ a little. */
import { unfolding } from '../chat/answer-tool.ts';
import type { Conversation } from '../chat/conversation.ts';
import type { ChatFamily } from '../chat/family.ts';
import { mediaIn, webMedia } from '../chat/turns.ts';
import { readMessage } from './answer.ts';
import { isTextAtAddress } from './blocks.ts';
import { messageReader } from './reader.ts';
import { formByTool, writeRequest } from './request.ts';
import { type AnthropicSurface, anthropicApi } from './surface.ts';

export { betaHeader, betasOf } from './betas.ts';
export { withoutForeignThoughts } from './foreign-thoughts.ts';
export { nativeBody, nativeMessages } from './native.ts';
export { type AnthropicSurface, anthropicApi } from './surface.ts';

/** Chat over Anthropic's messages. Where betas travel as a header, the endpoint or the provider adds `betaHeader(facts, surface)`. */
export function anthropicFamily(surface: AnthropicSurface = anthropicApi): ChatFamily {
  return {
    media: (conversation) => (surface.inlineMedia ? webMedia(conversation) : textsAtAddresses(conversation)),
    request: (conversation, facts) => writeRequest(conversation, facts, surface),
    response: (answer) => readMessage(answer),
    reader: (_, asked) => {
      const reader = unfolding(messageReader(), asked !== undefined && formByTool(asked(), surface) !== null);
      const { unwrap } = surface;
      if (!unwrap) return reader;
      return {
        read: (event) => {
          const own = unwrap(event);
          return own ? reader.read(own) : [];
        },
        end: () => reader.end(),
      };
    },
  };
}

function textsAtAddresses(conversation: Conversation): string[] {
  const addresses: string[] = [];
  for (const part of mediaIn(conversation)) {
    if (part.source.from === 'url' && isTextAtAddress(part)) addresses.push(part.source.url);
  }
  return addresses;
}
