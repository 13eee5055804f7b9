/** Every partner check against a partner that refuses a wrong address, a wrong key and a body without what it needs. */

import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { partnersToL } from '../../../test/guardrail-partners/a-to-l.ts';
import { partnersFromM } from '../../../test/guardrail-partners/m-to-z.ts';
import { after, type Json, key, type Partner, simulated } from '../../../test/guardrail-partners/simulated.ts';
import type { HookEvent } from '../context.ts';
import { CheckContext } from '../context.ts';
import { edited } from '../edits.ts';
import { partnerChecks } from './index.ts';
import { piecesOf } from './partner.ts';

const partners: Record<string, Partner> = { ...partnersToL, ...partnersFromM };

const contextFor = (event: HookEvent, text: string) => {
  const request = { model: 'm', messages: [{ role: 'user', content: event === after ? 'who?' : text }] };
  const response = { choices: [{ message: { role: 'assistant', content: text } }] };
  const facts = {
    event,
    requestType: 'chatComplete',
    request,
    response: event === after ? { json: response, status: 200 } : null,
    isStream: false,
    provider: 'openai',
    metadata: {},
    header: () => null,
    traceId: 'trace-1',
  };
  return new CheckContext(facts, event === after ? response : request, false);
};

const byId = new Map(partnerChecks.map((check) => [check.id, check]));

function run(id: string, partner: Partner, answer: Json, text = 'I am Ann') {
  const check = byId.get(id);
  if (!check) throw new Error(`There is no ${id}`);
  const prepared = check.prepare(partner.parameters ?? {}, {
    credentials: partner.credentials ?? { apiKey: key },
    faultOfUrl: () => null,
    timeoutMs: 100,
  });
  return prepared.run(contextFor(partner.event ?? check.events[0] ?? after, text), simulated(partner, answer));
}

for (const [id, partner] of Object.entries(partners)) {
  describe(id, () => {
    test('passes what the partner allows', async () => {
      expect(await run(id, partner, partner.passes)).toMatchObject({ verdict: true });
      expect((await run(id, partner, partner.passes)).error).toBeUndefined();
    });
    if (Object.keys(partner.fails).length > 0) {
      test('fails what the partner refuses', async () => {
        const result = await run(id, partner, partner.fails);
        expect([result.verdict, result.error]).toEqual([false, undefined]);
      });
    }
    const { redacts } = partner;
    if (redacts) {
      test('replaces what the partner replaces', async () => {
        const result = await run(id, partner, redacts[0]);
        const [edit] = result.edits ?? [];
        const text = 'I am Ann';
        expect([result.verdict, edit && text.slice(0, edit.start) + edit.text + text.slice(edit.end)]).toEqual([
          true,
          redacts[1],
        ]);
      });
    }
    test('reports an error for a key that the partner refuses, and for no text', async () => {
      const wrong = await run(id, { ...partner, url: 'https://elsewhere.example/' }, partner.passes);
      expect(wrong.error?.name).toBe('HTTP Error');
      expect((await run(id, partner, partner.passes, '')).error).toBeDefined();
    });
  });
}

test('every partner check but those that search, or whose signature the service itself must see, is held against its partner', () => {
  const elsewhere = new Set([
    'exa.online',
    'tavily.online',
    'alibaba-cloud-ai.guard',
    'patronus.isHelpful',
    'patronus.isPolite',
    'patronus.noApologies',
    'patronus.noGenderBias',
    'patronus.noRacialBias',
    'patronus.retrievalAnswerRelevance',
    'patronus.phi',
  ]);
  expect(partnerChecks.map(({ id }) => id).filter((id) => !(id in partners) && !elsewhere.has(id))).toEqual([]);
});

const queries = {
  'exa.online': z.strictObject({
    query: z.string().min(1),
    numResults: z.int().min(1).max(100),
    includeDomains: z.array(z.string()).optional(),
    excludeDomains: z.array(z.string()).optional(),
    contents: z.strictObject({ text: z.boolean() }),
  }),
  'tavily.online': z.strictObject({
    query: z.string().min(1).max(400),
    max_results: z.int().min(0).max(20),
    chunks_per_source: z.int().min(1).max(3),
    search_depth: z.enum(['advanced', 'basic', 'fast', 'ultra-fast']).optional(),
    topic: z.enum(['general', 'news', 'finance']).optional(),
  }),
};

describe('searches', () => {
  for (const [id, url] of [
    ['exa.online', 'https://api.exa.ai/search'],
    ['tavily.online', 'https://api.tavily.com/search'],
  ] as const) {
    test(`${id} puts what it found before the model`, async () => {
      const header: [string, string] = id === 'exa.online' ? ['x-api-key', key] : ['authorization', `Bearer ${key}`];
      const result = await run(
        id,
        { url, key: header, needs: ['query'], refuses: queries[id], passes: {}, fails: {} },
        { results: [{ title: 'T', url: 'https://t.example', text: 'found', content: 'found' }] },
        'what is it? '.repeat(100),
      );
      expect(JSON.stringify(result.body)).toContain('found');
      expect(result.verdict).toBe(true);
    });
  }
});

describe('the conversation that partners get', () => {
  const conversation = async (requestType: string, request: Json): Promise<unknown> => {
    const partner = partners['lakera.guard'] as Partner;
    const check = byId.get('lakera.guard');
    const io = simulated(partner, partner.passes);
    const prepared = check?.prepare({}, { credentials: { apiKey: key }, faultOfUrl: () => null, timeoutMs: 100 });
    const facts = { ...contextFor('beforeRequestHook', 'x').facts, requestType, request };
    const result = await prepared?.run(new CheckContext(facts, request, false), io);
    expect(result?.error).toBeUndefined();
    return JSON.parse(io.calls[0]?.body ?? '{}').messages;
  };

  test('has system prompts in any form, results of tools, documents, and roles that they know', async () => {
    const part = (text: string) => ({ type: 'text', text });
    expect(
      await conversation('messages', {
        system: [part('be kind'), part('be brief')],
        messages: [
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [part('found')] }] },
          { role: 'user', content: [{ type: 'document', source: { type: 'text', data: 'a page' } }, part('what?')] },
        ],
      }),
    ).toEqual([
      { role: 'system', content: 'be kind\nbe brief' },
      { role: 'user', content: 'found' },
      { role: 'user', content: 'a page\nwhat?' },
    ]);
    expect(
      await conversation('createModelResponse', {
        instructions: 'be kind',
        input: [
          { role: 'developer', content: 'be brief' },
          { type: 'function_call_output', call_id: 'c', output: 'found' },
        ],
      }),
    ).toEqual([
      { role: 'system', content: 'be kind' },
      { role: 'system', content: 'be brief' },
      { role: 'tool', content: 'found' },
    ]);
  });

  describe('of CrowdStrike has the form of chat in any dialect, and what it changes stands where it was', () => {
    const id = 'crowdstrike-aidr.guardChatCompletions';
    const asked = async (requestType: string, json: Json, isInput: boolean, guard_output: Json) => {
      const partner = partners[id] as Partner;
      const io = simulated(partner, { status: 'Success', result: { transformed: true, guard_output } });
      const { credentials = {} } = partner;
      const prepared = byId.get(id)?.prepare({}, { credentials, faultOfUrl: () => null, timeoutMs: 100 });
      const { facts } = contextFor(isInput ? 'beforeRequestHook' : after, 'x');
      const request = isInput ? json : { model: 'm' };
      const context = new CheckContext({ ...facts, requestType, request }, json, false);
      const result = await prepared?.run(context, io);
      const { segments } = context;
      return {
        sent: JSON.parse(io.calls[0]?.body ?? '{}').guard_input,
        body: result?.body,
        made: edited(json, segments, result?.edits ?? []),
      };
    };
    const part = (text: string) => ({ type: 'text', text });
    const output = (text: string) => ({ type: 'message', content: [{ type: 'output_text', text }] });

    test('messages, asked', async () => {
      const json = {
        model: 'm',
        system: 'be kind',
        messages: [{ role: 'user', content: [part('Hi'), part('I am Ann')] }],
      };
      const changed = [{ content: 'be kind' }, { content: 'Hi' }, { content: 'I am ***' }];
      const { sent, body, made } = await asked('messages', json, true, { messages: changed });
      expect(sent).toEqual({
        model: 'm',
        messages: [
          { role: 'system', content: 'be kind' },
          { role: 'user', content: 'Hi' },
          { role: 'user', content: 'I am Ann' },
        ],
      });
      expect(body).toBeUndefined();
      expect(made).toEqual({ ...json, messages: [{ role: 'user', content: [part('Hi'), part('I am ***')] }] });
    });

    test('messages, answered', async () => {
      const json = { type: 'message', role: 'assistant', content: [part('Hi'), part('I am Ann')] };
      const choices = [{ message: { content: 'Hi' } }, { message: { content: 'I am ***' } }];
      const { sent, made } = await asked('messages', json, false, { choices });
      expect(sent.choices).toEqual([
        { index: 0, message: { role: 'assistant', content: 'Hi' } },
        { index: 1, message: { role: 'assistant', content: 'I am Ann' } },
      ]);
      expect(made).toEqual({ ...json, content: [part('Hi'), part('I am ***')] });
    });

    test('responses, asked and answered', async () => {
      const request = { model: 'm', instructions: 'be kind', input: 'I am Ann' };
      const messages = [{ content: 'be kind' }, { content: 'I am ***' }];
      const input = await asked('createModelResponse', request, true, { messages });
      expect(input.sent.messages).toEqual([
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'I am Ann' },
      ]);
      expect(input.made).toEqual({ ...request, input: 'I am ***' });
      const answer = { object: 'response', output: [output('You are Ann')] };
      const choices = [{ message: { content: 'You are ***' } }];
      const told = await asked('createModelResponse', answer, false, { choices });
      expect(told.sent.choices[0].message).toEqual({ role: 'assistant', content: 'You are Ann' });
      expect(told.made).toEqual({ ...answer, output: [output('You are ***')] });
    });

    test('chat goes as it is', async () => {
      const json = { model: 'm', messages: [{ role: 'user', content: 'I am Ann' }], seed: 1 };
      const guarded = { ...json, messages: [{ role: 'user', content: 'I am ***' }] };
      const { sent, body } = await asked('chatComplete', json, true, guarded);
      expect([sent, body]).toEqual([json, guarded]);
    });
  });

  test('an action that Cato does not ask for is no error', async () => {
    const partner = partners['cato.analyze'] as Partner;
    const answer = { analysis_result: { policy_drill_down: {} }, required_action: null };
    expect(await run('cato.analyze', partner, answer)).toMatchObject({ verdict: true });
    expect((await run('cato.analyze', partner, answer)).error).toBeUndefined();
  });

  test('Lasso gets the answer alone where it judges the answer', async () => {
    const partner = { ...(partners['lasso.classify'] as Partner), event: after };
    const io = simulated(partner, partner.passes);
    const prepared = byId
      .get('lasso.classify')
      ?.prepare({}, { credentials: { apiKey: key }, faultOfUrl: () => null, timeoutMs: 100 });
    await prepared?.run(contextFor(after, 'I am Ann'), io);
    expect(JSON.parse(io.calls[0]?.body ?? '{}')).toMatchObject({
      messageType: 'COMPLETION',
      messages: [{ role: 'assistant', content: 'I am Ann' }],
    });
  });
});

describe('texts that are longer than the partner takes', () => {
  const long = 'word '.repeat(5_000);

  for (const id of ['azure.contentSafety', 'azure.shieldPrompt', 'pangea.textGuard']) {
    test(`${id} are sent in pieces, and one that is refused fails all`, async () => {
      const partner = partners[id] as Partner;
      expect(await run(id, partner, partner.passes, long)).toMatchObject({ verdict: true });
      expect((await run(id, partner, partner.passes, long)).error).toBeUndefined();
      expect((await run(id, partner, partner.fails, long)).verdict).toBe(false);
    });
  }

  test('azure.pii are an error where a piece of them is left out of the answer', async () => {
    const partner = partners['azure.pii'] as Partner;
    expect((await run('azure.pii', partner, partner.passes, long)).error?.message).toContain('did not look at all');
  });

  test('are cut at spaces and not inside a character, and make up the whole', () => {
    const texts = [long, '😀'.repeat(4_000), 'x'.repeat(3_000)];
    for (const text of texts) {
      const pieces = piecesOf(text, 1_001);
      expect(pieces.join('')).toBe(text);
      expect(pieces.every((piece) => piece.length <= 1_001 && piece.isWellFormed())).toBe(true);
      const overlapping = piecesOf(text, 1_001, 51);
      expect(overlapping.every((piece) => piece.length <= 1_001 && piece.isWellFormed())).toBe(true);
      expect(overlapping.at(-1)?.endsWith(text.slice(-20))).toBe(true);
    }
  });
});

test('an answer that says nothing of the text is an error and no pass', async () => {
  const silent = [
    'azure.contentSafety',
    'azure.shieldPrompt',
    'azure.protectedMaterial',
    'azure.pii',
    'cato.analyze',
    'f5-guardrails.scan',
    'lakera.guard',
    'mistral.moderateContent',
    'promptfoo.guard',
    'promptfoo.harm',
    'promptfoo.pii',
    'singulr.guard',
    'sydelabs.sydeguard',
    'walledai.walledprotect',
  ];
  for (const id of silent) {
    const { error } = await run(id, partners[id] as Partner, { unexpected: true });
    expect([id, error?.message ?? 'none']).toEqual([id, expect.stringMatching(/answered without|did not look/)]);
  }
});
