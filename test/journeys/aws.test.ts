/** AWS's other services with OpenAI's own SDK in front: endpoints of SageMaker's, Polly's voices, and Bedrock Mantle. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { anthropicClient, openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import * as claude from '../providers/anthropic.ts';
import { keySettings, keys, known, refuses, startBedrock } from '../providers/bedrock.ts';
import { bytesFrame, exceptionFrame, frames } from '../providers/event-stream.ts';
import * as openai from '../providers/openai.ts';
import { type Behaviour, bytes, json, type ReceivedCall, type SimulatedProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let service: SimulatedProvider;
let world: World;

const saved = { sage: 'sagemaker', polly: 'aws-polly', mantle: 'bedrock-mantle' };

beforeAll(async () => {
  service = await startBedrock(openai.says('Hello'));
  world = await startWorld({});
  for (const [slug, provider] of Object.entries(saved)) {
    await world.saveProvider(slug, provider, service, {
      configurations: {
        ...keySettings,
        custom_host: service.url,
        ...(slug === 'sage' && { amzn_sagemaker_target_variant: 'blue', amzn_sagemaker_model_name: 'tgi' }),
      },
    });
  }
});
sharedByTests(
  () => world.gateway,
  () => [service],
);

const clientOf = (slug: keyof typeof saved): OpenAI => openaiClient(world, { 'x-gw-provider': `@${slug}` });
const received = (): ReceivedCall => {
  const call = service.calls.at(-1);
  if (!call) throw new Error('The service was not asked');
  return call;
};

describe('an endpoint of SageMaker’s', () => {
  const asService = (behaviour: Behaviour) => known(behaviour, keys, 'sagemaker');
  const question = { model: 'my-endpoint', messages: [{ role: 'user' as const, content: 'Hi' }] };
  /** The container's own stream in frames that are cut in the middle of lines and characters. */
  const inFrames = (text: string, size = 7): Buffer[] => {
    const whole = Buffer.from(text);
    return Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
      bytesFrame('PayloadPart', whole.subarray(index * size, (index + 1) * size)),
    );
  };

  test('that speaks OpenAI’s dialect answers as it is', async () => {
    service.script(asService(json(200, openai.completion('Hello', 'tgi'))));
    const answer = await clientOf('sage').chat.completions.create(question);
    expect(answer as Json).toEqual(openai.completion('Hello', 'tgi'));
    expect(received().path).toBe('/endpoints/my-endpoint/invocations');
    expect(received().json).toEqual({ ...question, model: 'tgi' });
    expect(received().headers['x-amzn-sagemaker-target-variant']).toBe('blue');
  });

  test('streams through frames that cut its lines anywhere', async () => {
    service.script(asService(frames(inFrames(openai.wholeStream(['Grüße', ' 👋']).join('')))));
    const stream = clientOf('sage').chat.completions.stream({ ...question, stream: true });
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('Grüße 👋');
    expect(received().path).toBe('/endpoints/my-endpoint/invocations-response-stream');
    expect(received().headers['accept-encoding']).toBe('identity');
  });

  test('serves the messages route, whole and streamed', async () => {
    const client = anthropicClient(world, { 'x-gw-provider': '@sage' });
    const asked = { model: 'my-endpoint', max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hi' }] };
    service.script(asService(frames(inFrames(openai.wholeStream(['Hel', 'lo']).join('')))));
    const message = await client.messages.stream(asked).finalMessage();
    expect(message.content as Json).toMatchObject([{ type: 'text', text: 'Hello' }]);
  });

  test('that fails inside its stream is an error', async () => {
    service.script(asService(frames([exceptionFrame('ModelStreamError', 'Out of memory')])));
    const fault = await clientOf('sage')
      .chat.completions.create({ ...question, stream: true })
      .catch((error) => error);
    expect([fault.status, fault.message]).toEqual([424, '424 sagemaker error: Out of memory']);
  });

  test('completes text in the dialect of Text Generation Inference', async () => {
    const details = { finish_reason: 'length', generated_tokens: 2, prefill: [{ id: 1 }] };
    service.script(asService(json(200, [{ generated_text: ' there', details }])));
    const asked = { model: 'my-endpoint', prompt: 'Hello', max_tokens: 2, temperature: 0 };
    const answer = await clientOf('sage').completions.create(asked);
    expect(answer.choices[0]).toMatchObject({ text: ' there', finish_reason: 'length' });
    expect(answer.usage).toEqual({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 });
    expect(received().json).toEqual({
      inputs: 'Hello',
      parameters: { max_new_tokens: 2, temperature: 0.01, do_sample: false, return_full_text: false, details: true },
    });
    const tokens = [
      'data:{"token":{"text":" th","special":false},"generated_text":null}\n\n',
      'data:{"token":{"text":"ere","special":false},"generated_text":" there","details":{"finish_reason":"eos_token"}}\n\n',
    ];
    service.script(asService(frames(inFrames(tokens.join('')))));
    const stream = await clientOf('sage').completions.create({ ...asked, stream: true });
    const chunks: Json[] = [];
    for await (const chunk of stream) chunks.push(chunk.choices[0]);
    expect(chunks.map(({ text, finish_reason }) => [text, finish_reason])).toEqual([
      [' th', null],
      ['ere', 'stop'],
    ]);
  });

  test('embeds', async () => {
    service.script(asService(json(200, { embedding: [[1], [2]] })));
    const answer = await clientOf('sage').embeddings.create({ model: 'my-endpoint', input: ['a', 'b'] });
    expect(answer.data.map(({ embedding }) => embedding)).toEqual([[1], [2]]);
    expect(received().json).toEqual({ inputs: ['a', 'b'] });
  });

  test('is given any other body as it came, signed with its contents', async () => {
    service.script(asService(bytes(200, '0.7', { 'content-type': 'text/csv' })));
    const response = await fetch(`${world.gateway.url}/v1/proxy/endpoints/my-endpoint/invocations`, {
      method: 'POST',
      headers: {
        'x-gw-api-key': world.gateway.workspaceKey,
        'x-gw-provider': '@sage',
        'content-type': 'text/csv',
      },
      body: '1,2,3\n',
    });
    expect([response.status, await response.text()]).toEqual([200, '0.7']);
    expect([received().body.toString(), received().headers['content-type']]).toEqual(['1,2,3\n', 'text/csv']);
  });

  test('keeps its own words when the container fails', async () => {
    service.script(
      json(424, {
        ErrorCode: 'MODEL_ERROR',
        Message: 'Received server error (500) from primary',
        OriginalStatusCode: 500,
      }),
    );
    const fault = await clientOf('sage')
      .chat.completions.create(question)
      .catch((error) => error);
    expect([fault.status, fault.message]).toEqual([
      424,
      '424 sagemaker error: Received server error (500) from primary',
    ]);
  });
});

describe('Polly', () => {
  const asService = (behaviour: Behaviour) => known(behaviour, keys, 'polly');
  const sound = Buffer.from([0xff, 0xfb, 0x90, 0x00]);

  test('speaks with the engine that the model names', async () => {
    service.script(asService(bytes(200, sound, { 'content-type': 'audio/mpeg' })));
    const answer = await clientOf('polly').audio.speech.create({ model: 'neural', voice: 'Joanna', input: 'Hello' });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(sound);
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(received().path).toBe('/v1/speech');
    expect(received().json).toEqual({
      Engine: 'neural',
      OutputFormat: 'mp3',
      Text: 'Hello',
      TextType: 'text',
      VoiceId: 'Joanna',
    });
  });

  test('speaks slower in SSML, as a WAV file, with a voice for OpenAI’s name', async () => {
    service.script(asService(bytes(200, sound, { 'content-type': 'audio/pcm' })));
    const asked = { model: 'neural', voice: 'alloy', input: 'A < B', speed: 0.8, response_format: 'wav' as const };
    const answer = Buffer.from(await (await clientOf('polly').audio.speech.create(asked)).arrayBuffer());
    expect([answer.subarray(0, 4).toString(), answer.readUInt32LE(24), answer.length]).toEqual(['RIFF', 16_000, 48]);
    expect(received().json).toMatchObject({
      OutputFormat: 'pcm',
      Text: '<speak><prosody rate="80%">A &#60; B</prosody></speak>',
      TextType: 'ssml',
      VoiceId: 'Joanna',
    });
  });

  test('refuses a format that it does not have, and keeps the service’s words', async () => {
    const asked = { model: 'neural', voice: 'Joanna', input: 'Hi' };
    const refused = await clientOf('polly')
      .audio.speech.create({ ...asked, response_format: 'flac' })
      .catch((error) => error);
    expect([refused.status, refused.error.field]).toEqual([400, 'response_format']);
    service.script(refuses(400, 'InvalidSsmlException', 'Invalid SSML request'));
    const fault = await clientOf('polly')
      .audio.speech.create(asked)
      .catch((error) => error);
    expect([fault.status, fault.message]).toEqual([400, '400 aws-polly error: Invalid SSML request']);
  });
});

describe('Bedrock Mantle', () => {
  const asService = (behaviour: Behaviour) => known(behaviour, keys, 'bedrock-mantle');

  test('passes chat on in OpenAI’s dialect, with the client’s own bytes', async () => {
    service.script(asService(openai.says('Hello')));
    const body = '{ "model": "openai.gpt-oss-120b",  "messages": [{"role":"user","content":"Hi"}], "new_field": 1 }';
    const response = await world.call('/v1/chat/completions', null, { 'x-gw-provider': '@mantle' }, { body });
    expect(response.status).toBe(200);
    expect([received().path, received().body.toString()]).toEqual(['/v1/chat/completions', body]);
  });

  test('asks Claude in Anthropic’s dialect', async () => {
    service.script(asService(json(200, claude.message([{ type: 'text', text: 'Hello' }]))));
    const answer = await clientOf('mantle').chat.completions.create({
      model: 'anthropic.claude-opus-4-7',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(answer.choices[0]?.message.content).toBe('Hello');
    expect(received().path).toBe('/anthropic/v1/messages');
    expect(received().headers['anthropic-version']).toBe('2023-06-01');
    expect(received().json).toMatchObject({
      model: 'anthropic.claude-opus-4-7',
      messages: [{ role: 'user', content: 'Hi' }],
    });
  });

  test('takes out of Gemma’s tools what they refuse', async () => {
    service.script(asService(openai.says('Hello')));
    const parameters = { type: 'object', properties: { a: { type: 'object', propertyNames: { pattern: 'x' } } } };
    await clientOf('mantle').chat.completions.create({
      model: 'google.gemma-3-27b-it',
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', function: { name: 'f', parameters } }],
    });
    expect(received().json.tools[0].function.parameters).toEqual({
      type: 'object',
      properties: { a: { type: 'object' } },
    });
  });
});
