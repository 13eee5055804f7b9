/** The turns of a conversation as Gemini's contents: text, media, calls with their signatures, and results in the order of their calls. */
import type {
  AssistantPart,
  Conversation,
  MediaPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../chat/conversation.ts';
import { calledTools, hoisted, joinedText, resultsApart, shownIn } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { argumentsOf, isObject, parsed } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { isThirdGeneration } from './generation.ts';
import { mediaPart, sourceOf } from './media.ts';
import { ownSignature, unchecked } from './signatures.ts';
import type { Surface } from './surface.ts';

interface Contents {
  system: JsonObject[];
  contents: JsonObject[];
}

export function contentsOf(conversation: Conversation, facts: CallFacts, surface: Surface): Contents {
  const { system, turns } = hoisted(conversation);
  const names = calledTools(conversation);
  const order = new Map([...names.keys()].map((id, place) => [id, place]));
  const contents = turns.map((turn) =>
    turn.role === 'user'
      ? { role: 'user', parts: userParts(inOrder(turn.parts, order), names, facts, surface) }
      : { role: 'model', parts: modelParts(turn.parts, facts, surface) },
  );
  return {
    system: system.map(({ text }) => ({ text })),
    contents: contents.filter(({ parts }) => parts.length > 0),
  };
}

interface Apart {
  results: readonly ToolResultPart[];
  said: readonly (TextPart | MediaPart)[];
}

/** Results in the order of the calls, as the model expects them. */
function inOrder(parts: readonly UserPart[], order: ReadonlyMap<string, number>): Apart {
  const { results, said } = resultsApart(parts);
  const placeOf = ({ callId }: ToolResultPart): number => order.get(callId) ?? -1;
  return { results: results.toSorted((one, other) => placeOf(one) - placeOf(other)), said };
}

/** Results come first; what they show follows. */
function userParts(
  { results, said }: Apart,
  names: ReadonlyMap<string, string>,
  facts: CallFacts,
  surface: Surface,
): JsonObject[] {
  const apart = isThirdGeneration(facts.model) ? [] : shownIn(results);
  return [
    ...results.map((part) => resultPart(part, names, facts, surface)),
    ...[...apart, ...said].flatMap((part) => {
      if (part.type === 'media') return [mediaPart(part, facts, surface)];
      return part.text === '' ? [] : [{ text: part.text }];
    }),
  ];
}

function resultPart(
  result: ToolResultPart,
  names: ReadonlyMap<string, string>,
  facts: CallFacts,
  surface: Surface,
): JsonObject {
  const { callId, content, isError } = result;
  const name = result.name ?? names.get(callId);
  if (!name) {
    throw new RequestFault('messages', `the result for "${callId}" answers no call that stands before it`);
  }
  const byId = isThirdGeneration(facts.model);
  const shown = byId ? content.filter((part) => part.type === 'media') : [];
  return {
    functionResponse: {
      ...(byId && { id: callId }),
      name,
      response: responseOf(joinedText(content), isError),
      ...(shown.length > 0 && { parts: shown.map((part) => sourceOf(part, facts, surface)) }),
    },
  };
}

/** An object is the result itself; anything else is put into one. */
export function responseOf(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text };
  const value = parsed(text);
  return isObject(value) ? value : { output: value === undefined ? text : value };
}

function modelParts(parts: readonly AssistantPart[], facts: CallFacts, surface: Surface): JsonObject[] {
  const written: JsonObject[] = [];
  let signature: string | null = null;
  let called = false;
  for (const part of parts) {
    switch (part.type) {
      case 'thinking':
        // The thoughts themselves are not wanted back, only what proves them.
        signature = ownSignature(part) ?? signature;
        break;
      case 'redacted-thinking':
        break;
      case 'text':
      case 'refusal':
        if (part.text === '') break;
        written.push({ text: part.text, ...(signature !== null && { thoughtSignature: signature }) });
        signature = null;
        break;
      case 'media':
        written.push(mediaPart(part, facts, surface));
        break;
      case 'tool-call':
        written.push(callPart(part, facts.model, called));
        called = true;
        break;
    }
  }
  return written;
}

/** The third generation refuses a turn whose first call is unsigned: one that came without a signature says so. */
function callPart(call: ToolCallPart, model: string, isFurther: boolean): JsonObject {
  const isThird = isThirdGeneration(model);
  const signature = call.signature ?? (isThird && !isFurther ? unchecked : null);
  return {
    functionCall: { ...(isThird && { id: call.id }), name: call.name, args: argumentsOf(call.arguments) },
    ...(signature !== null && { thoughtSignature: signature }),
  };
}
