/** curl as people use it: our key in a header, forms, files, streams, and what it adds by itself. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as openai from '../providers/openai.ts';
import { openAiApi, speech, transcription } from '../providers/openai-api.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let folder: string;

beforeAll(async () => {
  provider = await startProvider(openai.says('Hello'));
  world = await startWorld({ a: { provider: 'openai', simulated: provider } });
  folder = mkdtempSync(join(tmpdir(), 'gw-curl-'));
  writeFileSync(join(folder, 'talk.wav'), speech);
  // Large enough that curl asks first whether it may send it.
  writeFileSync(join(folder, 'large.bin'), Buffer.concat(Array<Buffer>(600).fill(speech)));
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  provider.calls.length = 0;
});
afterEach(() => {
  expect(world.gateway.faults).toEqual([]);
});

const curl = async (path: string, ...options: string[]): Promise<Buffer> => {
  const { url, workspaceKey } = world.gateway;
  const process = Bun.spawn(['curl', '-sS', url + path, '-H', `x-gw-api-key: ${workspaceKey}`, ...options], {
    cwd: folder,
  });
  const answer = Buffer.from(await new Response(process.stdout).arrayBuffer());
  expect(await process.exited).toBe(0);
  return answer;
};

const json = ['-H', 'content-type: application/json'];
const question = JSON.stringify({ model: '@a/gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] });

describe.if(Bun.which('curl') !== null)('curl', () => {
  test('asks and is answered', async () => {
    provider.script(openai.says('Hello', ' there'));
    const answer = await curl('/v1/chat/completions', ...json, '-d', question);
    expect(JSON.parse(answer.toString())).toEqual(openai.completion('Hello there'));
  });

  test('reads a stream as it was sent', async () => {
    provider.script(openai.says('One', ' two'));
    const answer = await curl('/v1/chat/completions', '-N', ...json, '-d', question.replace('{', '{"stream":true,'));
    // Usage was asked for upstream; a client that did not ask does not get its chunk.
    const asked = openai.wholeStream(['One', ' two']).filter((part) => part !== openai.usage);
    expect(answer.toString()).toBe(asked.join(''));
  });

  test('asks for packed answers and can read them', async () => {
    provider.script(openai.says('Hello'));
    const answer = await curl('/v1/chat/completions', '--compressed', ...json, '-d', question);
    expect(JSON.parse(answer.toString())).toEqual(openai.completion('Hello'));
  });

  test('sends a form with a file and receives sound', async () => {
    provider.script(openAiApi);
    const text = await curl('/v1/audio/transcriptions', '--form-string', 'model=@a/whisper-1', '-F', 'file=@talk.wav');
    expect(JSON.parse(text.toString())).toEqual(transcription);
    expect(provider.calls[0]?.body.includes(speech)).toBe(true);
    const sound = await curl('/v1/audio/speech', ...json, '-d', '{"model":"@a/tts-1","input":"Hello","voice":"alloy"}');
    expect(sound.equals(speech)).toBe(true);
  });

  test('uploads large bodies after asking whether it may, by POST and by PUT', async () => {
    provider.script(openAiApi);
    const raw = ['-H', 'x-gw-provider: @a', '-H', 'content-type: application/octet-stream'];
    await curl('/v1/uploads/1/parts', ...raw, '-H', 'Expect: 100-continue', '--data-binary', '@large.bin');
    await curl('/v1/uploads/1/parts', ...raw, '-T', 'large.bin');
    expect(provider.calls.map(({ method, body }) => [method, body.length])).toEqual([
      ['POST', speech.length * 600],
      ['PUT', speech.length * 600],
    ]);
    for (const { headers } of provider.calls) expect(headers.expect).toBeUndefined();
  });
});
