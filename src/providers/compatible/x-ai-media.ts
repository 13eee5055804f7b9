/** Images and speech of xAI, where they differ from OpenAI's. */
import { aspectRatio, readImages } from '../images.ts';
import { present } from '../json.ts';
import { readSpeech, spoken } from '../speech.ts';
import type { Quirk } from './quirks/parameters.ts';
import { lacking } from './quirks/same.ts';

/** It knows no size and no quality, but a ratio of the sides. */
export const ratioForSize: Quirk = (body, facts) => {
  if (!('size' in body) && !('quality' in body)) return body;
  const { size } = readImages({ ...facts, body });
  const rest = lacking(body, 'size', 'quality');
  return size && !('aspect_ratio' in body) ? { ...rest, aspect_ratio: aspectRatio(size) } : rest;
};

export const xAiSpeech = spoken((facts) => {
  const { input, voice, format, speed, extras } = readSpeech(facts);
  const { language, ...others } = extras;
  return present({
    ...others,
    text: input,
    voice_id: voice,
    language: language ?? 'auto',
    output_format: others.output_format ?? { codec: format },
    speed,
  });
});
