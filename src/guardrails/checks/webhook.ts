/** Asks an address of the customer's own. */
import { z } from 'zod';
import { isObject, objectOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { HttpError, isOk, jsonOf } from '../ask.ts';
import { defineCheck } from '../check.ts';
import { wireContext } from '../context.ts';
import { both } from './events.ts';
import { headers as headerFields, headersOf, requireUrl, url } from './fields.ts';

export const webhook = defineCheck({
  id: 'default.webhook',
  title: 'Webhook',
  description:
    'Posts the request and its answer to an address, which answers `{"verdict": true}` or `{"verdict": false}` and may return another body.',
  category: 'BASIC',
  events: both,
  network: { timeoutMs: 3_000 },
  transforms: true,
  parameters: () => ({ webhookURL: url(), headers: headerFields() }),
  example: { webhookURL: 'https://hooks.example.com/guardrail', headers: { authorization: 'Bearer TOKEN' } },
  prepare({ webhookURL, headers }, setup) {
    requireUrl(webhookURL, 'webhookURL', setup);
    const own = headersOf(headers);
    const { timeoutMs } = setup;
    return {
      async run(context, io) {
        const about = { webhookUrl: withoutSecrets(webhookURL), requestContext: { timeout: timeoutMs } };
        try {
          const answer = await io.call({
            url: webhookURL,
            method: 'POST',
            headers: { 'content-type': 'application/json', ...lowerCased(own) },
            body: JSON.stringify(wireContext(context)),
            timeoutMs,
          });
          const value = jsonOf(answer);
          if (!isOk(answer)) throw new HttpError(answer.status, value);
          const parsed = answered().safeParse(value);
          if (!parsed.success) {
            const error = { name: 'Webhook Error', message: 'the webhook answered without a verdict of true or false' };
            return {
              verdict: false,
              data: { ...about, explanation: error.message, responseData: value ?? null },
              error,
            };
          }
          const { verdict, data, transformedData } = parsed.data;
          const body = bodyIn(transformedData, context.isInput);
          const explanation = verdict ? 'The webhook allows the text.' : 'The webhook refuses the text.';
          return {
            verdict,
            data: { ...about, verdict, explanation, responseData: isObject(data) ? data : (data ?? null) },
            ...(body && { body }),
          };
        } catch (fault) {
          if (!(fault instanceof Error)) throw fault;
          const responseData = fault instanceof HttpError ? (fault.body ?? null) : null;
          const error = { name: fault.name, message: fault.message };
          return {
            verdict: false,
            data: { ...about, explanation: `The webhook failed: ${fault.message}.`, responseData },
            error,
          };
        }
      },
    };
  },
});

const answered = () =>
  z.looseObject({ verdict: z.boolean(), data: z.unknown().optional(), transformedData: z.unknown().optional() });

/** Only what belongs to the event is taken. */
function bodyIn(transformed: unknown, isInput: boolean): JsonObject | null {
  const side = objectOf(objectOf(transformed)[isInput ? 'request' : 'response']);
  return isObject(side.json) ? side.json : null;
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Keys in a query must not stand in results. */
const withoutSecrets = (address: string): string => address.split('?', 1)[0] ?? '';
