import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import type { JsonObject } from '../provider.ts';
import { completions } from './completions.ts';

const asked = (model: string, body: JsonObject) => {
  const facts = callFacts({ kind: 'complete', model, stream: body.stream === true, body: { prompt: 'Hi', ...body } });
  return completions(facts)?.translation?.request?.(facts);
};

describe('what a model cannot do is refused by its name', () => {
  test.each<[field: string, model: string, body: JsonObject]>([
    ['stop', 'meta.llama3-8b-instruct-v1:0', { stop: 'END' }],
    ['n', 'meta.llama3-8b-instruct-v1:0', { n: 2 }],
    ['n', 'cohere.command-text-v14', { n: 2, stream: true }],
    ['n', 'ai21.j2-ultra-v1', { n: 2, stream: true }],
    ['suffix', 'amazon.titan-text-lite-v1', { suffix: 'x' }],
    ['prompt', 'amazon.titan-text-lite-v1', { prompt: ['a', 'b'] }],
  ])('%s for %s', (field, model, body) => {
    expect(() => asked(model, body)).toThrow(expect.objectContaining({ field }));
  });
});

test('what it can do is written in its words', () => {
  expect(asked('cohere.command-text-v14', { n: 2, stop: 'END', top_p: 0 })).toEqual({
    prompt: 'Hi',
    num_generations: 2,
    stop_sequences: ['END'],
    p: 0,
  });
  expect(asked('meta.llama3-8b-instruct-v1:0', { max_tokens: 9, temperature: 0 })).toEqual({
    prompt: 'Hi',
    max_gen_len: 9,
    temperature: 0,
  });
});
