/** Tools that take free text, for families that know only schemas: a function with a single string, and its calls turned back. */
import type { Tool } from '../chat/conversation.ts';
import type { Fields } from '../fields.ts';
import { argumentsOf, objectOf, objectsOf, textOf } from '../json.ts';
import type { CallFacts } from '../provider.ts';

/** A grammar cannot be enforced by a schema; the model is told of it. */
export function customTool(tool: Fields): Tool {
  const spec = tool.object('custom') ?? tool;
  const format = spec.object('format');
  const grammar = format?.text('type') === 'grammar' ? (format.object('grammar') ?? format) : null;
  const rule = grammar && `The input follows this ${grammar.text('syntax')} grammar:\n${grammar.text('definition')}`;
  return {
    name: spec.needText('name'),
    description: [spec.text('description'), rule].filter((text) => text !== null).join('\n\n') || null,
    parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    strict: null,
    cache: tool.raw('cache_control'),
    extras: {},
  };
}

export const argumentsOfInput = (input: string): string => JSON.stringify({ input });

/** Models that write past the schema are taken at their word. */
export const inputOfArguments = (args: string): string => textOf(argumentsOf(args).input) ?? args;

/** The names of the tools that the client declared as taking free text. */
export const customNames = ({ body }: CallFacts): ReadonlySet<string> =>
  new Set(
    objectsOf(body.tools)
      .filter(({ type }) => type === 'custom')
      .map((tool) => textOf(objectOf(tool.custom).name) ?? textOf(tool.name) ?? ''),
  );
