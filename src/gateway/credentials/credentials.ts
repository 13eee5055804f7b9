/** Authorises calls to clouds: signs them, or adds a token that is fetched once and kept until shortly before it ends. */
import type { Authentication } from '../../providers/authentication.ts';
import type { Abortable } from '../../wire/abort.ts';
import { unlessGivenUp } from '../upstream/given-up.ts';
import type { Authorise, AuthorisedRequest, CredentialDeps, Credentials } from './authorise.ts';
import { aws } from './aws.ts';
import { entra } from './entra.ts';
import { exchangeToken } from './exchange.ts';
import { google } from './google.ts';
import { oci } from './oci.ts';
import { TokenCache } from './token-cache.ts';

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
