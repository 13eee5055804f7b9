/** The rows of the matrix: a question that every dialect can ask, what the model says to it, and what the client must get. */
import { expect } from 'bun:test';

export interface Called {
  id: string;
  name: string;
  args: object;
}

type Turn =
  | { user: string; image?: string }
  | { assistant: string; calls?: readonly Called[] }
  | { results: readonly { id: string; text: string }[] };

export interface Question {
  system?: string;
  turns: readonly Turn[];
  /** The tool `weather` is offered. */
  tools?: boolean;
  /** The answer must follow the schema `place`. */
  structured?: boolean;
  effort?: 'low';
  stop?: string;
}

/** What the simulated model does, in no provider's words. */
export interface Script {
  text?: string;
  thought?: string;
  calls?: readonly Called[];
  stop?: 'done' | 'length';
  fails?: { status: number; message: string };
}

/** What a client reads, in no dialect's words. */
export interface Told {
  text: string;
  thought: string;
  calls: readonly Called[];
  stop: 'done' | 'length' | 'calls';
}

export interface Cell {
  question: Question;
  script: Script;
}

export const limit = 4_000;
export const weather = {
  name: 'weather',
  description: 'The weather of a city.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
export const place = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
/** One grey pixel, since some providers look inside. */
export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

const rome: Called = { id: 'callRome1', name: 'weather', args: { city: 'Rome' } };
const paris: Called = { id: 'callPari2', name: 'weather', args: { city: 'Paris' } };
const ask = 'How is the weather?';

export const cells = {
  text: { question: { turns: [{ user: 'Hi' }] }, script: { text: 'Grüße aus Rom 👋' } },
  'several turns': {
    question: { turns: [{ user: 'Hi' }, { assistant: 'Hello' }, { user: 'Who are you?' }] },
    script: { text: 'A model.' },
  },
  system: { question: { system: 'Be brief.', turns: [{ user: 'Hi' }] }, script: { text: 'Yes.' } },
  'image in': { question: { turns: [{ user: 'What is it?', image: pixel }] }, script: { text: 'A dot.' } },
  'tool call': { question: { turns: [{ user: ask }], tools: true }, script: { text: 'I look.', calls: [rome] } },
  'parallel tools': { question: { turns: [{ user: ask }], tools: true }, script: { calls: [rome, paris] } },
  'tool result turn': {
    question: {
      turns: [
        { user: ask },
        { assistant: 'I look.', calls: [rome, paris] },
        {
          results: [
            { id: 'callRome1', text: 'Sunny' },
            { id: 'callPari2', text: 'Rainy' },
          ],
        },
      ],
      tools: true,
    },
    script: { text: 'Mixed.' },
  },
  'structured output': {
    question: { turns: [{ user: 'Where?' }], structured: true },
    script: { text: '{"city":"Rome"}' },
  },
  reasoning: {
    question: { turns: [{ user: 'Why?' }], effort: 'low' },
    script: { thought: 'Let me think.', text: 'Because.' },
  },
  'stop reason': { question: { turns: [{ user: 'Go on.' }], stop: 'END' }, script: { text: 'And so', stop: 'length' } },
  error: {
    question: { turns: [{ user: 'Hi' }] },
    script: { fails: { status: 429, message: 'Too many requests' } },
  },
} satisfies Record<string, Cell>;

/** The model thinks and calls; the next request gives it its own turn back, with the result. */
export const loop = {
  question: { turns: [{ user: ask }], tools: true, effort: 'low' },
  script: { thought: 'Let me think.', text: 'I look.', calls: [rome] },
  result: 'Sunny',
  last: { text: 'Sunny.' },
} as const satisfies Cell & { result: string; last: Script };

export type CellName = keyof typeof cells;
export const cellNames = Object.keys(cells) as CellName[];

export const byCell = <T>(of: (name: CellName) => T): Record<CellName, T> =>
  Object.fromEntries(cellNames.map((name) => [name, of(name)])) as Record<CellName, T>;

/** Calls with their arguments as text, as most providers write them. */
export const written = (calls: readonly Called[]): { id: string; name: string; arguments: string }[] =>
  calls.map(({ id, name, args }) => ({ id, name, arguments: JSON.stringify(args) }));

export const toldBy = ({ text = '', thought = '', calls = [], stop = 'done' }: Script): Told => ({
  text,
  thought,
  calls,
  stop: calls.length > 0 ? 'calls' : stop,
});

/** Over a provider that has no ids for calls: they are made up. */
export const withAnyIds = (told: Told): Told => ({
  ...told,
  calls: told.calls.map((call) => ({ ...call, id: expect.any(String) })),
});
