import { describe, expect, test } from 'bun:test';
import type { Json } from '../../../../test/harness.ts';
import { append, begin, create, errorOf, item, over, said, sounds, types } from '../../../../test/live-session.ts';

/** A session in which speech was heard, and Google has agreed. */
function talking() {
  const session = begin();
  session.agree();
  return session;
}

const says = (text: string) => ({ serverContent: { modelTurn: { parts: [{ text }] } } });
const interrupted = { serverContent: { interrupted: true } };
const usage = (prompt: number, answer: number) => ({
  usageMetadata: { promptTokenCount: prompt, responseTokenCount: answer },
});
const responses = (events: Json[]): Json[] =>
  events.filter(({ type }) => type === 'response.done').map(({ response }) => response);

describe('an answer', () => {
  test('that the model begins by itself makes an item of what it heard', () => {
    const { client } = talking().provider(sounds);
    expect(types(client)).toEqual([
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'response.created',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio.delta',
    ]);
    expect(client[5].previous_item_id).toBe(client[0].item_id);
  });

  test('of speech and text has a part for each', () => {
    const { client } = talking().provider(sounds, says('See: '), says('map'), over);
    const places = client.filter(({ type }) => type === 'response.content_part.done');
    expect(places.map(({ content_index, part }) => [content_index, part])).toEqual([
      [0, { type: 'audio', transcript: '' }],
      [1, { type: 'text', text: 'See: map' }],
    ]);
    expect(responses(client)[0].output[0].content).toEqual([
      { type: 'output_audio', transcript: '' },
      { type: 'output_text', text: 'See: map' },
    ]);
  });

  test('in one message is told in the same order as in many', () => {
    const { client } = talking().provider({
      serverContent: {
        inputTranscription: { text: 'Hi', finished: true },
        modelTurn: { parts: [sounds.serverContent.modelTurn.parts[0]] },
        outputTranscription: { text: 'Hello' },
        turnComplete: true,
      },
      ...usage(5, 3),
    });
    expect(types(client).filter((type) => /delta|completed|response\.done/.test(type))).toEqual([
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.completed',
      'response.output_audio.delta',
      'response.output_audio_transcript.delta',
      'response.done',
    ]);
    expect(responses(client)[0].usage).toMatchObject({ input_tokens: 5, output_tokens: 3 });
  });

  test('leaves thoughts out, and names what it cannot tell', () => {
    const thought = { text: 'Hm.', thought: true };
    const code = { executableCode: { language: 'PYTHON', code: '1' } };
    const { client } = talking().provider({ serverContent: { modelTurn: { parts: [thought, code, {}] } } });
    expect(client).toMatchObject([
      {
        type: 'error',
        error: { code: 'untranslatable_content', param: 'serverContent.modelTurn.parts.executableCode' },
      },
    ]);
  });

  test.each([
    ['NEED_MORE_INPUT', { status: 'completed', status_details: null }],
    ['MALFORMED_FUNCTION_CALL', { status: 'failed', status_details: { error: { code: 'malformed_function_call' } } }],
    ['GENERATED_CONTENT_SAFETY', { status: 'incomplete', status_details: { reason: 'content_filter' } }],
  ])('that ends with %s says so', (turnCompleteReason, ending) => {
    const { client } = talking().provider(sounds, { serverContent: { turnComplete: true, turnCompleteReason } });
    expect(responses(client)).toMatchObject([ending]);
  });

  test('that is refused before a word was said is a response too', () => {
    const ended = { serverContent: { turnComplete: true, turnCompleteReason: 'PROHIBITED_INPUT_CONTENT' } };
    expect(responses(talking().provider(ended).client)).toMatchObject([{ status: 'incomplete', output: [] }]);
  });

  test('without a word is no response', () => {
    expect(talking().provider({ serverContent: {} }, over).client).toEqual([]);
  });
});

describe('what was heard', () => {
  test('is written down before the response ends', () => {
    const { client } = talking().provider({ serverContent: { inputTranscription: { text: 'Hi' } } }, sounds, over);
    const told = types(client);
    expect(told.indexOf('conversation.item.input_audio_transcription.completed')).toBeGreaterThan(0);
    expect(told.at(-1)).toBe('response.done');
  });

  test('belongs to the answer that the model begins by itself, not to one that the client asks for', () => {
    const session = talking();
    const start = { voiceActivity: { voiceActivityType: 'ACTIVITY_START' } };
    const [started] = session.provider(start).client;
    const asked = [...session.client(said('Hi'), create).client, ...session.provider(sounds, over).client];
    expect(types(asked)).not.toContain('input_audio_buffer.committed');
    expect(session.provider(sounds).client[0]).toMatchObject({
      type: 'input_audio_buffer.committed',
      item_id: started.item_id,
    });
  });
});

describe('an interruption', () => {
  test('begins the next item, and what follows is another response', () => {
    const session = talking();
    session.provider({ serverContent: { inputTranscription: { text: 'Hi' } } }, sounds);
    session.client(append);
    const { client } = session.provider(interrupted, sounds, over);
    expect(types(client).slice(0, 2)).toEqual([
      'conversation.item.input_audio_transcription.completed',
      'input_audio_buffer.speech_started',
    ]);
    expect(responses(client)).toMatchObject([
      { status: 'cancelled', status_details: { reason: 'turn_detected' } },
      { status: 'completed' },
    ]);
    const [committed] = client.filter(({ type }) => type === 'input_audio_buffer.committed');
    expect(committed.item_id).toBe(client[1].item_id);
  });

  test('that Google hears begin and end is told with its times', () => {
    const { client } = talking().provider(
      { voiceActivity: { voiceActivityType: 'ACTIVITY_START', audioOffset: '1.250s' } },
      { voiceActivity: { voiceActivityType: 'ACTIVITY_END' } },
    );
    expect(client).toMatchObject([
      { type: 'input_audio_buffer.speech_started', audio_start_ms: 1250 },
      { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 100, item_id: client[0].item_id },
    ]);
  });
});

describe('usage', () => {
  test('that grows within a turn is counted once, and turns are summed', () => {
    const session = talking();
    const { client } = session.provider(usage(10, 0), { ...sounds, ...usage(10, 4) }, { ...over, ...usage(0, 7) });
    expect(responses(client)[0].usage).toMatchObject({ input_tokens: 10, output_tokens: 7, total_tokens: 17 });
    expect(responses(session.provider(sounds, over).client)[0].usage).toBeUndefined();
  });

  test('that comes after a call is part of the next response', () => {
    const session = talking();
    session.provider(
      { toolCall: { functionCalls: [{ id: 'c1', name: 'now', args: {} }] } },
      { ...over, ...usage(10, 2) },
    );
    const { client } = session.provider(sounds, { ...over, ...usage(20, 5) });
    expect(responses(client)[0].usage).toMatchObject({ input_tokens: 30, output_tokens: 7 });
  });

  test('tells text, speech, images, the cache and thoughts apart', () => {
    const usageMetadata = {
      promptTokenCount: 100,
      toolUsePromptTokenCount: 10,
      cachedContentTokenCount: 8,
      responseTokenCount: 30,
      thoughtsTokenCount: 6,
      promptTokensDetails: [
        { modality: 'AUDIO', tokenCount: 40 },
        { modality: 'IMAGE', tokenCount: 20 },
      ],
      responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 30 }],
    };
    expect(responses(talking().provider(sounds, { ...over, usageMetadata }).client)[0].usage).toEqual({
      total_tokens: 146,
      input_tokens: 110,
      output_tokens: 36,
      input_token_details: { text_tokens: 50, audio_tokens: 40, image_tokens: 20, cached_tokens: 8 },
      output_token_details: { text_tokens: 6, audio_tokens: 30, reasoning_tokens: 6 },
    });
  });
});

describe('calls', () => {
  test('end the response; the end of their turn ends no other', () => {
    const session = talking();
    const call = { toolCall: { functionCalls: [{ id: 'c1', name: 'now', args: { zone: 'CET' } }] } };
    const first = session.provider(says('Let me see.'), call).client;
    expect(responses(first)[0]).toMatchObject({
      status: 'completed',
      output: [
        { type: 'message', status: 'completed' },
        { type: 'function_call', call_id: 'c1', arguments: '{"zone":"CET"}' },
      ],
    });
    expect(first.filter(({ type }) => type === 'response.output_item.done').map((event) => event.output_index)).toEqual(
      [0, 1],
    );
    session.client(item({ type: 'function_call_output', call_id: 'c1', output: 'noon' }), create);
    expect(responses(session.provider(over).client)).toEqual([]);
    expect(responses(session.provider(sounds, over).client)).toMatchObject([{ status: 'completed' }]);
  });

  test('without ids get one, and their results go back without', () => {
    const session = talking();
    const { client } = session.provider({ toolCall: { functionCalls: [{ name: 'now' }] } });
    const { call_id } = responses(client)[0].output[0];
    expect(call_id).toStartWith('call_');
    const result = item({ type: 'function_call_output', call_id, output: '{"hour":12}' });
    expect(session.client(result, create).provider).toEqual([
      { toolResponse: { functionResponses: [{ name: 'now', response: { hour: 12 } }] } },
    ]);
  });
});

describe('the end of a session', () => {
  const closed = (session: ReturnType<typeof begin>, code: number, by: 'provider' | 'client', reason = '') =>
    session.translator.closed({ code, reason, by }).map((text): Json => JSON.parse(text));

  test.each([1000, 1005])('with %d needs no words', (code) => {
    expect(closed(talking(), code, 'provider')).toEqual([]);
  });

  test.each([
    [1007, 'invalid_request_error'],
    [1008, 'invalid_request_error'],
    [1011, 'server_error'],
    [1006, 'server_error'],
  ])('with %d is told as an error of the type %s', (code, type) => {
    expect(closed(talking(), code, 'provider', 'Why.')).toMatchObject([
      { type: 'error', error: { type, code: 'session_closed', message: 'Why.' } },
    ]);
  });

  test('fails the response under way, also with a friendly reason', () => {
    const session = talking();
    session.provider(sounds);
    const events = closed(session, 1000, 'provider');
    expect(responses(events)).toMatchObject([{ status: 'failed', output: [{ status: 'incomplete' }] }]);
  });

  test('by the client cancels the response, with what it has used', () => {
    const session = talking();
    session.provider({ ...sounds, ...usage(10, 2) });
    const events = closed(session, 1006, 'client');
    expect(responses(events)).toMatchObject([{ status: 'cancelled', usage: { total_tokens: 12 } }]);
    expect(errorOf(events)).toBeUndefined();
  });
});

test('messages that are none, and those that nobody asked for, are passed over', () => {
  const session = talking();
  for (const text of ['', 'null', '[1]', '{"serverContent":7}', '{"toolCallCancellation":{"ids":[1,"x"]}}']) {
    expect(session.translator.fromProvider(text)).toEqual({ toClient: [], toProvider: [] });
  }
  expect(session.provider({ sessionResumptionUpdate: { newHandle: 'h' } }).client).toEqual([]);
});
