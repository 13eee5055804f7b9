/** Stands before the gateway for clients that cannot send a key: it adds one. */
import { createServer, request as onward } from 'node:http';

export interface Forwarder {
  url: string;
  stop(): void;
}

/** `pathOf`: the path at the gateway; the same unless it says another. */
export async function startForwarder(
  gateway: { url: string; workspaceKey: string },
  pathOf = (path: string): string => path,
): Promise<Forwarder> {
  const { port } = new URL(gateway.url);
  const server = createServer((request, response) => {
    const { url = '/', method } = request;
    const headers = { ...request.headers, 'x-gw-api-key': gateway.workspaceKey };
    const call = onward({ host: '127.0.0.1', port, path: pathOf(url), method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    call.on('error', () => response.destroy());
    response.on('close', () => call.destroy());
    request.pipe(call);
  });
  server.listen(0, '127.0.0.1');
  await new Promise<void>((resolve) => server.once('listening', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
