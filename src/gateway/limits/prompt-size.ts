/** How large a prompt is: about, for what calls mostly take, and at most, for limits that must not be passed. One walk tells both. */
import { isMedia, mediaTokens } from '../settle/token-estimate.ts';

export interface PromptSize {
  /** About how many tokens, told from the lengths of its texts: what this misses is learned. */
  tokens: number;
  /** No model counts more: a token stands for a byte at least, and media have the maximum of their providers. */
  mostTokens: number;
}

const perCharacter = 0.25;
/** What is not written in Latin letters takes more. */
const perOtherCharacter = 0.75;
const samples = 32;

/** Brackets, quotes and the marks of roles that stand around each value and its name. */
const aroundValue = 8;
/** A call with tools is sent with instructions of the provider's own. */
const toolInstructions = 1_024;

/** A picture at its finest: sixteen tiles of Gemini, 768 × 2048 of GPT-4o, the largest of Claude and Qwen. */
const pictureTokens = 16_384;
/** GPT-4o mini counts eight tiles of 5,667 tokens and 2,833 beside them. */
const pictureTokensOfMini = 48_169;
const mini = /gpt-4o-mini/;
/** Sound, films and documents: no more than fits a context. */
const longestContext = 2_000_000;

const pictures = /image/;
const longMedia = /audio|video|file|document/;
/** The names under which bytes stand in base64. */
const encoded: ReadonlySet<string> = new Set(['url', 'image_url', 'data']);

export function promptSize(prompt: unknown, tools: unknown, model: string): PromptSize {
  const waiting: unknown[] = [prompt, tools];
  const picture = mini.test(model) ? pictureTokensOfMini : pictureTokens;
  let tokens = 0;
  let most = tools === undefined ? 0 : toolInstructions;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') {
      tokens += isMedia(next) ? mediaTokens : 1 + next.length * weightOf(next);
      most += aroundValue + Buffer.byteLength(next);
    } else if (Array.isArray(next)) {
      for (const item of next) waiting.push(item);
    } else if (typeof next === 'object' && next !== null) {
      const fields = next as Record<string, unknown>;
      for (const name in fields) {
        const value = fields[name];
        most += aroundValue + name.length;
        // The part around it says what it is.
        if (typeof value === 'string' && encoded.has(name) && isMedia(value)) tokens += mediaTokens;
        else waiting.push(value);
        most += mediaIn(name, value, picture);
      }
    } else most += aroundValue;
  }
  return { tokens: Math.ceil(tokens), mostTokens: Math.ceil(most) };
}

/** What a part that is no text may come to: `type` names it in most dialects, Gemini has fields for it. */
function mediaIn(name: string, value: unknown, picture: number): number {
  if (name === 'inlineData' || name === 'fileData') return longestContext;
  if (name !== 'type' || typeof value !== 'string') return 0;
  if (pictures.test(value)) return picture;
  return longMedia.test(value) ? longestContext : 0;
}

/** By a few characters of it. */
function weightOf(text: string): number {
  const step = Math.max(1, Math.floor(text.length / samples));
  let other = 0;
  let seen = 0;
  for (let index = 0; index < text.length; index += step) {
    if (text.charCodeAt(index) > 0x24f) other++;
    seen++;
  }
  return seen === 0 ? perCharacter : perCharacter + ((perOtherCharacter - perCharacter) * other) / seen;
}
