/** Exa: searches the web for what the request asks. */
import { z } from 'zod';
import { objectsOf } from '../../providers/json.ts';
import { before } from '../checks/events.ts';
import { partnerCheck, secret, textsOf } from './partner.ts';
import { withSearchContext } from './search-context.ts';

const domains = () => z.array(z.string().max(253)).max(100).default([]);

export const exaOnline = partnerCheck({
  id: 'exa.online',
  title: 'Exa search',
  description: 'Searches the web with Exa and puts what it finds before the model.',
  events: before,
  requestTypes: ['chatComplete', 'complete', 'messages', 'createModelResponse'],
  transforms: true,
  timeoutMs: 10_000,
  credentials: () => ({ apiKey: secret() }),
  parameters: () => ({
    prefix: z.string().max(1_000).default('\n<web_search_context>\n'),
    suffix: z.string().max(1_000).default('\n</web_search_context>\n'),
    numResults: z.int().min(1).max(100).default(5),
    includeDomains: domains(),
    excludeDomains: domains(),
  }),
  example: { numResults: 5 },
  onError: true,
  async run(asking, { prefix, suffix, numResults, includeDomains, excludeDomains }, { apiKey }) {
    const { context, ask } = asking;
    const answer = await ask(
      'https://api.exa.ai/search',
      {
        query: textsOf(asking).join(' ').slice(0, 2_000),
        numResults,
        ...(includeDomains.length > 0 && { includeDomains }),
        ...(excludeDomains.length > 0 && { excludeDomains }),
        contents: { text: true },
      },
      { 'x-api-key': apiKey },
    );
    const results = objectsOf(answer.results);
    const explanation = `${results.length} results were put before the model.`;
    if (results.length === 0) return { verdict: true, data: { explanation } };
    const found = results
      .map(
        ({ title, url, text }, index) =>
          `[${index + 1}] "${String(title ?? '')}"\nURL: ${String(url ?? '')}\n${String(text ?? '')}`,
      )
      .join('\n\n');
    return {
      verdict: true,
      data: { explanation },
      body: withSearchContext(context.requestType, context.request, prefix + found + suffix),
    };
  },
});
