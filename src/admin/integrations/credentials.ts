/** An integration's credentials as a whole: the provider is one we can call, its settings fit it, and it has the key that it needs. */
import type { Configurations, SecretMapping } from '../../catalog/saved.ts';
import type { TrustedHosts } from '../../http/custom-host.ts';
import { invalid } from '../../http/errors.ts';
import { providers } from '../../providers/index.ts';
import { checkConfigurations, type SettingPath } from './configurations.ts';

/** A provider goes by other names too; it is stored under its id. */
export const canonicalProviderId = (id: string): string => providers.get(id)?.id ?? id;

interface Credentials {
  aiProviderId: string;
  configurations: Record<string, unknown>;
  hasKey: boolean;
  mappings: readonly SecretMapping[];
}

/** Where the caller wrote things, for refusals. */
interface Wording {
  provider: string;
  setting?: SettingPath;
}

/** The settings to store. */
export function checkCredentials(
  { aiProviderId, configurations, hasKey, mappings }: Credentials,
  trustedHosts: TrustedHosts,
  wording: Wording = { provider: 'ai_provider_id' },
): Configurations {
  const mapped = new Set(mappings.map(({ target_field }) => target_field.replace(/^configurations\./, '')));
  if (!providers.has(aiProviderId) && typeof configurations.custom_host !== 'string' && !mapped.has('custom_host')) {
    throw invalid(
      wording.provider,
      `${aiProviderId} is no provider that we know; one that speaks the dialect of OpenAI can be used with configurations.custom_host`,
    );
  }
  const checked = checkConfigurations(aiProviderId, configurations, trustedHosts, wording.setting, mapped);
  if (checked.needsKey && !hasKey && !mapped.has('key')) {
    throw invalid(
      'key',
      `is required by ${aiProviderId}; send it, map it, or send configurations.is_key_required: false`,
    );
  }
  return checked.configurations;
}
