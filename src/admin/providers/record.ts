/** Stored providers as callers see them. */

import type { z } from 'zod';
import { openConfigurations } from '../../catalog/saved.ts';
import { shownUsageLimit } from '../../limits/entries.ts';
import { decode } from '../../store/json.ts';
import type { Vault } from '../../store/vault.ts';
import { maskedConfigurations } from '../integrations/masking.ts';
import type { SavedPair } from './access.ts';
import { shownStatus } from './limits.ts';
import type { providerRecord } from './schema.ts';

/** What providers and virtual keys show alike. */
export function sharedFields(vault: Vault, now: Date, { provider, integration }: SavedPair) {
  const rates = decode(provider.rate_limits);
  return {
    id: provider.id,
    slug: provider.slug,
    name: provider.name,
    ai_provider_name: integration.ai_provider_id,
    workspace_id: provider.workspace_id,
    note: provider.note,
    status: shownStatus(provider, now),
    usage_limits: provider.usage_limits && shownUsageLimit(decode(provider.usage_limits)),
    rate_limits: rates.length > 0 ? rates : null,
    reset_usage: 0 as const,
    expires_at: provider.expires_at,
    model_config: maskedConfigurations(openConfigurations(vault, integration.configurations_sealed)),
    last_reset_at: provider.last_reset_at,
    created_at: provider.created_at,
    last_updated_at: provider.last_updated_at,
  };
}

export const asProviderRecord = (
  vault: Vault,
  now: Date,
  pair: SavedPair,
): z.output<ReturnType<typeof providerRecord>> => ({
  object: 'provider',
  ...sharedFields(vault, now, pair),
  integration_id: pair.integration.slug,
  tags: pair.provider.tags && decode(pair.provider.tags),
  secret_mappings: decode(pair.provider.secret_mappings),
});
