/** Calls the gateway from inside, as the holder of a key: the ordinary journey, without a connection. */
import type { StandIns } from '../identity/stand-ins.ts';
import type { CallAs } from './run.ts';

/** How the data plane is asked; what it upgrades to a socket is no answer to a call. */
type Handle = (request: Request, peer: () => string, upgrade: () => false) => Promise<Response | 'upgraded'> | null;

const inside = () => '127.0.0.1';

export const callAs =
  ({ actAs }: StandIns, handle: Handle): CallAs =>
  (keyId, request) =>
    actAs(keyId, async (secret) => {
      request.headers.set('x-gw-api-key', secret);
      const answer = await handle(request, inside, () => false);
      if (!answer || answer === 'upgraded') throw new Error(`The data plane does not serve ${request.url}`);
      return answer;
    });
