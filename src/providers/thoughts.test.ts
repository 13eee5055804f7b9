/** Thoughts on their way back, also to another provider than the one that thought them: only who signed a thought is shown it. */
import { describe, expect, test } from 'bun:test';
import { spoken } from '../../test/families.ts';
import type { Json } from '../../test/harness.ts';
import { anthropicFamily } from './anthropic/family.ts';
import { converse } from './bedrock/converse.ts';
import { geminiFamily } from './google/family.ts';

const claude = (model: string) => spoken(anthropicFamily(), { model });
const bedrock = (model: string) => spoken(converse, { model });

const history = (...thoughts: Json[]): Json => ({
  messages: [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: 'Looking.',
      content_blocks: thoughts,
      tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: '1' },
  ],
});
const thought = (signature: string): Json => ({ type: 'thinking', thinking: 'Hm.', signature });
const redacted = { type: 'redacted_thinking', data: 'ZGF0YQ==' };
const foreign = ['gemini:c2ln', 'rs_1.gAAAA', ''];

describe('Claude', () => {
  test('gets its own thoughts back, before what it said', () => {
    const { content } = claude('claude-sonnet-4-5').asked(history(thought('c2ln'), redacted)).messages[1];
    expect(content.map(({ type }: Json) => type)).toEqual(['thinking', 'redacted_thinking', 'text', 'tool_use']);
    const blocks = bedrock('anthropic.claude-sonnet-4-5-v1:0').asked(history(thought('c2ln'), redacted)).messages[1];
    expect(blocks.content.slice(0, 2)).toEqual([
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'ZGF0YQ==' } },
    ]);
  });

  test.each(foreign)('is not shown a thought that another signed with "%s"', (signature) => {
    const { content } = claude('claude-sonnet-4-5').asked(history(thought(signature))).messages[1];
    expect(content.map(({ type }: Json) => type)).toEqual(['text', 'tool_use']);
    const blocks = bedrock('anthropic.claude-sonnet-4-5-v1:0').asked(history(thought(signature))).messages[1].content;
    expect(blocks.map((block: Json) => Object.keys(block)[0])).toEqual(['text', 'toolUse']);
  });

  test.each(foreign)('does not go on thinking from one that is signed with "%s"', (signature) => {
    const asked = { ...history(thought(signature)), reasoning_effort: 'low' };
    expect(claude('claude-3-7-sonnet-20250219').asked(asked).thinking).toBeUndefined();
  });
});

test('models of Bedrock’s that are not Claude are shown nobody’s thoughts', () => {
  const { content } = bedrock('amazon.nova-pro-v1:0').asked(history(thought('c2ln'), redacted)).messages[1];
  expect(content.map((block: Json) => Object.keys(block)[0])).toEqual(['text', 'toolUse']);
});

test('Gemini gets back what it signed, not what another did', () => {
  const gemini = spoken(geminiFamily('studio'), { model: 'gemini-3-pro-preview' });
  const part = (signature: string): Json => gemini.asked(history(thought(signature))).contents[1].parts[0];
  expect(part('gemini:c2ln')).toEqual({ text: 'Looking.', thoughtSignature: 'c2ln' });
  expect(part('c2ln')).toEqual({ text: 'Looking.' });
});
