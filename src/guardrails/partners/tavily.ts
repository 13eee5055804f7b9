/** Tavily: searches the web for what the request asks. */
import { z } from 'zod';
import { objectsOf } from '../../providers/json.ts';
import { before } from '../checks/events.ts';
import { bearer, partnerCheck, secret, textsOf } from './partner.ts';
import { withSearchContext } from './search-context.ts';

/** A longer one is refused. */
const longestQuery = 400;
const flag = () => z.boolean().optional();
const domains = () => z.array(z.string().max(253)).max(100).optional();
const word = () => z.string().max(64).optional();

/** As the service spells them. */
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const tavilyOnline = partnerCheck({
  id: 'tavily.online',
  title: 'Tavily search',
  description: 'Searches the web with Tavily and puts what it finds before the model.',
  events: before,
  requestTypes: ['chatComplete', 'complete', 'messages', 'createModelResponse'],
  transforms: true,
  timeoutMs: 30_000,
  credentials: () => ({ apiKey: secret() }),
  parameters: () => ({
    prefix: z.string().max(1_000).default('\n<web_search_context>\n'),
    suffix: z.string().max(1_000).default('\n</web_search_context>\n'),
    maxResults: z.int().min(0).max(20).default(5),
    searchDepth: z.enum(['advanced', 'basic', 'fast', 'ultra-fast']).optional(),
    chunksPerSource: z.int().min(1).max(3).default(3),
    topic: z.enum(['general', 'news', 'finance']).optional(),
    timeRange: word(),
    startDate: word(),
    endDate: word(),
    includeAnswer: z.union([z.boolean(), z.enum(['basic', 'advanced'])]).optional(),
    includeRawContent: z.union([z.boolean(), z.enum(['markdown', 'text'])]).optional(),
    includeImages: flag(),
    includeImageDescriptions: flag(),
    includeFavicon: flag(),
    includeDomains: domains(),
    excludeDomains: domains(),
    country: word(),
    autoParameters: flag(),
    exactMatch: flag(),
    includeUsage: flag(),
    safeSearch: flag(),
  }),
  example: { maxResults: 5, topic: 'news' },
  onError: true,
  async run(asking, { prefix, suffix, ...options }, { apiKey }) {
    const { context, ask } = asking;
    const fields = Object.entries(options).flatMap(([name, value]) =>
      value === undefined ? [] : [[snakeCase(name), value]],
    );
    const answer = await ask(
      'https://api.tavily.com/search',
      { query: textsOf(asking).join(' ').slice(0, longestQuery), ...Object.fromEntries(fields) },
      bearer(apiKey),
    );
    const results = objectsOf(answer.results);
    const explanation = `${results.length} results were put before the model.`;
    const said = typeof answer.answer === 'string' && answer.answer !== '' ? `${answer.answer}\n\n` : '';
    if (results.length === 0 && said === '') return { verdict: true, data: { explanation } };
    const found = results
      .map(
        ({ title, url, content }, index) =>
          `[${index + 1}] "${String(title ?? '')}"\nURL: ${String(url ?? '')}\n${String(content ?? '')}`,
      )
      .join('\n\n');
    return {
      verdict: true,
      data: { explanation },
      body: withSearchContext(context.requestType, context.request, prefix + said + found + suffix),
    };
  },
});
