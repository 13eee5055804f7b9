/** What a first start leaves behind in an empty store: one organisation, its owner, one workspace with the provider `@sandbox`, one admin key, one workspace key. */

import { setPassword } from '../../identity/accounts.ts';
import { grantableTo } from '../../identity/scopes.ts';
import { newToken } from '../../identity/secrets.ts';
import { mintKey } from '../api-keys/mint.ts';
import type { Services } from '../kernel/services.ts';
import { insertUser } from '../users/membership.ts';
import { createOrganisation } from './create.ts';

export interface FirstStart {
  adminKey: string;
  workspaceKey: string;
  ownerEmail: string;
  ownerPassword: string;
  /** The secrets that the operator chose, who knows them; nothing repeats them. */
  chosen: { adminKey: boolean; ownerPassword: boolean };
}

/** Null when the store has been used before; two nodes that start together make one organisation. */
export async function firstStart(services: Services): Promise<FirstStart | null> {
  const { settings, store } = services;
  if (await store.db.selectFrom('organisations').select('id').limit(1).executeTakeFirst()) return null;
  const ownerPassword = settings.ownerPassword ?? newToken();
  const passwordHash = services.passwords.hashAtOnce(ownerPassword);
  return store.atomically(async (tx) => {
    if (await tx.selectFrom('organisations').select('id').limit(1).executeTakeFirst()) return null;
    const now = services.clock.now();
    const ownerId = await insertUser(tx, now, {
      email: settings.ownerEmail,
      firstName: 'First',
      lastName: 'Owner',
    });
    const prefix = settings.apiKeyPrefix;
    const { organisationId, workspaceId, adminKey } = await createOrganisation(tx, now, {
      name: 'My organisation',
      ownerId,
      adminKey: settings.firstAdminKey ? { chosen: settings.firstAdminKey } : { prefix },
    });
    await setPassword(tx, now, { userId: ownerId, organisationId }, passwordHash);
    const workspaceKey = await mintKey(
      tx,
      now,
      {
        organisationId,
        workspaceId,
        userId: null,
        type: 'workspace-service',
        name: 'First workspace key',
        creationMode: 'auto',
        scopes: grantableTo('S'),
        createdBy: ownerId,
      },
      { prefix },
    );
    return {
      adminKey: adminKey.secret,
      workspaceKey: workspaceKey.secret,
      ownerEmail: settings.ownerEmail,
      ownerPassword,
      chosen: { adminKey: settings.firstAdminKey !== null, ownerPassword: settings.ownerPassword !== null },
    };
  });
}
