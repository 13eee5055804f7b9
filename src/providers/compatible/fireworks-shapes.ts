/** Images and rankings in Fireworks' own form. */

import { ProviderFault } from '../faults.ts';
import { readImages, writeImages } from '../images.ts';
import { isObject, objectOf, objectsOf, present, textOf } from '../json.ts';
import type { Translation } from '../provider.ts';
import { rankedIn, readRerank, writeRerank } from '../rerank.ts';

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
  response(answer, facts) {
    const made = objectsOf(answer);
    const filtered = made.find(({ finishReason }) => finishReason === 'CONTENT_FILTERED');
    if (filtered) throw new ProviderFault(400, 'the image was filtered', { code: 'content_filter' });
    return writeImages(
      facts,
      made.map(({ base64 }) => ({ base64: textOf(base64) ?? '' })),
    );
  },
};

/** The same words as everyone's, but the results stand under another name. */
export const fireworksRanking: Translation = {
  request: (facts) => ({ ...facts.body, model: facts.model }),
  response(answer, facts) {
    const { data, usage } = objectOf(answer);
    return writeRerank(facts, readRerank(facts), rankedIn(objectsOf(data), 'relevance_score'), {
      usage: isObject(usage) ? usage : null,
    });
  },
};
