/** Amazon Bedrock's words: it checks signatures and requests as the service does, and answers whole or in frames, as the path asks. */
import type { Json } from '../harness.ts';
import { faultOfSignature, type KnownKeys } from './aws-signature.ts';
import { faultOfConverse } from './bedrock-rules.ts';
import { eventFrame, frames } from './event-stream.ts';
import { type Behaviour, json, type ReceivedCall, type SimulatedProvider, startProvider } from './simulated.ts';

export const keys: KnownKeys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
export const region = 'eu-central-1';
export const apiKey = 'bedrock-api-key-YmVkcm9jaw==';
export const requestId = '2f3f7f6e-0d6e-4d0b-9d0c-0c9d7c0f1a2b';

/** Settings of an integration for this simulator. */
export const keySettings = {
  aws_auth_type: 'accessKey',
  aws_access_key_id: keys.accessKeyId,
  aws_secret_access_key: keys.secretAccessKey,
  aws_region: region,
};

/** The service has no version in its address. */
export async function startBedrock(...behaviours: Behaviour[]): Promise<SimulatedProvider> {
  const provider = await startProvider(...behaviours);
  return { ...provider, url: new URL(provider.url).origin };
}

export const refuses = (status: number, type: string, message: string): Behaviour =>
  json(
    status,
    { message },
    { 'x-amzn-requestid': requestId, 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` },
  );

/** A behaviour for callers that the service knows, by signature or by API key. */
export const known =
  (behaviour: Behaviour, by: KnownKeys = keys, service = 'bedrock'): Behaviour =>
  (call, response) => {
    if (service === 'bedrock' && call.headers.authorization === `Bearer ${apiKey}`) return behaviour(call, response);
    const fault = faultOfSignature(call, by, { service, region });
    return fault ? refuses(403, 'UnrecognizedClientException', fault)(call, response) : behaviour(call, response);
  };

/** The model and the operation that a path names; null for another path. */
export function invoked({ path }: ReceivedCall): { model: string; operation: string } | null {
  const match = /^\/model\/([^/]+)\/([a-z-]+)$/.exec(path);
  return match ? { model: decodeURIComponent(match[1] ?? ''), operation: match[2] ?? '' } : null;
}

export interface Turn {
  content: Json[];
  stopReason?: string;
  usage?: Json;
  more?: Json;
}

const usage = { inputTokens: 20, outputTokens: 10, totalTokens: 30 };

/** A model's turn, over Converse or ConverseStream. */
export const converses = (turn: Turn): Behaviour =>
  known((call, response) => {
    const asked = invoked(call);
    if (asked?.operation !== 'converse' && asked?.operation !== 'converse-stream') {
      return refuses(404, 'UnknownOperationException', `no operation at ${call.path}`)(call, response);
    }
    const fault = faultOfConverse(asked.model, call.json);
    if (fault) return refuses(400, 'ValidationException', fault)(call, response);
    if (asked.operation === 'converse-stream') {
      return frames(framesOf(turn), 'end', { 'x-amzn-requestid': requestId })(call, response);
    }
    const { content, stopReason = 'end_turn' } = turn;
    const whole = {
      output: { message: { role: 'assistant', content } },
      stopReason,
      usage: turn.usage ?? usage,
      metrics: { latencyMs: 420 },
      ...turn.more,
    };
    return json(200, whole, { 'x-amzn-requestid': requestId })(call, response);
  });

export const says = (...words: string[]): Behaviour => converses({ content: words.map((text) => ({ text })) });

/** Real streams pad their events, so that nobody can tell tokens by the length of frames. */
const event = (type: string, payload: Json): Buffer => eventFrame(type, { ...payload, p: 'abcdefghijklmnop' });

export const framesOf = ({ content, stopReason = 'end_turn', usage: used = usage, more }: Turn): Buffer[] => [
  event('messageStart', { role: 'assistant' }),
  ...content.flatMap(blockFrames),
  event('messageStop', {
    stopReason,
    ...(more?.additionalModelResponseFields && { additionalModelResponseFields: more.additionalModelResponseFields }),
  }),
  event('metadata', { usage: used, metrics: { latencyMs: 420 }, ...(more?.trace && { trace: more.trace }) }),
];

const halves = (text: string): string[] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
};

/** Text has no beginning of its own; tools have. */
function blockFrames(block: Json, contentBlockIndex: number): Buffer[] {
  const delta = (change: Json) => event('contentBlockDelta', { delta: change, contentBlockIndex });
  const stop = event('contentBlockStop', { contentBlockIndex });
  if (block.text !== undefined) return [...halves(block.text).map((text) => delta({ text })), stop];
  if (block.toolUse) {
    const { input, ...start } = block.toolUse;
    const written = Object.keys(input).length === 0 ? [] : halves(JSON.stringify(input));
    return [
      event('contentBlockStart', { start: { toolUse: start }, contentBlockIndex }),
      ...written.map((text) => delta({ toolUse: { input: text } })),
      stop,
    ];
  }
  const { reasoningText, redactedContent } = block.reasoningContent;
  if (redactedContent) return [delta({ reasoningContent: { redactedContent } }), stop];
  return [
    ...halves(reasoningText.text).map((text) => delta({ reasoningContent: { text } })),
    delta({ reasoningContent: { signature: reasoningText.signature } }),
    stop,
  ];
}

/** InvokeModel: what this gives, by the model and the body; as chunks where a stream is asked for. */
export const invokes = (answer: (body: Json, model: string) => Json, headers: Record<string, string> = {}): Behaviour =>
  known((call, response) => {
    const asked = invoked(call);
    if (asked?.operation === 'invoke') return json(200, answer(call.json, asked.model), headers)(call, response);
    if (asked?.operation !== 'invoke-with-response-stream') {
      return refuses(404, 'UnknownOperationException', `no operation at ${call.path}`)(call, response);
    }
    return frames(chunksOf(answer(call.json, asked.model)), 'end', {
      'x-amzn-bedrock-content-type': 'application/json',
    })(call, response);
  });

export const chunksOf = (records: readonly Json[]): Buffer[] =>
  records.map((record) => event('chunk', { bytes: Buffer.from(JSON.stringify(record)).toString('base64') }));
