/** A plain forwarder that adds a credential, for clients that can send none. */

export function serveFront(target: () => { url: string; key: string }): ReturnType<typeof Bun.serve> {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { url, key } = target();
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.delete('host');
      headers.set('x-gw-api-key', key);
      const {
        status,
        headers: answered,
        body,
      } = await fetch(`${url}${pathname}${search}`, {
        method: request.method,
        headers,
        body: request.body,
        signal: request.signal,
      });
      return new Response(body, { status, headers: answered });
    },
  });
}
