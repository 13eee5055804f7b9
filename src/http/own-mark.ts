/** Calls of this installation that come back to it, by whatever name: each would make another one, without end. */
import type { Incoming } from '../wire/server/incoming.ts';
import type { Reply } from '../wire/server/reply.ts';
import type { Handler } from './web.ts';

/** What stands in `Via`, as that header wants it: the protocol, and who passed the call on. */
export const markOf = (installation: string): string => `1.1 gw-${installation}`;

const message =
  'Gateway error: this call came from this gateway itself; a custom host, an MCP server or a webhook leads back to it';

/** Answers such calls with 508; hands on all others. */
export function refuseOwnMark(mark: string): Handler {
  const reply = async (): Promise<Reply> => ({
    status: 508,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ error: { message, type: 'invalid_request_error', code: 'loop_detected' } })),
  });
  return ({ headers }: Incoming) => (headers.fields.via?.includes(mark) ? reply() : null);
}
