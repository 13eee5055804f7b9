/** The input of a responses request as turns: what the model wrote in several items, its thoughts and calls among them, is one turn. */
import type { AssistantPart, Turn, UserPart } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import { textPart } from '../chat/content.ts';
import { argumentsOfInput } from '../custom-tools.ts';
import { type Sealed, unseal } from '../sealed.ts';
import { shortName } from '../tool-names.ts';
import { partsOf, shownParts } from './content.ts';

export function inputTurns(body: Fields): Turn[] {
  const instructions = body.text('instructions');
  const spoken = new Spoken();
  if (instructions) spoken.turns.push({ role: 'system', parts: [textPart(instructions)] });
  const { input } = body.json;
  if (typeof input === 'string') spoken.turns.push({ role: 'user', parts: input === '' ? [] : [textPart(input)] });
  else for (const item of body.needObjects('input')) spoken.take(item);
  if (spoken.turns.length === 0) throw new RequestFault('input', 'input must hold at least one item');
  return spoken.turns;
}

/** Items of tools that another provider ran: the model's own text tells what came of them. */
const passedOver = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'mcp_list_tools',
  'mcp_call',
  'tool_search_call',
  'tool_search_output',
]);

class Spoken {
  readonly turns: Turn[] = [];
  /** The parts of the last turn, while it is the assistant's. */
  #said: AssistantPart[] | null = null;
  /** The parts of the last turn, while it holds results of tools. */
  #results: UserPart[] | null = null;
  readonly #names = new Map<string, string>();
  /** Marks of calls that we sent along as thoughts, by the call's id. */
  readonly #signatures = new Map<string, string>();

  take(item: Fields): void {
    const type = item.text('type') ?? 'message';
    switch (type) {
      case 'message':
        this.#message(item);
        break;
      case 'function_call':
        this.#call(item, item.text('arguments') ?? '');
        break;
      case 'custom_tool_call':
        this.#call(item, argumentsOfInput(item.text('input') ?? ''));
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#output(item);
        break;
      case 'reasoning':
        this.#thought(item);
        break;
      case 'image_generation_call':
        this.#image(item);
        break;
      default:
        if (!passedOver.has(type)) throw refusedItem(item, type);
    }
  }

  #message(item: Fields): void {
    const role = item.needText('role');
    switch (role) {
      case 'system':
      case 'developer':
        this.#turn({ role: 'system', parts: shownParts(item, 'content').map(onlyText(item)) });
        break;
      case 'user':
        this.#turn({ role, parts: shownParts(item, 'content') });
        break;
      case 'assistant':
        this.#assistant(partsOf(item, 'content'));
        break;
      default:
        throw new RequestFault(
          item.at('role'),
          `${item.at('role')} "${role}" must be one of system, developer, user, assistant`,
        );
    }
  }

  #call(item: Fields, args: string): void {
    const id = item.needText('call_id');
    const name = shortName(item.needText('name'));
    this.#names.set(id, name);
    const signature = this.#signatures.get(id) ?? null;
    const cache = item.raw('cache_control');
    this.#assistant([{ type: 'tool-call', id, name, arguments: args, signature, cache }]);
  }

  /** Results of calls that were made beside each other come beside each other. */
  #output(item: Fields): void {
    const callId = item.needText('call_id');
    const part: UserPart = {
      type: 'tool-result',
      callId,
      name: this.#names.get(callId) ?? null,
      content: shownParts(item, 'output'),
      isError: false,
      cache: item.raw('cache_control'),
    };
    const results = this.#results ?? [];
    if (!this.#results) this.#turn({ role: 'user', parts: results });
    results.push(part);
    this.#results = results;
  }

  #thought(item: Fields): void {
    const encrypted = item.text('encrypted_content');
    const sealed = encrypted === null ? null : unseal(encrypted);
    if (sealed?.holds === 'call') this.#signatures.set(sealed.id, sealed.signature);
    else this.#assistant(thoughtOf(item, sealed, encrypted));
  }

  #image(item: Fields): void {
    const base64 = item.text('result');
    if (base64 === null) return;
    const mime = `image/${item.text('output_format') ?? 'png'}`;
    const source = { from: 'data', base64 } as const;
    this.#assistant([{ type: 'media', kind: 'image', mime, source, name: null, detail: null, cache: null }]);
  }

  #assistant(parts: readonly AssistantPart[]): void {
    if (parts.length === 0) return;
    const said = this.#said ?? [];
    if (!this.#said) this.#turn({ role: 'assistant', parts: said });
    for (const part of parts) said.push(part);
    this.#said = said;
  }

  #turn(turn: Turn): void {
    this.turns.push(turn);
    this.#said = null;
    this.#results = null;
  }
}

/** Thoughts that another provider encrypted can be read by nobody else. */
function thoughtOf(item: Fields, sealed: Sealed | null, encrypted: string | null): AssistantPart[] {
  if (encrypted !== null && sealed === null) return [];
  if (sealed?.holds === 'thought') return [{ type: 'redacted-thinking', content: sealed.content }];
  const told = [...(item.objects('summary') ?? []), ...(item.objects('content') ?? [])];
  const text = told.map((part) => part.text('text') ?? '').join('\n\n');
  const signature = sealed?.holds === 'signature' ? sealed.signature : null;
  return text === '' && signature === null ? [] : [{ type: 'thinking', text, signature }];
}

const onlyText = (item: Fields) => (part: UserPart) => {
  if (part.type === 'text') return part;
  throw new RequestFault(
    item.at('content'),
    `${item.at('content')} must be text: messages of the role ${item.text('role')} hold nothing else`,
  );
};

const refusedItem = (item: Fields, type: string): RequestFault =>
  new RequestFault(
    item.at('type'),
    type === 'item_reference'
      ? `${item.at('type')}: this provider keeps no responses, so nothing can be referred to; send the item itself`
      : `${item.at('type')} "${type}" is not an item that this provider can be given`,
  );
