/** Small differences in tools: their choice, their schemas, the ids of their calls. */
import { createHash } from 'node:crypto';
import { RequestFault } from '../../faults.ts';
import { textOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import { inTurn, type Quirk } from './parameters.ts';
import { eachIn, inside, lacking } from './same.ts';

const eachFunction =
  (change: (called: JsonObject) => JsonObject): Quirk =>
  (body) =>
    eachIn(body, 'tools', (tool) => inside(tool, 'function', change));

export const withoutStrict = eachFunction((called) => lacking(called, 'strict'));

/** Names of schemas that some providers refuse at the top of a tool's parameters. */
export const plainSchemas = inTurn([
  withoutStrict,
  eachFunction((called) => inside(called, 'parameters', (schema) => lacking(schema, '$id', '$schema', 'strict'))),
]);

export const requiredAsAny: Quirk = (body) =>
  body.tool_choice === 'required' ? { ...body, tool_choice: 'any' } : body;

/** A model that cannot be made to call a tool must not look as if it had been. */
export const noRequiredTool: Quirk = (body, { provider }) => {
  if (body.tool_choice !== 'required') return body;
  throw new RequestFault('tool_choice', `${provider} cannot be made to call a tool: send "auto", or name the tool`);
};

const nine = /^[A-Za-z0-9]{9}$/;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idLength = 9;

/** Ids of calls must have nine letters and digits. An id of another provider is replaced by its digest: the same for the call and its result, and on every turn. */
export const nineCharacterIds: Quirk = (body) =>
  eachIn(body, 'messages', (message) => {
    const called = eachIn(message, 'tool_calls', (call) => withNineAt(call, 'id'));
    return withNineAt(called, 'tool_call_id');
  });

function withNineAt(holder: JsonObject, name: string): JsonObject {
  const id = textOf(holder[name]);
  return id === null || nine.test(id) ? holder : { ...holder, [name]: digestOf(id) };
}

const digestOf = (id: string): string =>
  Array.from(
    createHash('sha256').update(id).digest().subarray(0, idLength),
    (byte) => alphabet[byte % alphabet.length],
  ).join('');
