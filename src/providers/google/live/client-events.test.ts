import { describe, expect, test } from 'bun:test';
import {
  append,
  begin,
  create,
  errorOf,
  item,
  native,
  over,
  restricted,
  said,
  sounds,
  turn,
  types,
} from '../../../../test/live-session.ts';

describe('events that are none', () => {
  test.each([['{"type":'], ['[]'], ['"response.create"'], ['{}'], ['{"type":"nonsense"}'], ['{"type":7}']])(
    '%s is answered with an error',
    (text) => {
      const { toClient, toProvider } = begin().translator.fromClient(text);
      expect([toClient.length, toProvider.length]).toEqual([1, 0]);
      expect(JSON.parse(toClient[0] ?? '')).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    },
  );

  test('a binary frame and a nest without end are answered with an error', () => {
    for (const text of [null, `{"type":${'['.repeat(100_000)}`]) {
      expect(JSON.parse(begin().translator.fromClient(text).toClient[0] ?? '').type).toBe('error');
    }
  });

  test.each([
    'conversation.item.truncate',
    'conversation.item.retrieve',
    'output_audio_buffer.clear',
    'transcription_session.update',
  ])('%s has no counterpart', (type) => {
    expect(errorOf(begin().client({ type, item_id: 'i' }).client)).toMatchObject({ param: 'type' });
  });
});

describe('turns', () => {
  test('wait for the response that is asked for, and are told with it', () => {
    const session = begin();
    const { client, provider } = session.client(said('A'), said('B', 'assistant'), said('C'));
    expect(provider).toEqual([]);
    expect(types(client)).toEqual(
      Array.from({ length: 3 }, () => ['conversation.item.added', 'conversation.item.done']).flat(),
    );
    expect(client[2].previous_item_id).toBe(client[0].item.id);
    session.client(create);
    expect(session.provider({ setupComplete: {} }).provider).toEqual([
      { clientContent: { turns: [turn('A'), turn('B', 'model'), turn('C')], turnComplete: true } },
    ]);
  });

  test('may hold images and speech', () => {
    const session = begin();
    session.agree();
    const content = [
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      { type: 'input_audio', audio: 'BBBB' },
    ];
    const { client } = session.client(item({ type: 'message', role: 'user', content }));
    expect(client[0].item.content[1]).toEqual({ type: 'input_audio' });
    expect(session.client(create).provider[0].clientContent.turns[0].parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { inlineData: { mimeType: 'audio/pcm;rate=24000', data: 'BBBB' } },
    ]);
  });

  test.each([
    [
      { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'https://a.test/b.png' }] },
      'item.content[0].image_url',
    ],
    [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 7 }] }, 'item.content[0].text'],
    [{ type: 'message', role: 'user', content: [] }, 'item.content'],
    [{ type: 'message', role: 'assistant', content: [{ type: 'output_audio', audio: 'AA' }] }, 'item.content[0].type'],
    [{ type: 'message', role: 'tool', content: [{ type: 'input_text', text: 'x' }] }, 'item.role'],
    [{ type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' }, 'item.type'],
    [{ type: 'mcp_approval_response', id: 'm' }, 'item.type'],
    [{ type: 'function_call_output', call_id: 'c', output: '{}' }, 'item.call_id'],
    [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }], tone: 'loud' }, 'item.tone'],
  ])('%j is refused', (refused, param) => {
    expect(errorOf(begin().client(item(refused)).client).param).toBe(param);
  });

  test('stand behind the last item alone, and can be taken back until they are told', () => {
    const session = begin();
    const first = session.client({ ...said('A'), previous_item_id: 'root' }).client[0].item.id;
    expect(errorOf(session.client({ ...said('B'), previous_item_id: 'root' }).client).param).toBe('previous_item_id');
    const remove = { type: 'conversation.item.delete', item_id: first };
    expect(types(session.client(remove).client)).toEqual(['conversation.item.deleted']);
    expect(errorOf(session.client(remove).client).param).toBe('item_id');
    session.client({ ...said('C'), previous_item_id: first }, create);
    expect(session.provider({ setupComplete: {} }).provider[0].clientContent.turns).toEqual([turn('C')]);
  });

  test('that wait are told before the speech that follows, without asking for an answer', () => {
    const session = begin();
    session.agree();
    expect(session.client(said('Look at this.'), append).provider).toMatchObject([
      { clientContent: { turns: [turn('Look at this.')], turnComplete: false } },
      { realtimeInput: { audio: {} } },
    ]);
  });

  test('do not break off a response', () => {
    const session = begin();
    session.agree();
    session.provider(sounds);
    expect(session.client(said('Later.'), append).provider).toMatchObject([{ realtimeInput: { audio: {} } }]);
  });

  test('must not grow without bound', () => {
    const session = begin();
    const large = said('x'.repeat(9 * 1024 * 1024));
    expect(errorOf(session.client(large, large).client)).toBeUndefined();
    expect(errorOf(session.client(large).client).param).toBe('item');
  });

  test('are typed to a model that takes none, what is shown first', () => {
    const session = begin(restricted);
    session.agree();
    const shown = [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }];
    session.client(said('One.'), said('Two.'), item({ type: 'message', role: 'user', content: shown }));
    expect(session.client(create).provider).toEqual([
      { realtimeInput: { video: { mimeType: 'image/png', data: 'AAAA' } } },
      { realtimeInput: { text: 'One.\n\nTwo.' } },
    ]);
    expect(errorOf(session.client(said('Hi.', 'assistant')).client).param).toBe('item.role');
  });

  test('are history to such a model up to the last that was not typed', () => {
    const session = begin(restricted);
    session.client(said('A'), said('B', 'assistant'), said('C'), create);
    expect(session.provider({ setupComplete: {} }).provider).toEqual([
      { clientContent: { turns: [turn('A'), turn('B', 'model')], turnComplete: true } },
      { realtimeInput: { text: 'C' } },
    ]);
  });

  test('are history to such a model when speech comes first', () => {
    const session = begin(restricted);
    session.client(said('A'), said('B'));
    expect(session.client(append).provider[0].setup.historyConfig).toEqual({ initialHistoryInClientContent: true });
    expect(session.provider({ setupComplete: {} }).provider).toMatchObject([
      { clientContent: { turns: [turn('A'), turn('B')], turnComplete: true } },
      { realtimeInput: { audio: {} } },
    ]);
  });

  test('such a model has nothing to answer without them', () => {
    const session = begin(restricted);
    expect(errorOf(session.client(said('Hi.', 'assistant'), create).client).param).toBe('response');
    expect(session.client(append).provider[0].setup).toBeDefined();
  });
});

describe('speech', () => {
  const commit = { type: 'input_audio_buffer.commit' };
  const clear = { type: 'input_audio_buffer.clear' };

  test('must be base64, and cannot be taken back', () => {
    const session = begin();
    expect(types(session.client(clear).client)).toEqual(['input_audio_buffer.cleared']);
    expect(errorOf(session.client({ ...append, audio: 'ä' }).client).param).toBe('audio');
    expect(errorOf(session.client(append, clear).client).param).toBe('type');
  });

  test('that is committed while Google listens for its end is answered at once', () => {
    const session = begin();
    expect(errorOf(session.client(commit).client).code).toBe('input_audio_buffer_commit_empty');
    session.agree();
    const { client, provider } = session.client(commit);
    expect(provider).toEqual([{ realtimeInput: { audioStreamEnd: true } }]);
    expect(types(client)).toEqual([
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
    ]);
    expect(session.client(create).provider).toEqual([]);
    expect(types(session.provider(sounds).client)[0]).toBe('response.output_item.added');
    session.provider(over);
    expect(session.client(create).provider).toEqual([{ clientContent: { turnComplete: true } }]);
  });

  test('that the client ends itself waits for the response, and text may come between', () => {
    const session = begin(native, { audio: { input: { turn_detection: null } } });
    session.agree();
    expect(errorOf(session.client(create).client).code).toBe('input_audio_buffer_not_committed');
    expect(session.client(commit).provider).toEqual([]);
    expect(session.client(said('And?'), create).provider).toEqual([
      { realtimeInput: { text: 'And?' } },
      { realtimeInput: { activityEnd: {} } },
    ]);
    session.provider(sounds, over);
    expect(session.client(append).provider[0]).toEqual({ realtimeInput: { activityStart: {} } });
    const audio = { type: 'message', role: 'user', content: [{ type: 'input_audio', audio: 'AAAA' }] };
    expect(errorOf(session.client(item(audio)).client).param).toBe('item.content');
  });
});

describe('a response', () => {
  test('is asked for without words where the model may go on by itself', () => {
    const session = begin();
    session.agree();
    expect(session.client(create).provider).toEqual([{ clientContent: { turnComplete: true } }]);
  });

  test('has what the session has, and metadata of its own', () => {
    const session = begin(native, { instructions: 'Be brief.' });
    const asked = {
      instructions: 'Be brief.',
      output_modalities: ['audio'],
      conversation: 'auto',
      metadata: { a: 'b' },
    };
    const { client } = session.client({ ...create, response: asked });
    expect(client[0]).toMatchObject({ type: 'response.created', response: { metadata: { a: 'b' } } });
  });

  test.each([
    [{ instructions: 'Sing.' }, 'response.instructions'],
    [{ conversation: 'none' }, 'response.conversation'],
    [{ output_modalities: ['text'] }, 'response.output_modalities'],
    [{ input: [{ type: 'message' }] }, 'response.input'],
    [{ tools: [{ type: 'function', name: 'now' }] }, 'response.tools'],
    [{ max_output_tokens: 5 }, 'response.max_output_tokens'],
    [{ audio: { output: { voice: 'Kore' } } }, 'response.audio'],
  ])('%j is refused', (response, param) => {
    expect(errorOf(begin().client({ ...create, response }).client).param).toBe(param);
  });

  test('is one at a time', () => {
    const session = begin();
    const { client } = session.client(create, create);
    expect(types(client)).toEqual(['response.created', 'error']);
    expect(errorOf(client).code).toBe('conversation_already_has_active_response');
  });

  test('that is cancelled ends when Google has stopped', () => {
    const session = begin();
    const cancel = { type: 'response.cancel' };
    expect(errorOf(session.client(cancel).client).code).toBe('response_cancel_not_active');
    session.agree(said('Count.'), create);
    session.provider(sounds);
    session.client(append);
    expect(errorOf(session.client({ ...cancel, response_id: 'other' }).client).code).toBe('response_cancel_not_active');
    expect(session.client(cancel)).toEqual({ client: [], provider: [{ clientContent: { turnComplete: false } }] });
    const { client } = session.provider({ serverContent: { interrupted: true } }, over);
    expect(client.at(-1)?.response).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'client_cancelled' },
    });
    expect(types(client)).not.toContain('input_audio_buffer.speech_started');
  });

  test('of a model that takes no turns cannot be cancelled', () => {
    const session = begin(restricted);
    session.agree(said('Count.'), create);
    expect(errorOf(session.client({ type: 'response.cancel' }).client).param).toBe('type');
  });

  test('to results and a new message at once is refused', () => {
    const session = begin();
    session.agree();
    session.provider({ toolCall: { functionCalls: [{ id: 'c1', name: 'now' }] } });
    const result = item({ type: 'function_call_output', call_id: 'c1', output: 'noon' });
    const { client } = session.client(result, said('Hurry.'));
    expect(errorOf(session.client(create).client).param).toBe('response');
    const message = client.at(-1)?.item.id;
    session.client({ type: 'conversation.item.delete', item_id: message });
    expect(session.client(create).provider).toEqual([
      { toolResponse: { functionResponses: [{ id: 'c1', name: 'now', response: { output: 'noon' } }] } },
    ]);
  });
});
