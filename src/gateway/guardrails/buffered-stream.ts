/** A stream that is held as a whole until its guardrails have passed it: it can still be refused, changed, retried and rescued. */
import type { JsonObject, ServerEvent } from '../../providers/provider.ts';
import { promised } from '../../wire/polled.ts';
import type { Answer, Content } from '../attempt/answer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { failed } from '../attempt/exchange.ts';
import { jsonOf } from '../dialects/dialect.ts';
import { GatewayError } from '../errors.ts';
import { judge } from './judge.ts';
import { asEvent, type Lens } from './lenses/lens.ts';
import { replayed } from './replay.ts';
import type { GuardState } from './state.ts';

/** Far more than a model says in one answer. */
const mostHeld = 32 * 1024 * 1024;

export async function buffered(
  call: AttemptContext,
  state: GuardState,
  { events }: Extract<Content, { form: 'events' }>,
  lens: Lens,
): Promise<Answer> {
  const { record, context } = call;
  const held: ServerEvent[] = [];
  for (;;) {
    const piece = await promised(events);
    if (piece.is === 'end') break;
    if (piece.is === 'bytes') held.push(...piece.events);
    const tooLong =
      events.received.size > mostHeld
        ? new GatewayError('invalid_provider_response', 'the stream is too long to be checked as a whole')
        : null;
    const fault =
      piece.is === 'broken'
        ? piece.error
        : context.request.left
          ? new GatewayError('client_closed', 'the client closed the connection')
          : tooLong;
    if (!fault) continue;
    events.abandon();
    record.received = events.received.bytes;
    return failed(record, fault);
  }
  record.received = events.received.bytes;
  record.usage = events.state.usage;
  record.usageOpen = events.state.usageOpen;
  record.model = events.state.model;
  record.producedCharacters = events.state.characters;
  const assembly = lens.assembly();
  for (const event of held) assembly.push(jsonOf(event) ?? {});
  const whole = assembly.whole();
  const judged = await judge(call, state, whole);
  if ('denial' in judged) return judged.denial;
  const { terminator } = events.dialect;
  const complete = terminator && !events.terminated ? [...held, terminator] : held;
  return replayed(call, judged.json === whole ? complete : retold(complete, lens, whole, judged.json), 200);
}

/** The same events with the texts of another answer: each text stands whole in the first event that brings some of it. */
function retold(events: readonly ServerEvent[], lens: Lens, before: JsonObject, after: JsonObject): ServerEvent[] {
  const old = lens.textsOf(before);
  const texts = lens.textsOf(after);
  for (const key of old.keys()) if (!texts.has(key)) texts.set(key, '');
  const told = new Set<string>();
  let number = 0;
  return events.flatMap((event): ServerEvent[] => {
    const json = jsonOf(event);
    if (!json) return [event];
    const deltas = lens.deltas(json);
    const parts = deltas.map(({ key, text }) => {
      const whole = texts.get(key);
      if (whole === undefined) return text;
      if (told.has(key)) return '';
      told.add(key);
      return whole;
    });
    const rewritten = deltas.length > 0 ? lens.withTexts(json, parts) : lens.restated(json, texts);
    return rewritten ? [asEvent(lens, lens.numbered(rewritten, number++))] : [];
  });
}
