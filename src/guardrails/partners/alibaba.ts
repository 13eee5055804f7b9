/** Alibaba Cloud AI Guardrails, called and signed as its RPC services are. */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { listOf, objectOf } from '../../providers/json.ts';
import { HttpError, isOk, jsonOf } from '../ask.ts';
import { both } from '../checks/events.ts';
import { type Asking, partnerCheck, secret, verdictOf } from './partner.ts';

/** The service reads no more of a text at once. */
const longestText = 2_000;

export const alibabaGuard = partnerCheck({
  id: 'alibaba-cloud-ai.guard',
  title: 'Alibaba Cloud guard',
  description: 'Asks Alibaba Cloud AI Guardrails about the text, in pieces of 2,000 characters.',
  events: both,
  credentials: () => ({
    accessKeyId: secret(),
    accessKeySecret: secret(),
    region: z.string().max(64).default('ap-southeast-1'),
    endpoint: z.string().max(255).optional(),
  }),
  parameters: () => ({ service: z.string().max(128).optional() }),
  example: {},
  onError: true,
  async run(asking, { service }, { accessKeyId, accessKeySecret, region, endpoint }) {
    const intl = region.startsWith('cn-') ? '' : '_intl';
    const side = asking.context.isInput ? 'query_security_check' : 'response_security_check';
    const wanted = service ?? `${side}${intl || '_pro'}`;
    const host = endpoint ?? `green-cip.${region}.aliyuncs.com`;
    const pieces = asking.text.match(new RegExp(`[\\s\\S]{1,${longestText}}`, 'g')) ?? [];
    const answers = await Promise.all(
      pieces.map((content) => call(asking, { accessKeyId, accessKeySecret, host, service: wanted, content })),
    );
    const data = answers.map((answer) => objectOf(answer.Data));
    const verdict = !data.some(({ Suggestion }) => Suggestion === 'block');
    return verdictOf(verdict, 'Alibaba Cloud', {
      suggestions: data.map(({ Suggestion }) => Suggestion),
      details: data.flatMap(({ Detail }) => listOf(Detail)),
    });
  },
});

interface Call {
  accessKeyId: string;
  accessKeySecret: string;
  host: string;
  service: string;
  content: string;
}

async function call({ io, timeoutMs }: Asking, { accessKeyId, accessKeySecret, host, service, content }: Call) {
  const parameters: Record<string, string> = {
    AccessKeyId: accessKeyId,
    Action: 'MultiModalGuard',
    Format: 'JSON',
    Service: service,
    ServiceParameters: JSON.stringify({ content }),
    SignatureMethod: 'HMAC-SHA1',
    SignatureNonce: io.newId(),
    SignatureVersion: '1.0',
    Timestamp: new Date(io.now()).toISOString().replace(/\.\d{3}Z$/, 'Z'),
    Version: '2022-03-02',
  };
  const signature = signatureOf(parameters, accessKeySecret);
  const answer = await io.call({
    url: `https://${host}/`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: queryOf({ ...parameters, Signature: signature }),
    timeoutMs,
  });
  const value = jsonOf(answer);
  const body = objectOf(value);
  if (!isOk(answer) || (body.Code !== undefined && body.Code !== 200)) throw new HttpError(answer.status, value);
  return body;
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const queryOf = (parameters: Readonly<Record<string, string>>): string =>
  Object.keys(parameters)
    .sort()
    .map((name) => `${encoded(name)}=${encoded(parameters[name] ?? '')}`)
    .join('&');

export const signatureOf = (parameters: Readonly<Record<string, string>>, secretKey: string): string =>
  createHmac('sha1', `${secretKey}&`)
    .update(`POST&%2F&${encoded(queryOf(parameters))}`)
    .digest('base64');
