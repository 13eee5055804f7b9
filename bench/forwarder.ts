/** A bare forwarder: the least that a gateway on this runtime can cost. Everything else is measured against it. */
const [, , upstreamPort] = process.argv;

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const body = await request.arrayBuffer();
    const response = await fetch(`http://127.0.0.1:${upstreamPort}${pathname}`, {
      method: request.method,
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-bench' },
      body,
    });
    return new Response(response.body, { status: response.status, headers: response.headers });
  },
});

process.stdout.write(`listening at ${server.port}\n`);
