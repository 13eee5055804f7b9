/** Speech: the canonical request for it, and sound that travels as it is made. */
import { EncodedBody } from './encoded-body.ts';
import { RequestFault } from './faults.ts';
import { Fields } from './fields.ts';
import type { CallFacts, JsonObject, RawAnswer, Translation, Usage } from './provider.ts';

interface SpeechRequest {
  input: string;
  voice: string | null;
  /** mp3, opus, aac, flac, wav or pcm. */
  format: string;
  speed: number | null;
  /** Fields that OpenAI does not know. */
  extras: JsonObject;
}

const known = new Set(['model', 'input', 'voice', 'response_format', 'speed', 'instructions', 'stream_format']);

export function readSpeech({ body: json }: CallFacts): SpeechRequest {
  const body = new Fields(json);
  if (body.text('stream_format') === 'sse') {
    throw new RequestFault('stream_format', 'this provider streams sound, not events: leave stream_format out');
  }
  const { voice } = json;
  return {
    input: body.needText('input'),
    voice: typeof voice === 'object' && voice !== null ? body.needObject('voice').needText('id') : body.text('voice'),
    format: body.text('response_format') ?? 'mp3',
    speed: body.number('speed'),
    extras: body.others(known),
  };
}

/** A request in the provider's dialect whose answer is sound. */
export const spoken = (request: (facts: CallFacts) => JsonObject): Translation => ({
  request,
  takes: 'nothing',
  response: (_answer, _facts, { headers, bytes }: RawAnswer) =>
    new EncodedBody(headers.get('content-type') ?? 'audio/mpeg', Buffer.from(bytes)),
});

/** Bare samples of 16 bits, one channel, with the header that players look for. */
export function wav(samples: Uint8Array, rate: number, usage: Usage | null = null): EncodedBody {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return new EncodedBody('audio/wav', Buffer.concat([header, samples]), usage);
}
