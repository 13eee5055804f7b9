/** The live client of Google's own SDK, straight at the simulated API: it reads what the real one sends, and is refused what the real one refuses. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { GoogleGenAI, type LiveConnectConfig, type LiveServerMessage, Modality, type Session } from '@google/genai';
import type { Json } from '../harness.ts';
import {
  calls,
  hears,
  type LiveSession,
  type SimulatedLive,
  says,
  sounds,
  startLive,
  turnEnds,
} from './gemini-live.ts';
import type { CloseFrame } from './realtime.ts';

let provider: SimulatedLive;
beforeAll(() => {
  provider = startLive();
});
afterEach(() => provider.hesitate(false));
afterAll(() => provider.stop());

interface Talk {
  client: Session;
  session: LiveSession;
  next(): Promise<LiveServerMessage>;
  closed: Promise<CloseFrame>;
}

const studio = (apiKey = 'key-1') =>
  new GoogleGenAI({ apiKey, vertexai: false, httpOptions: { baseUrl: provider.url } });

async function connect(ai: GoogleGenAI, model: string, config: LiveConnectConfig): Promise<Talk> {
  const arrived: LiveServerMessage[] = [];
  let waiting: ((message: LiveServerMessage) => void) | null = null;
  let leave: (closeFrame: CloseFrame) => void = () => undefined;
  const closed = new Promise<CloseFrame>((resolve) => {
    leave = resolve;
  });
  const opening = provider.session();
  const client = await ai.live.connect({
    model,
    config,
    callbacks: {
      onmessage(message) {
        if (waiting) waiting(message);
        else arrived.push(message);
        waiting = null;
      },
      onclose: ({ code, reason }) => leave({ code, reason: String(reason) }),
    },
  });
  const next = (): Promise<LiveServerMessage> => {
    const message = arrived.shift();
    if (message) return Promise.resolve(message);
    return new Promise((resolve) => {
      waiting = resolve;
    });
  };
  const session = await opening;
  expect((await session.next()).setup.model).toEndWith(model);
  expect(await next()).toMatchObject({ setupComplete: {} });
  return { client, session, next, closed };
}

const speaking = { responseModalities: [Modality.AUDIO] };
const older = 'gemini-2.0-flash-live-001';
const native = 'gemini-2.5-flash-native-audio-latest';

test('a turn of text is answered with text and its usage', async () => {
  const { client, session, next } = await connect(studio(), older, { responseModalities: [Modality.TEXT] });
  client.sendClientContent({ turns: 'Say hello.' });
  expect(await session.next()).toEqual({
    clientContent: { turns: [{ role: 'user', parts: [{ text: 'Say hello.' }] }], turnComplete: true },
  });
  session.say(says('Hello.'), ...turnEnds());
  expect((await next()).text).toBe('Hello.');
  expect((await next()).serverContent?.generationComplete).toBe(true);
  const last = await next();
  expect(last.serverContent?.turnComplete).toBe(true);
  expect(last.usageMetadata).toMatchObject({ promptTokenCount: 100, responseTokenCount: 25, totalTokenCount: 125 });
  client.close();
  await session.closed;
});

test('speech goes in and comes out', async () => {
  const { client, session, next } = await connect(studio(), native, {
    ...speaking,
    inputAudioTranscription: {},
    outputAudioTranscription: {},
    realtimeInputConfig: { automaticActivityDetection: { disabled: true } },
  });
  client.sendRealtimeInput({ activityStart: {} });
  client.sendRealtimeInput({ audio: { data: 'AAAA', mimeType: 'audio/pcm;rate=24000' } });
  client.sendRealtimeInput({ activityEnd: {} });
  expect(await session.next()).toEqual({ realtimeInput: { activityStart: {} } });
  expect(await session.next()).toEqual({
    realtimeInput: { audio: { data: 'AAAA', mimeType: 'audio/pcm;rate=24000' } },
  });
  expect(await session.next()).toEqual({ realtimeInput: { activityEnd: {} } });
  session.say(hears('Hi'), sounds('BBBB'));
  expect((await next()).serverContent?.inputTranscription?.text).toBe('Hi');
  expect((await next()).data).toBe('BBBB');
  client.close();
  await session.closed;
});

test('a call is answered by its id', async () => {
  const { client, session, next } = await connect(studio(), native, {
    ...speaking,
    tools: [{ functionDeclarations: [{ name: 'now', parametersJsonSchema: { type: 'object' } }] }],
  });
  session.say(calls({ id: 'c1', name: 'now', args: { zone: 'CET' } }));
  expect((await next()).toolCall?.functionCalls).toEqual([{ id: 'c1', name: 'now', args: { zone: 'CET' } }]);
  client.sendToolResponse({ functionResponses: [{ id: 'c1', name: 'now', response: { output: 'noon' } }] });
  expect((await session.next()).toolResponse.functionResponses[0].id).toBe('c1');
  client.close();
  await session.closed;
});

test('Vertex AI has an address and model names of its own, and counts under other names', async () => {
  const ai = new GoogleGenAI({
    vertexai: true,
    project: 'proj-1',
    location: 'us-central1',
    httpOptions: { baseUrl: provider.url, headers: { Authorization: 'Bearer ya29.token' } },
    googleAuthOptions: { authClient: tokenOf('ya29.token') },
  });
  const { client, session, next } = await connect(ai, 'gemini-live-2.5-flash-native-audio', speaking);
  session.say({ usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 } });
  expect((await next()).usageMetadata).toMatchObject({ promptTokenCount: 3, responseTokenCount: 4 });
  client.close();
  await session.closed;
});

/** What the SDK asks of a Google identity. */
const tokenOf = (token: string): Json =>
  ({ getRequestHeaders: async () => new Headers({ authorization: `Bearer ${token}` }) }) as Json;

test('turns for a model that takes none, results that nobody asked for and signals that nobody expects end the session', async () => {
  const refused = async (model: string, say: (talk: Talk) => void) => {
    const talk = await connect(studio(), model, speaking);
    say(talk);
    return (await talk.closed).code;
  };
  expect(
    await refused('gemini-3.1-flash-live-preview', ({ client }) => client.sendClientContent({ turns: 'Hi' })),
  ).toBe(1007);
  expect(
    await refused(native, ({ client }) =>
      client.sendToolResponse({ functionResponses: { id: 'c9', name: 'now', response: {} } }),
    ),
  ).toBe(1008);
  expect(await refused(native, ({ client }) => client.sendRealtimeInput({ activityStart: {} }))).toBe(1007);
});

test('a newer model takes text as it is typed', async () => {
  const { client, session, next } = await connect(studio(), 'gemini-3.1-flash-live-preview', speaking);
  client.sendRealtimeInput({ text: 'Who am I?' });
  expect(await session.next()).toEqual({ realtimeInput: { text: 'Who am I?' } });
  session.say(sounds('AAAA'));
  expect((await next()).data).toBe('AAAA');
  client.close();
  await session.closed;
});

test('a newer model still takes new instructions', async () => {
  const { client, session } = await connect(studio(), 'gemini-3.8-live', speaking);
  client.sendContextUpdate({ systemInstruction: 'Be brief.' });
  expect((await session.next()).contextUpdate.systemInstruction.parts).toEqual([{ text: 'Be brief.' }]);
  client.close();
  await session.closed;
});
