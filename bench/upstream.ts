/** The provider that the benchmark calls: answers at once, streams 50 chunks, or streams slowly when the path says so. */
const answer = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(400) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 150, completion_tokens: 100, total_tokens: 250 },
});

const chunk = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'gpt-4o-mini', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

const chunks = [...Array.from({ length: 49 }, (_, index) => chunk(` word${index}`)), chunk('', 'stop')];
const slowChunkMs = 1_000;

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { stream, slow } = (await request.json()) as { stream?: boolean; slow?: number };
    if (!stream) return new Response(answer, { headers: { 'content-type': 'application/json' } });
    return new Response(slow ? slowStream(slow) : quickStream(), { headers: { 'content-type': 'text/event-stream' } });
  },
});

/** Each chunk leaves in its own turn of the loop, as tokens do. */
function quickStream(): ReadableStream<string> {
  let sent = 0;
  return new ReadableStream({
    async pull(controller) {
      const part = chunks[sent++];
      if (part === undefined) {
        controller.enqueue('data: [DONE]\n\n');
        controller.close();
        return;
      }
      controller.enqueue(part);
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
}

function slowStream(count: number): ReadableStream<string> {
  let sent = 0;
  return new ReadableStream({
    async pull(controller) {
      if (sent++ < count) {
        controller.enqueue(chunk(' slow'));
        await Bun.sleep(slowChunkMs);
        return;
      }
      controller.enqueue(chunk('', 'stop'));
      controller.enqueue('data: [DONE]\n\n');
      controller.close();
    },
  });
}

process.stdout.write(`listening at ${server.port}\n`);
