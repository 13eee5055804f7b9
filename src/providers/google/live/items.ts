/** Items of OpenAI's conversations, as turns of Gemini's. */
import { readDataUrl } from '../../chat/media.ts';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import { isObject, textOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import { refuseOthers } from './settings.ts';

export interface LiveTurn {
  role: 'user' | 'model';
  parts: readonly JsonObject[];
}

type SaidItem =
  | { kind: 'turn'; turn: LiveTurn }
  | { kind: 'system'; text: string }
  | { kind: 'result'; callId: string; output: string };

const common = ['id', 'object', 'status', 'type'];

/** `rate` is that of the client's speech. */
export function readItem(item: Fields, rate: number): SaidItem {
  const type = item.needText('type');
  if (type === 'function_call_output') {
    refuseOthers(item, [...common, 'call_id', 'output']);
    return { kind: 'result', callId: item.needText('call_id'), output: item.needText('output') };
  }
  if (type !== 'message') {
    throw new RequestFault(item.at('type'), `Gemini Live takes no items of the type "${type}"`);
  }
  refuseOthers(item, [...common, 'role', 'content']);
  return readMessage(item, rate);
}

function readMessage(item: Fields, rate: number): SaidItem {
  const role = item.needText('role');
  const content = item.needObjects('content');
  if (content.length === 0) throw new RequestFault(item.at('content'), `${item.at('content')} is empty`);
  switch (role) {
    case 'user':
      return { kind: 'turn', turn: { role: 'user', parts: content.map((part) => userPart(part, rate)) } };
    case 'assistant':
      return { kind: 'turn', turn: { role: 'model', parts: content.map((part) => textPart(part, 'output_text')) } };
    case 'system':
      return { kind: 'system', text: content.map((part) => textOf(textPart(part, 'input_text').text)).join('\n\n') };
    default:
      throw new RequestFault(item.at('role'), `${item.at('role')} must be user, assistant or system`);
  }
}

function textPart(part: Fields, type: string): JsonObject {
  if (part.needText('type') !== type) {
    throw new RequestFault(part.at('type'), `${part.at('type')} must be ${type}: Gemini Live takes nothing else here`);
  }
  refuseOthers(part, ['type', 'text']);
  return { text: part.needText('text') };
}

function userPart(part: Fields, rate: number): JsonObject {
  switch (part.needText('type')) {
    case 'input_audio':
      refuseOthers(part, ['type', 'audio', 'transcript']);
      return { inlineData: { mimeType: pcm(rate), data: part.needText('audio') } };
    case 'input_image':
      refuseOthers(part, ['type', 'image_url'], { detail: ['auto'] });
      return { inlineData: imageOf(part) };
    default:
      return textPart(part, 'input_text');
  }
}

export const pcm = (rate: number): string => `audio/pcm;rate=${rate}`;

function imageOf(part: Fields): JsonObject {
  const image = readDataUrl(part.needText('image_url'));
  if (image) return { mimeType: image.mime, data: image.base64 };
  throw new RequestFault(part.at('image_url'), `${part.at('image_url')} must be a data: address`);
}

/** Whether turns can be told as they are typed and shown, instead of as turns. */
export const canBeTyped = ({ role, parts }: LiveTurn): boolean =>
  role === 'user' && parts.every(({ text, inlineData }) => typeof text === 'string' || isImage(inlineData));

const isImage = (data: unknown): boolean => isObject(data) && textOf(data.mimeType)?.startsWith('image/') === true;

/** Every text is answered, so there must be one of it; what is shown comes before. */
export function typed(turns: readonly LiveTurn[]): JsonObject[] {
  const parts = turns.flatMap((turn) => turn.parts);
  const shown = parts.flatMap(({ inlineData }) => (inlineData ? [{ realtimeInput: { video: inlineData } }] : []));
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  return texts.length === 0 ? shown : [...shown, { realtimeInput: { text: texts.join('\n\n') } }];
}
