/** An answer of Gemini, read whole. */
import type { AnswerChoice, AnswerPart, ChatAnswer } from '../chat/answer.ts';
import { joinedText } from '../chat/turns.ts';
import { ProviderFault } from '../faults.ts';
import { numberOf, objectOf, objectsOf, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { candidateExtras, finishOf, logprobsOf } from './finish.ts';
import { citationsOf } from './grounding.ts';
import { readPart, type SaidPart } from './parts.ts';
import { marked } from './signatures.ts';
import { searchesIn, usageOf, withSearches } from './usage.ts';

export function readAnswer(answer: unknown, { newId, model }: Pick<CallFacts, 'newId' | 'model'>): ChatAnswer {
  // A list of one is how errors and streams without framing come.
  const body = objectOf(Array.isArray(answer) ? answer[0] : answer);
  const candidates = objectsOf(body.candidates);
  const blocked = blockReason(body);
  if (candidates.length === 0 && blocked === null) {
    throw new ProviderFault(502, `the answer has no candidates: ${JSON.stringify(answer).slice(0, 500)}`);
  }
  const searches = candidates.reduce((sum, candidate) => sum + searchesIn(candidate, model), 0);
  return {
    id: textOf(body.responseId),
    model: textOf(body.modelVersion),
    created: null,
    choices:
      candidates.length > 0
        ? candidates.map((candidate, position) => readCandidate(candidate, position, newId))
        : [refused(blocked)],
    usage: withSearches(usageOf(body.usageMetadata), searches),
    extras: present({ promptFeedback: body.promptFeedback }),
  };
}

/** Why the prompt was not answered; null where it was. */
export const blockReason = (body: JsonObject): string | null => textOf(objectOf(body.promptFeedback).blockReason);

const refused = (reason: string | null): AnswerChoice => ({
  index: 0,
  parts: [],
  finish: 'content_filter',
  providerFinish: reason,
  stopSequence: null,
  logprobs: null,
  annotations: [],
  extras: {},
});

function readCandidate(candidate: JsonObject, position: number, newId: (prefix: string) => string): AnswerChoice {
  const said = objectsOf(objectOf(candidate.content).parts).flatMap((part) => readPart(part, newId) ?? []);
  const parts = joined(said);
  const providerFinish = textOf(candidate.finishReason);
  const called = parts.some(({ type }) => type === 'tool-call');
  return {
    index: numberOf(candidate.index) ?? position,
    parts,
    finish: finishOf(providerFinish ?? 'STOP', called),
    providerFinish,
    stopSequence: null,
    logprobs: logprobsOf(candidate.logprobsResult),
    annotations: citationsOf(candidate.groundingMetadata, joinedText(parts)),
    extras: candidateExtras(candidate),
  };
}

/** Neighbours of a kind are one part; a signature without words goes to the call or the thought before it. */
function joined(said: readonly SaidPart[]): AnswerPart[] {
  const parts: AnswerPart[] = [];
  for (const part of said) {
    if (part.type !== 'text' && part.type !== 'thinking') {
      parts.push(part);
      continue;
    }
    if (part.signature !== null) sign(parts, part.signature, part.text === '');
    const last = parts.at(-1);
    if (part.text === '') continue;
    if (part.type === 'text') {
      if (last?.type === 'text') parts[parts.length - 1] = { ...last, text: last.text + part.text };
      else parts.push({ type: 'text', text: part.text });
    } else if (last?.type === 'thinking') {
      parts[parts.length - 1] = { ...last, text: last.text + part.text };
    } else {
      parts.push({ type: 'thinking', text: part.text, signature: null });
    }
  }
  return parts;
}

function sign(parts: AnswerPart[], signature: string, isEmpty: boolean): void {
  const last = parts.at(-1);
  if (isEmpty && last?.type === 'tool-call' && last.signature === null) {
    parts[parts.length - 1] = { ...last, signature };
    return;
  }
  const thought = parts.findLastIndex(({ type }) => type === 'thinking');
  const before = parts[thought];
  if (before?.type === 'thinking') parts[thought] = { ...before, signature: marked(signature) };
  else parts.unshift({ type: 'thinking', text: '', signature: marked(signature) });
}
