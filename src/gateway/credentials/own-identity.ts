/** The gateway's own identity at a cloud is shown to the services that serve models there and to hosts that the operator trusts, never to a host that a customer chose. */
import { isTrustedHost } from '../../http/custom-host.ts';
import { GatewayError } from '../errors.ts';
import type { CredentialDeps } from './authorise.ts';

/** Clouds let anybody have a name below their domains: only the names of their own services count. */
export function requireService(
  url: string,
  cloud: 'AWS' | 'Azure' | 'Google',
  isService: (hostname: string) => boolean,
  { env, alsoServes }: Pick<CredentialDeps, 'env' | 'alsoServes'>,
): void {
  const { hostname, protocol } = new URL(url);
  if (protocol === 'https:' && (isService(hostname) || alsoServes?.(hostname))) return;
  const trusted = (env.TRUSTED_CUSTOM_HOSTS ?? '').split(',').map((entry) => entry.trim());
  if (isTrustedHost(hostname, trusted)) return;
  throw new GatewayError(
    'invalid_custom_host',
    `the gateway's own identity is not shown to ${hostname}: it is no model service of ${cloud}, nor in TRUSTED_CUSTOM_HOSTS`,
  );
}
