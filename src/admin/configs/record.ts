/** A config as callers read it. */
import type { ConfigTable } from '../../store/tables/catalog.ts';
import type { StoredConfig } from './body.ts';
import { maskConfig } from './credentials.ts';

/** Every column but the version, which lists leave out. */
export function asListed({ version_id: _, ...row }: ConfigTable) {
  return { ...row, object: 'config' as const };
}

export function asRecord(row: ConfigTable, config: StoredConfig) {
  const shown = maskConfig(config);
  return {
    success: true as const,
    ...asListed(row),
    ...versionOf(row.version_id),
    config: shown,
    data: { config: shown },
  };
}

interface Version {
  id: string;
  config: StoredConfig;
  created_at: string;
  created_by: string | null;
}

export function asVersion(row: ConfigTable, version: Version) {
  return {
    ...asListed(row),
    ...versionOf(version.id),
    updated_by: version.created_by,
    created_at: version.created_at,
    last_updated_at: version.created_at,
    config: JSON.stringify(maskConfig(version.config)),
  };
}

const versionOf = (versionId: string) => ({
  format: 'json' as const,
  type: 'ORG_CONFIG' as const,
  version_id: versionId,
});
