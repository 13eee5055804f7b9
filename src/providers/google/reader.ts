/** A stream of Gemini: every record is a piece of an answer, with all the parts that were said since. */
import type { Annotation, AnswerEvent, AnsweredCall, AnswerReader, FinishReason } from '../chat/answer.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { countOf, isObject, numberOf, objectOf, objectsOf, parsed, textOf } from '../json.ts';
import type { CallFacts, JsonObject, ServerEvent, Usage } from '../provider.ts';
import { blockReason } from './answer.ts';
import { candidateExtras, finishOf, logprobsOf } from './finish.ts';
import { Grounding } from './grounding.ts';
import { readPart, type SaidPart } from './parts.ts';
import { marked } from './signatures.ts';
import { searchesIn, usageOf, withSearches } from './usage.ts';

/** What is remembered of one answer among several. */
interface Candidate {
  calls: number;
  /** A call whose signature may still come, in a part of its own. */
  unsigned: AnsweredCall | null;
  text: string;
  /** Some models say it on every record: the last one counts. */
  finish: string | null;
  searches: number;
  grounding: Grounding;
  /** The sources that have been told. */
  cited: Set<string>;
}

export const streamReader = (facts: Pick<CallFacts, 'newId' | 'model'>): AnswerReader => new GeminiReader(facts);

class GeminiReader implements AnswerReader {
  readonly #facts: Pick<CallFacts, 'newId' | 'model'>;
  readonly #candidates = new Map<number, Candidate>();
  #started = false;
  #usage: Usage | null = null;
  #blocked: string | null = null;

  constructor(facts: Pick<CallFacts, 'newId' | 'model'>) {
    this.#facts = facts;
  }

  read({ data }: ServerEvent): AnswerEvent[] {
    const record = parsed(data);
    const body = Array.isArray(record) ? record[0] : record;
    if (!isObject(body)) throw new ProviderFault(502, 'the provider sent a record that cannot be read');
    if (body.error) throw faultIn(statusIn(body.error), body) ?? new ProviderFault(502, data);
    this.#usage = usageOf(body.usageMetadata) ?? this.#usage;
    this.#blocked ??= blockReason(body);
    const started = this.#opening(body);
    return [...started, ...objectsOf(body.candidates).flatMap((candidate) => this.#candidate(candidate))];
  }

  end(): AnswerEvent[] {
    const finished = [...this.#candidates].flatMap(([choice, candidate]) => {
      const called = released(choice, candidate);
      const { finish, calls } = candidate;
      return [
        ...called,
        ...cited(choice, candidate, true),
        ...(finish === null ? this.#refused(choice) : [finishEvent(choice, finishOf(finish, calls > 0), finish)]),
      ];
    });
    if (this.#candidates.size === 0) finished.push(...this.#refused(0));
    const searches = [...this.#candidates.values()].reduce((sum, candidate) => sum + candidate.searches, 0);
    const usage = withSearches(this.#usage, searches);
    return [...finished, ...(usage ? [{ type: 'usage', usage } as const] : [])];
  }

  /** A prompt may be blocked before the model speaks, or while it does. */
  #refused(choice: number): AnswerEvent[] {
    return this.#blocked === null ? [] : [finishEvent(choice, 'content_filter', this.#blocked)];
  }

  #opening(body: JsonObject): AnswerEvent[] {
    if (this.#started) return [];
    this.#started = true;
    return [{ type: 'start', id: textOf(body.responseId), model: textOf(body.modelVersion) }];
  }

  #candidate(raw: JsonObject): AnswerEvent[] {
    const choice = countOf(raw.index);
    const candidate = this.#candidates.get(choice) ?? {
      calls: 0,
      unsigned: null,
      text: '',
      finish: null,
      searches: 0,
      grounding: new Grounding(),
      cited: new Set(),
    };
    this.#candidates.set(choice, candidate);
    candidate.finish = textOf(raw.finishReason) ?? candidate.finish;
    candidate.searches = Math.max(candidate.searches, searchesIn(raw, this.#facts.model));
    const logprobs = logprobsOf(raw.logprobsResult);
    const events = objectsOf(objectOf(raw.content).parts).flatMap((part) => {
      const said = readPart(part, this.#facts.newId);
      return said ? eventsOf(said, choice, candidate) : [];
    });
    const spoken = events.findIndex(({ type }) => type === 'text');
    const first = events[spoken];
    if (logprobs && first?.type === 'text') events[spoken] = { ...first, logprobs };
    candidate.grounding.add(raw.groundingMetadata);
    events.push(...cited(choice, candidate, false));
    const extras = candidateExtras(raw);
    if (Object.keys(extras).length > 0) events.push({ type: 'extras', fields: extras });
    return events;
  }
}

const finishEvent = (choice: number, reason: FinishReason, providerReason: string): AnswerEvent => ({
  type: 'finish',
  choice,
  reason,
  providerReason,
  stopSequence: null,
});

function cited(choice: number, candidate: Candidate, atTheEnd: boolean): AnswerEvent[] {
  const citations = candidate.grounding.citations(candidate.text, atTheEnd);
  const annotations = citations.filter((one) => isNew(one, candidate));
  return annotations.length > 0 ? [{ type: 'annotations', choice, annotations }] : [];
}

/** Each record may name again what those before it did. */
function isNew(annotation: Annotation, { cited }: Candidate): boolean {
  const written = JSON.stringify(annotation);
  if (cited.has(written)) return false;
  cited.add(written);
  return true;
}

/** A signature without words belongs to the call before it, if that has none. */
function eventsOf(part: SaidPart, choice: number, candidate: Candidate): AnswerEvent[] {
  const { unsigned } = candidate;
  if (unsigned && 'text' in part && part.text === '') {
    if (part.signature === null) return [];
    candidate.unsigned = null;
    return callEvents({ ...unsigned, signature: part.signature }, choice, candidate);
  }
  return [...released(choice, candidate), ...partEvents(part, choice, candidate)];
}

function released(choice: number, candidate: Candidate): AnswerEvent[] {
  const { unsigned } = candidate;
  candidate.unsigned = null;
  return unsigned ? callEvents(unsigned, choice, candidate) : [];
}

/** Calls come whole: their number runs over the stream, their arguments follow at once. */
function callEvents({ id, name, arguments: text, signature }: AnsweredCall, choice: number, candidate: Candidate) {
  const call = candidate.calls++;
  return [
    { type: 'tool-call', choice, call, id, name, signature },
    { type: 'arguments', choice, call, text },
  ] satisfies AnswerEvent[];
}

function partEvents(part: SaidPart, choice: number, candidate: Candidate): AnswerEvent[] {
  switch (part.type) {
    case 'thinking':
    case 'text': {
      if (part.type === 'text') candidate.text += part.text;
      const said: AnswerEvent[] = part.text === '' ? [] : [{ type: part.type, choice, text: part.text }];
      return part.signature === null
        ? said
        : [{ type: 'signature', choice, signature: marked(part.signature) }, ...said];
    }
    case 'tool-call':
      if (part.signature !== null) return callEvents(part, choice, candidate);
      candidate.unsigned = part;
      return [];
    case 'media':
      return [{ type: 'media', choice, media: part }];
    case 'block':
      return [{ type: 'block', choice, block: part.block }];
  }
}

/** The status that the fault would have had as an answer of its own. */
function statusIn(error: unknown): number {
  const code = numberOf(objectOf(error).code);
  return code !== null && code >= 400 && code <= 599 ? code : 502;
}
