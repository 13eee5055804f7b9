/** A way back in for an operator who lost every admin key: whoever can read the database may mint one. */
import { mintKey } from './admin/api-keys/mint.ts';
import { recordSystemEvent } from './admin/kernel/audit/audit.ts';
import { systemClock } from './clock.ts';
import { EnvironmentError, type Settings } from './environment.ts';
import { grantableTo } from './identity/scopes.ts';
import { openState } from './open-services.ts';

export async function mintRecoveryKey(settings: Settings): Promise<string> {
  const { store } = await openState(settings, systemClock);
  try {
    const now = systemClock.now();
    const secret = await store.atomically(async (tx) => {
      const organisation = await tx
        .selectFrom('organisations')
        .select('id')
        .where('status', '=', 'active')
        .orderBy('created_at')
        .limit(1)
        .executeTakeFirst();
      if (!organisation) throw new EnvironmentError('There is no organisation yet; the first gw serve makes one.');
      const key = await mintKey(
        tx,
        now,
        {
          organisationId: organisation.id,
          workspaceId: null,
          userId: null,
          type: 'organisation-service',
          name: 'Recovery admin key',
          creationMode: 'auto',
          scopes: grantableTo('A'),
          createdBy: null,
        },
        { prefix: settings.apiKeyPrefix },
      );
      await recordSystemEvent(tx, now, {
        organisationId: organisation.id,
        resource: 'api_key',
        action: 'create',
        resourceId: key.id,
        details: { source: 'command line' },
      });
      return key.secret;
    });
    return `${secret}\n`;
  } finally {
    await store.close();
  }
}
