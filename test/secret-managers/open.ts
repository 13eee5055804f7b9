/** Secret references by themselves: the real HTTP client and signing, a clock of the test's own, simulated managers behind. */
import { readEnvironment } from '../../src/environment.ts';
import { type OpenSecrets, openSecrets } from '../../src/gateway/secrets/open.ts';
import type { Log } from '../../src/log.ts';
import type { AuthConfig, ManagerType, SecretSource } from '../../src/secrets/manager.ts';
import type { SecretUse } from '../../src/secrets/mapping.ts';
import { TestClock } from '../harness.ts';

export interface SecretLab {
  secrets: OpenSecrets;
  clock: TestClock;
  /** Everything that was logged, as text. */
  logged: string[];
}

/** `env` is what the process would have; addresses of clouds that are fixed in the real world lead to `cloud`, where there is one. */
export function openLab(env: Record<string, string> = {}, cloud?: { url: string }): SecretLab {
  const clock = new TestClock();
  const logged: string[] = [];
  const keep = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { info: keep, warn: keep, error: keep };
  const settings = readEnvironment({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1', SECRET_MANAGER_TIMEOUT_MS: '2000', ...env });
  const toLoopback = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = new URL(String(input));
    return fetch(cloud ? new URL(url.pathname + url.search, cloud.url) : url, init);
  };
  const secrets = openSecrets({
    settings,
    clock,
    log,
    env: { TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env },
    fetch: Object.assign(toLoopback, { preconnect: fetch.preconnect }),
  });
  return { secrets, clock, logged };
}

let made = 0;

export const sourceOf = (
  manager: ManagerType,
  auth: AuthConfig,
  path: string,
  key: string | null = null,
): SecretSource => {
  made++;
  return {
    organisationId: 'organisation-1',
    id: `id-${made}`,
    slug: `reference-${made}`,
    manager,
    auth,
    path,
    key,
    fingerprint: `fingerprint-${made}`,
  };
};

export const useOf = (source: SecretSource, more: Partial<SecretUse> = {}): SecretUse => ({
  target: 'key',
  reference: source.slug,
  source,
  secretKey: source.key,
  format: 'string',
  ...more,
});

/** The one value of a use, or the words of its failure. */
export async function secretValue({ secrets }: SecretLab, uses: readonly SecretUse[]): Promise<unknown> {
  try {
    return (await secrets.resolve(uses)).values.get('key');
  } catch (fault) {
    return `failed: ${fault instanceof Error ? fault.message : fault}`;
  }
}
