/** Replicate, asked with OpenAI's SDK. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { messages, sharedClouds } from '../cloud-world.ts';
import { pictureBase64 } from '../providers/picture-makers.ts';
import { predictionEvents, replicateApi } from '../providers/replicate.ts';

let replicateOutput: unknown = ['Hello', ' there.'];
let replicateEvents: readonly string[] | null = null;
let replicateCancelled = Promise.withResolvers<void>();
const { simulated, world, client, calls, last, said, streamed } = sharedClouds({
  replicate: {
    api: replicateApi('sk-replicate-secret', {
      output: () => replicateOutput,
      events: () => replicateEvents,
      cancelled: () => replicateCancelled.resolve(),
    }),
    below: '',
  },
});

beforeEach(() => {
  replicateOutput = ['Hello', ' there.'];
  replicateEvents = null;
  replicateCancelled = Promise.withResolvers();
});

describe('Replicate', () => {
  test('answers a question, at once or after a while', async () => {
    const answer = await said('@replicate/meta/meta-llama-3-70b-instruct', { max_tokens: 9, temperature: 0 });
    expect(answer).toMatchObject({
      choices: [{ message: { content: 'Hello there.' } }],
      usage: { prompt_tokens: 6, completion_tokens: 4 },
    });
    expect(calls('replicate')).toHaveLength(1);
    expect(last('replicate')).toMatchObject({
      path: '/models/meta/meta-llama-3-70b-instruct/predictions',
      json: { input: { prompt: 'Hello', max_tokens: 9, temperature: 0 } },
    });
    await said('@replicate/meta/meta-llama-3-70b-instruct', { messages: [{ role: 'user', content: 'slow' }] });
    expect(last('replicate')).toMatchObject({ method: 'GET', path: '/predictions/p-1' });
  });

  test('is told who said what in a longer talk', async () => {
    const talk = [
      { role: 'system' as const, content: 'Be brief' },
      ...messages,
      { role: 'assistant' as const, content: 'Hi.' },
      { role: 'user' as const, content: 'And now?' },
    ];
    await said('@replicate/owner/name', { messages: talk });
    expect(last('replicate').json.input).toEqual({
      prompt: 'User: Hello\n\nAssistant: Hi.\n\nUser: And now?\n\nAssistant:',
      system_prompt: 'Be brief',
    });
    await said('@replicate/openai/gpt-5', { messages: talk });
    expect(last('replicate').json.input).toEqual({ messages: talk });
    const version = 'a'.repeat(64);
    await said(`@replicate/owner/name:${version}`);
    expect(last('replicate')).toMatchObject({ path: '/predictions', json: { version, input: { prompt: 'Hello' } } });
  });

  test('makes images that are fetched where they are wanted as bytes', async () => {
    replicateOutput = [`${simulated.get('replicate')?.url.replace('/v1', '')}/files/1.png`];
    const asked = { model: '@replicate/black-forest-labs/flux-dev', prompt: 'A cat', size: '1792x1024' as const };
    expect((await client().images.generate({ ...asked, response_format: 'b64_json' })).data).toEqual([
      { b64_json: pictureBase64 },
    ]);
    expect(calls('replicate')[0]?.json).toEqual({ input: { prompt: 'A cat', aspect_ratio: '16:9' } });
    expect(last('replicate').headers.authorization).toBeUndefined();
  });

  const model = '@replicate/owner/name';

  test('streams from where its prediction says, without showing its key there', async () => {
    replicateOutput = ['Hello,\n\n', 'there', ' 👋'];
    expect(await streamed(model)).toBe('Hello,\n\nthere 👋');
    const [asked, fetched] = calls('replicate');
    expect(asked).toMatchObject({
      path: '/models/owner/name/predictions',
      json: { input: { prompt: 'Hello' }, stream: true },
    });
    expect(asked?.headers.prefer).toBeUndefined();
    expect(fetched).toMatchObject({ method: 'GET', path: '/streams/p-1' });
    expect(fetched?.headers.authorization).toBeUndefined();
  });

  test('tells the whole answer of a model that does not stream as a stream', async () => {
    replicateOutput = ['Hello,\n', 'there.'];
    const runner = client().chat.completions.stream({
      model: '@replicate/owner/still-1',
      messages,
      stream_options: { include_usage: true },
    });
    expect((await runner.finalChatCompletion()).choices[0]).toMatchObject({
      message: { content: 'Hello,\nthere.' },
      finish_reason: 'stop',
    });
    expect(await runner.totalUsage()).toMatchObject({ prompt_tokens: 6, completion_tokens: 4 });
    expect(last('replicate')).toMatchObject({ method: 'GET', path: '/predictions/p-1' });
  });

  test.each([
    ['fails', ['event: error\ndata: {"detail":"CUDA out of memory"}\n\n'], 'CUDA out of memory'],
    ['is cancelled', predictionEvents(['Hello'], { reason: 'canceled' }), 'the prediction was cancelled'],
  ])('a stream whose prediction %s does not look complete', async (_, events, words) => {
    replicateEvents = events;
    await expect(streamed(model)).rejects.toThrow(words);
  });

  test('a stream that breaks off does not look complete, and its prediction is cancelled', async () => {
    replicateEvents = predictionEvents(['Hello']).slice(0, -1);
    await expect(streamed(model)).rejects.toThrow('before it was complete');
    await replicateCancelled.promise;
    expect(last('replicate')).toMatchObject({ method: 'POST', path: '/predictions/p-1/cancel' });
  });

  test('is asked in other dialects too, and refuses tools', async () => {
    const answer = await world().call('/v1/messages', { model, max_tokens: 5, messages });
    expect((await answer.json()) as unknown).toMatchObject({ content: [{ type: 'text', text: 'Hello there.' }] });
    expect(last('replicate').json).toEqual({ input: { prompt: 'Hello', max_tokens: 5 } });
    const tools = [{ type: 'function' as const, function: { name: 'weather' } }];
    await expect(said(model, { tools })).rejects.toThrow('tools');
    expect(calls('replicate')).toHaveLength(1);
  });
});
