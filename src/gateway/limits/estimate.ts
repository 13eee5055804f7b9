/** What a call may take before it is made: from its size, the token limit that it asks for, and what such calls took before. */

import type { EndpointKind } from '../../providers/endpoints.ts';
import type { JsonObject, Usage } from '../../providers/provider.ts';
import { noUsage } from '../../providers/usage.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { longestAnswer } from './longest-answer.ts';
import { type PromptSize, promptSize } from './prompt-size.ts';

/** How much output a call may take. */
export type Output =
  /** It makes none. */
  | { kind: 'none' }
  /** No more than this: the call says so itself. */
  | { kind: 'bounded'; tokens: number }
  /** The call does not say. */
  | {
      kind: 'open';
      /** With less room it is not worth beginning. */
      least: number;
      /** What calls like it take. */
      usual: number;
      /** As much as its model can give. */
      most: number;
      /** The highest token limit for one answer that the model surely takes; null where none can be set. */
      settable: number | null;
    };

export interface Estimate {
  /** The size of the question by itself, for those who learn from it. */
  asked: number;
  inputTokens: number;
  /** What the input may well be, where nobody knows yet how its model counts. */
  mostInputTokens: number;
  /** What the input cannot be more than. */
  inputBound: number;
  output: Output;
  /** How many answers are asked for; the token limit counts for each. */
  answers: number;
  /** What is used besides tokens, where the call tells. */
  units: Readonly<Record<string, number>>;
}

interface UsageHistory {
  /** The most that calls produced lately. */
  outputTokens: number;
  /** What they produced on average, the latest counting most. */
  meanOutputTokens: number;
  /** Tokens for each of our estimated ones in long texts, the most lately. */
  inputRatio: number;
  /** Tokens beyond our estimate of short texts, the most lately. */
  overhead: number;
}

/** How far our count of tokens may be from a model's own that we have not met yet. */
const unknownFactor = 3;
const unknownOutputTokens = 4_096;
/** An answer of fewer tokens helps nobody who did not ask for one. */
const leastOutputTokens = 256;
const usualOutputTokens = 1_024;
/** Of one response of a realtime session. */
const longestTurn = 4_096;
/** What was seen fades with every call that needed less. */
const fading = 0.98;
const headroom = 1.1;
const weightOfLatest = 0.1;
/** A call begins with room for so many times the average answer. */
const aboveMean = 1.5;
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

/** Their bodies have a field for a token limit that we know. */
const takesTokenLimit: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'chatComplete',
  'complete',
  'messages',
  'createModelResponse',
]);

/** Learns what calls take, and tells what the next one may. */
export class Estimates {
  readonly #histories = new Map<string, UsageHistory>();

  of(call: AttemptContext): Estimate {
    const { kind } = call.context.matched.route;
    const { shaped } = call;
    const history = this.#histories.get(historyKey(call));
    const { tokens: asked, mostTokens } = askedSize(call);
    const inputTokens = Math.ceil(asked * (history?.inputRatio ?? 1) * headroom + (history?.overhead ?? 0));
    const mostInputTokens = history ? inputTokens : asked * unknownFactor + unknownOverhead;
    const inputBound = Math.max(inputTokens, mostTokens + Math.ceil(history?.overhead ?? 0));
    const answers = countOf(shaped.n) * countOf(shaped.best_of);
    if (!generating.has(kind)) {
      const units = imagesOf(kind, shaped);
      return { asked, inputTokens, mostInputTokens, inputBound, output: noOutput, answers: 1, units };
    }
    const limit = tokenLimit(shaped);
    const output: Output =
      limit === null ? openOutput(call, history, answers) : { kind: 'bounded', tokens: limit * answers };
    return { asked, inputTokens, mostInputTokens, inputBound, output, answers, units: {} };
  }

  learn(call: Pick<AttemptContext, 'context' | 'target'>, asked: number, { inputTokens, outputTokens }: Usage): void {
    if (asked <= 0 || inputTokens + outputTokens <= 0) return;
    const key = historyKey(call);
    const before = this.#histories.get(key);
    const isShort = asked < shortText;
    const faded = (figure: number | undefined) => (figure ?? 0) * fading;
    this.#histories.set(key, {
      outputTokens: Math.max(outputTokens, faded(before?.outputTokens)),
      meanOutputTokens: before
        ? before.meanOutputTokens + (outputTokens - before.meanOutputTokens) * weightOfLatest
        : outputTokens,
      inputRatio: isShort ? (before?.inputRatio ?? 1) : Math.max(inputTokens / asked, faded(before?.inputRatio)),
      overhead: isShort ? Math.max(inputTokens - asked, faded(before?.overhead)) : (before?.overhead ?? 0),
    });
    if (this.#histories.size <= mostLessons) return;
    const [oldest] = this.#histories.keys();
    if (oldest !== undefined) this.#histories.delete(oldest);
  }
}

const noOutput: Output = { kind: 'none' };

function openOutput({ context, target }: AttemptContext, history: UsageHistory | undefined, answers: number): Output {
  const { kind } = context.matched.route;
  const longest = longestAnswer(target.rule?.baseModel ?? target.model);
  const most = (kind === 'realtime' ? longestTurn : longest.tokens) * answers;
  const least = Math.max(leastOutputTokens, Math.ceil((history?.meanOutputTokens ?? 0) * aboveMean));
  const usual = history ? Math.max(usualOutputTokens, Math.ceil(history.outputTokens * headroom)) : unknownOutputTokens;
  const isSettable = takesTokenLimit.has(kind) && context.body.form === 'json';
  return {
    kind: 'open',
    least: Math.min(most, least),
    usual: Math.min(most, Math.max(least, usual)),
    most,
    settable: isSettable ? longest.settable(Math.floor((history?.outputTokens ?? 0) / answers)) : null,
  };
}

export const usageOf = ({ units }: Estimate, inputTokens: number, outputTokens: number): Usage => ({
  ...noUsage,
  inputTokens,
  outputTokens,
  units,
});

const historyKey = ({ context, target }: Pick<AttemptContext, 'context' | 'target'>): string =>
  `${context.workspace.workspaceId} ${context.matched.route.kind} ${target.provider.id} ${target.model}`;

const noPrompt: PromptSize = { tokens: 0, mostTokens: 0 };

function askedSize({ context, shaped, target }: Pick<AttemptContext, 'context' | 'shaped' | 'target'>): PromptSize {
  if (context.body.form !== 'json') return noPrompt;
  const { messages, input, prompt, system, instructions, tools, documents, query, contents } = shaped;
  const text = [messages ?? input ?? prompt ?? contents, system, instructions, documents, query];
  return promptSize(text, tools, target.model);
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
