/** The provider inside the program: what it answers, and how it is told to fail. */
import { describe, expect, test } from 'bun:test';
import { sandbox } from './sandbox.ts';

const ask = async (path: string, body: object, signal?: AbortSignal): Promise<Response> => {
  const request = new Request(`http://sandbox.invalid/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  if (!sandbox.local) throw new Error('the sandbox answers by itself');
  return sandbox.local(request);
};

const question = { model: 'echo', messages: [{ role: 'user', content: 'hello there' }] };

describe('the sandbox', () => {
  test('answers the same question with the same bytes', async () => {
    const [one, two] = await Promise.all([ask('/chat/completions', question), ask('/chat/completions', question)]);
    const text = await one.text();
    expect(await two.text()).toBe(text);
    expect(JSON.parse(text)).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: 'You said: hello there' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 11, completion_tokens: 6, total_tokens: 17 },
    });
  });

  test('streams the same text with usage when asked, ended by [DONE]', async () => {
    const response = await ask('/chat/completions', {
      ...question,
      stream: true,
      stream_options: { include_usage: true },
    });
    const lines = (await response.text()).split('\n\n').filter((line) => line !== '');
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice(6)));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('You said: hello there');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 17 } });
    expect(lines.at(-1)).toBe('data: [DONE]');
  });

  test('speaks the messages and responses dialects', async () => {
    const message = await (await ask('/messages', { ...question, max_tokens: 5 })).json();
    expect(message).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'You said: hello there' }],
      stop_reason: 'end_turn',
    });
    const events = await (await ask('/messages', { ...question, stream: true })).text();
    expect(events.match(/^event: (\w+)$/gm)?.at(-1)).toBe('event: message_stop');
    const response = await (await ask('/responses', { model: 'echo', input: 'hi' })).json();
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [{ content: [{ text: 'You said: hi' }] }],
    });
    const stream = await (await ask('/responses', { model: 'echo', input: 'hi', stream: true })).text();
    expect(stream).toContain('event: response.completed');
  });

  test('makes vectors that depend on the text alone', async () => {
    const { data } = (await (await ask('/embeddings', { model: 'echo', input: ['a', 'b', 'a'] })).json()) as {
      data: { embedding: number[] }[];
    };
    expect(data[0]?.embedding).toEqual(data[2]?.embedding ?? []);
    expect(data[0]?.embedding).not.toEqual(data[1]?.embedding ?? []);
  });

  test('fails with a status and a retry-after when told to', async () => {
    const response = await ask('/chat/completions', { ...question, model: 'echo+status=429+retry_after=7' });
    expect({ status: response.status, retryAfter: response.headers.get('retry-after') }).toEqual({
      status: 429,
      retryAfter: '7',
    });
  });

  test('cuts a stream after so many chunks when told to', async () => {
    const response = await ask('/chat/completions', { ...question, model: 'echo+cut=2', stream: true });
    expect(response.text()).rejects.toThrow('told to cut');
  });

  test('waits when told to, and stops waiting when the caller leaves', async () => {
    const leaving = new AbortController();
    const answer = ask('/chat/completions', { ...question, model: 'echo+delay=600000' }, leaving.signal);
    leaving.abort();
    expect((await answer).status).toBe(200);
  });

  test('an unknown knob is refused with the list of knobs', async () => {
    const response = await ask('/chat/completions', { ...question, model: 'echo+fly=1' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('delay, pace, status');
  });
});
