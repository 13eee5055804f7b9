/** A gateway with a simulated Vault, and references to secrets in it. */

import { expect } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { type SimulatedProvider, startProvider } from './providers/simulated.ts';
import { newVault, type VaultState, vaultServer } from './secret-managers/vault.ts';
import { startWorld, type World } from './world.ts';

export const newSecret = () => `secret-${randomBytes(12).toString('hex')}`;

let count = 0;
export const newSlug = () => `mapped-${++count}`;

export interface MappedSecrets {
  world: World;
  workspaceId: string;
  vault: SimulatedProvider;
  state: VaultState;
  /** The same secret as one field, and as the headers that carry it. */
  rotate(slug: string, secret: string, version?: number): void;
  newReference(slug: string, secret: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startMappedSecrets(): Promise<MappedSecrets> {
  const state = newVault();
  const vault = await startProvider((call, response) => vaultServer(state)(call, response));
  const world = await startWorld(
    {},
    { SECRET_MANAGER_TIMEOUT_MS: '2000', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
  );
  const rotate = (slug: string, secret: string, version = 2) =>
    void state.kv2.set(slug, { data: { key: secret, headers: { 'x-partner-key': secret } }, version });
  return {
    world,
    workspaceId: (await world.gateway.get('/v1/workspaces')).body.data[0].id,
    vault,
    state,
    rotate,
    async newReference(slug: string, secret: string): Promise<void> {
      rotate(slug, secret, 1);
      const made = await world.gateway.post('/v1/secret-references', {
        name: slug,
        slug,
        manager_type: 'hashicorp_vault',
        auth_config: { vault_auth_type: 'token', vault_addr: vault.url.replace('/v1', ''), vault_token: 'root-token' },
        secret_path: `secret/data/${slug}`,
        secret_key: 'key',
      });
      expect(made.status).toBe(200);
    },
    async stop() {
      await world.stop();
      await vault.stop();
    },
  };
}
