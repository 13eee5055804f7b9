/** Who may call a cloud as the gateway itself: whoever an administrator has given it to on an integration, unless the operator says otherwise. */
import type { Authentication } from '../../providers/authentication.ts';
import type { CallFacts } from '../../providers/provider.ts';
import type { Target } from '../attempt/target.ts';
import type { CallDeps } from '../call-deps.ts';
import { GatewayError } from '../errors.ts';

export function requireLeave(
  { settings }: CallDeps,
  target: Target,
  facts: CallFacts,
  authentication: Authentication,
): void {
  if (!isGatewaysOwn(authentication) || settings.cloudIdentity === 'any') return;
  if (settings.cloudIdentity === 'saved' && isSaved(target, facts, authentication)) return;
  throw new GatewayError(
    'provider_not_allowed',
    settings.cloudIdentity === 'off'
      ? 'the gateway lends its own cloud identity to nobody here; save a credential on the integration'
      : 'the gateway lends its own cloud identity only to integrations that say so; save this setting there instead of sending it',
  );
}

/** A role that is assumed with the gateway's own keys is as much its identity as those keys. */
export function isGatewaysOwn(authentication: Authentication): boolean {
  if (!('credentials' in authentication)) return false;
  const { credentials } = authentication;
  if (credentials.from === 'role') return credentials.with === null;
  return credentials.from === 'gateway' || credentials.from === 'managed' || credentials.from === 'workload';
}

/** The integration by itself asks for the very same identity; what a config or a header adds to it does not count. */
function isSaved({ provider, saved }: Target, facts: CallFacts, authentication: Authentication): boolean {
  const own = saved && provider.authentication?.({ ...facts, fields: saved.fields });
  return own ? JSON.stringify(identityOf(own)) === JSON.stringify(identityOf(authentication)) : false;
}

const identityOf = (authentication: Authentication): unknown =>
  'credentials' in authentication ? authentication.credentials : null;
