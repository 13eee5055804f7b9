/** Answers of providers with a dialect of their own, in the client's: whole ones and errors. */
import { jsonOrNothingIn } from '../../bounded-json.ts';
import { EncodedBody } from '../../providers/encoded-body.ts';
import { isTooDeep, ProviderFault, readFault } from '../../providers/faults.ts';
import { textOf } from '../../providers/json.ts';
import type { JsonObject, RawAnswer, Usage } from '../../providers/provider.ts';
import { readUsage } from '../../providers/usage.ts';
import { type ErrorForm, GatewayError } from '../errors.ts';
import type { Bytes } from '../request/body.ts';
import type { Upstream } from '../upstream/upstream-request.ts';
import { anthropicType } from './anthropic-errors.ts';

export interface TranslatedAnswer {
  status: number;
  bytes: Bytes;
  contentType: string;
  /** What it used and which model that was, so that nobody must read the bytes again; null where it has to be looked for in them. */
  usage?: Usage | null;
  model?: string | null;
}

const json = 'application/json';
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The answer to a call whose translation is not null. */
export function translatedAnswer(upstream: Upstream, raw: RawAnswer, form: ErrorForm): TranslatedAnswer {
  const { translation, facts } = upstream;
  if (!translation) throw new Error('A call without a translation has nothing to translate');
  if (raw.status >= 300) return refusal(readFault(raw.status, raw.bytes), facts.provider, form);
  try {
    const answer = translation.takes ? null : parsedAnswer(raw, facts.provider);
    return { status: raw.status, ...encoded(translation.response(answer, facts, raw)) };
  } catch (fault) {
    if (fault instanceof ProviderFault) return refusal(fault, facts.provider, form);
    if (isTooDeep(fault)) return refusal(tooDeep(), facts.provider, form);
    throw fault;
  }
}

export const tooDeep = (): ProviderFault => new ProviderFault(502, 'the answer is nested too deeply');

export function encoded(body: JsonObject | EncodedBody): Omit<TranslatedAnswer, 'status'> {
  if (body instanceof EncodedBody) return { bytes: body.bytes, contentType: body.contentType, usage: body.usage };
  const bytes = encoder.encode(JSON.stringify(body));
  return { bytes, contentType: json, usage: readUsage(body.usage), model: textOf(body.model) };
}

const longestQuote = 500;

function parsedAnswer({ bytes }: RawAnswer, provider: string): unknown {
  const answer = jsonOrNothingIn(bytes, decoder);
  // No dialect answers with a bare word or number.
  if (typeof answer === 'object' && answer !== null) return answer;
  throw new ProviderFault(
    502,
    `Invalid response received from ${provider}: ${decoder.decode(bytes.subarray(0, longestQuote))}`,
  );
}

/** The provider's status and words, in the form that clients of the route expect. */
export const refusal = (fault: ProviderFault, provider: string, form: ErrorForm): TranslatedAnswer => ({
  status: fault.status,
  bytes: Buffer.from(JSON.stringify(refusalBody(fault, provider, form))),
  contentType: json,
});

function refusalBody(fault: ProviderFault, provider: string, form: ErrorForm): object {
  const message = `${provider} error: ${fault.message}`;
  return form === 'anthropic'
    ? { type: 'error', error: { type: anthropicType(fault.status), message } }
    : {
        error: { message, type: fault.type ?? openAiType(fault.status), param: fault.param, code: fault.code },
        provider,
      };
}

const openAiType = (status: number): string =>
  status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : anthropicType(status);

export const saidByProvider = (fault: ProviderFault, provider: string): GatewayError =>
  new GatewayError('upstream_refused', `${provider} error: ${fault.message}`, {
    type: fault.type ?? openAiType(fault.status),
    status: fault.status,
    spoken: 'by the provider',
    ofProvider: (form) => refusalBody(fault, provider, form),
  });
