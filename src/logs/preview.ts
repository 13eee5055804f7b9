/** The beginnings of what was asked and answered, for lists. */
import { readJson } from '../bounded-json.ts';
import { contentOf } from './content.ts';
import type { KeptBodies, KeptMessage, LogBodies } from './record.ts';

export const previewLength = 200;
/** A larger body is not parsed for two lines of text. */
const parsedBytes = 1024 * 1024;

export interface Previews {
  prompt: string;
  answer: string;
}

export const noPreviews: Previews = { prompt: '', answer: '' };

/** Those that were known when the record was made; null where the bytes must be read for it. */
export type KnownPreviews = [prompt: string | null, answer: string | null];

const nothingKnown: KnownPreviews = [null, null];

export const knownPreviewsOf = ({ request, response }: Partial<LogBodies>): KnownPreviews => [
  request?.preview ?? null,
  response?.preview ?? null,
];

export const promptPreview = (body: unknown): string => shortened(askedText(body));
export const answerPreview = (body: unknown): string => shortened(answeredText(body));

/** The messages are read only for what is not known. */
export function previewsOf(known: KnownPreviews | undefined, bodies: () => KeptBodies | undefined): Previews {
  const [prompt, answer] = known ?? nothingKnown;
  if (prompt !== null && answer !== null) return { prompt, answer };
  const { request, response } = bodies() ?? {};
  return {
    prompt: prompt ?? (request ? preview(request, askedText) : ''),
    answer: answer ?? (response ? preview(response, answeredText) : ''),
  };
}

function preview(message: KeptMessage, textOf: (body: unknown) => string): string {
  if (message.body === null || message.body.length > parsedBytes) return '';
  const content = contentOf(message);
  if (content.form === 'json') return shortened(textOf(content.value));
  if (content.form === 'text')
    return shortened(message.contentType.includes('event-stream') ? streamedText(content.text) : content.text);
  return '';
}

const shortened = (text: string): string => text.slice(0, previewLength).toWellFormed();

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? (inner as Fields)[key] : undefined),
    value,
  );

/** What the user said last, in any of the forms in which clients ask. */
function askedText(body: unknown): string {
  if (!isObject(body)) return textIn(body);
  const { messages, contents, input, prompt, query, text } = body;
  const turns = [messages, contents, input].find((turn) => Array.isArray(turn) && turn.some(isObject));
  if (Array.isArray(turns)) return textIn(turns.findLast((turn) => at(turn, 'role') !== 'assistant'));
  return textIn(prompt ?? input ?? query ?? text);
}

function answeredText(body: unknown): string {
  if (!isObject(body)) return textIn(body);
  const { choices, content, output, candidates, message, error } = body;
  return (
    textIn(at(choices, 0, 'message') ?? at(choices, 0, 'text')) ||
    textIn(content) ||
    textIn(output) ||
    textIn(at(candidates, 0, 'content')) ||
    textIn(message) ||
    textIn(at(error, 'message') ?? error)
  );
}

/** The pieces of a stream, joined until there is enough. */
function streamedText(text: string): string {
  let joined = '';
  for (const line of text.split('\n')) {
    if (joined.length >= previewLength) break;
    if (!line.startsWith('data:') || !line.includes('{')) continue;
    joined += deltaOf(line.slice(line.indexOf('{')));
  }
  return joined;
}

function deltaOf(json: string): string {
  let event: unknown;
  try {
    event = readJson(json);
  } catch {
    // A line that was cut ends the preview, not the import.
    return '';
  }
  const delta =
    at(event, 'choices', 0, 'delta', 'content') ?? at(event, 'choices', 0, 'text') ?? at(event, 'delta', 'text');
  if (typeof delta === 'string') return delta;
  if (typeof at(event, 'delta') === 'string' && String(at(event, 'type')).includes('text'))
    return String(at(event, 'delta'));
  return textIn(at(event, 'candidates', 0, 'content'));
}

/** The text of a message, a content block or a list of them. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.slice(0, 20).map(textIn).filter(Boolean).join(' ');
  if (!isObject(value)) return '';
  return textIn(value.text ?? value.content ?? value.parts ?? value.input_text ?? value.refusal);
}
