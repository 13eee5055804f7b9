/** The turns of a conversation as messages of Converse. */
import { isOwnThought } from '../anthropic/blocks.ts';
import { acceptedId } from '../chat/call-ids.ts';
import type { AssistantPart, CacheMark, MediaPart, TextPart, ToolResultPart, UserPart } from '../chat/conversation.ts';
import { unsupported } from '../chat/media.ts';
import { type Hoisted, hasText, resultsApart } from '../chat/turns.ts';
import { argumentsOf, present } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { documentNames, mediaBlock } from './media.ts';
import type { BedrockModel } from './model.ts';

/** Blocks of nothing are refused, and so is a message without any. */
const nothing = '.';

interface Writing {
  facts: CallFacts;
  model: BedrockModel;
  documentName(name: string | null): string;
}

export function messagesOf({ turns }: Hoisted, facts: CallFacts, model: BedrockModel): JsonObject[] {
  const writing: Writing = { facts, model, documentName: documentNames() };
  return turns.map((turn, index) => {
    if (turn.role === 'user') return { role: 'user', content: filled(userBlocks(turn.parts, writing)) };
    const isLast = index === turns.length - 1;
    const blocks = turn.parts.flatMap((part) => assistantBlocks(part, writing));
    return { role: 'assistant', content: filled(isLast ? trimmed(blocks) : blocks) };
  });
}

export const systemOf = ({ system }: Hoisted, model: BedrockModel): JsonObject[] =>
  system.flatMap(({ text, cache }) => [{ text }, ...cachePoint(cache, model)]);

/** A mark of the cache stands behind what it marks. */
export function cachePoint(cache: CacheMark | null, { caches, isNova }: BedrockModel): JsonObject[] {
  if (!cache || caches === 'nothing') return [];
  return [{ cachePoint: present({ type: 'default', ttl: isNova ? null : cache.ttl }) }];
}

const filled = (blocks: JsonObject[]): JsonObject[] => (blocks.length > 0 ? blocks : [{ text: nothing }]);

/** Results of tools come before whatever else the user says; a document does not stand without text. */
function userBlocks(parts: readonly UserPart[], writing: Writing): JsonObject[] {
  const { results, said: others } = resultsApart(parts);
  const said = others.flatMap((part) => contentBlocks(part, writing));
  const needsText = said.some((block) => 'document' in block) && !said.some((block) => 'text' in block);
  return [
    ...results.flatMap((result) => resultBlocks(result, writing)),
    ...(needsText ? [{ text: nothing }] : []),
    ...said,
  ];
}

function contentBlocks(part: TextPart | MediaPart, { facts, model, documentName }: Writing): JsonObject[] {
  if (part.type === 'text' && !hasText(part)) return [];
  const block = part.type === 'text' ? { text: part.text } : mediaBlock(part, facts, documentName);
  return [block, ...cachePoint(part.cache, model)];
}

function resultBlocks({ callId, content, isError, cache }: ToolResultPart, writing: Writing): JsonObject[] {
  const { model } = writing;
  const shown = content.flatMap((part) => contentBlocks({ ...part, cache: null }, writing));
  const blocks = filled(isError && !model.knowsFailure ? [{ text: 'Error:' }, ...shown] : shown);
  const status = isError && model.knowsFailure ? 'error' : null;
  return [
    { toolResult: present({ toolUseId: callIdOf(callId, model), content: blocks, status }) },
    ...cachePoint(cache, model),
  ];
}

function assistantBlocks(part: AssistantPart, { model }: Writing): JsonObject[] {
  switch (part.type) {
    case 'text':
      return hasText(part) ? [{ text: part.text }, ...cachePoint(part.cache, model)] : [];
    case 'refusal':
      return hasText(part) ? [{ text: part.text }] : [];
    // Claude believes only thoughts that it has signed. Others refuse to be shown their own.
    case 'thinking':
      return model.claude && isOwnThought(part)
        ? [{ reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } }]
        : [];
    case 'redacted-thinking':
      return model.claude ? [{ reasoningContent: { redactedContent: part.content } }] : [];
    case 'tool-call':
      return [
        { toolUse: { toolUseId: callIdOf(part.id, model), name: part.name, input: argumentsOf(part.arguments) } },
        ...cachePoint(part.cache, model),
      ];
    case 'media':
      throw unsupported('messages', 'Bedrock', `${part.kind} in an assistant's message`);
  }
}

/** White space at the end of what the model is to go on from is refused. */
function trimmed(blocks: JsonObject[]): JsonObject[] {
  const last = blocks.at(-1);
  return typeof last?.text === 'string' ? [...blocks.slice(0, -1), { text: last.text.trimEnd() }] : blocks;
}

const longestId = 64;

const callIdOf = (id: string, { claude }: BedrockModel): string =>
  acceptedId(id, claude ? /[^a-zA-Z0-9_-]/g : /[^a-zA-Z0-9_.:-]/g, longestId);
