/** What an organisation's JWT costs to identify: one that was seen before, and a new one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startApp } from '../src/app.ts';
import { systemClock } from '../src/clock.ts';
import { readEnvironment } from '../src/environment.ts';
import { saveAuthSettings } from '../src/identity/auth-settings.ts';
import { openTokenReader } from '../src/identity/jwt/open.ts';
import { createKeyring } from '../src/identity/keyring.ts';
import { digestOf } from '../src/identity/secrets.ts';
import { silentLog } from '../src/log.ts';
import { encode } from '../src/store/json.ts';
import { printTable } from './table.ts';

const newTokens = 4_000;
const knownRounds = 500_000;

export async function benchJwt(): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-jwt-'));
  const settings = readEnvironment({ PORT: '0', GW_DATA_DIR: folder });
  const app = await startApp(settings, { log: silentLog });
  try {
    const { store, feed } = app.services;
    const place = await store.db.selectFrom('workspaces').select(['organisation_id', 'slug']).executeTakeFirstOrThrow();
    const { publicKey, privateKey } = await generateKeyPair('RS256', { modulusLength: 2048 });
    const jwk = { ...(await exportJWK(publicKey)), kty: 'RSA', kid: 'bench' };
    await saveAuthSettings(store.db, new Date(), {
      organisation_id: place.organisation_id,
      login_method: 'any',
      disable_auto_provision_user: 0,
      jwt: encode({ enabled: true, jwks_url: null, jwks_json: { keys: [jwk] }, issuer: null, audience: null }),
      sso: null,
      sso_client_id: null,
      sso_secrets_sealed: null,
      sso_verified_at: null,
      sso_proven_at: null,
      last_updated_at: '',
    });
    const tokens = await Promise.all(
      Array.from({ length: newTokens }, (_, n) =>
        new SignJWT({
          gw_oid: place.organisation_id,
          gw_workspace: place.slug,
          scope: ['completions.write', 'logs.view', 'prompts.render'],
          sub: `robot-${n}`,
          defaults: { metadata: { team: 'red' } },
          rate_limits: [{ type: 'requests', unit: 'rpm', value: 100 }],
        })
          .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'bench' })
          .setIssuedAt()
          .setExpirationTime('1h')
          .sign(privateKey),
      ),
    );
    const reader = openTokenReader({
      environment: settings.jwt,
      db: store.db,
      feed,
      clock: systemClock,
      fetchDocument: () => Promise.reject(new Error('nothing is fetched here')),
      onRefused: ({ reason }) => {
        throw reason;
      },
    });
    const keyring = createKeyring(store.db, feed, systemClock, { tokens: reader });
    const [warm = '', ...others] = tokens;
    for (const token of others.slice(0, 1_000))
      if (!(await keyring.find(token))) throw new Error('A token was refused');

    const cpu = process.cpuUsage();
    for (const token of others.slice(1_000)) await keyring.find(token);
    const { user, system } = process.cpuUsage(cpu);
    const newMicroseconds = (user + system) / (newTokens - 1_001);

    await keyring.find(warm);
    const digest = digestOf(warm);
    const measured = (digestKnown: string | undefined): number => {
      const before = process.cpuUsage();
      for (let round = 0; round < knownRounds; round++) keyring.find(warm, digestKnown);
      const spent = process.cpuUsage(before);
      return (spent.user + spent.system) / knownRounds;
    };
    const results = {
      'a token seen before, µs of CPU': measured(undefined),
      'the same on a connection that sent it before, µs of CPU': measured(digest),
      'a new token, µs of CPU': newMicroseconds,
    };
    printTable(
      'Organisation JWTs',
      Object.entries(results).map(([what, value]) => ({ what, value })),
    );
    return results;
  } finally {
    await app.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
