/** What the checks of partners have in common: credentials, one call or one for each text, and what their errors count as. */
import { z } from 'zod';
import { listOf, objectOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { postJson } from '../ask.ts';
import { type Check, type CheckResult, defineCheck, type Edit, failedCheck, type Setup } from '../check.ts';
import type { CheckContext, HookEvent } from '../context.ts';
import { editsTo } from '../edits.ts';
import type { CheckIo } from '../io.ts';
import { inputSegments } from '../text/segments.ts';

const partnerTimeoutMs = 5_000;

/** A call to the partner, made with the check's own time limit. */
export type Ask = (url: string, json: unknown, headers?: Readonly<Record<string, string>>) => Promise<JsonObject>;

export interface Asking {
  context: CheckContext;
  /** All texts, a line for each. */
  text: string;
  ask: Ask;
  io: CheckIo;
  timeoutMs: number;
}

interface PartnerCheck<Shape extends z.ZodRawShape, Credentials extends z.ZodRawShape> {
  id: string;
  aliases?: readonly string[];
  title: string;
  description: string;
  events: readonly HookEvent[];
  requestTypes?: readonly string[];
  timeoutMs?: number;
  transforms?: boolean;
  credentials: () => Credentials;
  parameters: () => Shape;
  example: JsonObject;
  /** An answer with none of these fields says nothing of the text, and is an error. */
  answersWith?: readonly string[];
  /** The verdict that stands beside an error; the check passes either way unless errors fail it. */
  onError: boolean;
  run(
    asking: Asking,
    parameters: z.output<z.ZodObject<Shape>>,
    credentials: z.output<z.ZodObject<Credentials>>,
  ): Promise<CheckResult>;
}

export function partnerCheck<const Shape extends z.ZodRawShape, const Credentials extends z.ZodRawShape>(
  definition: PartnerCheck<Shape, Credentials>,
): Check {
  const { credentials, timeoutMs = partnerTimeoutMs, onError, answersWith, run, ...rest } = definition;
  const schema = () => z.looseObject(credentials());
  return defineCheck({
    ...rest,
    category: 'PARTNER',
    network: { timeoutMs, credentials: schema },
    prepare(parameters, setup: Setup) {
      return {
        async run(context, io) {
          const { text } = context;
          if (text === '') return failedCheck('there is no text to look at', true);
          const ask: Ask = async (url, json, headers) => {
            const answer = await postJson(io, { url, json, timeoutMs: setup.timeoutMs, ...(headers && { headers }) });
            if (answersWith?.every((field) => answer[field] === undefined || answer[field] === null)) {
              throw new Error(`the service answered without ${answersWith.join(' or ')}`);
            }
            return answer;
          };
          try {
            const known = schema().parse(setup.credentials) as z.output<z.ZodObject<Credentials>>;
            return await run({ context, text, ask, io, timeoutMs: setup.timeoutMs }, parameters, known);
          } catch (fault) {
            if (!(fault instanceof Error)) throw fault;
            return failedCheck(fault.message, onError, fault.name);
          }
        },
      };
    },
  });
}

export const secret = () => z.string().min(1).max(16_384);
export const address = () => z.string().min(1).max(2_048);
export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
export const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** What the partner said, under a sentence for people. */
export const verdictOf = (verdict: boolean, partner: string, data: JsonObject = {}): CheckResult => ({
  verdict,
  data: { ...data, verdict, explanation: `${partner} ${verdict ? 'allows' : 'refuses'} the text.` },
});

/** Asks about each text that is not empty; what it answers stands beside its place. */
export async function eachSegment<T>(
  { context }: Asking,
  ask: (text: string) => Promise<T>,
): Promise<{ segment: number; text: string; answer: T }[]> {
  const asked = context.segments.flatMap(({ text }, segment) => (text.trim() === '' ? [] : [{ segment, text }]));
  return Promise.all(asked.map(async ({ segment, text }) => ({ segment, text, answer: await ask(text) })));
}

export const textsOf = ({ context }: Asking): string[] => context.segments.map(({ text }) => text);

/** What must change to make these texts of the segments; null where one stays. */
export const editsOf = ({ context }: Asking, texts: readonly (string | null | undefined)[]): Edit[] =>
  context.segments.flatMap(({ text }, segment) => {
    const changed = texts[segment];
    return typeof changed === 'string' ? editsTo(segment, text, changed) : [];
  });

export const inputText = ({ context }: Asking): string =>
  inputSegments(context.requestType, context.request)
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n');

export interface ChatMessage {
  role: string;
  content: string;
}

/** The conversation in texts, with the answer at its end where there is one. */
export function messagesOf({ context }: Asking): ChatMessage[] {
  const { request, requestType } = context;
  const isResponse = requestType === 'createModelResponse';
  const given = isResponse ? request.input : request.messages;
  const instructions = plainText(isResponse ? request.instructions : request.system);
  const system = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  const turns = Array.isArray(given)
    ? listOf(given).map((entry) => {
        const { role, type, content, output } = objectOf(entry);
        return { role: roleOf(role, type), content: plainText(content ?? output) };
      })
    : [{ role: 'user', content: inputOf(context) }];
  const answer = context.isInput ? [] : [{ role: 'assistant', content: context.text }];
  return [...system, ...turns, ...answer];
}

const inputOf = (context: CheckContext): string =>
  inputSegments(context.requestType, context.request)
    .map(({ text }) => text)
    .join('\n');

/** In the words that services know: newer and older names of a role are those of the same one. */
function roleOf(role: unknown, type: unknown): string {
  if (role === 'developer') return 'system';
  if (role === 'function' || /_call_output$/.test(String(type ?? ''))) return 'tool';
  return typeof role === 'string' ? role : 'user';
}

/** The texts of parts, those of tools' results and documents among them. */
const plainText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => {
          if (typeof part === 'string') return part;
          const { text, content: inner, source } = objectOf(part);
          if (typeof text === 'string') return text;
          const { type, data, content: blocks } = objectOf(source);
          return plainText(inner ?? (type === 'text' ? data : blocks));
        })
        .filter((text) => text !== '')
        .join('\n');

/** A text in pieces that a service takes, cut at spaces where it can be. With an overlap, what stands at a cut is whole in one of them. */
export function piecesOf(text: string, most: number, overlap = 0): string[] {
  if (text.length <= most) return [text];
  const pieces: string[] = [];
  for (let start = 0; ; ) {
    const limit = start + most;
    if (limit >= text.length) {
      pieces.push(text.slice(start));
      return pieces;
    }
    const space = text.lastIndexOf(' ', limit - 1) + 1;
    let end = space > start + most / 2 ? space : limit;
    // Both halves of a pair belong together.
    if (isLowSurrogate(text.charCodeAt(end))) end--;
    pieces.push(text.slice(start, end));
    start = end - overlap;
    if (isLowSurrogate(text.charCodeAt(start))) start--;
  }
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** Lists of at most so many. */
export const batchesOf = <T>(items: readonly T[], most: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / most) }, (_, at) => items.slice(at * most, (at + 1) * most));

/** Replaces places of a text from its end, so that those before stay where they are. */
export function replacedSpans(text: string, spans: readonly { start: number; end: number; text: string }[]): string {
  return spans
    .toSorted((a, b) => b.start - a.start)
    .reduce((result, span) => result.slice(0, span.start) + span.text + result.slice(span.end), text);
}
