/** Built-in checks call the operator's own service where one is set. Otherwise they decide themselves. */
import { z } from 'zod';
import type { JsonObject } from '../../providers/provider.ts';
import { HttpError, isOk, jsonOf } from '../ask.ts';
import type { Setup } from '../check.ts';
import { ParameterFault } from '../check.ts';
import type { CheckIo } from '../io.ts';

/** Nothing is required: without a base URL no service is asked. */
export const gwCredentials = () =>
  z.looseObject({
    apiKey: z.string().max(4_096).optional(),
    baseURL: z.string().max(2_048).optional().describe('A service that answers /v1/execute-guardrails/…'),
    moderationProvider: z.string().max(255).optional().describe('A saved provider with a moderation endpoint: @slug'),
    moderationModel: z.string().max(255).optional(),
  });

export type Backend = (name: string, json: JsonObject, io: CheckIo) => Promise<{ answer: unknown; log: JsonObject }>;

/** Null where no service is set. */
export function backendOf({ credentials, faultOfUrl, timeoutMs }: Setup): Backend | null {
  const { baseURL, apiKey } = gwCredentials().parse(credentials);
  if (!baseURL) return null;
  const fault = faultOfUrl(baseURL);
  if (fault) throw new ParameterFault('credentials.baseURL', fault);
  return async (name, json, io) => {
    const url = `${baseURL.replace(/\/+$/, '')}/v1/execute-guardrails/${name}`;
    const startedAt = io.now();
    const answer = await io.call({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(apiKey && { 'x-gw-api-key': apiKey }) },
      body: JSON.stringify(json),
      timeoutMs,
    });
    const value = jsonOf(answer);
    if (!isOk(answer)) throw new HttpError(answer.status, value);
    const log = {
      request: { url, method: 'POST', headers: { 'x-gw-api-key': '****' } },
      response: { status: answer.status, response_time: io.now() - startedAt, streamingMode: 'not-streaming' },
      createdAt: new Date(startedAt).toISOString(),
    };
    return { answer: value, log };
  };
}

/** `[[{label, score}]]`, best first. */
export const labels = () =>
  z.array(z.array(z.looseObject({ label: z.string(), score: z.number().optional() })).min(1)).min(1);
