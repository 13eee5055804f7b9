/** The token services of clouds, on loopback: they check what they are asked, count how often, and answer as the real ones do. */
import type { CredentialDeps } from '../../src/gateway/credentials/authorise.ts';
import { createCredentials } from '../../src/gateway/credentials/credentials.ts';
import { TestClock } from '../harness.ts';
import { json, type ReceivedCall, type SimulatedProvider, startProvider } from './simulated.ts';

export interface TokenServices {
  service: SimulatedProvider;
  clock: TestClock;
  /** The forms that were posted, and the queries that were sent. */
  asked: URLSearchParams[];
  credentials(env?: Record<string, string>, files?: Record<string, string>): ReturnType<typeof createCredentials>;
}

/** Each answer is a token with a number of its own. */
export async function startTokenServices(answer: (count: number) => object = bearer): Promise<TokenServices> {
  const asked: URLSearchParams[] = [];
  const service = await startProvider((call, response) => {
    asked.push(parametersOf(call));
    return json(200, answer(asked.length))(call, response);
  });
  const clock = new TestClock();
  /** Addresses that are fixed in the real world lead to loopback here. */
  const toLoopback = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = new URL(String(input));
    return fetch(new URL(url.pathname + url.search, service.url), init);
  };
  return {
    service,
    clock,
    asked,
    credentials: (env = {}, files = {}) => {
      const surroundings: Omit<CredentialDeps, 'tokens'> = {
        fetch: Object.assign(toLoopback, { preconnect: fetch.preconnect }),
        now: () => clock.now(),
        env,
        readFile: async (path) => files[path] ?? Promise.reject(new Error(`no file ${path}`)),
      };
      return createCredentials(surroundings);
    },
  };
}

const bearer = (count: number) => ({ token_type: 'Bearer', expires_in: 3599, access_token: `token-${count}` });

const parametersOf = ({ path, body }: ReceivedCall): URLSearchParams =>
  new URLSearchParams(body.length > 0 ? body.toString() : path.split('?')[1]);
