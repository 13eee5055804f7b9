/** What the client says, in Gemini's words. A fault that is thrown becomes an `error` event. */
import { isDeepStrictEqual } from 'node:util';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import type { JsonObject } from '../../provider.ts';
import { EventFault } from './errors.ts';
import { createItem, deleteItem } from './item-events.ts';
import { pcm } from './items.ts';
import { takesTurns } from './rules.ts';
import { updateSession } from './session-update.ts';
import { refuseOthers } from './settings.ts';
import { sessionOf } from './setup.ts';
import type { Talk } from './talk.ts';

type Handler = (talk: Talk, event: Fields) => void;

const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['session.update', updateSession],
  ['conversation.item.create', createItem],
  ['conversation.item.delete', deleteItem],
  ['input_audio_buffer.append', append],
  ['input_audio_buffer.commit', commit],
  ['input_audio_buffer.clear', clear],
  ['response.create', createResponse],
  ['response.cancel', cancelResponse],
]);

export function hearClient(talk: Talk, event: Fields): void {
  const type = event.needText('type');
  const handler = handlers.get(type);
  if (!handler) throw new RequestFault('type', `Gemini Live has no counterpart of the event "${type}"`);
  handler(talk, event);
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

function append(talk: Talk, event: Fields): void {
  const data = event.needText('audio');
  if (!base64.test(data)) throw new RequestFault('audio', 'audio must be base64');
  const { outbox, hearing, settings, response } = talk;
  talk.begin(false);
  // A turn would break off the response that is under way.
  if (!response && talk.held.turns.length > 0) talk.tellTurns(false);
  if (!settings.detection && !hearing.active) {
    outbox.ask({ realtimeInput: { activityStart: {} } });
    hearing.active = true;
  }
  outbox.ask({ realtimeInput: { audio: { mimeType: pcm(settings.rate), data } } });
  hearing.appended(data, settings.rate);
}

/** Where the client says when the user has spoken, the model is told with the response that is asked for. */
function commit({ outbox, hearing, settings }: Talk): void {
  if (!hearing.fresh) throw new EventFault('input_audio_buffer_commit_empty', 'the buffer holds no audio');
  if (settings.detection) {
    outbox.ask({ realtimeInput: { audioStreamEnd: true } });
    hearing.flushed = true;
  }
  hearing.commit();
}

function clear({ outbox, hearing }: Talk): void {
  if (hearing.fresh) throw new RequestFault('type', 'Gemini Live has heard the audio already: it cannot be taken back');
  outbox.tell('input_audio_buffer.cleared', {});
}

function createResponse(talk: Talk, event: Fields): void {
  const asked = event.object('response');
  if (asked) requireAsSettled(talk, asked);
  talk.answer(asked?.raw('metadata') ?? null);
}

/** A response of its own kind does not exist: what is asked for must be what the session has. */
function requireAsSettled({ settings, model }: Talk, asked: Fields): void {
  const session: JsonObject = sessionOf(settings, model, '');
  const same = Object.keys(asked.json).filter((name) => isDeepStrictEqual(asked.json[name], session[name]));
  refuseOthers(asked, ['metadata', ...same], { conversation: ['auto'] });
}

/** A turn without words ends what is being said, and asks for nothing. */
function cancelResponse({ outbox, response, model }: Talk, event: Fields): void {
  const id = event.text('response_id');
  if (!response || (id !== null && id !== response.id)) {
    throw new EventFault('response_cancel_not_active', 'no such response is under way');
  }
  if (!takesTurns(model)) throw new RequestFault('type', `${model} is interrupted by the user's speech alone`);
  response.cancelled = true;
  outbox.ask({ clientContent: { turnComplete: false } });
}
