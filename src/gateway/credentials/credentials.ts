/** Authorises calls to clouds: signs them, or adds a token that is fetched once and kept until shortly before it ends. */
import type { Authentication } from '../../providers/authentication.ts';
import type { Abortable } from '../../wire/abort.ts';
import { unlessGivenUp } from '../upstream/send.ts';
import { aws } from './aws.ts';
import { entra } from './entra.ts';
import { exchangeToken } from './exchange.ts';
import { google } from './google.ts';
import { oci } from './oci.ts';
import { TokenCache } from './token-cache.ts';

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

/** One file a kind. */
const kinds: { readonly [Kind in Authentication['kind']]: Authorise<Kind> } = {
  aws,
  entra,
  exchange: exchangeToken,
  google,
  oci,
};

export function createCredentials(surroundings: Omit<CredentialDeps, 'tokens'>): Credentials {
  const tokens = new TokenCache(() => surroundings.now().getTime());
  const around: CredentialDeps = { ...surroundings, tokens };
  const authorise = <Kind extends Authentication['kind']>(
    authentication: Extract<Authentication, { kind: Kind }>,
    request: AuthorisedRequest,
    signal: Abortable,
  ): Promise<Record<string, string>> =>
    // A token is fetched for all who wait for it: who leaves stops waiting, and lets it be fetched.
    unlessGivenUp(kinds[authentication.kind as Kind](authentication, request, around), signal);
  return { authorise, forget: (authentication) => tokens.forget(authentication) };
}
