/** What is asked otherwise: each quirk changes what it must and nothing else, and leaves the very same body where there is nothing to change. */
import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../../test/call-facts.ts';
import { RequestFault } from '../../faults.ts';
import type { JsonObject } from '../../provider.ts';
import { toolsAsFunctions } from '../gigachat-functions.ts';
import { functionsAsTools } from './functions.ts';
import {
  developerAsSystem,
  nameOnToolsOnly,
  textAsString,
  thoughtsOfRunningTurn,
  withoutCacheMarks,
} from './messages.ts';
import {
  inTurn,
  limitAsMaxTokens,
  oneChoice,
  type Quirk,
  refusesTools,
  renamed,
  within,
  without,
} from './parameters.ts';
import { effortAsBudget, effortAsReasoning, effortAsThinking, effortWithThinking } from './reasoning.ts';
import { nineCharacterIds, noRequiredTool, plainSchemas, requiredAsAny, withoutStrict } from './tools.ts';

const facts = callFacts();
const user = { role: 'user', content: 'Hi' };
const tool = (more: JsonObject = {}) => ({ type: 'function', function: { name: 'f', ...more } });
const text = (value: string, more: JsonObject = {}) => ({ type: 'text', text: value, ...more });

const changes: [name: string, quirk: Quirk, before: JsonObject, after: JsonObject][] = [
  ['a limit takes the older name', limitAsMaxTokens, { max_completion_tokens: 5, a: 1 }, { max_tokens: 5, a: 1 }],
  ['the newer limit wins', limitAsMaxTokens, { max_tokens: 9, max_completion_tokens: 5 }, { max_tokens: 5 }],
  ['an empty limit is no limit', limitAsMaxTokens, { max_tokens: 9, max_completion_tokens: null }, { max_tokens: 9 }],
  ['a field takes another name', renamed('seed', 'random_seed'), { seed: 0 }, { random_seed: 0 }],
  ['fields are left out', without('a', 'b'), { a: 1, c: { a: 1 }, b: null }, { c: { a: 1 } }],
  ['numbers are brought within bounds', within('temperature', 0, 1), { temperature: 1.5 }, { temperature: 1 }],
  ['one choice need not be said', oneChoice, { n: 1 }, {}],
  ['no tools need not be said', refusesTools, { tools: [], tool_choice: 'none' }, {}],
  [
    'developers become the system',
    developerAsSystem,
    { messages: [{ role: 'developer', content: 'x' }, user] },
    { messages: [{ role: 'system', content: 'x' }, user] },
  ],
  [
    'lists of text become text, lists with more do not',
    textAsString,
    {
      messages: [
        { role: 'user', content: [text('a'), text('b')] },
        { role: 'user', content: [text('a'), { type: 'image_url' }] },
      ],
    },
    {
      messages: [
        { role: 'user', content: 'ab' },
        { role: 'user', content: [text('a'), { type: 'image_url' }] },
      ],
    },
  ],
  [
    'names stay on results of tools alone',
    nameOnToolsOnly,
    {
      messages: [
        { ...user, name: 'ann' },
        { role: 'tool', name: 'f', content: '' },
      ],
    },
    { messages: [user, { role: 'tool', name: 'f', content: '' }] },
  ],
  [
    'marks for the prompt cache go, wherever they stand',
    withoutCacheMarks,
    {
      cache_control: {},
      messages: [{ role: 'user', cache_control: {}, content: [text('a', { cache_control: {} })] }],
      tools: [{ ...tool({ cache_control: {} }), cache_control: {} }],
    },
    { messages: [{ role: 'user', content: [text('a')] }], tools: [tool()] },
  ],
  [
    'thoughts stay only with the calls of the running turn',
    thoughtsOfRunningTurn,
    {
      messages: [
        user,
        { role: 'assistant', content: 'a', reasoning_content: 'old', tool_calls: [{}] },
        user,
        { role: 'assistant', content: '', reasoning_content: 'new', tool_calls: [{}] },
        { role: 'tool', content: 'r' },
        { role: 'assistant', content: 'b', reasoning_content: 'idle' },
      ],
    },
    {
      messages: [
        user,
        { role: 'assistant', content: 'a', tool_calls: [{}] },
        user,
        { role: 'assistant', content: '', reasoning_content: 'new', tool_calls: [{}] },
        { role: 'tool', content: 'r' },
        { role: 'assistant', content: 'b' },
      ],
    },
  ],
  ['a tool that must be called is any', requiredAsAny, { tool_choice: 'required' }, { tool_choice: 'any' }],
  ['strictness of tools goes', withoutStrict, { tools: [tool({ strict: true })] }, { tools: [tool()] }],
  [
    'schemas lose what Mistral refuses',
    plainSchemas,
    { tools: [tool({ strict: true, parameters: { $schema: 's', $id: 'i', type: 'object', strict: true } })] },
    { tools: [tool({ parameters: { type: 'object' } })] },
  ],
  ['effort becomes reasoning', effortAsReasoning, { reasoning_effort: 'low' }, { reasoning: { effort: 'low' } }],
  [
    'a budget of thoughts becomes reasoning',
    effortAsReasoning,
    { thinking: { type: 'enabled', budget_tokens: 7 }, reasoning_effort: 'low' },
    { reasoning: { max_tokens: 7 } },
  ],
  [
    'no thoughts, as reasoning',
    effortAsReasoning,
    { thinking: { type: 'disabled' } },
    { reasoning: { enabled: false } },
  ],
  ['effort becomes a switch', effortAsThinking, { reasoning_effort: 'high' }, { thinking: { type: 'enabled' } }],
  ['no effort becomes a switch', effortAsThinking, { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
  [
    'what the client says of thinking stands over the effort',
    effortAsThinking,
    { reasoning_effort: 'high', thinking: { type: 'disabled' } },
    { thinking: { type: 'disabled' } },
  ],
  [
    'effort stays beside the switch',
    effortWithThinking,
    { reasoning_effort: 'high' },
    { reasoning_effort: 'high', thinking: { type: 'enabled' } },
  ],
  [
    'effort becomes a budget',
    effortAsBudget,
    { reasoning_effort: 'medium' },
    { enable_thinking: true, thinking_budget: 8_192 },
  ],
  ['no effort needs no budget', effortAsBudget, { reasoning_effort: 'none' }, { enable_thinking: false }],
  [
    'a budget stays a budget',
    effortAsBudget,
    { thinking: { type: 'enabled', budget_tokens: 7 } },
    { enable_thinking: true, thinking_budget: 7 },
  ],
  [
    'functions become tools, and their calls get ids that fit their results',
    functionsAsTools,
    {
      functions: [{ name: 'f' }],
      function_call: { name: 'f' },
      messages: [
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: '1' },
      ],
    },
    {
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', name: 'f', content: '1', tool_call_id: 'call_1' },
      ],
      tools: [tool()],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
    },
  ],
  [
    'tools become functions, with arguments as objects',
    toolsAsFunctions,
    {
      tools: [tool()],
      tool_choice: { type: 'function', function: { name: 'f' } },
      messages: [
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{"a":1}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: '1' },
      ],
    },
    {
      messages: [
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: { a: 1 } } },
        { role: 'function', content: '1', name: 'f' },
      ],
      functions: [{ name: 'f' }],
      function_call: { name: 'f' },
    },
  ],
];

describe('quirks', () => {
  test.each(changes)('%s', (_, quirk, before, after) => {
    const kept = structuredClone(before);
    const asked = quirk(before, facts);
    expect(asked).toEqual(after);
    expect(Object.keys(asked)).toEqual(Object.keys(after));
    // A retry or a fallback starts from the same body.
    expect(before).toEqual(kept);
    expect(quirk(asked, facts)).toEqual(after);
  });

  const plain: JsonObject = {
    model: 'm',
    max_tokens: 5,
    temperature: 0.5,
    tools: [tool({ parameters: { type: 'object' } })],
    tool_choice: 'auto',
    messages: [
      { role: 'system', content: 'Be kind.' },
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'abcDEF123', type: 'function', function: { name: 'f' } }],
      },
      { role: 'tool', tool_call_id: 'abcDEF123', content: '1' },
    ],
    unknown: { kept: true },
  };
  const everyQuirk = [
    limitAsMaxTokens,
    within('temperature', 0, 1),
    oneChoice,
    developerAsSystem,
    textAsString,
    nameOnToolsOnly,
    withoutCacheMarks,
    thoughtsOfRunningTurn,
    requiredAsAny,
    withoutStrict,
    plainSchemas,
    nineCharacterIds,
    noRequiredTool,
    effortAsReasoning,
    effortAsThinking,
    effortWithThinking,
    effortAsBudget,
    functionsAsTools,
  ];

  test.each([...everyQuirk.entries()])(
    'quirk %i leaves the very same body where there is nothing to change',
    (_, quirk) => {
      expect(quirk(plain, facts)).toBe(plain);
    },
  );

  test('all of them together do too', () => {
    expect(inTurn(everyQuirk)(plain, facts)).toBe(plain);
  });

  test.each<[string, Quirk, JsonObject]>([
    ['n', oneChoice, { n: 2 }],
    ['tools', refusesTools, { tools: [tool()] }],
    ['functions', refusesTools, { functions: [{ name: 'f' }] }],
    ['tool_choice', noRequiredTool, { tool_choice: 'required' }],
    ['tool_choice', toolsAsFunctions, { tools: [tool()], tool_choice: 'required' }],
    ['messages', toolsAsFunctions, { messages: [{ role: 'assistant', tool_calls: [{}, {}] }] }],
  ])('what a provider cannot do is refused by the name of %s', (field, quirk, body) => {
    const refused = () => quirk(body, facts);
    expect(refused).toThrow(RequestFault);
    try {
      refused();
    } catch (fault) {
      expect(fault).toMatchObject({ field });
    }
  });
});

describe('ids of tool calls', () => {
  const ask = (id: string) =>
    nineCharacterIds(
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id }, { id: 'abcDEF123' }] },
          { role: 'tool', tool_call_id: id },
        ],
      },
      facts,
    );

  test('become nine letters and digits, the same for the call and its result, on every turn', () => {
    const asked = ask('call_0123456789');
    expect(asked).toEqual(ask('call_0123456789'));
    const [made] = JSON.stringify(asked).match(/"id":"([A-Za-z0-9]{9})"/) ?? [];
    const id = made?.slice(6, -1);
    expect(asked).toEqual({
      messages: [
        { role: 'assistant', tool_calls: [{ id }, { id: 'abcDEF123' }] },
        { role: 'tool', tool_call_id: id },
      ],
    });
  });

  test('stay apart from each other', () => {
    const made = new Set(Array.from({ length: 2_000 }, (_, index) => JSON.stringify(ask(`toolu_${index}`))));
    expect(made.size).toBe(2_000);
  });
});
