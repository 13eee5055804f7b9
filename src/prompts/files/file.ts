/** A prompt or a partial as a file: what the published version says, without ids and times, so that only changes of meaning differ. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { yamlOf } from './yaml.ts';

/** A fault of the operator's, told in one line. */
export class PromptFilesError extends Error {}

const json = z.record(z.string(), z.json());
const slug = z.string().regex(/^pp-[a-z0-9][a-z0-9_-]{0,95}$/, 'must be a slug such as pp-greeting-1a2b3c');
const shared = {
  slug,
  name: z.string().min(1).max(255),
  collection: z.array(z.string().min(1).max(255)).max(50).default([]),
  description: z.string().max(2_000).default(''),
};

export const partialFile = z.strictObject({ kind: z.literal('partial'), ...shared, text: z.string().min(1) });
export type PartialFile = z.output<typeof partialFile>;

const empty = <T>(list: T[]): T[] | null => (list.length === 0 ? null : list);

export const promptFile = z
  .strictObject({
    kind: z.literal('prompt'),
    ...shared,
    provider: z.string().min(1).max(256),
    model: z.string().min(1).max(255).nullable().default(null),
    parameters: json.default({}),
    functions: z.array(json).transform(empty).nullable().default(null),
    tools: z.array(json).transform(empty).nullable().default(null),
    tool_choice: z.json().nullable().default(null),
    metadata: json.default({}),
    raw: z.boolean().default(false),
    messages: z.array(json).min(1).optional(),
    text: z.string().min(1).optional(),
  })
  .refine(({ messages, text }) => (messages === undefined) !== (text === undefined), 'needs either messages or text')
  .refine(({ raw, messages }) => !raw || messages === undefined, 'is raw, so it has a text instead of messages');
export type PromptFile = z.output<typeof promptFile>;

export type ItemFile = PromptFile | PartialFile;

const anyFile = z.union([promptFile, partialFile]);

export function readItem(text: string, where: string): ItemFile {
  let document: unknown;
  try {
    document = Bun.YAML.parse(text);
  } catch (fault) {
    throw new PromptFilesError(`${where} is no YAML: ${fault instanceof Error ? fault.message : fault}`);
  }
  const isPartial = z.object({ kind: z.literal('partial') }).safeParse(document).success;
  const parsed = (isPartial ? partialFile : promptFile).safeParse(document);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => [issue.path.join('.'), issue.message].filter(Boolean).join(': '));
  throw new PromptFilesError(`${where} is no prompt: ${faults.join('; ')}`);
}

/** Whether a file of another person's is one of ours, which an export may remove. */
export function isItem(text: string): boolean {
  try {
    return anyFile.safeParse(Bun.YAML.parse(text)).success;
  } catch {
    return false;
  }
}

/** Fields that say nothing are left out. */
export function writeItem(item: ItemFile): string {
  const isSaid = ([, value]: [string, unknown]) =>
    value !== null &&
    value !== undefined &&
    value !== '' &&
    value !== false &&
    !isDeepStrictEqual(value, {}) &&
    !isDeepStrictEqual(value, []);
  return yamlOf(Object.fromEntries(Object.entries(item).filter(isSaid)));
}

/** Slugs are chosen by the server; everything else is compared. */
export const saysTheSame = (one: ItemFile, other: ItemFile): boolean =>
  isDeepStrictEqual({ ...one, slug: '' }, { ...other, slug: '' });

/** The template as messages, where that is what it is. */
export function templateOf(string: string, raw: boolean): Pick<PromptFile, 'messages' | 'text'> {
  if (!raw && string.trimStart().startsWith('[')) {
    const messages = z.array(json).min(1).safeParse(parsed(string));
    if (messages.success) return { messages: messages.data };
  }
  return { text: string };
}

function parsed(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    // A template whose tags stand around messages is text.
    return null;
  }
}

export const stringOf = ({ messages, text }: PromptFile): string => text ?? JSON.stringify(messages);
