/** Answers of providers with a dialect of their own, in the client's: whole ones, errors, and streams event by event. */
import { EncodedBody } from '../providers/encoded-body.ts';
import { ProviderFault, readFault } from '../providers/faults.ts';
import type { JsonObject, RawAnswer } from '../providers/provider.ts';
import type { Bytes } from './body.ts';
import { type ErrorForm, GatewayError } from './errors.ts';
import { cutterOf } from './framing.ts';
import { GivenUp } from './send.ts';
import { writeEvent } from './sse.ts';
import type { Upstream } from './upstream.ts';

export interface TranslatedAnswer {
  status: number;
  bytes: Bytes;
  contentType: string;
}

const json = 'application/json';

/** The answer to a call whose translation is not null. */
export function translatedAnswer(upstream: Upstream, raw: RawAnswer, form: ErrorForm): TranslatedAnswer {
  const { translation, facts } = upstream;
  if (!translation) throw new Error('A call without a translation has nothing to translate');
  if (raw.status >= 300) return refusal(readFault(raw.status, raw.bytes), facts.provider, form);
  try {
    const answer = translation.takes === 'bytes' ? null : parsedAnswer(raw, facts.provider);
    return { status: raw.status, ...encoded(translation.response(answer, facts, raw)) };
  } catch (fault) {
    if (fault instanceof ProviderFault) return refusal(fault, facts.provider, form);
    throw fault;
  }
}

export function encoded(body: JsonObject | EncodedBody): Omit<TranslatedAnswer, 'status'> {
  return body instanceof EncodedBody
    ? { bytes: body.bytes, contentType: body.contentType }
    : { bytes: Buffer.from(JSON.stringify(body)), contentType: json };
}

const longestQuote = 500;

function parsedAnswer({ bytes }: RawAnswer, provider: string): unknown {
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new ProviderFault(502, `Invalid response received from ${provider}: ${text.slice(0, longestQuote)}`);
  }
}

/** The provider's status and words, in the form that clients of the route expect. */
export function refusal(fault: ProviderFault, provider: string, form: ErrorForm): TranslatedAnswer {
  const message = `${provider} error: ${fault.message}`;
  const type = form === 'anthropic' ? anthropicType(fault.status) : (fault.type ?? openAiType(fault.status));
  const body =
    form === 'anthropic'
      ? { type: 'error', error: { type, message } }
      : { error: { message, type, param: fault.param, code: fault.code }, provider };
  return { status: fault.status, bytes: Buffer.from(JSON.stringify(body)), contentType: json };
}

const anthropicTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
};

const anthropicType = (status: number): string =>
  anthropicTypes[status] ?? (status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error');

const openAiType = (status: number): string =>
  status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : anthropicType(status);

/** The upstream bytes as a stream of the client's dialect. A fault that the provider reports breaks it, with the provider's status. */
export function translatedStream(
  body: ReadableStream<Uint8Array>,
  upstream: Upstream,
  abort: AbortController,
): ReadableStream<Uint8Array> {
  const { translation, facts, endpoint } = upstream;
  const translator = translation?.stream?.(facts);
  if (!translator)
    throw new GatewayError('invalid_provider_response', 'the provider streams what was not asked to stream');
  const cutter = cutterOf(endpoint.framing ?? 'sse');
  const reader = body.getReader();
  const fail = (fault: unknown): never => {
    if (fault instanceof ProviderFault) abort.abort(new GivenUp(saidByProvider(fault, facts.provider)));
    throw fault;
  };
  /** Until there is something to hand on, or nothing more to read. */
  const next = async (): Promise<{ bytes: Uint8Array[]; over: boolean }> => {
    for (;;) {
      const { value, done } = await reader.read();
      const events = done ? cutter.rest() : cutter.push(value);
      const translated = events.flatMap((event) => translator.event(event));
      if (done) translated.push(...translator.end());
      if (translated.length > 0 || done) return { bytes: translated.map(writeEvent), over: done };
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { bytes, over } = await next().catch(fail);
        if (bytes.length > 0) controller.enqueue(Buffer.concat(bytes));
        if (over) controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

export const saidByProvider = (fault: ProviderFault, provider: string): GatewayError =>
  new GatewayError('upstream_refused', `${provider} error: ${fault.message}`, {
    type: fault.type ?? openAiType(fault.status),
    status: fault.status,
    spoken: 'by the provider',
  });
