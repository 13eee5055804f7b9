/** Opens secret references: the gateway's guarded HTTP client and its way of signing calls to clouds, handed to those who fetch secrets. */
import { lookup } from 'node:dns/promises';
import type { Clock } from '../../clock.ts';
import type { Settings } from '../../environment.ts';
import type { Log } from '../../log.ts';
import { createFetch } from '../../secrets/fetch.ts';
import { type ManagerAnswer, type ManagerCall, SecretFault } from '../../secrets/manager.ts';
import { createSecrets, type Secrets } from '../../secrets/resolver.ts';
import { collected } from '../../wire/client/collected.ts';
import { HttpClient } from '../../wire/client/http-client.ts';
import { WireFault } from '../../wire/fault.ts';
import { createCredentials } from '../credentials/credentials.ts';
import { GatewayError } from '../errors.ts';
import { unlessGivenUp } from '../upstream/given-up.ts';
import { createHostGuard, type HostGuard, marked } from '../upstream/host-guard.ts';
import { unlessSaid } from '../upstream/send.ts';

interface SecretParts {
  settings: Settings;
  /** By which calls of this installation are known. */
  mark?: string;
  clock: Clock;
  log: Log;
  /** The process's own, unless a test says otherwise. */
  env?: Readonly<Record<string, string | undefined>>;
  fetch?: typeof fetch;
}

export interface OpenSecrets extends Secrets {
  close(): void;
}

export function openSecrets({
  settings,
  mark = '',
  clock,
  log,
  env = process.env,
  fetch: ask = fetch,
}: SecretParts): OpenSecrets {
  const now = () => clock.now().getTime();
  const client = new HttpClient(env);
  const guard = createHostGuard(
    settings.trustedHosts,
    async (name) => {
      const found = await lookup(name, { all: true });
      return found.map(({ address }) => address);
    },
    { mark },
  );
  const namedByOperator = new Set(
    [env.AWS_ENDPOINT_URL_SECRETS_MANAGER, env.GCP_SECRET_MANAGER_ENDPOINT].map(
      (url) => URL.parse(url ?? '')?.hostname,
    ),
  );
  const readFile = (path: string) => Bun.file(path).text();
  const credentials = createCredentials({
    fetch: ask,
    now: () => clock.now(),
    env,
    readFile,
    alsoServes: (host) => secretServices.test(host) || namedByOperator.has(host),
  });
  const fetchSecret = createFetch({
    settings: settings.secrets,
    trustedHosts: settings.trustedHosts.named,
    lendsIdentity: settings.gateway.cloudIdentity !== 'off',
    call: (call, limits) => guardedCall(client, guard, call, limits),
    authorise: (authentication, { url, method, headers, body }, signal) =>
      credentials
        .authorise(
          authentication,
          { url, method, headers, body: body === undefined ? null : Buffer.from(body) },
          signal,
        )
        .catch((fault) => {
          throw asSecretFault(fault);
        }),
    forget: (authentication) => credentials.forget(authentication),
    env,
    readFile,
    now,
  });
  const { maxAgeMs, staleMs } = settings.secrets;
  return { ...createSecrets({ fetch: fetchSecret, now, log, maxAgeMs, staleMs }), close: () => client.close() };
}

/** A model call must not get here with the gateway's own token, so that only those who fetch secrets know these. */
const secretServices =
  /^secretmanager\.googleapis\.com$|^secretsmanager\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$|\.vault\.(azure\.(net|cn)|usgovcloudapi\.net|microsoftazure\.de)$/;

/** Redirects are not followed: they would carry what a manager is shown to somebody else. */
async function guardedCall(
  client: HttpClient,
  guard: HostGuard,
  { url, method, headers, body, fromOperator }: ManagerCall,
  { bytes, signal, tenant }: { bytes: number; signal: AbortSignal; tenant: string },
): Promise<ManagerAnswer> {
  try {
    const checked = fromOperator ? null : guard.check(url, tenant);
    const pinned = checked && (await unlessGivenUp(checked, signal));
    const sent = body === undefined ? null : Buffer.from(body);
    const asked = {
      url,
      pinned,
      method,
      headers: marked(headers, guard.mark),
      unlessSaid: plainly,
      body: sent,
      tenant,
    };
    const answer = await client.call(asked, signal);
    const whole = answer.body ? await collected(answer.body, bytes) : new Uint8Array();
    return { status: answer.status, text: new TextDecoder().decode(whole) };
  } catch (fault) {
    throw signal.aborted && signal.reason instanceof SecretFault ? signal.reason : asSecretFault(fault);
  }
}

/** Secrets are small: nothing is gained by packing them. */
const plainly = { ...unlessSaid, 'accept-encoding': 'identity' };

/** In words that hold nothing of what was sent or answered. */
function asSecretFault(fault: unknown): SecretFault {
  if (fault instanceof SecretFault) return fault;
  if (fault instanceof WireFault) return new SecretFault('away', `the manager cannot be reached (${fault.code})`);
  if (!(fault instanceof GatewayError)) return new SecretFault('away', 'the manager cannot be reached');
  switch (fault.code) {
    case 'invalid_custom_host':
    case 'missing_credential':
      return new SecretFault('refused', fault.message.replace(/^Gateway error: /, ''));
    case 'upstream_refused':
      return fault.status < 500
        ? new SecretFault('refused', `the cloud gives no token for these credentials (status ${fault.status})`)
        : new SecretFault('away', 'the cloud gives no token at the moment');
    default:
      return new SecretFault('away', 'the cloud cannot be reached for a token');
  }
}
