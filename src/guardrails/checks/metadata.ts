/** What the metadata of a request must say. */
import { z } from 'zod';
import type { Search } from '../../patterns/search.ts';
import { defineCheck } from '../check.ts';
import { holds } from './contains.ts';
import { before } from './events.ts';
import { operator, words } from './fields.ts';
import { ownValue, valuesOf } from './models.ts';
import { newFuel, plainRule } from './rule.ts';

export const requiredMetadataKeys = defineCheck({
  id: 'default.requiredMetadataKeys',
  title: 'Required metadata keys',
  description: 'Passes when the metadata of the request has all, any or none of the keys.',
  category: 'BASIC',
  events: before,
  parameters: () => ({ metadataKeys: words().min(1), operator: operator().default('all') }),
  example: { metadataKeys: ['team', 'environment'], operator: 'all' },
  prepare: ({ metadataKeys: keys, operator: wanted }) => ({
    run({ facts }) {
      const found = keys.filter((key) => Object.hasOwn(facts.metadata, key));
      const verdict = holds(wanted, found.length, keys.length);
      return {
        verdict,
        data: {
          verdict,
          operator: wanted,
          found_metadata_keys: found,
          missing_metadata_keys: keys.filter((key) => !found.includes(key)),
          explanation: `The request has ${found.length} of ${keys.length} metadata keys; ${wanted} are asked for.`,
        },
      };
    },
  }),
});

export const matchTypes = ['exact', 'contains', 'containsAll', 'regex'] as const;
export type MatchType = (typeof matchTypes)[number];

const scalar = () => z.union([z.string().max(1_024), z.number(), z.boolean()]);
export const expected = () => z.union([scalar(), z.array(scalar()).max(100)]);

/** Whether a value is as expected, by any of the ways that authors may choose. Patterns are compiled beforehand. */
export function matcherOf(
  wanted: z.output<ReturnType<typeof expected>>,
  type: MatchType,
  path: string,
  /** Whether a part of a single value counts as contained in it. */
  partsCount = true,
): (values: readonly string[]) => boolean {
  const texts = (Array.isArray(wanted) ? wanted : [wanted]).map(String);
  if (type === 'regex') {
    const searches: Search[] = texts.map((text) => plainRule(text, path));
    return (values) => values.some((value) => searches.some((search) => search.find(value, 0, newFuel()) !== null));
  }
  const has = (values: readonly string[], text: string): boolean =>
    values.some((value) => value === text || (partsCount && value.includes(text)));
  if (type === 'contains') return (values) => texts.some((text) => has(values, text));
  if (type === 'containsAll') return (values) => texts.every((text) => has(values, text));
  return (values) => values.some((value) => texts.includes(value));
}

export const requiredMetadataKeyPairs = defineCheck({
  id: 'default.requiredMetadataKeyPairs',
  title: 'Required metadata pairs',
  description: 'Passes when the metadata of the request has all, any or none of the pairs.',
  category: 'BASIC',
  events: before,
  parameters: () => ({
    metadataPairs: z
      .record(z.string().min(1).max(128), expected())
      .refine((pairs) => Object.keys(pairs).length > 0, { message: 'name at least one pair' }),
    operator: operator().default('all'),
    matchType: z.enum(matchTypes).default('exact'),
  }),
  example: { metadataPairs: { environment: ['staging', 'production'] }, matchType: 'exact' },
  prepare({ metadataPairs, operator: wanted, matchType }) {
    const matchers = Object.entries(metadataPairs).map(([key, value]) => ({
      key,
      matches: matcherOf(value, matchType, `metadataPairs.${key}`),
    }));
    return {
      run({ facts }) {
        const found = matchers
          .filter(({ key, matches }) => matches(valuesOf(ownValue(facts.metadata, key))))
          .map(({ key }) => key);
        const verdict = holds(wanted, found.length, matchers.length);
        return {
          verdict,
          data: {
            verdict,
            operator: wanted,
            matchType,
            matched_metadata_pairs: found,
            missing_metadata_pairs: matchers.map(({ key }) => key).filter((key) => !found.includes(key)),
            explanation: `${found.length} of ${matchers.length} metadata pairs match; ${wanted} are asked for.`,
          },
        };
      },
    };
  },
});
