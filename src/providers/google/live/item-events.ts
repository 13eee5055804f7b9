/** Items that the client adds to the conversation, or takes back before the model was told of them. */
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import { isObject, listOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import { responseOf } from '../contents.ts';
import { canBeTyped, type LiveTurn, readItem } from './items.ts';
import type { Talk } from './talk.ts';
import type { Item } from './thread.ts';

export function createItem(talk: Talk, event: Fields): void {
  requireLast(talk, event);
  const item = event.needObject('item');
  const said = readItem(item, talk.settings.rate);
  const id = item.text('id') ?? talk.newId('item_');
  switch (said.kind) {
    case 'turn':
      requireTakable(talk, said.turn);
      talk.held.add(id, { turn: said.turn });
      break;
    case 'system':
      requireBefore(talk, item);
      talk.held.add(id, { system: said.text });
      break;
    case 'result':
      talk.held.add(id, { result: resultOf(talk, said.callId, said.output) });
  }
  const shown = itemOf(item.json, id);
  talk.thread.added(shown);
  talk.thread.done(shown);
}

/** Everything is said in the order in which it comes. */
function requireLast({ thread }: Talk, event: Fields): void {
  const before = event.text('previous_item_id');
  const isLast = before === null || before === thread.last || (before === 'root' && thread.last === null);
  if (isLast) return;
  throw new RequestFault('previous_item_id', 'Gemini Live takes new items behind the last one alone');
}

/** What is no turn any more can only be typed or shown. */
function requireTakable(talk: Talk, turn: LiveTurn): void {
  const asTurn = !talk.begun || talk.takesTurnsNow;
  if (asTurn || canBeTyped(turn)) return;
  const field = turn.role === 'user' ? 'item.content' : 'item.role';
  const words = 'takes text and images of the user at this point, and nothing else';
  throw new RequestFault(field, `${talk.model} ${words}`);
}

function requireBefore({ begun }: Talk, item: Fields): void {
  if (!begun) return;
  throw new RequestFault(item.at('role'), 'Gemini Live takes system messages before the conversation begins alone');
}

function resultOf({ calls }: Talk, callId: string, output: string): JsonObject {
  const call = calls.get(callId);
  if (!call) throw new RequestFault('item.call_id', `no call "${callId}" waits for a result`);
  calls.delete(callId);
  return { ...(call.given && { id: callId }), name: call.name, response: responseOf(output, false) };
}

/** Speech is not shown again. */
function itemOf(item: Readonly<JsonObject>, id: string): Item {
  const content = listOf(item.content).map((part) => {
    if (!isObject(part)) return part;
    const { audio, ...shown } = part;
    return shown;
  });
  const base = { object: 'realtime.item', ...item, status: 'completed', id };
  return item.content === undefined ? base : { ...base, content };
}

export function deleteItem(talk: Talk, event: Fields): void {
  const id = event.needText('item_id');
  if (!talk.held.remove(id)) {
    throw new RequestFault('item_id', `the model was told of "${id}" already: Gemini Live forgets nothing`);
  }
  talk.outbox.tell('conversation.item.deleted', { item_id: id });
}
