/** Frames of AWS's event streams, built by AWS's own codec. */
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import type { Behaviour } from './simulated.ts';

const codec = new EventStreamCodec(toUtf8, fromUtf8);

const frame = (headers: Record<string, string>, body: Uint8Array): Buffer =>
  Buffer.from(
    codec.encode({
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }])),
      body,
    }),
  );

export const eventFrame = (type: string, payload: unknown): Buffer =>
  frame(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    Buffer.from(JSON.stringify(payload)),
  );

/** Bytes of an endpoint's own, as SageMaker sends them. */
export const bytesFrame = (type: string, bytes: Buffer): Buffer =>
  frame({ ':event-type': type, ':content-type': 'application/octet-stream', ':message-type': 'event' }, bytes);

export const exceptionFrame = (type: string, message: string): Buffer =>
  frame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    Buffer.from(JSON.stringify({ message })),
  );

export const errorFrame = (code: string, message: string): Buffer =>
  frame({ ':error-code': code, ':error-message': message, ':message-type': 'error' }, Buffer.alloc(0));

/** Frames, each written on its own, as tokens come; cut off in the end where a test says so. */
export const frames =
  (parts: readonly Uint8Array[], ending: 'end' | 'cut' = 'end', headers: Record<string, string> = {}): Behaviour =>
  async (_, response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream', ...headers });
    response.flushHeaders();
    for (const part of parts) {
      response.write(part);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (ending === 'end') response.end();
    else response.socket?.end();
  };
