/** TLS before a plain listener, as a load balancer has it: for clients that take no plain addresses. */
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { selfSigned } from './self-signed.ts';

export interface TlsFront {
  url: string;
  stop(): void;
}

/** `url` is where the plain listener stands. */
export async function startTlsFront(url: string): Promise<TlsFront> {
  const { hostname, port } = new URL(url);
  const server = createServer(selfSigned(), (client) => {
    const inner = connect(Number(port), hostname);
    client.pipe(inner).pipe(client);
    endTogether(client, inner);
    endTogether(inner, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${address.port}`, stop: () => server.close() };
}

function endTogether(one: Socket, other: Socket): void {
  one.on('error', () => other.destroy());
  one.on('close', () => other.destroy());
}
