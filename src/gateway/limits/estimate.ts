/** What a call may take before it is made: from its size, the token limit that it asks for, and what such calls took before. */

import type { EndpointKind } from '../../providers/endpoints.ts';
import type { JsonObject, Usage } from '../../providers/provider.ts';
import { noUsage } from '../../providers/usage.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { tokensOf } from '../settle/token-estimate.ts';

export interface Estimate {
  inputTokens: number;
  /** The most that the input may be, where nobody knows yet how its model counts. */
  mostInputTokens: number;
  outputTokens: number;
  /** The call cannot take more output than this: it says so itself. */
  isBounded: boolean;
  /** Calls like this one were seen before. */
  isLearned: boolean;
  /** How many answers are asked for; the token limit counts for each. */
  answers: number;
  /** What is used besides tokens, where the call tells. */
  units: Readonly<Record<string, number>>;
}

interface Lesson {
  /** The most that calls produced lately. */
  outputTokens: number;
  /** Tokens for each of our estimated ones in long texts, the most lately. */
  inputRatio: number;
  /** Tokens beyond our estimate of short texts, the most lately. */
  overhead: number;
}

/** How far our count of tokens may be from a model's own that we have not met yet. */
const unknownFactor = 3;
const unknownOutputTokens = 4_096;
/** What was seen fades with every call that needed less. */
const fading = 0.98;
const headroom = 1.1;
const mostLessons = 20_000;

/** What a model adds to a text of its own: roles, tools, a preamble. */
const unknownOverhead = 256;
/** Texts of fewer tokens tell of the overhead, longer ones of the ratio. */
const shortText = 300;

const generating: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'chatComplete',
  'complete',
  'messages',
  'createModelResponse',
  'realtime',
  'proxy',
]);

/** Learns what calls take, and tells what the next one may. */
export class Estimates {
  readonly #lessons = new Map<string, Lesson>();

  of(call: AttemptContext): Estimate {
    const { kind } = call.context.matched.route;
    const { shaped } = call;
    const lesson = this.#lessons.get(lessonKey(call));
    const asked = askedTokens(call);
    const inputTokens = Math.ceil(asked * (lesson?.inputRatio ?? 1) * headroom + (lesson?.overhead ?? 0));
    const mostInputTokens = lesson ? inputTokens : asked * unknownFactor + unknownOverhead;
    const answers = countOf(shaped.n) * countOf(shaped.best_of);
    if (!generating.has(kind)) {
      return {
        inputTokens,
        mostInputTokens,
        outputTokens: 0,
        isBounded: false,
        isLearned: false,
        answers: 1,
        units: imagesOf(kind, shaped),
      };
    }
    const limit = tokenLimit(shaped);
    const learned = Math.ceil((lesson?.outputTokens ?? unknownOutputTokens) * headroom);
    return {
      inputTokens,
      mostInputTokens,
      outputTokens: limit === null ? learned : limit * answers,
      isBounded: limit !== null,
      isLearned: lesson !== undefined,
      answers,
      units: {},
    };
  }

  learn(call: Pick<AttemptContext, 'context' | 'target' | 'shaped'>, { inputTokens, outputTokens }: Usage): void {
    if (inputTokens + outputTokens <= 0) return;
    const key = lessonKey(call);
    const before = this.#lessons.get(key);
    const asked = askedTokens(call);
    const isShort = asked < shortText;
    const faded = (figure: number | undefined) => (figure ?? 0) * fading;
    this.#lessons.set(key, {
      outputTokens: Math.max(outputTokens, faded(before?.outputTokens)),
      inputRatio: isShort ? (before?.inputRatio ?? 1) : Math.max(inputTokens / asked, faded(before?.inputRatio)),
      overhead: isShort ? Math.max(inputTokens - asked, faded(before?.overhead)) : (before?.overhead ?? 0),
    });
    if (this.#lessons.size <= mostLessons) return;
    const [oldest] = this.#lessons.keys();
    if (oldest !== undefined) this.#lessons.delete(oldest);
  }
}

export const usageOf = ({ units }: Estimate, inputTokens: number, outputTokens: number): Usage => ({
  ...noUsage,
  inputTokens,
  outputTokens,
  units,
});

const lessonKey = ({ context, target }: Pick<AttemptContext, 'context' | 'target'>): string =>
  `${context.workspace.workspaceId} ${context.matched.route.kind} ${target.provider.id} ${target.model}`;

function askedTokens({ context, shaped, target }: Pick<AttemptContext, 'context' | 'shaped' | 'target'>): number {
  if (context.body.form !== 'json') return 0;
  const { messages, input, prompt, system, instructions, tools, documents, query, contents } = shaped;
  const text = [messages ?? input ?? prompt ?? contents, system, instructions, tools, documents, query];
  return Math.ceil(tokensOf(text, target.model));
}

const limitFields = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'] as const;

/** The most tokens that the call lets an answer have; null when it does not say. */
export function tokenLimit(shaped: JsonObject): number | null {
  for (const field of limitFields) {
    const value = shaped[field];
    if (typeof value === 'number' && value > 0) return Math.floor(value);
  }
  return null;
}

/** The parameters with this token limit, under the name that the call or its route uses. */
export function withTokenLimit({ context, target, shaped }: AttemptContext, limit: number): JsonObject {
  const named = limitFields.find((field) => typeof shaped[field] === 'number');
  return { ...shaped, [named ?? usualField(context.matched.route.kind, target.provider.id)]: limit };
}

function usualField(kind: EndpointKind, provider: string): (typeof limitFields)[number] {
  if (kind === 'createModelResponse') return 'max_output_tokens';
  const isOpenAi = provider === 'openai' || provider === 'azure-openai';
  return kind === 'chatComplete' && isOpenAi ? 'max_completion_tokens' : 'max_tokens';
}

const countOf = (value: unknown): number => (typeof value === 'number' && value > 1 ? Math.floor(value) : 1);

const imagesOf = (kind: EndpointKind, { n }: JsonObject): Readonly<Record<string, number>> =>
  kind === 'imageGenerate' || kind === 'imageEdit' || kind === 'imageVariation' ? { generated_images: countOf(n) } : {};
