/** The secret that webhook calls are signed with: made here, shown once, kept sealed. */
import { randomBytes } from 'node:crypto';
import type { Vault } from '../../store/vault.ts';

const purpose = 'webhook-secret';

export function newWebhookSecret(vault: Vault): { secret: string; sealed: string } {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  return { secret, sealed: vault.seal(secret, purpose) };
}

export const openWebhookSecret = (vault: Vault, sealed: string): string => vault.open(sealed, purpose);
