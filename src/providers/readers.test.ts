import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../test/call-facts.ts';
import { packed, readEmbeddings, textsOf, vectorsByIndex, writeEmbeddings } from './embeddings.ts';
import { aspectRatio, readImages, writeImages } from './images.ts';
import { readRerank, writeRerank } from './rerank.ts';
import { readTranscript, writeTranscript } from './transcripts.ts';

const field = (name: string) => expect.objectContaining({ field: name });

describe('embeddings', () => {
  const read = (body: object) => readEmbeddings(callFacts({ body: { ...body } }));

  test.each([
    ['text', [{ text: 'text', image: null }]],
    [
      ['a', 'b'],
      [
        { text: 'a', image: null },
        { text: 'b', image: null },
      ],
    ],
    [{ text: 'a', image: { url: 'https://x.test/a' } }, [{ text: 'a', image: 'https://x.test/a' }]],
    [[{ image: { base64: 'AAAA', text: 'a' } }], [{ text: 'a', image: 'data:image/png;base64,AAAA' }]],
  ])('of the input %j', (input, expected) => {
    expect(read({ input }).inputs).toEqual(expected);
  });

  test.each([
    ['input', {}],
    ['input', { input: [] }],
    ['input', { input: [1, 2, 3] }],
    ['input', { input: [[1, 2], [3]] }],
    ['input[1]', { input: ['a', {}] }],
    ['input[0].video', { input: [{ video: { url: 'v' } }] }],
    ['encoding_format', { input: 'a', encoding_format: 'int8' }],
  ])('without a proper %s are refused', (name, body) => {
    expect(() => read(body)).toThrow(field(name));
  });

  test('of images are refused by those who embed text', () => {
    expect(() => textsOf(read({ input: ['a', { image: { url: 'u' } }] }))).toThrow(field('input[1]'));
  });

  test('are packed as 32 bits a number, the lowest byte first', () => {
    expect(packed([1, -0.5])).toBe(Buffer.from([0, 0, 128, 63, 0, 0, 0, 191]).toString('base64'));
    expect(writeEmbeddings(callFacts(), [[1, -0.5]], 'base64', 3)).toMatchObject({
      data: [{ object: 'embedding', index: 0, embedding: 'AACAPwAAAL8=' }],
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
  });

  test('come in the order of their index, and each must have a vector', () => {
    expect(
      vectorsByIndex([
        { index: 1, embedding: [2] },
        { index: 0, embedding: [1] },
      ]),
    ).toEqual([[1], [2]]);
    expect(() => vectorsByIndex([{ index: 0, embedding: null }])).toThrow('without a vector');
  });
});

describe('reranking', () => {
  const facts = callFacts({ body: { query: 'q', documents: ['a', { text: 'b', id: 1 }, { title: 'c' }], top_n: 2 } });

  test('reads documents of every form', () => {
    expect(readRerank(facts).documents.map(({ text }) => text)).toEqual(['a', 'b', '{"title":"c"}']);
  });

  test('keeps the best, in order, without documents that nobody asked for', () => {
    const ranked = [0.1, 0.9, 0.5].map((score, index) => ({ index, score }));
    expect(writeRerank(facts, readRerank(facts), ranked, { usage: null })).toMatchObject({
      results: [
        { index: 1, relevance_score: 0.9 },
        { index: 2, relevance_score: 0.5 },
      ],
    });
  });
});

describe('images', () => {
  test.each([
    ['1024x1024', '1:1'],
    ['1792x1024', '16:9'],
    ['1024x1792', '9:16'],
    ['1536x1024', '3:2'],
    ['800x600', '4:3'],
    ['2100x900', '21:9'],
  ])('of the size %s have the ratio %s', (size, ratio) => {
    const read = readImages(callFacts({ body: { prompt: 'A cat', size } }));
    expect(read.size && aspectRatio(read.size)).toBe(ratio);
  });

  test('take the nearest ratio that is offered', () => {
    expect(aspectRatio({ width: 800, height: 600 }, ['1:1', '16:9'])).toBe('1:1');
  });

  test('of a form have their numbers as text', () => {
    expect(readImages(callFacts({ body: { prompt: 'A cat', n: '2', seed: '7' } }))).toMatchObject({
      count: 2,
      seed: 7,
    });
  });

  test('that are none are the provider’s fault', () => {
    for (const images of [[], [{}], [{ base64: '' }, { url: '' }]]) {
      expect(() => writeImages(callFacts(), images)).toThrow('no image');
    }
    expect(writeImages(callFacts(), [{ base64: '' }, { url: 'https://x.test/a.png' }])).toMatchObject({
      data: [{ url: 'https://x.test/a.png' }],
    });
  });

  test.each([
    ['prompt', {}],
    ['n', { prompt: 'a', n: 0 }],
    ['n', { prompt: 'a', n: 1.5 }],
    ['size', { prompt: 'a', size: 'large' }],
    ['response_format', { prompt: 'a', response_format: 'png' }],
  ])('without a proper %s are refused', (name, body) => {
    expect(() => readImages(callFacts({ body }))).toThrow(field(name));
  });
});

describe('transcripts', () => {
  test('without a form of their own are refused by name', () => {
    expect(() => readTranscript(callFacts({ body: { response_format: 'docx' } }))).toThrow(field('response_format'));
    expect(() => readTranscript(callFacts({ stream: true }))).toThrow(field('stream'));
  });

  test('past an hour have hours in their captions', () => {
    const facts = callFacts({ body: { response_format: 'srt' } });
    const segments = [{ text: ' Late ', start: 3661.5, end: 3725.0004 }];
    const written = writeTranscript(facts, { text: 'Late', language: null, duration: 4000, words: [], segments });
    expect(written).toHaveProperty('bytes', Buffer.from('1\n01:01:01,500 --> 01:02:05,000\nLate\n\n'));
  });
});
