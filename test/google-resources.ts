/** Google's models behind a gateway, and the rows of their batches as OpenAI's clients write and read them. */
import { type OpenAI, toFile } from 'openai';
import { openaiClient } from './clients.ts';
import type { Json } from './harness.ts';
import { answerOf, startGemini } from './providers/gemini.ts';
import { json, type SimulatedProvider } from './providers/simulated.ts';
import { startWorld, type World } from './world.ts';

export const row = (custom_id: string, content: string) => ({
  custom_id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: 'gemini-2.5-flash', messages: [{ role: 'user', content }], max_tokens: 5 },
});
export const rowsFile = (...lines: string[]) => toFile(Buffer.from(lines.join('\n')), 'rows.jsonl');
export const request = (text: string) => ({
  contents: [{ role: 'user', parts: [{ text }] }],
  generationConfig: { maxOutputTokens: 5 },
});
export const linesOf = (text: string): Json[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

export const answered = answerOf('gemini-2.5-flash', { candidates: [{ parts: [{ text: 'One.' }] }] });
export const refused = (asking: PromiseLike<unknown>): Promise<Json> =>
  Promise.resolve(asking).then(
    () => Promise.reject(new Error('Nothing failed')),
    (fault) => ({ status: fault.status, message: fault.message }),
  );

/** A provider of Google's behind a gateway, and OpenAI's SDK for it. */
export interface GoogleWorld {
  provider: SimulatedProvider;
  world: World;
  client: OpenAI;
  /** The output of a batch. */
  output(id: string): Promise<Response>;
}

export async function startGoogle(
  slug: string,
  save: (world: World, provider: SimulatedProvider) => Promise<unknown>,
): Promise<GoogleWorld> {
  const provider = await startGemini(json(200, {}));
  const world = await startWorld({});
  await save(world, provider);
  return {
    provider,
    world,
    client: openaiClient(world, { 'x-gw-provider': `@${slug}` }),
    output: (id) =>
      fetch(`${world.gateway.url}/v1/batches/${id}/output`, {
        headers: { 'x-gw-api-key': world.gateway.workspaceKey, 'x-gw-provider': `@${slug}` },
      }),
  };
}
