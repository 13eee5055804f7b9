/** The settings of an MCP or agent integration as they are stored: sealed, because credentials are among them. */
import type { Vault } from '../store/vault.ts';

export type SettingsPurpose = 'mcp-configurations' | 'agent-configurations';

export const sealSettings = (
  vault: Vault,
  purpose: SettingsPurpose,
  settings: Readonly<Record<string, unknown>>,
): string | null => (Object.keys(settings).length === 0 ? null : vault.seal(JSON.stringify(settings), purpose));

export const openSettings = (vault: Vault, purpose: SettingsPurpose, sealed: string | null): Record<string, unknown> =>
  sealed === null ? {} : JSON.parse(vault.open(sealed, purpose));
