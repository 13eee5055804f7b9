/** Moderation by a saved provider, or by the operator's own service. */
import { z } from 'zod';
import { objectOf } from '../../providers/json.ts';
import { type CheckResult, defineCheck, failedCheck } from '../check.ts';
import { both } from './events.ts';
import { not } from './fields.ts';
import { backendOf, gwCredentials } from './gw-backend.ts';

const categories = [
  'hate',
  'hate/threatening',
  'harassment',
  'harassment/threatening',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const;

export const gwModerateContent = defineCheck({
  id: 'gw.moderateContent',
  title: 'Moderate content',
  description:
    'Fails when a moderation model flags the text in one of the categories. It asks the saved provider that is named here or in the settings of the plugin.',
  category: 'PRO',
  events: both,
  network: { timeoutMs: 5_000, credentials: gwCredentials },
  parameters: () => ({
    categories: z.array(z.enum(categories)).min(1).max(20),
    provider: z.string().max(255).optional().describe('A saved provider: @slug'),
    model: z.string().max(255).optional(),
    not: not(),
  }),
  example: { categories: ['hate/threatening', 'sexual/minors'], provider: '@openai' },
  prepare({ categories: restricted, provider, model, not: inverted }, setup) {
    const backend = backendOf(setup);
    const { moderationProvider, moderationModel } = gwCredentials().parse(setup.credentials);
    const asked = (provider ?? moderationProvider)?.replace(/^@/, '');
    const judged = (flags: Readonly<Record<string, boolean>>, moderationResults: unknown): CheckResult => {
      const all = Object.keys(flags).filter((name) => flags[name]);
      const flagged = restricted.filter((name) => all.includes(name));
      const verdict = (flagged.length === 0) !== inverted;
      const explanation =
        flagged.length === 0 ? 'The text is not flagged.' : `The text is flagged: ${flagged.join(', ')}.`;
      return {
        verdict,
        data: {
          verdict,
          not: inverted,
          explanation,
          flaggedCategories: flagged,
          restrictedCategories: restricted,
          allFlaggedCategories: all,
          moderationResults,
        },
      };
    };
    return {
      async run({ text }, io) {
        if (text === '') return failedCheck('there is no text to look at', true);
        if (asked && !backend) {
          const { categories: flags, json } = await io.moderate(
            asked,
            model ?? moderationModel ?? null,
            text,
            setup.timeoutMs,
          );
          return judged(flags, json);
        }
        if (!backend) return failedCheck('no provider with a moderation endpoint is set', true, 'Missing credentials');
        const { answer, log } = await backend('moderations', { input: text }, io);
        const [first] = z
          .looseObject({ results: z.array(z.looseObject({ categories: z.record(z.string(), z.boolean()) })).min(1) })
          .parse(answer).results;
        return { ...judged(first?.categories ?? {}, objectOf(first)), log };
      },
    };
  },
});
