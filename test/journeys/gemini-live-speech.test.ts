/** Speech with Gemini's Live API behind the realtime client of OpenAI's SDK, through the whole program, and how sessions end. */
import { describe, expect, test } from 'bun:test';
import type { Json } from '../harness.ts';
import { append, types } from '../live-session.ts';
import { leave, liveWorld, native } from '../live-world.ts';
import { hears, sounds, turnEnds, usageMetadata, writesDown } from '../providers/gemini-live.ts';

const gemini = liveWorld();
const records = (traceId: string) => gemini.world.gateway.records.filter(({ metrics }) => metrics.trace_id === traceId);
const bodyOf = (message: { body: Uint8Array | null } | undefined): Json =>
  JSON.parse(Buffer.from(message?.body ?? []).toString());

describe('speech', () => {
  test('goes in and comes out with its transcripts, and is charged as speech', async () => {
    const session = await gemini.open(`@gem/${native}`, {
      audio: { input: { transcription: {} }, output: { voice: 'Kore' } },
    });
    const { client, live, traceId } = session;
    client.send(append);
    expect((await live.next()).setup).toEqual({
      model: `models/${native}`,
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
      inputAudioTranscription: {},
      outputAudioTranscription: {},
    });
    expect(await live.next()).toEqual({
      realtimeInput: { audio: { mimeType: 'audio/pcm;rate=24000', data: append.audio } },
    });
    live.say(hears('Hello'), hears(' there'), sounds('AAAA'), writesDown('Hi!'), sounds('BBBB'), ...turnEnds());
    const events = await client.until('response.done');
    expect(types(events)).toEqual([
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.delta',
      'response.created',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio.delta',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'conversation.item.input_audio_transcription.completed',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'conversation.item.done',
      'response.done',
    ]);
    expect(events.filter(({ type }) => type === 'response.output_audio.delta').map(({ delta }) => delta)).toEqual([
      'AAAA',
      'BBBB',
    ]);
    const { response } = events.at(-1);
    expect(response.output[0].content).toEqual([{ type: 'output_audio', transcript: 'Hi!' }]);
    expect(response.usage).toEqual({
      total_tokens: 125,
      input_tokens: 100,
      output_tokens: 25,
      input_token_details: { text_tokens: 40, audio_tokens: 60, image_tokens: 0, cached_tokens: 0 },
      output_token_details: { text_tokens: 0, audio_tokens: 25 },
    });
    const heard = events.find(({ type }) => type === 'conversation.item.input_audio_transcription.completed');
    expect(heard).toMatchObject({ item_id: events[1].item.id, transcript: 'Hello there' });
    await leave(session);
    const [answer, whole] = await gemini.world.records(traceId, 2);
    expect(answer).toMatchObject({
      ai_org: 'google',
      ai_model: native,
      virtual_key: 'gem',
      endpoint_type: 'realtime',
      response_status_code: 200,
      is_success: true,
      req_units: 100,
      res_units: 25,
      usage_estimated: false,
    });
    // Text $0.50 and speech $3 in, speech $12 out, each for a million tokens.
    expect(answer?.cost).toBeCloseTo(((40 * 0.5 + 60 * 3 + 25 * 12) / 1_000_000) * 100, 10);
    expect(whole).toMatchObject({ response_status_code: 101, is_success: true, cost: 0 });
    const [spoken] = records(traceId);
    expect(bodyOf(spoken?.bodies.request).items).toMatchObject([
      { role: 'user', transcript: 'Hello there' },
      { role: 'assistant', content: [{ type: 'output_audio', transcript: 'Hi!' }] },
    ]);
    expect(JSON.stringify(records(traceId))).not.toContain('sk-gem-secret');
  });

  test('that interrupts is told at once, and the response that it broke off is charged', async () => {
    const session = await gemini.open();
    const { client, live } = session;
    client.send(append);
    await live.next();
    await live.next();
    live.say(sounds('AAAA'), writesDown('Once upon'));
    await client.event('response.output_audio_transcript.delta');
    client.send(append);
    await live.next();
    live.say({ serverContent: { interrupted: true } });
    expect(await client.next()).toMatchObject({ type: 'input_audio_buffer.speech_started', audio_start_ms: 200 });
    live.say({ serverContent: { turnComplete: true }, usageMetadata });
    const { response } = await client.event('response.done');
    expect(response).toMatchObject({
      status: 'cancelled',
      status_details: { type: 'cancelled', reason: 'turn_detected' },
      output: [{ status: 'incomplete', content: [{ transcript: 'Once upon' }] }],
      usage: { total_tokens: 125 },
    });
    await leave(session);
  });

  test('ends where the client says so, and is answered when it asks for that', async () => {
    const session = await gemini.open(`@gem/${native}`, { audio: { input: { turn_detection: null } } });
    const { client, live } = session;
    client.send(append, append, { type: 'input_audio_buffer.commit' });
    await client.event('conversation.item.done');
    client.send({ type: 'response.create' });
    expect((await live.next()).setup.realtimeInputConfig).toEqual({
      automaticActivityDetection: { disabled: true },
      activityHandling: 'NO_INTERRUPTION',
    });
    expect(await live.next()).toEqual({ realtimeInput: { activityStart: {} } });
    expect((await live.next()).realtimeInput.audio.data).toBe(append.audio);
    expect((await live.next()).realtimeInput.audio.data).toBe(append.audio);
    expect(await live.next()).toEqual({ realtimeInput: { activityEnd: {} } });
    live.say(sounds('AAAA'), ...turnEnds());
    const events = await client.until('response.done');
    expect(types(events).filter((type) => type === 'response.created')).toHaveLength(1);
    await leave(session);
  });

  test('is held back until Google has agreed to the session', async () => {
    gemini.provider.hesitate(true);
    const session = await gemini.open();
    const { client, live } = session;
    client.send(append, append);
    expect(Object.keys(await live.next())).toEqual(['setup']);
    client.send({ type: 'input_audio_buffer.clear', event_id: 'clear-1' });
    expect((await client.event('error')).error).toMatchObject({ event_id: 'clear-1' });
    live.say({ setupComplete: {} });
    expect((await live.next()).realtimeInput.audio.data).toBe(append.audio);
    expect((await live.next()).realtimeInput.audio.data).toBe(append.audio);
    await leave(session);
  });
});

describe('the end', () => {
  test('a key that Google does not know is told in Google’s words', async () => {
    const { client } = await gemini.connect(`@wrong/${native}`);
    expect((await client.event('error')).error).toMatchObject({
      type: 'invalid_request_error',
      code: 'session_closed',
      message: 'API key not valid. Please pass a valid API key.',
    });
    expect((await client.closed).code).toBe(1007);
  });

  test('a model without Live ends the session with its code, and the response that was asked for has failed', async () => {
    const { client, traceId } = await gemini.connect('@gem/gemini-2.5-flash');
    client.ask('Hi');
    expect((await client.event('response.done')).response).toMatchObject({ status: 'failed', output: [] });
    expect((await client.event('error')).error.message).toContain('is not supported for bidiGenerateContent');
    expect((await client.closed).code).toBe(1008);
    const [answer] = await gemini.world.records(traceId, 2);
    expect(answer).toMatchObject({ response_status_code: 500, is_success: false, cost: 0 });
    await gemini.provider.session();
  });

  test('a session that Google ends in the middle of a response leaves the response failed', async () => {
    const session = await gemini.open();
    const { client, live, traceId } = session;
    client.ask('Tell a story.');
    await live.next();
    await live.next();
    live.say({ goAway: { timeLeft: '10s' } }, sounds('AAAA'), writesDown('Once'));
    expect((await client.event('error')).error).toMatchObject({
      code: 'session_expiring',
      message: 'the provider ends this session in 10s',
    });
    await client.event('response.output_audio_transcript.delta');
    live.close(1011, 'Deadline expired before operation could complete.');
    const { response } = await client.event('response.done');
    expect(response).toMatchObject({ status: 'failed', output: [{ status: 'incomplete' }] });
    expect((await client.event('error')).error).toMatchObject({
      type: 'server_error',
      message: 'Deadline expired before operation could complete.',
    });
    expect((await client.closed).code).toBe(1011);
    const [answer] = await gemini.world.records(traceId, 2);
    expect(answer).toMatchObject({ response_status_code: 500, is_success: false });
  });

  test('a line that breaks is no close frame', async () => {
    const session = await gemini.open();
    const { client, live, traceId } = session;
    client.ask('Hi');
    await live.next();
    live.vanish();
    expect((await client.event('response.done')).response.status).toBe('failed');
    expect((await client.closed).code).toBe(1006);
    const records = await gemini.world.records(traceId, 2);
    expect(records.map(({ is_success }) => is_success)).toEqual([false, false]);
  });

  test('a client that leaves closes the session with Google, and what was begun is in the log', async () => {
    const session = await gemini.open();
    const { client, live, traceId } = session;
    client.ask('Tell a story.');
    await live.next();
    await live.next();
    live.say(sounds('AAAA'), { usageMetadata });
    await client.event('response.output_audio.delta');
    client.socket.close({ code: 1000, reason: 'enough' });
    expect(await live.closed).toEqual({ code: 1000, reason: 'enough' });
    const records = await gemini.world.records(traceId, 2);
    const answer = records.find(({ span_name }) => span_name === 'response.done');
    expect(answer).toMatchObject({ response_status_code: 200, total_units: 125 });
  });
});
