/** Calls the gateway from inside, as whoever ordered it: the ordinary journey, without a connection. */
import { incomingOf, responseOf } from '../http/web.ts';
import type { Impersonation } from '../identity/impersonation.ts';
import type { Incoming, Upgraded } from '../wire/server/incoming.ts';
import type { Reply } from '../wire/server/reply.ts';
import type { CallAs, CheckedAnswer, CheckedInput, GuardedCalls, InputVerdicts } from './guarded-calls.ts';

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

/** What the data plane offers to batches that a provider runs. */
interface GuardedPlane {
  handleInside: Handle;
  rowChecks: {
    input(request: Incoming): Promise<CheckedInput>;
    output(request: Incoming, answer: Record<string, unknown>, verdicts: InputVerdicts): Promise<CheckedAnswer>;
  };
}

export function guardedCalls(standIns: Impersonation, { handleInside, rowChecks }: GuardedPlane): GuardedCalls {
  const asCaller = (request: Request, secret: string): Incoming => {
    request.headers.set('x-gw-api-key', secret);
    return incomingOf(request);
  };
  return {
    atProvider: callAs(standIns, handleInside),
    checkInput: (by, request) => standIns.actAs(by, (secret) => rowChecks.input(asCaller(request, secret))),
    checkOutput: (by, request, answer, verdicts) =>
      standIns.actAs(by, (secret) => rowChecks.output(asCaller(request, secret), answer, verdicts)),
  };
}
