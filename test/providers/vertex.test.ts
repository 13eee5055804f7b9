/** Google's own SDK in its mode for Vertex AI, straight at the simulated service, with a token of a simulated token service. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type ApiError, GoogleGenAI } from '@google/genai';
import { bytes, json, type SimulatedProvider, startProvider } from './simulated.ts';
import { project, region, says } from './vertex.ts';

let tokens: SimulatedProvider;
let provider: SimulatedProvider;
beforeAll(async () => {
  const subject = bytes(200, 'platform-jwt', { 'content-type': 'text/plain' });
  const token = json(200, { access_token: 'token-1', token_type: 'Bearer', expires_in: 3_600 });
  tokens = await startProvider((call, response) => (call.path === '/subject' ? subject : token)(call, response));
  provider = await startProvider(says('Hello'));
});
afterAll(() => Promise.all([tokens.stop(), provider.stop()]));

const origin = ({ url }: SimulatedProvider): string => new URL(url).origin;
const client = (): GoogleGenAI =>
  new GoogleGenAI({
    vertexai: true,
    project,
    location: region,
    httpOptions: { baseUrl: origin(provider) },
    googleAuthOptions: {
      credentials: {
        type: 'external_account',
        audience: '//iam.googleapis.com/pool',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${origin(tokens)}/token`,
        credential_source: { url: `${origin(tokens)}/subject`, format: { type: 'text' } },
      } as object,
    },
  });

const asked = { model: 'gemini-2.5-flash', contents: 'Hi' };

test('a known token is answered, whole and in pieces', async () => {
  provider.script(says('Hello there', (token) => token === 'token-1'));
  expect((await client().models.generateContent(asked)).text).toBe('Hello there');
  let text = '';
  for await (const chunk of await client().models.generateContentStream(asked)) text += chunk.text;
  expect(text).toBe('Hello there');
});

test('an unknown token is refused', async () => {
  provider.script(says('Hello', () => false));
  const error = await client()
    .models.generateContent(asked)
    .catch((fault: ApiError) => fault);
  expect(error).toMatchObject({ status: 401 });
});

test('fields of AI Studio alone are refused', async () => {
  provider.script(says('Hello'));
  const error = await client()
    .models.generateContent({ ...asked, config: { serviceTier: 'flex' as never } })
    .catch((fault: ApiError) => fault);
  expect(error).toMatchObject({ status: 400 });
});
