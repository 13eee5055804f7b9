/** The parts of turns as blocks of Anthropic's messages. */
import { acceptedId } from '../chat/call-ids.ts';
import type {
  AssistantPart,
  CacheMark,
  MediaPart,
  TextPart,
  ThinkingPart,
  ToolResultPart,
  UserPart,
} from '../chat/conversation.ts';
import { inlined, unsupported } from '../chat/media.ts';
import { hasText } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { argumentsOf, present } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';

const marked = (block: JsonObject, cache: CacheMark | null): JsonObject =>
  cache ? { ...block, cache_control: cache } : block;

export const textBlock = ({ text, cache }: TextPart): JsonObject => marked({ type: 'text', text }, cache);

/** Results of tools come before whatever else the user says. Text of nothing but white space is refused, so it is left out. */
export function userBlocks(parts: readonly UserPart[], facts: CallFacts): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const part of parts) if (part.type === 'tool-result') blocks.push(resultBlock(part, facts));
  addContent(blocks, parts, facts);
  return blocks;
}

function addContent(blocks: JsonObject[], parts: readonly UserPart[], facts: CallFacts): void {
  for (const part of parts) {
    if (part.type === 'media') blocks.push(mediaBlock(part, facts));
    else if (part.type === 'text' && hasText(part)) blocks.push(textBlock(part));
  }
}

function resultBlock({ callId, content, isError, cache }: ToolResultPart, facts: CallFacts): JsonObject {
  const blocks: JsonObject[] = [];
  addContent(blocks, content, facts);
  const [first] = blocks;
  const alone = blocks.length === 1 && first?.type === 'text' ? first.text : null;
  return marked(
    present({
      type: 'tool_result',
      tool_use_id: callIdOf(callId),
      content: alone ?? (blocks.length > 0 ? blocks : null),
      is_error: isError ? true : null,
    }),
    cache,
  );
}

export const assistantBlocks = (parts: readonly AssistantPart[]): JsonObject[] => parts.flatMap(assistantBlock);

function assistantBlock(part: AssistantPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return hasText(part) ? [textBlock(part)] : [];
    case 'refusal':
      return hasText(part) ? [{ type: 'text', text: part.text }] : [];
    case 'thinking':
      return isOwnThought(part) ? [{ type: 'thinking', thinking: part.text, signature: part.signature }] : [];
    case 'redacted-thinking':
      return [{ type: 'redacted_thinking', data: part.content }];
    case 'tool-call': {
      const { id, name, arguments: args, cache } = part;
      return [marked({ type: 'tool_use', id: callIdOf(id), name, input: argumentsOf(args) }, cache)];
    }
    case 'media':
      throw unsupported('messages', family, `${part.kind} in an assistant's message`);
  }
}

/** Thoughts that nobody signed are not believed, and those of others are refused: unlike Claude's, their signatures are marked with a colon or a dot. */
export const isOwnThought = ({ signature }: ThinkingPart): boolean =>
  signature !== null && signature !== '' && !/[:.]/.test(signature);

const family = 'Anthropic';

const callIdOf = (id: string): string => acceptedId(id, /[^a-zA-Z0-9_-]/g);

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function mediaBlock(part: MediaPart, facts: CallFacts): JsonObject {
  const { kind, name, cache } = part;
  if (kind === 'image') return marked({ type: 'image', source: imageSource(part, facts) }, cache);
  if (kind === 'document') {
    return marked(present({ type: 'document', source: documentSource(part, facts), title: name }), cache);
  }
  throw unsupported('messages', family, kind);
}

function imageSource(part: MediaPart, facts: CallFacts): JsonObject {
  const { source } = part;
  if (source.from === 'file') return { type: 'file', file_id: source.id };
  const bytes = inlined(part, facts);
  if (bytes) {
    const mime = bytes.mime === 'image/jpg' ? 'image/jpeg' : bytes.mime;
    if (!imageTypes.has(mime)) throw unsupported('messages', family, `an image of the type ${mime}`);
    return { type: 'base64', media_type: mime, data: bytes.base64 };
  }
  return addressOf(part);
}

function documentSource(part: MediaPart, facts: CallFacts): JsonObject {
  const { source } = part;
  if (source.from === 'file') return { type: 'file', file_id: source.id };
  if (source.from === 'text') return plainText(source.text);
  const bytes = inlined(part, facts);
  if (!bytes) return addressOf(part);
  if (bytes.mime === 'application/pdf') return { type: 'base64', media_type: bytes.mime, data: bytes.base64 };
  if (isTextType(bytes.mime)) return plainText(Buffer.from(bytes.base64, 'base64').toString());
  throw unsupported('messages', family, `a document of the type ${bytes.mime}`);
}

const plainText = (text: string): JsonObject => ({ type: 'text', media_type: 'text/plain', data: text });

/** Everything that a person could read as it is. */
const isTextType = (mime: string): boolean =>
  mime.startsWith('text/') || /^application\/(json|xml|yaml|x-yaml|javascript)$/.test(mime);

function addressOf({ source, kind }: MediaPart): JsonObject {
  if (source.from === 'url' && /^https?:/i.test(source.url)) return { type: 'url', url: source.url };
  throw new RequestFault('messages', `the ${kind} must be given as data, or at an http or https address`);
}

/** A document of text can be given as text only, wherever it stands. */
export const isTextAtAddress = ({ kind, mime, source }: MediaPart): boolean =>
  kind === 'document' && source.from === 'url' && mime !== null && isTextType(mime);
