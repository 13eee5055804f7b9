/** What every family must make of a conversation, whichever words it has for it: nothing that was said is lost, and nothing is refused without its name. */
import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../test/call-facts.ts';
import type { Json } from '../../test/harness.ts';
import { refusalOf as refusalOfMessages } from '../../test/providers/anthropic-rules.ts';
import { faultOfConverse } from '../../test/providers/bedrock-rules.ts';
import { refusalOf as refusalOfChat } from '../../test/providers/chat-rules.ts';
import { refusalOf as refusalOfGemini } from '../../test/providers/gemini-rules.ts';
import { anthropicFamily } from './anthropic/family.ts';
import { converse } from './bedrock/converse.ts';
import { type ChatFamily, type Front, translate } from './chat/family.ts';
import { cohereFamily } from './cohere/family.ts';
import { RequestFault } from './faults.ts';
import { chatFront } from './fronts/chat/chat.ts';
import { messagesFront } from './fronts/messages/messages.ts';
import { geminiFamily } from './google/family.ts';
import { ollamaFamily } from './ollama/family.ts';
import { openAiFamily } from './openai/family.ts';
import { responsesFamily } from './openai/responses/family.ts';
import { oracleFamily } from './oracle/oracle.ts';
import { replicateFamily } from './replicate/chat.ts';

interface Member {
  name: string;
  family: ChatFamily;
  model: string;
  /** What its provider would refuse in the request; null where nothing. */
  refusal?(request: Json): string | null;
  /** The fields by which it refuses what it cannot be asked for at all. */
  lacks?: readonly ('tools' | 'response_format' | 'stop')[];
  /** What was said last stands apart from the talk before it. */
  lastApart?: boolean;
}

const claude = 'claude-sonnet-4-5';
const nova = 'amazon.nova-pro-v1:0';
const gemini = 'gemini-2.5-flash';

const members: Member[] = [
  { name: 'OpenAI’s chat', family: openAiFamily, model: 'gpt-4o', refusal: refusalOfChat },
  { name: 'OpenAI’s responses', family: responsesFamily, model: 'gpt-4o', lacks: ['stop'] },
  {
    name: 'Anthropic',
    family: anthropicFamily(),
    model: claude,
    refusal: (json) =>
      refusalOfMessages({
        method: '',
        path: '',
        headers: {},
        body: Buffer.alloc(0),
        json,
        abandoned: Promise.resolve(),
      }),
  },
  { name: 'Gemini', family: geminiFamily('studio'), model: gemini, refusal: (json) => refusalOfGemini(gemini, json) },
  { name: 'Gemini on Vertex AI', family: geminiFamily('vertex'), model: gemini },
  { name: 'Converse', family: converse, model: nova, refusal: (json) => faultOfConverse(nova, json) },
  { name: 'Cohere', family: cohereFamily, model: 'command-a-03-2025' },
  { name: 'Ollama', family: ollamaFamily, model: 'llama3.3' },
  { name: 'Oracle', family: oracleFamily, model: 'meta.llama-3.3-70b-instruct' },
  { name: 'Cohere on Oracle', family: oracleFamily, model: 'cohere.command-a-03-2025', lastApart: true },
  { name: 'Replicate', family: replicateFamily, model: 'meta/llama', lacks: ['tools', 'response_format'] },
];

const [picture, paper, sound] = ['cGljdHVyZQ==', 'JVBERi0xLjQ=', 'UklGRg=='];
const address = 'https://a.test/cat.png';
const media = new Map([[address, { mime: 'image/png', base64: picture }]]);

describe.each(members)('$name', ({ family, model, refusal, lacks = [], lastApart = false }) => {
  const fields = { oracle_compartment_id: 'c' };
  const askedBy = (front: Front, body: Json): Json => {
    const request: Json = translate(front, family).request?.(
      callFacts({ model, fields, body: { model, ...body }, media, provider: 'example' }),
    );
    expect(refusal?.(request) ?? null).toBeNull();
    return request;
  };
  const asked = (body: Json): Json => askedBy(chatFront, { messages: [{ role: 'user', content: 'Hi' }], ...body });
  const text = (body: Json): string => JSON.stringify(asked(body));
  /** The request as text, or the field by which it is refused. */
  const textOrField = (body: Json): string | { field: string } => {
    try {
      return text(body);
    } catch (fault) {
      if (fault instanceof RequestFault) return { field: fault.field };
      throw fault;
    }
  };
  const inOrder = (found: string, ...words: string[]) =>
    expect(words.map((word) => found.indexOf(word))).toEqual(
      words.map((word) => found.indexOf(word)).toSorted((a, b) => a - b),
    );
  const holds = (found: string, ...words: string[]) => {
    for (const word of words) expect(found).toContain(word);
  };

  test('is told every system message and every developer’s, in their order', () => {
    const found = text({
      messages: [
        { role: 'system', content: 'Rule one.' },
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'Rule two.' },
            { type: 'text', text: 'Rule three.' },
          ],
        },
        { role: 'user', content: 'Hello.' },
      ],
    });
    holds(found, 'Rule one.', 'Rule two.', 'Rule three.', 'Hello.');
    inOrder(found, 'Rule one.', 'Rule two.', 'Rule three.');
    holds(text({ messages: [{ role: 'system', content: 'Rule one.' }] }), 'Rule one.');
  });

  test('is told a longer talk in its order', () => {
    const said = ['First.', 'Second.', 'Third.'];
    const found = text({
      messages: said.map((content, index) => ({ role: index % 2 ? 'assistant' : 'user', content })),
    });
    holds(found, ...said);
    inOrder(found, ...(lastApart ? said.slice(0, -1) : said));
  });

  test('gets text, calls and results of one turn back, empty and in lists', () => {
    const call = (id: string, name: string, args: string) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    });
    const body = {
      messages: [
        { role: 'user', content: 'Where?' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [call('callTime1', 'clock', ''), call('callRome2', 'weather', '{"city":"Rome"}')],
        },
        { role: 'tool', tool_call_id: 'callTime1', content: [{ type: 'text', text: 'Noon' }] },
        { role: 'tool', tool_call_id: 'callRome2', content: 'Sunny' },
        { role: 'user', content: 'And?' },
      ],
      tools: ['clock', 'weather'].map((name) => ({ type: 'function', function: { name, parameters: {} } })),
    };
    if (lacks.includes('tools')) return expect(textOrField(body)).toEqual({ field: 'tools' });
    const found = text(body);
    holds(found, 'I look.', 'clock', 'Rome', 'Noon', 'Sunny', 'And?');
    inOrder(found, 'Where?', 'I look.', 'Noon', 'Sunny', ...(lastApart ? [] : ['And?']));
    expect(found).not.toContain('"arguments":""');
  });

  test('is told that a tool failed, and with what words', () => {
    const turns = (is_error: boolean) => ({
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Where?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'callTime1', name: 'clock', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'callTime1', content: 'no clock here', is_error }],
        },
      ],
      tools: [{ name: 'clock', input_schema: { type: 'object', properties: {} } }],
    });
    if (lacks.includes('tools')) return expect(() => askedBy(messagesFront, turns(true))).toThrow(RequestFault);
    const [failed, fine] = [true, false].map((is) => JSON.stringify(askedBy(messagesFront, turns(is))));
    holds(failed ?? '', 'no clock here');
    expect(failed).not.toBe(fine);
  });

  test('is shown a picture by its data and by its address, papers and sound; or names what it cannot take', () => {
    const shown = (part: Json) =>
      textOrField({ messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, part] }] });
    const cases: [Json, RegExp][] = [
      [
        { type: 'image_url', image_url: { url: `data:image/png;charset=utf-8;base64,${picture}` } },
        new RegExp(picture),
      ],
      [{ type: 'image_url', image_url: { url: address } }, new RegExp(`${picture}|${address}`)],
      [
        { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${paper}` } },
        new RegExp(paper),
      ],
      [{ type: 'input_audio', input_audio: { format: 'wav', data: sound } }, new RegExp(sound)],
    ];
    for (const [part, found] of cases) {
      const request = shown(part);
      if (typeof request === 'string') {
        expect(request).toMatch(found);
        expect(request).not.toContain('charset');
      } else {
        expect(request.field).toStartWith('messages');
      }
    }
  });

  test('is held to JSON, and to a schema with references and what may be null', () => {
    const plain = textOrField({ response_format: { type: 'json_object' } });
    if (lacks.includes('response_format')) return expect(plain).toEqual({ field: 'response_format' });
    expect(plain).toMatch(/json/i);
    const schema = {
      type: 'object',
      properties: {
        place: { $ref: '#/$defs/place' },
        size: { type: ['number', 'null'] },
        kind: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['place', 'size', 'kind'],
      additionalProperties: false,
      $defs: { place: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] } },
    };
    const format = { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
    holds(text({ response_format: format }), 'place', 'town', 'size', 'kind');
    expect(schema.properties.place).toEqual({ $ref: '#/$defs/place' });
  });

  test('stops at one text as at a list of it', () => {
    if (lacks.includes('stop')) return expect(textOrField({ stop: 'END' })).toEqual({ field: 'stop' });
    expect(asked({ stop: 'END' })).toEqual(asked({ stop: ['END'] }));
    holds(text({ stop: ['END', 'FIN'] }), 'END', 'FIN');
  });

  test('takes nought for what it is', () => {
    for (const name of ['temperature', 'top_p']) {
      const own = name === 'temperature' ? /"temperature":0[,}]/ : /"(?:p|top_?p)":0[,}]/i;
      expect(text({ [name]: 0 })).toMatch(own);
    }
  });

  test('is kept to one limit, under either of its names; the newer one counts', () => {
    const limited = asked({ max_completion_tokens: 77 });
    expect(JSON.stringify(limited)).toContain('77');
    expect(asked({ max_tokens: 77 })).toEqual(limited);
    expect(asked({ max_tokens: 5, max_completion_tokens: 77 })).toEqual(limited);
  });
});
