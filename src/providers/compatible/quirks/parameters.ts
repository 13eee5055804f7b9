/** Small differences in the parameters that a provider takes. Each hands on the very same body where there is nothing to change, so that the client's bytes travel. */
import { RequestFault } from '../../faults.ts';
import type { CallFacts, JsonObject } from '../../provider.ts';
import { lacking } from './same.ts';

export type Quirk = (body: Readonly<JsonObject>, facts: CallFacts) => Readonly<JsonObject>;

/** One after the other. */
export const inTurn =
  (quirks: readonly Quirk[]): Quirk =>
  (body, facts) =>
    quirks.reduce((asked, quirk) => quirk(asked, facts), body);

/** Fields that the provider refuses, and that an answer can do without. */
export const without =
  (...names: readonly string[]): Quirk =>
  (body) =>
    lacking(body, ...names);

/** A field under the provider's own name, which gives way where both are there. */
export const renamed =
  (from: string, to: string): Quirk =>
  (body) => {
    const value = body[from];
    if (!(from in body)) return body;
    if (value === null) return lacking(body, from);
    return Object.fromEntries(
      Object.entries(body).flatMap(([name, each]) => {
        if (name === to) return [];
        return [[name === from ? to : name, each]];
      }),
    );
  };

export const limitAsMaxTokens = renamed('max_completion_tokens', 'max_tokens');

/** What an answer cannot do without, but this provider does not have. */
export const refuses =
  (name: string, what: string, isHarmless: (value: unknown) => boolean = isNothing): Quirk =>
  (body, facts) => {
    const value = body[name];
    if (value === undefined) return body;
    if (value === null || isHarmless(value)) return lacking(body, name);
    throw new RequestFault(
      name,
      `${facts.provider} has no ${what}; leave ${name} out, or send the call to another provider`,
    );
  };

const isNothing = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

export const refusesTools: Quirk = inTurn([
  refuses('tools', 'tools'),
  refuses('functions', 'functions'),
  without('tool_choice', 'function_call', 'parallel_tool_calls'),
]);

export const oneChoice = refuses('n', 'more than one choice', (value) => value === 1);

/** Numbers that the provider takes only within these bounds. */
export const within =
  (name: string, least: number, most: number): Quirk =>
  (body) => {
    const value = body[name];
    if (typeof value !== 'number' || (value >= least && value <= most)) return body;
    return { ...body, [name]: Math.min(most, Math.max(least, value)) };
  };

export const notSent = (names: readonly string[]): string => `Not sent on: ${names.join(', ')}.`;
