/** Gemini's Live API behind the realtime client of OpenAI's SDK, unchanged, through the whole program: text, functions, and what cannot be said. */
import { describe, expect, test } from 'bun:test';
import type { Json } from '../harness.ts';
import { types } from '../live-session.ts';
import { leave, liveWorld, native, older } from '../live-world.ts';
import { calls, says, sounds, turnEnds, usageMetadata, writesDown } from '../providers/gemini-live.ts';
import * as vertex from '../providers/vertex.ts';
import { handshake, RealtimeClient } from '../realtime-client.ts';

const gemini = liveWorld();

describe('text', () => {
  test('is asked for at the address and with the key of AI Studio, and told in OpenAI’s events', async () => {
    const session = await gemini.open(`@gem/${older}`, {
      instructions: 'Be brief.',
      output_modalities: ['text'],
      max_output_tokens: 200,
    });
    const { client, live } = session;
    client.ask('Say hello.');
    expect(await live.next()).toEqual({
      setup: {
        model: `models/${older}`,
        generationConfig: { responseModalities: ['TEXT'], maxOutputTokens: 200 },
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
      },
    });
    expect(await live.next()).toEqual({
      clientContent: { turns: [{ role: 'user', parts: [{ text: 'Say hello.' }] }], turnComplete: true },
    });
    live.say(says('Grüße'), says(' 🚀'), ...turnEnds());
    const events = await client.until('response.done');
    expect(types(events)).toEqual([
      'conversation.item.added',
      'conversation.item.done',
      'response.created',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'conversation.item.done',
      'response.done',
    ]);
    expect(events.at(-1).response).toMatchObject({
      object: 'realtime.response',
      status: 'completed',
      output_modalities: ['text'],
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Grüße 🚀' }] }],
    });
    expect(live.path).toBe('/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent');
    expect(live.query).toBe('');
    expect(live.headers['x-goog-api-key']).toBe('sk-gem-secret');
    expect(JSON.stringify(live.headers)).not.toContain(gemini.world.gateway.workspaceKey);
    await leave(session);
  });

  test('goes on: the next turn holds only what is new', async () => {
    const session = await gemini.open(`@gem/${older}`, { output_modalities: ['text'] });
    const { client, live } = session;
    client.ask('One');
    await live.next();
    await live.next();
    live.say(says('1'), ...turnEnds());
    const first = (await client.event('response.done')).response;
    client.ask('Two');
    expect(await live.next()).toEqual({
      clientContent: { turns: [{ role: 'user', parts: [{ text: 'Two' }] }], turnComplete: true },
    });
    live.say(says('2'), ...turnEnds());
    const second = (await client.event('response.done')).response;
    expect(second.id).not.toBe(first.id);
    expect(second.output[0].content).toEqual([{ type: 'output_text', text: '2' }]);
    await leave(session);
  });

  test('is typed to a model that takes no turns, behind the history that it was told before', async () => {
    const session = await gemini.open('@gem/gemini-3.1-flash-live-preview');
    const { client, live } = session;
    const said = (role: string, type: string, text: string) => ({
      type: 'conversation.item.create',
      item: { type: 'message', role, content: [{ type, text }] },
    });
    client.send(said('user', 'input_text', 'I am Ann.'), said('assistant', 'output_text', 'Hello, Ann.'));
    client.ask('Who am I?');
    expect((await live.next()).setup.historyConfig).toEqual({ initialHistoryInClientContent: true });
    expect(await live.next()).toEqual({
      clientContent: {
        turns: [
          { role: 'user', parts: [{ text: 'I am Ann.' }] },
          { role: 'model', parts: [{ text: 'Hello, Ann.' }] },
        ],
        turnComplete: true,
      },
    });
    expect(await live.next()).toEqual({ realtimeInput: { text: 'Who am I?' } });
    live.say(sounds('AAAA'), ...turnEnds());
    expect((await client.event('response.done')).response.status).toBe('completed');
    await leave(session);
  });
});

describe('functions', () => {
  const tools = [
    {
      type: 'function',
      name: 'weather',
      description: 'The weather at a place.',
      parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
    },
  ];

  test('are called, also several at once, and their results are answered together', async () => {
    const session = await gemini.open(`@gem/${native}`, { tools });
    const { client, live, traceId } = session;
    client.ask('Weather in Rome and Oslo?');
    expect((await live.next()).setup.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'weather',
            description: 'The weather at a place.',
            parametersJsonSchema: tools[0]?.parameters,
          },
        ],
      },
    ]);
    await live.next();
    live.say(
      {
        ...calls(
          { id: 'fc-1', name: 'weather', args: { place: 'Rome' } },
          { id: 'fc-2', name: 'weather', args: { place: 'Oslo' } },
        ),
        usageMetadata,
      },
      { serverContent: { turnComplete: true } },
    );
    const events = await client.until('response.done');
    expect(types(events).filter((type) => type.startsWith('response.'))).toEqual([
      'response.created',
      ...[1, 2].flatMap(() => [
        'response.output_item.added',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.output_item.done',
      ]),
      'response.done',
    ]);
    expect(events.at(-1).response).toMatchObject({
      status: 'completed',
      output: [
        { type: 'function_call', call_id: 'fc-1', name: 'weather', arguments: '{"place":"Rome"}' },
        { type: 'function_call', call_id: 'fc-2', name: 'weather', arguments: '{"place":"Oslo"}' },
      ],
      usage: { total_tokens: 125 },
    });
    const result = (call_id: string, output: string) => ({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id, output },
    });
    client.send(result('fc-1', '{"sky":"clear"}'), result('fc-2', 'snow'), { type: 'response.create' });
    expect(await live.next()).toEqual({
      toolResponse: {
        functionResponses: [
          { id: 'fc-1', name: 'weather', response: { sky: 'clear' } },
          { id: 'fc-2', name: 'weather', response: { output: 'snow' } },
        ],
      },
    });
    live.say(sounds('AAAA'), writesDown('Clear and snow.'), ...turnEnds());
    expect((await client.event('response.done')).response.output[0].content[0].transcript).toBe('Clear and snow.');
    await leave(session);
    const answers = (await gemini.world.records(traceId, 3)).filter(({ span_name }) => span_name === 'response.done');
    expect(answers.map(({ total_units }) => total_units)).toEqual([125, 125]);
  });

  test('that are not wanted any more are named, and take no result', async () => {
    const session = await gemini.open(`@gem/${native}`, { tools });
    const { client, live } = session;
    client.ask('Weather?');
    await live.next();
    live.say(calls({ id: 'fc-1', name: 'weather', args: {} }));
    await client.event('response.done');
    live.say({ toolCallCancellation: { ids: ['fc-1'] } });
    expect((await client.event('error')).error).toMatchObject({ code: 'tool_call_cancelled', param: 'fc-1' });
    client.send({
      type: 'conversation.item.create',
      event_id: 'late',
      item: { type: 'function_call_output', call_id: 'fc-1', output: '{}' },
    });
    expect((await client.event('error')).error).toMatchObject({ param: 'item.call_id', event_id: 'late' });
    await leave(session);
  });
});

describe('what has no counterpart', () => {
  test('is refused by its name, changes nothing, and the session goes on', async () => {
    const session = await gemini.open(`@gem/${older}`, { output_modalities: ['text'] });
    const { client, live } = session;
    const refused = async (event: Json) => {
      client.send({ event_id: 'e-1', ...event });
      const { error } = await client.event('error');
      expect(error).toMatchObject({ type: 'invalid_request_error', event_id: 'e-1' });
      return error.param;
    };
    const update = (session: Json) => ({ type: 'session.update', session: { type: 'realtime', ...session } });
    expect(await refused(update({ instructions: 'Sing.', tool_choice: 'required' }))).toBe('session.tool_choice');
    expect(await refused(update({ audio: { input: { format: { type: 'audio/pcmu' } } } }))).toBe(
      'session.audio.input.format.type',
    );
    expect(await refused({ type: 'response.create', response: { instructions: 'Sing.' } })).toBe(
      'response.instructions',
    );
    expect(await refused({ type: 'conversation.item.truncate', item_id: 'i', audio_end_ms: 1 })).toBe('type');
    client.ask('Hi');
    expect((await live.next()).setup).toEqual({
      model: `models/${older}`,
      generationConfig: { responseModalities: ['TEXT'] },
    });
    expect(await refused(update({ instructions: 'Sing.' }))).toBe('session.instructions');
    await live.next();
    live.say(says('Hi.'), ...turnEnds());
    expect((await client.event('response.done')).response.status).toBe('completed');
    await leave(session);
  });
});

test('Vertex AI is asked with a token, for the model in its project, and can bill by metadata', async () => {
  const model = 'gemini-live-2.5-flash-native-audio';
  const session = await gemini.open(`@vtx/${model}`, null, { 'x-gw-metadata': '{"team":"voice"}' });
  const { client, live } = session;
  client.ask('Hi');
  expect(live.path).toBe('/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent');
  expect(live.headers.authorization).toBe('Bearer ya29.token');
  expect((await live.next()).setup).toMatchObject({
    model: `${vertex.place}/publishers/google/models/${model}`,
    labels: { gw_gateway_team: 'voice' },
  });
  await live.next();
  live.say(sounds('AAAA'), ...turnEnds({ promptTokenCount: 7, candidatesTokenCount: 5 }));
  expect((await client.event('response.done')).response.usage).toMatchObject({ input_tokens: 7, output_tokens: 5 });
  await leave(session);
});

test('a browser, which offers OpenAI’s subprotocol with our key, is accepted by it; Google is offered none', async () => {
  const opening = gemini.provider.session();
  const protocols = ['realtime', `openai-insecure-api-key.${gemini.world.gateway.workspaceKey}`];
  const address = `${gemini.world.gateway.url.replace('http', 'ws')}/v1/realtime?model=@gem/${native}`;
  const client = await RealtimeClient.open(address, {}, protocols);
  expect(client.socket.protocol).toBe('realtime');
  const live = await opening;
  expect(live.headers['sec-websocket-protocol']).toBeUndefined();
  client.socket.close();
  await live.closed;
});

test('a session without a model, and one with another publisher’s model, are refused before Google is asked', async () => {
  const before = gemini.provider.handshakes.length;
  const asked = async (query: string, slug: string) => {
    const headers = { 'x-gw-api-key': gemini.world.gateway.workspaceKey, 'x-gw-provider': slug };
    const response = await handshake(`${gemini.world.gateway.url}/v1/realtime${query}`, headers);
    const { error }: Json = await response.json();
    return [response.status, error.code];
  };
  expect(await asked('', '@gem')).toEqual([400, 'invalid_body']);
  expect(await asked('?model=anthropic.claude-sonnet-4-5', '@vtx')).toEqual([400, 'unsupported_endpoint']);
  expect(gemini.provider.handshakes.length).toBe(before);
});
