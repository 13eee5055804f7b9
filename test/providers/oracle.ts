/** OCI Generative AI: signatures are verified, both formats are answered, whole and streamed. */
import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';
import { type Behaviour, json, type ReceivedCall, stream } from './simulated.ts';

export const keys = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

export const usage = {
  promptTokens: 40,
  completionTokens: 12,
  totalTokens: 52,
  promptTokensDetails: { cachedTokens: 8 },
  completionTokensDetails: { reasoningTokens: 5 },
};

export interface Said {
  text?: string;
  thinking?: string;
  calls?: readonly { id: string; name: string; arguments: string }[];
  finish?: string;
}

const message = ({ text, thinking, calls }: Said) => ({
  role: 'ASSISTANT',
  ...(text !== undefined && { content: [{ type: 'TEXT', text }] }),
  ...(thinking !== undefined && { reasoningContent: thinking }),
  ...(calls && { toolCalls: calls.map((call) => ({ ...call, type: 'FUNCTION' })) }),
});

/** The older format has no ids for calls. */
const cohereCalls = ({ calls }: Said) =>
  calls && { toolCalls: calls.map(({ name, arguments: args }) => ({ name, parameters: JSON.parse(args) })) };

const finishOf = ({ finish, calls }: Said): string => finish ?? (calls ? 'tool_calls' : 'stop');

export const whole = (said: Said, format: 'GENERIC' | 'COHERE' = 'GENERIC') => ({
  modelId: 'model-1',
  modelVersion: '1.0',
  chatResponse:
    format === 'GENERIC'
      ? {
          apiFormat: 'GENERIC',
          timeCreated: '2025-10-09T08:53:20.000Z',
          choices: [{ index: 0, message: message(said), finishReason: finishOf(said), logprobs: {} }],
          usage,
        }
      : {
          apiFormat: 'COHERE',
          text: said.text ?? '',
          finishReason: said.finish ?? 'COMPLETE',
          ...cohereCalls(said),
          usage,
        },
});

const record = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
const pieces = (text: string): string[] => text.match(/.{1,5}/gsu) ?? [];

export const events = (said: Said, format: 'GENERIC' | 'COHERE' = 'GENERIC'): string[] =>
  format === 'GENERIC'
    ? [
        ...pieces(said.thinking ?? '').map((text) =>
          record({ index: 0, message: { role: 'ASSISTANT', reasoningContent: text } }),
        ),
        ...pieces(said.text ?? '').map((text) => record({ index: 0, message: message({ text }) })),
        ...(said.calls ?? []).flatMap(({ id, name, arguments: args }) => [
          record({
            index: 0,
            message: { role: 'ASSISTANT', toolCalls: [{ id, type: 'FUNCTION', name, arguments: '' }] },
          }),
          ...pieces(args).map((text) =>
            record({ index: 0, message: { role: 'ASSISTANT', toolCalls: [{ type: 'FUNCTION', arguments: text }] } }),
          ),
        ]),
        record({ index: 0, message: { role: 'ASSISTANT' }, finishReason: finishOf(said) }),
        record({ usage }),
      ]
    : [
        ...pieces(said.text ?? '').map((text) => record({ apiFormat: 'COHERE', text })),
        record({
          apiFormat: 'COHERE',
          text: said.text ?? '',
          ...cohereCalls(said),
          finishReason: said.finish ?? 'COMPLETE',
          usage,
        }),
      ];

/** Whether the request was signed over exactly what arrived. */
function isSigned({ method, path, headers, body }: ReceivedCall, keyId: string): boolean {
  const signed = Object.fromEntries(
    [...(headers.authorization ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  const digest = createHash('sha256').update(body).digest('base64');
  if (signed.keyId !== keyId || headers['x-content-sha256'] !== digest) return false;
  const lines = (signed.headers ?? '').split(' ').map((name: string) => {
    if (name === '(request-target)') return `${name}: ${method.toLowerCase()} ${path}`;
    return `${name}: ${headers[name]}`;
  });
  return createVerify('RSA-SHA256')
    .update(lines.join('\n'))
    .verify(keys.publicKey, signed.signature ?? '', 'base64');
}

const refused = (status: number, code: string, words: string): Behaviour => json(status, { code, message: words });

export const oracleApi =
  (keyId: string, said: () => Said): Behaviour =>
  (call, response) => {
    if (!isSigned(call, keyId))
      return refused(
        401,
        'NotAuthenticated',
        'The required information to complete authentication was not provided.',
      )(call, response);
    if (!call.json.compartmentId) return refused(400, 'InvalidParameter', 'compartmentId is missing')(call, response);
    if (call.path === '/20231130/actions/embedText') {
      const embeddings = call.json.inputs.map((text: string) => [text.length, 0.5]);
      return json(200, { id: 'e', embeddings, usage: { promptTokens: 3 } })(call, response);
    }
    const { chatRequest } = call.json;
    if (!(chatRequest.maxTokens ?? chatRequest.maxCompletionTokens))
      return refused(400, '400', 'maxTokens is missing')(call, response);
    return chatRequest.isStream
      ? stream(events(said(), chatRequest.apiFormat))(call, response)
      : json(200, whole(said(), chatRequest.apiFormat))(call, response);
  };
