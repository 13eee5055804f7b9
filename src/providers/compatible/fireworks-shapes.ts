/** Images and rankings in Fireworks' own form. */

import { ProviderFault } from '../faults.ts';
import { aspectRatio, readImages, writeImages } from '../images.ts';
import { isObject, listOf, objectOf, objectsOf, parsed, present, textOf } from '../json.ts';
import type { RawAnswer, Translation } from '../provider.ts';
import { rankedIn, readRerank, writeRerank } from '../rerank.ts';

export const isFlux = (model: string): boolean => /flux/i.test(model);

/** Asked for by a prompt alone; the picture comes as it is. */
export const fireworksFlux: Translation = {
  request(facts) {
    const { prompt, size, count, seed, extras } = readImages(facts);
    return present({
      ...extras,
      prompt,
      aspect_ratio: extras.aspect_ratio ?? (size && aspectRatio(size)),
      samples: count > 1 ? count : null,
      seed,
    });
  },
  takes: 'bytes',
  response: (_, facts, raw) => writeImages(facts, picturesIn(raw)),
};

/** Whichever of its forms the answer has: pictures in a list, their texts alone, or one picture by itself. */
function picturesIn({ headers, bytes }: RawAnswer): { base64: string }[] {
  if (headers.get('content-type')?.startsWith('image/')) return [{ base64: Buffer.from(bytes).toString('base64') }];
  const answer = parsed(new TextDecoder().decode(bytes));
  const made = Array.isArray(answer) ? objectsOf(answer) : [objectOf(answer)];
  const filtered = made.find(({ finishReason }) => finishReason === 'CONTENT_FILTERED');
  if (filtered) throw new ProviderFault(400, 'the image was filtered', { code: 'content_filter' });
  return made
    .flatMap(({ base64 }) => listOf(Array.isArray(base64) ? base64 : [base64]))
    .map((each) => ({ base64: textOf(each) ?? '' }));
}

export const fireworksImages: Translation = {
  request(facts) {
    const { prompt, size, count, seed, style, extras } = readImages(facts);
    const { negative_prompt, ...others } = extras;
    return present({
      ...others,
      text_prompts: [
        { text: prompt, weight: 1 },
        ...(typeof negative_prompt === 'string' ? [{ text: negative_prompt, weight: -1 }] : []),
      ],
      width: size?.width,
      height: size?.height,
      samples: count > 1 ? count : null,
      seed,
      style_preset: style,
    });
  },
  takes: 'bytes',
  response: (_, facts, raw) => writeImages(facts, picturesIn(raw)),
};

/** The same words as everyone's, but the results stand under another name. */
export const fireworksRanking = (fullName: (model: string) => string): Translation => ({
  request: (facts) => ({ ...facts.body, model: fullName(facts.model) }),
  response(answer, facts) {
    const { data, usage } = objectOf(answer);
    return writeRerank(facts, readRerank(facts), rankedIn(objectsOf(data), 'relevance_score'), {
      usage: isObject(usage) ? usage : null,
    });
  },
});
