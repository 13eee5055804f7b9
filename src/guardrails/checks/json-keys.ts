/** Which keys the JSON of an answer has. */
import { isObject } from '../../providers/json.ts';
import { defineCheck, excerptOf } from '../check.ts';
import { holds } from './contains.ts';
import { after } from './events.ts';
import { operator, words } from './fields.ts';
import { jsonIn } from './json-candidates.ts';

export const jsonKeys = defineCheck({
  id: 'default.jsonKeys',
  title: 'JSON keys',
  description: 'Passes when JSON in the answer has any, all or none of the keys at its top.',
  category: 'BASIC',
  events: after,
  parameters: () => ({ keys: words(), operator: operator().default('any') }),
  example: { keys: ['name', 'email'], operator: 'all' },
  prepare: ({ keys, operator: wanted }) => ({
    run({ text }) {
      const candidates = jsonIn(text, true).map((json) => {
        const present = isObject(json) ? keys.filter((key) => Object.hasOwn(json, key)) : [];
        return { json, present, satisfies: holds(wanted, present.length, keys.length) };
      });
      const best =
        candidates.find(({ satisfies }) => satisfies) ??
        candidates.toSorted((a, b) => b.present.length - a.present.length)[0];
      const verdict = best?.satisfies ?? false;
      const explanation = best
        ? `The check for ${wanted} of the keys ${verdict ? 'passed' : 'failed'}.`
        : 'There is no JSON in the text.';
      return {
        verdict,
        data: {
          matchedJson: best?.json ?? null,
          presentKeys: best?.present ?? [],
          missingKeys: keys.filter((key) => !best?.present.includes(key)),
          operator: wanted,
          verdict,
          explanation,
          textExcerpt: excerptOf(text),
        },
      };
    },
  }),
});
