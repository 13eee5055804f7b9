/** Reads the stream of a model call that this program answers itself. */
import type { BodySource, Reply } from '../../wire/server/reply.ts';
import { EventReader } from '../protocol/events.ts';
import type { ModelEvent } from './live.ts';

const largestEvent = 16 * 1024 * 1024;

export const isEventReply = ({ status, headers }: Reply): boolean =>
  status === 200 && (headers['content-type'] ?? '').startsWith('text/event-stream');

/** Every event in order; rejects where the stream breaks off or `onEvent` throws. */
export function readEvents(body: Reply['body'], onEvent: (event: ModelEvent) => void): Promise<void> {
  const reader = new EventReader(largestEvent);
  const take = (bytes: Uint8Array) => {
    for (const event of reader.push(bytes)) if (event.data !== '') onEvent(event);
  };
  if (body === null) return Promise.resolve();
  if (body instanceof Uint8Array) {
    take(body);
    return Promise.resolve();
  }
  return delivered(body, take);
}

const delivered = (source: BodySource, take: (bytes: Uint8Array) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    source.deliver({
      write(bytes) {
        try {
          take(bytes);
        } catch (fault) {
          reject(fault);
          source.left();
        }
        return undefined;
      },
      end: resolve,
      cut: reject,
    });
  });

/** The whole of a body, for answers that are no stream. */
export async function wholeText(body: Reply['body']): Promise<string> {
  if (body === null) return '';
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  const pieces: Uint8Array[] = [];
  await delivered(body, (bytes) => void pieces.push(bytes.slice()));
  return Buffer.concat(pieces).toString();
}
