/** The messages of a request as turns: calls of tools and their results, and the thoughts that go back to the model. */
import type { AssistantPart, ToolCallPart, ToolResultPart, Turn, UserPart } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import { textPart } from '../chat/content.ts';
import { unseal } from '../sealed.ts';
import { shortName } from '../tool-names.ts';
import { contentOf, shownBlock, textBlock, unknownBlock } from './content.ts';

export function systemTurns(body: Fields): Turn[] {
  const { system } = body.json;
  if (typeof system === 'string') return system === '' ? [] : [{ role: 'system', parts: [textPart(system)] }];
  const parts = (body.objects('system') ?? []).flatMap(textBlock);
  return parts.length > 0 ? [{ role: 'system', parts }] : [];
}

export function turnsOf(messages: readonly Fields[]): Turn[] {
  const names = new Map<string, string>();
  return messages.map((message) => turnOf(message, names));
}

/** `names` remembers which tool each call went to, for the results that follow. */
function turnOf(message: Fields, names: Map<string, string>): Turn {
  const role = message.needText('role');
  if (!message.has('content')) throw new RequestFault(message.at('content'), `${message.at('content')} is missing`);
  switch (role) {
    case 'user':
      return { role, parts: contentOf<UserPart>(message, (block) => userBlock(block, names)) };
    case 'assistant':
      return { role, parts: assistantParts(message, names) };
    case 'system':
      return { role, parts: contentOf(message, textBlock) };
    default:
      throw new RequestFault(
        message.at('role'),
        `${message.at('role')} "${role}" must be one of user, assistant, system`,
      );
  }
}

const userBlock = (block: Fields, names: ReadonlyMap<string, string>): UserPart[] =>
  block.text('type') === 'tool_result' ? [resultOf(block, names)] : shownBlock(block);

/** A mark inside a result's content stands for the whole result. */
function resultOf(block: Fields, names: ReadonlyMap<string, string>): ToolResultPart {
  const callId = block.needText('tool_use_id');
  const content = contentOf(block, shownBlock);
  return {
    type: 'tool-result',
    callId,
    name: names.get(callId) ?? null,
    content: content.map((part) => ({ ...part, cache: null })),
    isError: block.flag('is_error') ?? false,
    cache: block.raw('cache_control') ?? content.findLast((part) => part.cache)?.cache ?? null,
  };
}

function assistantParts(message: Fields, names: Map<string, string>): AssistantPart[] {
  const signatures = callSignatures(message);
  const parts = contentOf<AssistantPart>(message, (block) => assistantBlock(block, signatures));
  for (const part of parts) if (part.type === 'tool-call') names.set(part.id, part.name);
  return parts;
}

/** Marks of calls that we sent along as thoughts, by the call's id. */
function callSignatures(message: Fields): ReadonlyMap<string, string> {
  const signatures = new Map<string, string>();
  if (typeof message.json.content === 'string') return signatures;
  for (const block of message.objects('content') ?? []) {
    const sealed = block.json.type === 'redacted_thinking' ? unseal(block.needText('data')) : null;
    if (sealed?.holds === 'call') signatures.set(sealed.id, sealed.signature);
  }
  return signatures;
}

function assistantBlock(block: Fields, signatures: ReadonlyMap<string, string>): AssistantPart[] {
  const type = block.needText('type');
  switch (type) {
    case 'text':
      return textBlock(block);
    case 'thinking':
      return [{ type, text: block.text('thinking') ?? '', signature: block.text('signature') || null }];
    case 'redacted_thinking': {
      const content = block.needText('data');
      return unseal(content) ? [] : [{ type: 'redacted-thinking', content }];
    }
    case 'tool_use':
      return [callOf(block, signatures)];
    default:
      return isServerBlock(type) ? [] : unknownBlock(block);
  }
}

/** What tools did that another provider ran: the model's own text tells what came of it. */
const isServerBlock = (type: string): boolean => /(?:^server_tool_use|^mcp_tool_use|_tool_result)$/.test(type);

function callOf(block: Fields, signatures: ReadonlyMap<string, string>): ToolCallPart {
  const id = block.needText('id');
  return {
    type: 'tool-call',
    id,
    name: shortName(block.needText('name')),
    arguments: JSON.stringify(block.raw('input') ?? {}),
    signature: signatures.get(id) ?? null,
    cache: block.raw('cache_control'),
  };
}
