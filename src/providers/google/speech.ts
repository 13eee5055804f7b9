/** Speech by Gemini: samples of 24 kHz, put into a WAV file unless they are wanted bare. */
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { isObject, objectOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject, Translation } from '../provider.ts';
import { wav } from '../speech.ts';
import { voiceConfig } from './generation-config.ts';
import { usageOf } from './usage.ts';

export const speech: Translation = {
  request({ body }) {
    const fields = new Fields(body);
    const format = fields.text('response_format') ?? 'wav';
    if (format !== 'wav' && format !== 'pcm') {
      throw new RequestFault('response_format', 'response_format must be wav or pcm: this model makes no other sound');
    }
    const instructions = fields.text('instructions');
    const text = fields.needText('input');
    return {
      contents: [{ role: 'user', parts: [{ text: instructions === null ? text : `${instructions}\n\n${text}` }] }],
      generationConfig: { responseModalities: ['AUDIO'], speechConfig: speechConfig(fields) },
    };
  },
  response(answer, { body }) {
    const sound = objectsOf(objectOf(answer).candidates)
      .flatMap((candidate) => objectsOf(objectOf(candidate.content).parts))
      .map(({ inlineData }) => objectOf(inlineData))
      .filter(({ data }) => typeof data === 'string');
    if (sound.length === 0) throw new ProviderFault(502, 'the answer holds no sound');
    const samples = Buffer.concat(sound.map(({ data }) => Buffer.from(textOf(data) ?? '', 'base64')));
    const rate = Number(/rate=(\d+)/.exec(textOf(sound[0]?.mimeType) ?? '')?.[1] ?? defaultRate);
    const usage = usageOf(objectOf(answer).usageMetadata);
    return body.response_format === 'pcm'
      ? new EncodedBody(`audio/pcm;rate=${rate}`, samples, usage)
      : wav(samples, rate, usage);
  },
};

const defaultRate = 24_000;

/** A client may write the whole configuration, as for several speakers. */
function speechConfig(fields: Fields): JsonObject {
  const own = fields.json.speech_config;
  return isObject(own) ? own : voiceConfig(fields.needText('voice'));
}
