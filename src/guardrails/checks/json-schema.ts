/** Whether JSON in an answer fits a schema. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { compileSearch } from '../../patterns/search.ts';
import { defineCheck, excerptOf, ParameterFault } from '../check.ts';
import { after } from './events.ts';
import { not } from './fields.ts';
import { jsonIn } from './json-candidates.ts';
import { newFuel } from './rule.ts';

const longestSchema = 100_000;

export const jsonSchema = defineCheck({
  id: 'default.jsonSchema',
  title: 'JSON schema',
  description: 'Passes when some JSON in the answer fits the schema (draft 2020-12).',
  category: 'BASIC',
  events: after,
  parameters: () => ({ schema: z.record(z.string().max(256), z.unknown()), not: not() }),
  example: { schema: { type: 'object', required: ['total'], properties: { total: { type: 'number' } } } },
  prepare({ schema, not: inverted }) {
    const validate = validatorOf(schema);
    return {
      run({ text }) {
        const candidates = jsonIn(text, false);
        if (candidates.length === 0) {
          const explanation = 'There is no JSON in the text.';
          return {
            verdict: false,
            data: { matchedJson: null, not: inverted, explanation, validationErrors: [], textExcerpt: excerptOf(text) },
          };
        }
        const judged = candidates.map((json) => ({ json, errors: validate(json) }));
        const fitting = judged.find(({ errors }) => errors.length === 0);
        const verdict = (fitting !== undefined) !== inverted;
        const shown = fitting ?? judged[0];
        return {
          verdict,
          data: {
            matchedJson: shown?.json ?? null,
            not: inverted,
            explanation: `The JSON of the text ${fitting ? 'fits' : 'does not fit'} the schema.`,
            validationErrors: shown?.errors ?? [],
            textExcerpt: excerptOf(text),
          },
        };
      },
    };
  },
});

interface SchemaFault {
  path: string;
  message: string;
}

/** Patterns of the schema are searched for in linear time too. */
function validatorOf(schema: Record<string, unknown>): (json: unknown) => SchemaFault[] {
  if (JSON.stringify(schema).length > longestSchema) {
    throw new ParameterFault('schema', `is longer than ${longestSchema} characters`);
  }
  try {
    const ajv = new Ajv2020({
      allErrors: true,
      strict: false,
      logger: false,
      validateFormats: false,
      code: { regExp: linear },
    });
    const { $schema: _, ...plain } = schema;
    const validate = ajv.compile(plain);
    return (json) => {
      if (validate(json)) return [];
      return (validate.errors ?? [])
        .slice(0, 50)
        .map(({ instancePath, message }) => ({ path: instancePath, message: message ?? 'is not valid' }));
    };
  } catch (fault) {
    throw new ParameterFault('schema', fault instanceof Error ? fault.message.slice(0, 300) : 'is no JSON schema');
  }
}

const linear = Object.assign(
  (pattern: string, flags: string) => {
    const compiled = compileSearch(pattern, { unicode: flags.includes('u') });
    if ('fault' in compiled) throw new Error(`the pattern ${pattern} ${compiled.fault}`);
    // The library keeps patterns by their text.
    const written = `/${pattern}/${flags}`;
    return { test: (text: string) => compiled.search.find(text, 0, newFuel()) !== null, toString: () => written };
  },
  { code: 'linear' },
);
