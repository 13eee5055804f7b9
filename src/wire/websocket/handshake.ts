/** The handshake that turns a request into a WebSocket. */
import { createHash } from 'node:crypto';
import type { HeaderLines } from '../http1/fields.ts';
import { headOf } from '../server/reply.ts';

/** The head that accepts the request, with further headers; null when the request is no proper handshake. Throws where a header cannot be sent. */
export function acceptance(
  method: string,
  asked: Readonly<Partial<HeaderLines>>,
  further: Readonly<HeaderLines>,
): string | null {
  if (!isHandshake(method, asked)) return null;
  const accept = answerTo(asked['sec-websocket-key'] ?? '');
  const headers: HeaderLines = { ...further, upgrade: 'websocket', 'sec-websocket-accept': accept };
  // An extension would change what the frames look like.
  delete headers['sec-websocket-extensions'];
  if (headers['sec-websocket-protocol'] === '') delete headers['sec-websocket-protocol'];
  const head = headOf({ status: 101, headers, body: null }, 'none', true);
  return `${head.slice(0, -blankLine.length)}connection: Upgrade\r\n${blankLine}`;
}

/** Whether a request asks for a WebSocket as it must. */
export const isHandshake = (method: string, asked: Readonly<Partial<HeaderLines>>): boolean =>
  method === 'GET' &&
  names(asked.upgrade, 'websocket') &&
  names(asked.connection, 'upgrade') &&
  asked['sec-websocket-version'] === '13' &&
  sixteenBytes.test(asked['sec-websocket-key'] ?? '');

const blankLine = '\r\n';

/** In base64. */
const sixteenBytes = /^[A-Za-z0-9+/]{22}==$/;

/** Whether a list has this item, in whatever case. */
const names = (list: string | undefined, item: string): boolean =>
  list?.split(',').some((named) => named.trim().toLowerCase() === item) ?? false;

/** Shows that the key was read by a server that speaks WebSocket. */
const answerTo = (key: string): string => createHash('sha1').update(`${key}${protocolId}`).digest('base64');

/** Given by RFC 6455. */
const protocolId = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
