/** The environment variables of the listener: where it listens, whom it trusts, and which pages may call it. */
import { z } from 'zod';
import { EnvironmentError, entries, list, wholeNumber } from '../variable-fields.ts';
import type { CorsRules } from './cors.ts';
import type { TrustedHosts } from './custom-host.ts';
import type { TlsFiles } from './server.ts';
import { faultOfTlsFiles } from './tls-files.ts';

export const listenerVariables = () => ({
  PORT: wholeNumber(8787, 0, 65_535),
  HOST: z
    .string()
    .regex(/^[\w.:%-]+$/, 'must be an address or a name of this machine alone, without scheme, port or brackets')
    .default('127.0.0.1'),
  TLS_KEY_PATH: z.string().optional(),
  TLS_CERT_PATH: z.string().optional(),
  TLS_CA_PATH: z.string().optional(),
  CONTROL_PLANE_URL: z.url({ protocol: /^https?$/ }).optional(),
  NODE_ENV: z.string().optional(),
  TRUSTED_CUSTOM_HOSTS: z.string().transform(entries).optional(),
  TRUSTED_PROXIES: list().pipe(
    z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'must be an IP address or a range' })),
  ),
  CORS_ALLOWED_ORIGINS: list(),
  CORS_ALLOWED_METHODS: list(),
  CORS_ALLOWED_HEADERS: list(),
  CORS_ALLOWED_EXPOSE_HEADERS: list(),
});

type Variables = z.output<z.ZodObject<ReturnType<typeof listenerVariables>>>;

export interface ListenerSettings {
  port: number;
  host: string;
  /** Null: whoever stands in front speaks TLS. */
  tls: TlsFiles | null;
  /** The public address of the console, for links in notices; null: as the caller reached us. */
  publicUrl: string | null;
  trustedHosts: TrustedHosts;
  trustedProxies: readonly string[];
  cors: CorsRules;
}

const everyMethod = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** On a developer's machine, model servers on the same machine may be called without further ado. */
const localHosts = ['localhost', '127.0.0.1', '::1', 'host.docker.internal'];

export const listenerSettings = (values: Variables): ListenerSettings => ({
  port: values.PORT,
  host: values.HOST,
  tls: tlsFiles(values),
  publicUrl: values.CONTROL_PLANE_URL?.replace(/\/+$/, '') ?? null,
  trustedHosts: {
    named: values.TRUSTED_CUSTOM_HOSTS ?? (values.NODE_ENV === 'production' ? [] : localHosts),
    own: ownHosts(values),
  },
  trustedProxies: values.TRUSTED_PROXIES,
  cors: {
    origins: values.CORS_ALLOWED_ORIGINS,
    methods: values.CORS_ALLOWED_METHODS.length === 0 ? everyMethod : values.CORS_ALLOWED_METHODS,
    headers: values.CORS_ALLOWED_HEADERS,
    exposedHeaders: values.CORS_ALLOWED_EXPOSE_HEADERS.length === 0 ? ['*'] : values.CORS_ALLOWED_EXPOSE_HEADERS,
  },
});

function tlsFiles({ TLS_KEY_PATH, TLS_CERT_PATH, TLS_CA_PATH }: Variables): TlsFiles | null {
  if (TLS_KEY_PATH === undefined && TLS_CERT_PATH === undefined && TLS_CA_PATH === undefined) return null;
  if (TLS_KEY_PATH === undefined || TLS_CERT_PATH === undefined) {
    const alone = TLS_CA_PATH === undefined ? '' : ', and TLS_CA_PATH beside them';
    throw new EnvironmentError(`Wrong environment: TLS_KEY_PATH and TLS_CERT_PATH belong together${alone}`);
  }
  const files: TlsFiles = { key: TLS_KEY_PATH, cert: TLS_CERT_PATH, ca: TLS_CA_PATH ?? null };
  const fault = faultOfTlsFiles(files);
  if (fault) throw new EnvironmentError(`Wrong environment: ${tlsVariables[fault.file]}: ${fault.reason}`);
  return files;
}

const tlsVariables = { key: 'TLS_KEY_PATH', cert: 'TLS_CERT_PATH', ca: 'TLS_CA_PATH' } as const;

function ownHosts({ HOST, PORT, CONTROL_PLANE_URL }: Variables): string[] {
  const names = [HOST.includes(':') ? `[${HOST}]` : HOST, 'localhost', '127.0.0.1', '[::1]'];
  const listener = names.flatMap((name) => URL.parse(`http://${name}:${PORT}`)?.host ?? []);
  return CONTROL_PLANE_URL ? [new URL(CONTROL_PLANE_URL).host, ...listener] : listener;
}
