/** The simulator of Bedrock, checked with AWS's own SDK: what it accepts and answers is what the service would. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { apiKey, converses, framesOf, invokes, keys, known, region, requestId, says, startBedrock } from './bedrock.ts';
import { errorFrame, exceptionFrame, frames } from './event-stream.ts';
import type { SimulatedProvider } from './simulated.ts';

let provider: SimulatedProvider;
let client: BedrockRuntimeClient;

/** The simulator speaks HTTP/1 alone. */
const common = () => ({ region, endpoint: provider.url, maxAttempts: 1, requestHandler: new NodeHttpHandler() });

const clientWith = (credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }) =>
  new BedrockRuntimeClient({ ...common(), credentials });

beforeAll(async () => {
  provider = await startBedrock(says('Hello'));
  client = clientWith(keys);
});
afterAll(async () => {
  client.destroy();
  await provider.stop();
});

const model = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const question: ConverseCommandInput = {
  modelId: model,
  messages: [{ role: 'user', content: [{ text: 'Say hello.' }] }],
};

describe('the simulated service', () => {
  test('accepts the signature of AWS’s own client and answers as it expects', async () => {
    provider.script(says('Hello', ' there'));
    const answer = await client.send(new ConverseCommand(question));
    expect(answer.output?.message).toEqual({ role: 'assistant', content: [{ text: 'Hello' }, { text: ' there' }] });
    expect([answer.stopReason, answer.usage?.totalTokens, answer.$metadata.requestId]).toEqual([
      'end_turn',
      30,
      requestId,
    ]);
  });

  test('accepts the signature of a model named by its ARN', async () => {
    provider.script(says('Hello'));
    const modelId = `arn:aws:bedrock:${region}:123456789012:inference-profile/${model}`;
    await client.send(new ConverseCommand({ ...question, modelId }));
    expect(provider.calls.at(-1)?.path).toBe(`/model/${encodeURIComponent(modelId)}/converse`);
  });

  test('knows an API key', async () => {
    provider.script(says('Hello'));
    const bearer = new BedrockRuntimeClient({
      ...common(),
      token: { token: apiKey },
      authSchemePreference: ['httpBearerAuth'],
    });
    await bearer.send(new ConverseCommand(question));
    expect(provider.calls.at(-1)?.headers.authorization).toBe(`Bearer ${apiKey}`);
  });

  test('refuses another secret, and a session whose token is missing', async () => {
    const refused = async (credentials: typeof keys) => {
      const fault = await clientWith(credentials)
        .send(new ConverseCommand(question))
        .catch((error: Error) => error);
      return fault instanceof Error ? [fault.name, fault.message] : null;
    };
    provider.script(says('Hello'));
    expect(await refused({ ...keys, secretAccessKey: 'wrong' })).toEqual([
      'UnrecognizedClientException',
      'The request signature we calculated does not match the signature you provided.',
    ]);
    provider.script(known(says('Hello'), { ...keys, sessionToken: 'session' }));
    expect((await refused(keys))?.[1]).toContain('security token');
  });

  test('streams frames that AWS’s own client reads', async () => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'Thinking of it', signature: 'EqoB' } } },
      { text: 'Hé, ça' },
      { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Rome' } } },
      { toolUse: { toolUseId: 'tooluse_2', name: 'time', input: {} } },
    ];
    provider.script(converses({ content, stopReason: 'tool_use' }));
    const { stream } = await client.send(new ConverseStreamCommand(question));
    const kinds: string[] = [];
    let text = '';
    let input = '';
    for await (const event of stream ?? []) {
      kinds.push(Object.keys(event)[0] ?? '');
      text += event.contentBlockDelta?.delta?.text ?? '';
      input += event.contentBlockDelta?.delta?.toolUse?.input ?? '';
    }
    expect([text, input]).toEqual(['Hé, ça', '{"city":"Rome"}']);
    expect(kinds[0]).toBe('messageStart');
    expect(kinds.slice(-2)).toEqual(['messageStop', 'metadata']);
  });

  test('reports exceptions in frames as AWS’s own client expects them', async () => {
    const [start] = framesOf({ content: [] });
    provider.script(
      known(frames([start ?? Buffer.alloc(0), exceptionFrame('throttlingException', 'Too many tokens')])),
    );
    const faultOfStream = async (): Promise<[string, string] | null> => {
      try {
        const { stream } = await client.send(new ConverseStreamCommand(question));
        for await (const _ of stream ?? []);
        return null;
      } catch (fault) {
        return fault instanceof Error ? [fault.name, fault.message.split('\n')[0] ?? ''] : null;
      }
    };
    expect(await faultOfStream()).toEqual(['ThrottlingException', 'Too many tokens']);
    provider.script(known(frames([errorFrame('InternalFailure', 'An internal server error occurred')])));
    expect(await faultOfStream()).toEqual(['InternalFailure', 'An internal server error occurred']);
  });

  test('invokes models with their own bodies, whole and in chunks', async () => {
    provider.script(invokes((body) => ({ heard: body })));
    const answer = await client.send(new InvokeModelCommand({ modelId: model, body: JSON.stringify({ a: 1 }) }));
    expect(JSON.parse(answer.body.transformToString())).toEqual({ heard: { a: 1 } });
    provider.script(invokes(() => [{ type: 'message_start' }, { type: 'message_stop' }]));
    const { body } = await client.send(new InvokeModelWithResponseStreamCommand({ modelId: model, body: '{}' }));
    const records: unknown[] = [];
    for await (const event of body ?? []) records.push(JSON.parse(Buffer.from(event.chunk?.bytes ?? []).toString()));
    expect(records).toEqual([{ type: 'message_start' }, { type: 'message_stop' }]);
  });

  test('refuses what Converse refuses', async () => {
    provider.script(says('Hello'));
    const refusal = async (more: Partial<ConverseCommandInput>) =>
      client.send(new ConverseCommand({ ...question, ...more })).then(
        () => null,
        (fault: Error) => fault.message,
      );
    const document = (name: string) => ({
      document: { name, format: 'txt' as const, source: { bytes: Buffer.from('x') } },
    });
    const say = (...content: NonNullable<ConverseCommandInput['messages']>[number]['content'] & object[]) => ({
      messages: [{ role: 'user' as const, content }],
    });
    expect(await refusal(say({ text: ' ' }))).toContain('is blank');
    expect(await refusal(say({ text: 'See' }, document('a.txt')))).toContain('alphanumeric');
    expect(await refusal(say({ text: 'See' }, document('a'), document('a')))).toContain('duplicate');
    expect(await refusal(say(document('a')))).toContain('text block is also required');
    expect(await refusal({ messages: [{ role: 'assistant', content: [{ text: 'Hi' }] }] })).toContain(
      'start with a user message',
    );
    expect(await refusal({ inferenceConfig: { temperature: 0.5, topP: 0.5 } })).toContain('cannot both');
    expect(
      await refusal({ additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 10 } } }),
    ).toContain('1024');
  });
});
