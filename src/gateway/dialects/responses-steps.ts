/** How far the text of a response was told: it stands in the first part of the first item, which open and close step by step. */
import { listOf, objectOf, textOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { StreamState } from './dialect.ts';

/** Each is told once, in this order. */
export const steps = [
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
] as const;

const numbers: ReadonlyMap<unknown, number> = new Map(steps.map((type, index) => [type, index + 1]));
const numberOf = (type: unknown): number => numbers.get(type) ?? 0;

export const itemOpened = numberOf('response.output_item.added');
const partOpened = numberOf('response.content_part.added');
const textClosed = numberOf('response.output_text.done');
export const itemClosed = steps.length;

export const isInFirstItem = ({ output_index: index = 0 }: JsonObject): boolean => index === 0;

export const isInText = (json: JsonObject): boolean => isInFirstItem(json) && (json.content_index ?? 0) === 0;

export const isInItem = ({ output_index: index, item_id: id }: JsonObject): boolean =>
  index !== undefined || id !== undefined;

/** The number of the step that an event tells, from 1; 0 where it tells none. */
export const stepOf = (json: JsonObject): number => (isInText(json) ? numberOf(json.type) : 0);

/** An item or a part that is not there for text. */
export const isForeign = ({ item, part }: JsonObject): boolean =>
  (item !== undefined && objectOf(item).type !== 'message') ||
  (part !== undefined && objectOf(part).type !== 'output_text');

/** Sources and probabilities are one model's own: no other can go on with them. */
const isAnnotated = ({ annotations, logprobs }: JsonObject): boolean =>
  listOf(annotations).length > 0 || listOf(logprobs).length > 0;

const isBeyondText = (json: JsonObject): boolean =>
  isForeign(json) || isAnnotated(json) || isAnnotated(objectOf(json.part));

export function noteStep(json: JsonObject, state: StreamState): void {
  const step = json.type === 'response.output_text.delta' && isInText(json) ? partOpened : stepOf(json);
  if (step === 0 ? isInItem(json) : isBeyondText(json)) state.beyondText = true;
  if (step <= state.steps) return;
  state.steps = step;
  state.block = step >= textClosed ? 'closed' : step >= partOpened ? 'open' : 'unopened';
  if (step === itemOpened) state.item = textOf(objectOf(json.item).id);
}
