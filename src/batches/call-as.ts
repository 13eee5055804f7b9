/** Calls the gateway from inside, as whoever ordered it: the ordinary journey, without a connection. */
import { incomingOf, responseOf } from '../http/web.ts';
import type { Impersonation } from '../identity/impersonation.ts';
import type { Incoming, Upgraded } from '../wire/server/incoming.ts';
import type { Reply } from '../wire/server/reply.ts';
import type { CallAs } from './run.ts';

/** How the data plane is asked; what it upgrades to a socket is no answer to a call. */
type Handle = (request: Incoming) => Promise<Reply | Upgraded> | null;

export const callAs =
  ({ actAs }: Impersonation, handle: Handle): CallAs =>
  (by, request) =>
    actAs(by, async (secret) => {
      request.headers.set('x-gw-api-key', secret);
      const reply = await handle(incomingOf(request));
      if (!reply || reply === 'upgraded') throw new Error(`The data plane does not serve ${request.url}`);
      return responseOf(reply);
    });
