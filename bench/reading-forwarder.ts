/** A forwarder that does only what no gateway can leave out, and nothing with it: the distance to the bare one is the runtime's, the distance to the program is ours. */
const [, , upstreamPort] = process.argv;

const decoder = new TextDecoder('utf-8', { fatal: true });
const oneConnections = new Set(['connection', 'content-length', 'transfer-encoding']);

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const id = Bun.randomUUIDv7();
    const { pathname } = new URL(request.url);
    const asked = request.headers.toJSON();
    const body = await request.arrayBuffer();
    const { model } = JSON.parse(decoder.decode(body)) as { model: string };
    const leaving = new AbortController();
    const response = await fetch(`http://127.0.0.1:${upstreamPort}${pathname}`, {
      method: request.method,
      headers: { 'content-type': asked['content-type'] ?? '', authorization: 'Bearer sk-bench' },
      body,
      signal: leaving.signal,
    });
    const headers: Record<string, string> = { 'x-request-id': id, 'x-model': model };
    const answered: Record<string, string> = response.headers.toJSON();
    for (const name in answered) if (!oneConnections.has(name)) headers[name] = answered[name] ?? '';
    const bytes = await response.arrayBuffer();
    const { usage } = JSON.parse(decoder.decode(bytes)) as { usage: { total_tokens: number } };
    headers['x-tokens'] = String(usage.total_tokens);
    return new Response(bytes, { status: response.status, headers });
  },
});

process.stdout.write(`listening at ${server.port}\n`);
