/** Akto: a mirror of the traffic that it judges. */
import { objectOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { address, partnerCheck, secret, verdictOf, withoutSlash } from './partner.ts';

const mirrored = (body: unknown): string => JSON.stringify({ body: JSON.stringify(body ?? {}) });

export const aktoGuard = partnerCheck({
  id: 'akto.guard',
  title: 'Akto guard',
  description: 'Mirrors the request and its answer to Akto, which allows or refuses it.',
  events: both,
  credentials: () => ({ apiKey: secret(), apiDomain: address() }),
  parameters: () => ({}),
  example: {},
  onError: true,
  async run({ context, ask, io }, _, { apiKey, apiDomain }) {
    const { request, response, facts } = context;
    const base = withoutSlash(/^https?:\/\//.test(apiDomain) ? apiDomain : `https://${apiDomain}`);
    const answer = await ask(
      `${base}/api/http-proxy?guardrails=true&akto_connector=gw${context.isInput ? '' : '&ingest_data=true'}`,
      {
        path: `/v1/${facts.requestType}`,
        method: 'POST',
        requestHeaders: '{}',
        responseHeaders: '{}',
        requestPayload: mirrored(request),
        responsePayload: mirrored(response),
        ip: '0.0.0.0',
        time: String(io.now()),
        statusCode: String(facts.response?.status ?? 200),
        type: 'HTTP/1.1',
        status: 'OK',
        tag: JSON.stringify({ 'gen-ai': 'Gen AI' }),
        metadata: JSON.stringify(facts.metadata),
        contextSource: 'AGENTIC',
      },
      { authorization: apiKey },
    );
    const result = objectOf(objectOf(answer.data).guardrailsResult ?? objectOf(objectOf(answer).guardrailsResult));
    return verdictOf(result.Allowed !== false, 'Akto', { reason: result.Reason ?? null });
  },
});
