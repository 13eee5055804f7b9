import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { accepted, asked, third, tools, user } from '../../../test/providers/gemini-requests.ts';
import { RequestFault } from '../faults.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { fetchedMedia } from './media.ts';
import type { Surface } from './surface.ts';

describe('turns', () => {
  test('every system and developer message, with all its parts, becomes the instruction', () => {
    const messages = [
      {
        role: 'system',
        content: [
          { type: 'text', text: 'One.' },
          { type: 'text', text: 'Two.' },
        ],
      },
      user,
      { role: 'developer', content: 'Three.' },
    ];
    expect(accepted({ messages })).toEqual({
      systemInstruction: { parts: [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    });
  });

  test('an instruction alone is said by the user', () => {
    expect(accepted({ messages: [{ role: 'system', content: 'Go.' }] })).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Go.' }] }],
    });
  });

  test('neighbours of one role are one turn, and empty text is left out', () => {
    const messages = [
      user,
      { role: 'user', content: '' },
      { role: 'user', content: 'There' },
      { role: 'assistant', content: 'Yes' },
      user,
    ];
    expect(accepted({ messages }).contents).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }, { text: 'There' }] },
      { role: 'model', parts: [{ text: 'Yes' }] },
      { role: 'user', parts: [{ text: 'Hi' }] },
    ]);
  });

  test('messages without content are refused by name', () => {
    expect(() => asked({ messages: [{ role: 'user', content: '' }] })).toThrow(
      new RequestFault('messages', 'Gemini must be given something to answer: the messages are empty'),
    );
  });
});

const call = (id: string, name: string, args: string, more: JsonObject = {}) => ({
  id,
  type: 'function',
  function: { name, arguments: args, ...more },
});

describe('calls and results', () => {
  const messages = [
    user,
    {
      role: 'assistant',
      content: 'Let me look.',
      tool_calls: [call('a', 'weather', '{"city":"Rom"}', { thought_signature: 'c2ln' }), call('b', 'now', '')],
    },
    { role: 'tool', tool_call_id: 'b', content: 'noon' },
    { role: 'tool', tool_call_id: 'a', content: '{"sky":"blue"}' },
    { role: 'user', content: 'Well?' },
  ];

  test('text stays beside calls, arguments may be empty, results find their names and the order of the calls', () => {
    expect(accepted({ messages, tools }).contents).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }] },
      {
        role: 'model',
        parts: [
          { text: 'Let me look.' },
          { functionCall: { name: 'weather', args: { city: 'Rom' } }, thoughtSignature: 'c2ln' },
          { functionCall: { name: 'now', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'weather', response: { sky: 'blue' } } },
          { functionResponse: { name: 'now', response: { output: 'noon' } } },
          { text: 'Well?' },
        ],
      },
    ]);
  });

  test('the third generation is told the ids, and gets its signatures back', () => {
    const [, said, results] = accepted({ messages, tools }, third).contents as { parts: JsonObject[] }[];
    expect(said?.parts.slice(1)).toEqual([
      { functionCall: { id: 'a', name: 'weather', args: { city: 'Rom' } }, thoughtSignature: 'c2ln' },
      { functionCall: { id: 'b', name: 'now', args: {} } },
    ]);
    expect(results?.parts[0]).toEqual({ functionResponse: { id: 'a', name: 'weather', response: { sky: 'blue' } } });
  });

  test('a call whose signature was lost says so, once a turn', () => {
    const lost = [
      user,
      { role: 'assistant', tool_calls: [call('a', 'now', '{}'), call('b', 'now', '{}')] },
      ...['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: '1' })),
    ];
    const [, said] = accepted({ messages: lost, tools }, third).contents as { parts: JsonObject[] }[];
    expect(said?.parts.map((part) => part.thoughtSignature)).toEqual(['skip_thought_signature_validator', undefined]);
  });

  test('failures, lists, bare values and pictures of tools keep their meaning', () => {
    const results = [
      { role: 'tool', tool_call_id: 'a', content: 'boom', is_error: true },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: [
          { type: 'text', text: '[1,2]' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ];
    const conversation = [
      user,
      { role: 'assistant', tool_calls: [call('a', 'now', '{}'), call('b', 'now', '{}')] },
      ...results,
    ];
    const before = accepted({ messages: conversation, tools }).contents as { parts: JsonObject[] }[];
    expect(before[2]?.parts).toEqual([
      { functionResponse: { name: 'now', response: { error: 'boom' } } },
      { functionResponse: { name: 'now', response: { output: [1, 2] } } },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ]);
    const since = accepted({ messages: conversation, tools }, third).contents as { parts: JsonObject[] }[];
    expect(since[2]?.parts[1]).toEqual({
      functionResponse: {
        id: 'b',
        name: 'now',
        response: { output: [1, 2] },
        parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
      },
    });
  });

  test('a result for a call that never was is refused', () => {
    expect(() => asked({ messages: [user, { role: 'tool', tool_call_id: 'x', content: '1' }] })).toThrow(
      'the result for "x" answers no call',
    );
  });

  test('the signature of a text goes back with the text, another provider’s does not', () => {
    const blocks = (signature: string) => [
      user,
      { role: 'assistant', content: 'So.', content_blocks: [{ type: 'thinking', thinking: 'Hm', signature }] },
      user,
    ];
    expect(accepted({ messages: blocks('gemini:c2ln') }).contents).toContainEqual({
      role: 'model',
      parts: [{ text: 'So.', thoughtSignature: 'c2ln' }],
    });
    expect(accepted({ messages: blocks('EqoB') }).contents).toContainEqual({ role: 'model', parts: [{ text: 'So.' }] });
  });
});

describe('media', () => {
  const withPart = (part: JsonObject) => ({ messages: [{ role: 'user', content: [part] }] });
  const partOf = (part: JsonObject, more: Partial<CallFacts> = {}, surface: Surface = 'studio') =>
    (accepted(withPart(part), more, surface).contents as { parts: JsonObject[] }[])[0]?.parts[0];
  const image = (url: string, more: JsonObject = {}) => ({ type: 'image_url', image_url: { url, ...more } });

  test.each([
    [
      'a data URL with parameters',
      image('data:image/png;charset=utf-8;base64,AAAA'),
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ],
    [
      'a file by its id',
      { type: 'file', file: { file_id: 'files/abc' } },
      { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } },
    ],
    [
      'an object of Cloud Storage',
      image('gs://b/cat.webp'),
      { fileData: { mimeType: 'image/webp', fileUri: 'gs://b/cat.webp' } },
    ],
    [
      'a video page',
      image('https://www.youtube.com/watch?v=1'),
      { fileData: { mimeType: 'video/mp4', fileUri: 'https://www.youtube.com/watch?v=1' } },
    ],
    [
      'sound',
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'opus' } },
      { inlineData: { mimeType: 'audio/ogg', data: 'AAAA' } },
    ],
    [
      'a document',
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } },
      { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
    ],
  ])('%s', (_, part, written) => {
    expect(partOf(part)).toEqual(written);
  });

  test('a web address is fetched for AI Studio, and passed on to Vertex AI where its type is known', () => {
    const url = 'https://a.test/cat.png';
    const facts = callFacts({ body: withPart(image(url)) });
    expect(fetchedMedia(chatFront.read(facts), 'studio')).toEqual([url]);
    expect(fetchedMedia(chatFront.read(facts), 'vertex')).toEqual([]);
    const media = new Map([[url, { mime: 'image/png', base64: 'AAAA' }]]);
    expect(partOf(image(url), { media })).toEqual({ inlineData: { mimeType: 'image/png', data: 'AAAA' } });
    expect(partOf(image(url), {}, 'vertex')).toEqual({ fileData: { mimeType: 'image/png', fileUri: url } });
    const untyped = callFacts({ body: withPart(image('https://a.test/cat')) });
    expect(fetchedMedia(chatFront.read(untyped), 'vertex')).toEqual(['https://a.test/cat']);
  });

  test('an object without a type is refused', () => {
    expect(() => asked(withPart(image('gs://b/cat')))).toThrow('add mime_type beside its address');
  });

  test('how closely an image is looked at is told to models that can', () => {
    const part = image('data:image/png;base64,AAAA', { detail: 'low' });
    expect(partOf(part, third)).toMatchObject({ mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } });
    expect(partOf(part)).toEqual({ inlineData: { mimeType: 'image/png', data: 'AAAA' } });
  });
});
