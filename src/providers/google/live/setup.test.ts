import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../../test/call-facts.ts';
import { append, begin, errorOf, native, newest, said, types, update } from '../../../../test/live-session.ts';
import { requireModel } from './live.ts';

test('a call that names no model is refused', () => {
  expect(() => requireModel(callFacts({ model: '' }))).toThrow('model is missing');
});

describe('the session', () => {
  test('is described before anything is said to Google', () => {
    const { opened } = begin();
    expect(opened).toMatchObject([
      {
        type: 'session.created',
        session: {
          object: 'realtime.session',
          model: native,
          output_modalities: ['audio'],
          audio: { input: { format: { rate: 24_000 }, turn_detection: { type: 'server_vad' }, transcription: null } },
        },
      },
    ]);
  });

  test('is set up with everything that was settled before the first word', () => {
    const session = begin();
    const first = session.client(update({ instructions: 'Be brief.', max_output_tokens: 9 }));
    const second = session.client(
      update({
        model: `@gem/${native}`,
        truncation: 'auto',
        reasoning: { effort: 'low' },
        parallel_tool_calls: true,
        tool_choice: 'auto',
        max_output_tokens: 'inf',
        tools: [{ type: 'function', name: 'now' }],
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 16_000 },
            transcription: { language: 'de' },
            turn_detection: { type: 'server_vad', silence_duration_ms: 700, threshold: 0.5, interrupt_response: false },
          },
          output: { voice: 'Kore', speed: 1 },
        },
      }),
      said('You are a clock.', 'system'),
    );
    expect([...first.provider, ...second.provider]).toEqual([]);
    expect(second.client[0].session).toMatchObject({ instructions: 'Be brief.', truncation: 'auto' });
    expect(session.agree()).toEqual({
      model: `models/${native}`,
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
        thinkingConfig: { thinkingBudget: 1024 },
      },
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'You are a clock.' }] },
      tools: [{ functionDeclarations: [{ name: 'now' }] }],
      realtimeInputConfig: {
        automaticActivityDetection: { silenceDurationMs: 700 },
        activityHandling: 'NO_INTERRUPTION',
      },
      inputAudioTranscription: { languageCodes: ['de'] },
      outputAudioTranscription: {},
      contextWindowCompression: { slidingWindow: {} },
    });
    expect(session.client(append).provider[0].realtimeInput.audio.mimeType).toBe('audio/pcm;rate=16000');
  });

  test.each([
    ['type', { type: 'transcription' }, 'session.type'],
    ['model', { model: 'gemini-other' }, 'session.model'],
    ['both modalities', { output_modalities: ['text', 'audio'] }, 'session.output_modalities'],
    ['forced tools', { tool_choice: { type: 'function', name: 'now' } }, 'session.tool_choice'],
    ['tools of other types', { tools: [{ type: 'mcp', server_label: 'x' }] }, 'session.tools[0].type'],
    ['tools that Google runs', { tools: [{ type: 'function', name: 'google_search' }] }, 'session.tools[0].name'],
    ['a voice by id', { audio: { output: { voice: { id: 'v' } } } }, 'session.audio.output.voice'],
    ['another speed', { audio: { output: { speed: 1.2 } } }, 'session.audio.output.speed'],
    [
      'another rate',
      { audio: { output: { format: { type: 'audio/pcm', rate: 8_000 } } } },
      'session.audio.output.format.rate',
    ],
    ['telephone audio', { audio: { input: { format: { type: 'audio/pcma' } } } }, 'session.audio.input.format.type'],
    [
      'noise reduction',
      { audio: { input: { noise_reduction: { type: 'near_field' } } } },
      'session.audio.input.noise_reduction',
    ],
    [
      'a transcriber',
      { audio: { input: { transcription: { model: 'whisper-1' } } } },
      'session.audio.input.transcription.model',
    ],
    [
      'semantic detection',
      { audio: { input: { turn_detection: { type: 'semantic_vad' } } } },
      'session.audio.input.turn_detection.type',
    ],
    [
      'a threshold',
      { audio: { input: { turn_detection: { type: 'server_vad', threshold: 0.9 } } } },
      'session.audio.input.turn_detection.threshold',
    ],
    [
      'silence without an answer',
      { audio: { input: { turn_detection: { type: 'server_vad', create_response: false } } } },
      'session.audio.input.turn_detection.create_response',
    ],
    ['a limit of nothing', { max_output_tokens: 0 }, 'session.max_output_tokens'],
    ['a ratio', { truncation: { type: 'retention_ratio', retention_ratio: 0.5 } }, 'session.truncation'],
    ['tracing', { tracing: 'auto' }, 'session.tracing'],
    ['a prompt', { prompt: { id: 'p' } }, 'session.prompt'],
    ['the form of the beta', { modalities: ['text'] }, 'session.modalities'],
  ])('refuses %s by its name and keeps what was settled', (_, settings, param) => {
    const session = begin();
    const { client } = session.client({ event_id: 'e', ...update({ instructions: 'Sing.', ...settings }) });
    expect(client).toMatchObject([{ type: 'error', error: { type: 'invalid_request_error', param, event_id: 'e' } }]);
    expect(session.agree().systemInstruction).toBeUndefined();
  });

  test('that has begun takes what it has already, another rate, and nothing else', () => {
    const session = begin(native, { instructions: 'Be brief.' });
    session.agree();
    expect(types(session.client(update({ instructions: 'Be brief.' })).client)).toEqual(['session.updated']);
    const rate = { audio: { input: { format: { type: 'audio/pcm', rate: 8_000 } } } };
    expect(types(session.client(update(rate)).client)).toEqual(['session.updated']);
    expect(errorOf(session.client(update({ instructions: 'Sing.' })).client).param).toBe('session.instructions');
    expect(errorOf(session.client(update({ audio: { output: { voice: 'Puck' } } })).client).param).toBe(
      'session.audio.output.voice',
    );
    expect(errorOf(session.client(said('Sing.', 'system')).client).param).toBe('item.role');
  });

  test('of a newer model takes new instructions and tools at any time, and waits for its functions', () => {
    const session = begin(newest, { tools: [{ type: 'function', name: 'now' }] });
    session.client(said('You are a clock.', 'system'));
    const { tools } = session.agree();
    expect(tools).toEqual([{ functionDeclarations: [{ name: 'now', behavior: 'BLOCKING' }] }]);
    expect(session.client(update({ instructions: 'Sing.', tools: [] })).provider).toEqual([
      {
        contextUpdate: {
          systemInstruction: { parts: [{ text: 'Sing.' }, { text: 'You are a clock.' }] },
          tools: { tools: [] },
        },
      },
    ]);
  });

  test('holds everything but the setup until Google has agreed', () => {
    const session = begin();
    expect(Object.keys(session.client(append, append).provider[0])).toEqual(['setup']);
    expect(session.translator.held).toBeGreaterThan(2 * append.audio.length);
    expect(session.provider({ setupComplete: {} }).provider).toHaveLength(2);
    expect(session.translator.held).toBe(0);
    expect(session.client(append).provider).toHaveLength(1);
  });
});
