import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { callFacts } from '../../../test/call-facts.ts';
import { checkedMessage, checkedResponse } from '../../../test/event-grammar.ts';
import { call, chunks, completion, fronted } from '../../../test/fronts.ts';
import type { Json } from '../../../test/harness.ts';
import type { Conversation } from '../chat/conversation.ts';
import type { Front } from '../chat/family.ts';
import type { JsonObject } from '../provider.ts';
import { chatFront } from './chat/chat.ts';
import { messagesFront } from './messages/messages.ts';
import { responsesFront } from './responses/responses.ts';

const words = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const args = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 4 }),
  fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
  {
    maxKeys: 3,
    noNullPrototype: true,
  },
);
const name = fc.stringMatching(/^[a-z]{1,90}$/);

interface Said {
  texts: string[];
  calls: { name: string; args: JsonObject }[];
}

/** What the two said in turn: questions, and answers that may call tools, whose results come with the next question. */
const talk = fc.array(
  fc.record({
    question: fc.array(words, { minLength: 1, maxLength: 3 }),
    answer: fc.record<Said>({
      texts: fc.array(words, { maxLength: 2 }),
      calls: fc.array(fc.record({ name, args }), { maxLength: 3 }),
    }),
    results: fc.array(words, { minLength: 3, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 4 },
);
type Talk = typeof talk extends fc.Arbitrary<infer T> ? T : never;

const isSilent = ({ texts, calls }: Said): boolean => texts.length + calls.length === 0;
const idOf = (turn: number, index: number): string => `call_${turn}_${index}`;

function asMessages(said: Talk): JsonObject {
  const messages: Json[] = [];
  let results: Json[] = [];
  for (const [turn, { question, answer, results: outcomes }] of said.entries()) {
    messages.push({ role: 'user', content: [...results, ...question.map((text) => ({ type: 'text', text }))] });
    if (isSilent(answer)) {
      results = [];
      continue;
    }
    const calls = answer.calls.map(({ name, args }, index) => ({
      type: 'tool_use',
      id: idOf(turn, index),
      name,
      input: args,
    }));
    messages.push({ role: 'assistant', content: [...answer.texts.map((text) => ({ type: 'text', text })), ...calls] });
    results = calls.map(({ id }, index) => ({ type: 'tool_result', tool_use_id: id, content: outcomes[index] }));
  }
  return { max_tokens: 9, messages };
}

function asItems(said: Talk): JsonObject {
  const input: Json[] = [];
  for (const [turn, { question, answer, results }] of said.entries()) {
    input.push({ role: 'user', content: question.map((text) => ({ type: 'input_text', text })) });
    const content = answer.texts.map((text) => ({ type: 'output_text', text, annotations: [] }));
    if (content.length > 0) input.push({ type: 'message', role: 'assistant', content });
    for (const [index, { name, args }] of answer.calls.entries())
      input.push({ type: 'function_call', call_id: idOf(turn, index), name, arguments: JSON.stringify(args) });
    for (const index of answer.calls.keys())
      input.push({ type: 'function_call_output', call_id: idOf(turn, index), output: results[index] });
  }
  return { input };
}

/** Who said what, and what was called with what and answered what, in order. */
function told({ turns }: Conversation): unknown[] {
  const all: [string, ...unknown[]][] = [];
  for (const { role, parts } of turns) {
    for (const part of parts) {
      const last = all.at(-1);
      if (part.type === 'tool-call') all.push(['call', part.id, part.name, JSON.parse(part.arguments || '{}')]);
      else if (part.type === 'tool-result')
        all.push([
          'result',
          part.callId,
          part.name,
          part.content.map((each) => (each.type === 'text' ? each.text : each)),
        ]);
      // An assistant's texts are one string in a chat message.
      else if (part.type === 'text' && role === 'assistant' && last?.[0] === role) last[1] = `${last[1]}${part.text}`;
      else if (part.type === 'text') all.push([role, part.text]);
    }
  }
  return all;
}

describe.each([
  ['messages', messagesFront, asMessages],
  ['responses', responsesFront, asItems],
] as const)('a conversation in %s', (_, front, written) => {
  test('survives as a chat request: words, calls, arguments, ids and order', () => {
    fc.assert(
      fc.property(talk, (said) => {
        const body = written(said);
        const before = JSON.stringify(body);
        const direct = front.read(callFacts({ body }));
        const chat = fronted(front).asked(body);
        expect(told(chatFront.read(callFacts({ body: chat })))).toEqual(told(direct));
        expect(JSON.stringify(body)).toBe(before);
      }),
      { numRuns: 150 },
    );
  });
});

const message = fc.record<Said & { thought: string }>({
  thought: fc.oneof(fc.constant(''), words),
  texts: fc.array(words, { maxLength: 1 }),
  calls: fc.array(fc.record({ name: fc.stringMatching(/^[a-z]{1,30}$/), args }), { maxLength: 3 }),
});

const asCompletion = ({ thought, texts, calls }: Said & { thought: string }): Json =>
  completion(
    {
      ...(thought !== '' && { reasoning_content: thought }),
      content: texts.join('') || null,
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ name, args }, index) => call(idOf(0, index), name, JSON.stringify(args))),
      }),
    },
    calls.length > 0 ? 'tool_calls' : 'stop',
  );

/** The history that a client makes of an answer. */
const history: Record<'messages' | 'responses', (answer: Json) => JsonObject> = {
  messages: ({ content }) => ({ max_tokens: 9, messages: [{ role: 'assistant', content }] }),
  responses: ({ output }) => ({ input: output }),
};

describe.each([
  ['messages', messagesFront],
  ['responses', responsesFront],
] as const)('an answer in %s', (kind, front) => {
  test('goes back to the server as it came from it', () => {
    fc.assert(
      fc.property(message, (said) => {
        fc.pre(!isSilent(said));
        const answer = asCompletion(said);
        const under = fronted(front);
        const [back] = under.asked(history[kind](under.answered(answer))).messages;
        const { content, tool_calls } = answer.choices[0].message;
        expect(back).toEqual({ role: 'assistant', content, ...(tool_calls && { tool_calls }) });
      }),
      { numRuns: 150 },
    );
  });
});

/** The deltas of a stream: calls opened in turn, their arguments in pieces that come in any order among each other. */
const streamed = fc
  .record({
    said: message,
    order: fc.array(fc.nat(), { minLength: 60, maxLength: 60 }),
    pieceSize: fc.integer({ min: 1, max: 12 }),
    together: fc.boolean(),
  })
  .map(({ said, order, pieceSize, together }) => {
    const deltas: Json[] = [
      ...(said.thought === '' ? [] : [{ reasoning_content: said.thought }]),
      ...said.texts.map((content) => ({ content })),
    ];
    const pending = said.calls.map(({ args }) => piecesOf(JSON.stringify(args), pieceSize));
    const argued = (index: number, piece: string) => ({ tool_calls: [{ index, function: { arguments: piece } }] });
    for (const [index, { name }] of said.calls.entries()) {
      deltas.push({ tool_calls: [{ index, ...call(idOf(0, index), name, '') }] });
      if (!together) for (const piece of pending[index]?.splice(0) ?? []) deltas.push(argued(index, piece));
    }
    for (let step = 0; pending.some((pieces) => pieces.length > 0); step++) {
      const open = [...pending.keys()].filter((index) => (pending[index]?.length ?? 0) > 0);
      const index = open[(order[step % order.length] ?? 0) % open.length] ?? 0;
      deltas.push(argued(index, pending[index]?.shift() ?? ''));
    }
    return { said, bytes: chunks(deltas, said.calls.length > 0 ? 'tool_calls' : 'stop') };
  });

const piecesOf = (text: string, size: number): string[] => text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];

const cases: readonly [string, Front, typeof checkedMessage][] = [
  ['messages', messagesFront, checkedMessage],
  ['responses', responsesFront, checkedResponse],
];

describe.each(cases)('a stream in %s', (_, front, checked) => {
  test('keeps the rules of its protocol and tells what the whole answer would', () => {
    fc.assert(
      fc.property(streamed, ({ said, bytes }) => {
        const under = fronted(front);
        expect(withoutIds(checked(under.streamed(bytes)))).toEqual(withoutIds(under.answered(asCompletion(said))));
      }),
      { numRuns: 200 },
    );
  });

  test('is the same however its bytes are cut', () => {
    fc.assert(
      fc.property(streamed, fc.integer({ min: 1, max: 50 }), ({ bytes }, size) => {
        const under = fronted(front);
        expect(under.streamed(bytes, {}, size)).toEqual(under.streamed(bytes));
      }),
      { numRuns: 60 },
    );
  });
});

/** Ids of our own making differ from answer to answer. */
const withoutIds = (answer: Json): Json =>
  JSON.parse(JSON.stringify(answer).replace(/"(?:resp|msg|rs|fc)_\d+"/g, '"id"'));
