/** What it takes to authorise a call to a cloud: the request, what is at hand, and the headers that come of it. */
import type { Authentication } from '../../providers/authentication.ts';
import type { Abortable } from '../../wire/abort.ts';
import type { TokenCache } from './token-cache.ts';

/** What is signed or given a token: the request as it will be sent. */
export interface AuthorisedRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  /** Null for none, or for one that is carried through unread. */
  body: Uint8Array<ArrayBuffer> | null;
}

/** What an authorisation works with. */
export interface CredentialDeps {
  tokens: TokenCache;
  /** Calls a token service; never a host that a customer chose. */
  fetch: typeof fetch;
  now(): Date;
  /** The process's own environment: a platform tells there who the gateway is. */
  env: Readonly<Record<string, string | undefined>>;
  readFile(path: string): Promise<string>;
  /** Hosts besides the clouds' model services that may see the gateway's own identity, for calls that no customer composes. */
  alsoServes?(hostname: string): boolean;
}

/** The headers that the request must carry besides its own. */
export type Authorise<Kind extends Authentication['kind']> = (
  authentication: Extract<Authentication, { kind: Kind }>,
  request: AuthorisedRequest,
  surroundings: CredentialDeps,
) => Promise<Record<string, string>>;

export interface Credentials {
  authorise(
    authentication: Authentication,
    request: AuthorisedRequest,
    signal: Abortable,
  ): Promise<Record<string, string>>;
  /** A token that the provider has refused is not offered again. */
  forget(authentication: Authentication): void;
}
