/** Whether an answer says anything. */
import { defineCheck } from '../check.ts';
import { hasToolCalls } from '../text/segments.ts';
import { after } from './events.ts';
import { not } from './fields.ts';

export const notNull = defineCheck({
  id: 'default.notNull',
  title: 'Not null',
  description: 'Passes when the answer is not empty. An answer that calls tools always passes.',
  category: 'BASIC',
  events: after,
  parameters: () => ({ not: not() }),
  example: {},
  prepare: ({ not: inverted }) => ({
    run({ segments, requestType, json }) {
      if (hasToolCalls(requestType, json)) {
        const data = { isNull: false, contentType: 'tool_calls', textArrayLength: segments.length, not: inverted };
        return { verdict: true, data: { ...data, verdict: 'passed', explanation: 'The answer calls tools.' } };
      }
      const isNull = !segments.some(({ text }) => text.trim() !== '');
      const verdict = !isNull !== inverted;
      return {
        verdict,
        data: {
          isNull,
          contentType: segments.length === 0 ? 'null' : 'text',
          textArrayLength: segments.length,
          not: inverted,
          verdict: verdict ? 'passed' : 'failed',
          explanation: `The answer is ${isNull ? '' : 'not '}empty.`,
        },
      };
    },
  }),
});
