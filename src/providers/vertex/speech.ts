/** Speech by Google's Cloud Text-to-Speech, for voices that are no models of Gemini. */
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { objectOf, present, textOf } from '../json.ts';
import type { ProviderEndpoint } from '../provider.ts';
import { atService } from './place.ts';

const encodings: ReadonlyMap<string, readonly [encoding: string, contentType: string]> = new Map([
  ['mp3', ['MP3', 'audio/mpeg']],
  ['wav', ['LINEAR16', 'audio/wav']],
  ['opus', ['OGG_OPUS', 'audio/ogg']],
  ['pcm', ['PCM', 'audio/pcm']],
]);

function encodingOf(fields: Fields): readonly [encoding: string, contentType: string] {
  const known = encodings.get(fields.text('response_format') ?? 'mp3');
  if (known) return known;
  throw new RequestFault('response_format', `response_format must be one of ${[...encodings.keys()].join(', ')}`);
}

export const cloudSpeech: ProviderEndpoint = {
  path: (facts) => atService(facts, 'texttospeech.googleapis.com', '/v1/text:synthesize'),
  translation: {
    request({ body }) {
      const fields = new Fields(body);
      const name = fields.needText('voice');
      // A voice's name begins with its language: `en-US-Neural2-A`.
      const languageCode = fields.text('language') ?? /^[a-z]{2,3}-[A-Z]{2}/.exec(name)?.[0] ?? 'en-US';
      return {
        input: { text: fields.needText('input') },
        voice: { languageCode, name },
        audioConfig: present({ audioEncoding: encodingOf(fields)[0], speakingRate: fields.number('speed') }),
      };
    },
    response(answer, { body }) {
      const sound = textOf(objectOf(answer).audioContent);
      if (sound === null) throw new ProviderFault(502, 'the answer holds no sound');
      return new EncodedBody(encodingOf(new Fields(body))[1], Buffer.from(sound, 'base64'));
    },
  },
};
