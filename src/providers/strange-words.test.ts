/** Words that every JavaScript object answers to, where a client or a provider names one of many: they are unknown words like any other. */
import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../test/call-facts.ts';
import { spoken } from '../../test/families.ts';
import { finishOf as anthropicFinish, faultOf } from './anthropic/answer.ts';
import { anthropicFamily } from './anthropic/family.ts';
import { cleaned } from './anthropic/schema.ts';
import { finishOf as bedrockFinish } from './bedrock/answer.ts';
import { claudeOnBedrock } from './bedrock/claude.ts';
import { converse } from './bedrock/converse.ts';
import { throwException } from './bedrock/exceptions.ts';
import { finishOf as cohereFinish } from './cohere/answer.ts';
import { cohereFamily } from './cohere/family.ts';
import { finishOf as geminiFinish } from './google/finish.ts';
import { batchStatus, tuningStatus } from './job-states.ts';
import { finishOf as openAiFinish } from './openai/answer.ts';
import { finishOf as oracleFinish } from './oracle/answer.ts';
import { elevenlabs } from './own/elevenlabs.ts';
import type { JsonObject } from './provider.ts';

const messages = [{ role: 'user', content: 'Hello' }];
const nova = spoken(converse, { model: 'amazon.nova-pro-v1:0' });
const claude = spoken(anthropicFamily(), { model: 'claude-3-7-sonnet-20250219' });
const claudeAtAws = spoken(converse, { model: 'anthropic.claude-3-7-sonnet-20250219-v1:0' });

describe.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('the word %s', (word) => {
  test('as a reason to stop is unknown, and no clean end', () => {
    for (const finish of [anthropicFinish, bedrockFinish, cohereFinish, openAiFinish])
      expect(finish(word)).toBe('length');
    expect([geminiFinish(word, false), oracleFinish(word)]).toEqual(['length', 'length']);
  });

  test('as a state of a job means that it is at work', () => {
    expect([batchStatus(word), tuningStatus(word)]).toEqual(['in_progress', 'running']);
  });

  test('as a kind of fault has the status of an unknown one', () => {
    expect(faultOf({ type: 'error', error: { type: word, message: 'm' } })).toMatchObject({ status: 502 });
    expect(() => throwException(`exception:${word}`, '{}')).toThrow(expect.objectContaining({ status: 500 }));
  });

  test('as an effort leaves a budget that is a number', () => {
    const asked = { messages, reasoning_effort: word, max_tokens: 9_000 };
    expect(claude.asked(asked).thinking.budget_tokens).toBeNumber();
    expect(claudeAtAws.asked(asked).additionalModelRequestFields.thinking.budget_tokens).toBeNumber();
    expect(spoken(cohereFamily).asked(asked).thinking).toEqual({ type: 'enabled' });
  });

  test('as a field that nobody knows goes to the model as it is', () => {
    const own: JsonObject = JSON.parse(`{"${word}": 1}`);
    const fields = nova.asked({ messages, ...own }).additionalModelRequestFields ?? {};
    expect(Object.keys(fields)).toEqual(Object.keys({ ...own }));
  });

  test('as a keyword of a schema is told in words', () => {
    expect(cleaned(JSON.parse(`{"type": "string", "${word}": [1]}`))).toEqual({
      type: 'string',
      description: `(${word}: [1])`,
    });
  });

  test('as a beta is named as it is', () => {
    expect(claudeOnBedrock.betaName?.(word)).toBe(word);
  });

  test('as a format of sound or a type of file is refused', () => {
    const speech = elevenlabs.endpoints.createSpeech;
    const facts = callFacts({ body: { input: 'a', voice: 'v', response_format: word } });
    const endpoint = typeof speech === 'function' ? speech(facts) : speech;
    const { path } = endpoint ?? {};
    expect(() => (typeof path === 'function' ? path(facts, '') : path)).toThrow('does not speak');
    const file = { type: 'file', file: { mime_type: `image/${word}`, file_data: 'AAAA' } };
    expect(() => nova.asked({ messages: [{ role: 'user', content: [file] }] })).toThrow('cannot be given');
  });
});
