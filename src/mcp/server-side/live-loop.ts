/** Runs a loop of server-side tools while its client already reads. */
import type { BodyLease } from '../../gateway/request/body-budget.ts';
import type { Reply } from '../../wire/server/reply.ts';
import { EventStream, type KeepAlive } from '../client/event-stream.ts';
import type { McpDeps } from '../deps.ts';
import { McpError } from '../errors.ts';
import { jsonOf, type LiveView, ModelStreamFailed } from './live.ts';
import { type LoopOptions, type LoopResult, type ModelAnswer, runLoop } from './loop.ts';
import { isEventReply, readEvents, wholeText } from './read-stream.ts';
import { asObject, type Json, sse } from './tool-calls.ts';

const encoder = new TextEncoder();

export const keptHeaders = (headers: Readonly<Record<string, string>>, type: string): Record<string, string> => {
  const { 'content-length': _length, 'content-type': _type, 'content-encoding': _encoding, ...rest } = headers;
  return { ...rest, 'content-type': type };
};

export const answerOf = async ({ status, headers, body }: Reply): Promise<ModelAnswer> => ({
  status,
  headers,
  text: await wholeText(body),
});

export const asReply = ({ status, headers, text }: ModelAnswer): Reply => ({
  status,
  headers,
  body: encoder.encode(text),
});

/** `over` is told when the last event is out. Resolves with the head of the answer: of a stream with its first event, of a refusal when it is known. */
export function liveLoop(
  deps: McpDeps,
  keeper: KeepAlive,
  { over, lease, ...options }: Omit<LoopOptions, 'ask' | 'watch'> & { over: () => void; lease: BodyLease },
  call: (round: Json) => Promise<Reply>,
  refusal: (fault: unknown) => Reply,
): Promise<Reply> {
  const { dialect, body } = options;
  const head = Promise.withResolvers<Reply>();
  let view: LiveView | null = null;
  let stream: EventStream | null = null;
  const write = (text: string) => {
    if (text !== '') stream?.write(text);
  };
  const ask = async (round: Json): Promise<ModelAnswer> => {
    const reply = await call(dialect.streaming(round));
    if (!isEventReply(reply)) return answerOf(reply);
    const shown = view;
    if (!shown) throw new McpError('internal_error', 'a model was asked before its tools were known');
    if (!stream) {
      stream = new EventStream(keeper, lease, () => undefined, false);
      head.resolve(stream.reply(keptHeaders(reply.headers, 'text/event-stream; charset=utf-8')));
    }
    await readEvents(reply.body, (event) => write(shown.push(event)));
    return { status: 200, headers: reply.headers, text: JSON.stringify(shown.answer()) };
  };
  const ended = (outcome: LoopResult) => {
    if ('refused' in outcome) {
      if (!stream) return head.resolve(asReply(outcome.refused));
      write(view?.fail(messageIn(outcome.refused)) ?? '');
    } else write(view?.end(outcome.answer, outcome.round) ?? '');
    stream?.end();
  };
  const broken = (fault: unknown) => {
    if (!stream) return head.resolve(refusal(fault));
    // The words of a model's own error go on; any other is told in ours, so that nobody takes it for the whole.
    if (fault instanceof ModelStreamFailed) write(sse(fault.event.event, fault.event.data));
    else write(view?.fail(messageOf(fault, refusal)) ?? '');
    stream.end();
  };
  runLoop(deps, {
    ...options,
    ask,
    watch: {
      started(shown) {
        view = dialect.live(body, shown);
      },
      executing: (calls) => write(view?.executing(calls) ?? ''),
      executed: (done) => write(view?.executed(done) ?? ''),
    },
  })
    .then(ended, broken)
    .finally(over);
  return head.promise;
}

const messageIn = ({ text, status }: ModelAnswer): string =>
  String(asObject(jsonOf(text)?.error).message ?? `the model answered with status ${status}`);

const messageOf = (fault: unknown, refusal: (fault: unknown) => Reply): string => {
  const { body } = refusal(fault);
  const told = body instanceof Uint8Array ? jsonOf(new TextDecoder().decode(body)) : null;
  return String(asObject(told?.error).message ?? 'the stream of the model broke off');
};
