/** A client that sends exactly the bytes and headers it is told to and shows exactly what came back. */
import { type ClientRequest, request as openRequest } from 'node:http';

interface RawReply {
  status: number;
  /** As on the wire, in lower case; repeated ones joined. */
  headers: Record<string, string>;
  body: Buffer;
}

type Fields = Record<string, string | string[]>;

/** A body given as a list is sent in chunks of unknown total. */
export function rawCall(
  url: string,
  { method = 'POST', headers = {}, body }: { method?: string; headers?: Fields; body?: Buffer | Buffer[] } = {},
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const length = Buffer.isBuffer(body) ? { 'content-length': String(body.length) } : {};
    const request = openRequest(url, { method, headers: { ...length, ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
          body: Buffer.concat(chunks),
        }),
      );
    });
    request.on('error', reject);
    for (const chunk of Array.isArray(body) ? body : body ? [body] : []) request.write(chunk);
    request.end();
  });
}

/** A request whose body the test writes by hand. */
export const openCall = (url: string, headers: Fields): ClientRequest => {
  const request = openRequest(url, { method: 'POST', headers, agent: false });
  request.on('error', () => undefined);
  return request;
};
