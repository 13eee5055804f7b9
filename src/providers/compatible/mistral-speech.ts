/** Speech of Mistral: a voice by its id, and sound inside of JSON. */
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault } from '../faults.ts';
import { objectOf, present, textOf } from '../json.ts';
import type { Translation } from '../provider.ts';
import { readSpeech } from '../speech.ts';

const types: ReadonlyMap<string, string> = new Map(
  Object.entries({ mp3: 'audio/mpeg', wav: 'audio/wav', flac: 'audio/flac', opus: 'audio/opus', pcm: 'audio/pcm' }),
);

export const mistralSpeech: Translation = {
  request(facts) {
    const { input, voice, format, extras } = readSpeech(facts);
    return present({ ...extras, model: facts.model, input, voice_id: voice, response_format: format, stream: false });
  },
  response(answer, facts) {
    const sound = textOf(objectOf(answer).audio_data);
    if (!sound) throw new ProviderFault(502, 'the answer holds no sound');
    return new EncodedBody(
      types.get(readSpeech(facts).format) ?? 'audio/mpeg',
      Uint8Array.from(Buffer.from(sound, 'base64')),
    );
  },
};
