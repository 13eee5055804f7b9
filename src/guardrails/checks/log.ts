/** Tells an address of the customer's own what happened. */
import { HttpError, isOk } from '../ask.ts';
import { defineCheck } from '../check.ts';
import { wireContext } from '../context.ts';
import { after } from './events.ts';
import { headers as headerFields, headersOf, requireUrl, url } from './fields.ts';

export const log = defineCheck({
  id: 'default.log',
  title: 'Log',
  description: 'Posts the request and its answer to an address.',
  category: 'BASIC',
  events: after,
  network: { timeoutMs: 3_000 },
  parameters: () => ({ logURL: url(), headers: headerFields() }),
  example: { logURL: 'https://logs.example.com/answers' },
  prepare({ logURL, headers }, setup) {
    requireUrl(logURL, 'logURL', setup);
    const own = headersOf(headers);
    return {
      async run(context, io) {
        const answer = await io.call({
          url: logURL,
          method: 'POST',
          headers: { 'content-type': 'application/json', ...own },
          body: JSON.stringify(wireContext(context)),
          timeoutMs: setup.timeoutMs,
        });
        if (!isOk(answer)) throw new HttpError(answer.status, null);
        return {
          verdict: true,
          data: { message: 'The exchange was logged.', explanation: 'The exchange was logged.' },
        };
      },
    };
  },
});
