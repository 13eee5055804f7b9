/** The settings of an agent integration as a whole: each address may be called, and they fit the way in which it is called. */
import { agentSettings } from '../../catalog/agents/settings.ts';
import type { SecretMapping } from '../../catalog/saved.ts';
import { faultOfCustomHost, type TrustedHosts } from '../../http/custom-host.ts';
import { invalid } from '../../http/errors.ts';
import type { AgentIntegrationTable } from '../../store/tables/agents.ts';
import { mapsSetting, requireKnownSettings } from '../integrations/secret-mappings.ts';

interface Integration {
  url: string;
  authType: AgentIntegrationTable['auth_type'];
  /** Settings that come from a secret manager. */
  mapped: readonly SecretMapping[];
}

/** Throws where the settings lead to an address that may not be called, or lack what the integration needs. */
export function checkAgentSettings(
  settings: Readonly<Record<string, unknown>>,
  { url, authType, mapped }: Integration,
  trustedHosts: TrustedHosts,
): void {
  requireCallable('url', url, trustedHosts);
  requireKnownSettings(mapped, Object.keys(agentSettings().shape));
  const { client_credentials } = agentSettings().parse(settings);
  if (client_credentials?.token_endpoint) {
    requireCallable(
      'configurations.client_credentials.token_endpoint',
      client_credentials.token_endpoint,
      trustedHosts,
    );
  }
  if (authType === 'oauth_client_credentials' && !client_credentials && !mapsSetting(mapped, 'client_credentials')) {
    throw invalid('configurations.client_credentials', 'is required by the auth_type oauth_client_credentials');
  }
}

function requireCallable(field: string, address: string, trustedHosts: TrustedHosts): void {
  const fault = faultOfCustomHost(address, trustedHosts);
  if (fault) throw invalid(field, fault);
}

/** The address without what only a card's own address has: the well-known path, a query, slashes at its end. */
export function agentBase(sent: string): string {
  const url = URL.parse(sent);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return sent;
  const path = url.pathname.replace(/\/\.well-known\/agent(-card)?\.json$/, '').replace(/\/+$/, '');
  return url.hash === '' && url.search === '' && url.username === '' ? `${url.origin}${path}` : sent;
}
