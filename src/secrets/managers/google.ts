/** Google Secret Manager: a service account's key, or the gateway's own identity. */
import { z } from 'zod';
import { jsonOrNothing } from '../../bounded-json.ts';
import { lazy } from '../../lazy.ts';
import { type AuthConfig, faultOfStatus, nonsense, SecretFault, type SecretManager } from '../manager.ts';
import { callWithToken } from './authorised.ts';

const accountFields = lazy(() =>
  z.object({ client_email: z.string().min(1), private_key: z.string().min(1), project_id: z.string().optional() }),
);

const authConfig = lazy(() =>
  z.discriminatedUnion('gcp_auth_type', [
    z.object({
      gcp_auth_type: z.literal('serviceAccount'),
      gcp_service_account_json: z
        .string()
        .max(16_384)
        .refine((text) => accountFields().safeParse(jsonOrNothing(text)).success, {
          message: 'must be the JSON of a service account’s key, with client_email and private_key',
        }),
      gcp_project_id: project().optional(),
    }),
    z.object({ gcp_auth_type: z.literal('workload'), gcp_project_id: project().optional() }),
  ]),
);

const project = () => z.string().regex(/^[a-z0-9:.-]{1,128}$/, 'must be the id of a project');

const whole = /^projects\/([^/]+)\/secrets\/([\w-]{1,255})(?:\/versions\/([\w-]{1,63}))?$/;
const plain = /^([\w-]{1,255})(?:\/versions\/([\w-]{1,63}))?$/;

/** A whole resource name, or the name of a secret in the project of the reference or of its account. */
function resourceOf(path: string, auth: AuthConfig): string {
  const named = whole.exec(path);
  if (named) return `projects/${named[1]}/secrets/${named[2]}/versions/${named[3] ?? 'latest'}`;
  const [, secret, version = 'latest'] = plain.exec(path) ?? [];
  const account = accountFields().safeParse(jsonOrNothing(auth.gcp_service_account_json ?? ''));
  const owner = auth.gcp_project_id ?? account.data?.project_id;
  if (!owner) throw new SecretFault('refused', 'gcp_project_id is missing, and secret_path names no project');
  return `projects/${encodeURIComponent(owner)}/secrets/${secret}/versions/${version}`;
}

const answered = lazy(() => z.object({ payload: z.object({ data: z.base64() }) }));
const refused = lazy(() => z.object({ error: z.object({ status: z.string() }) }));

export const googleSecretManager: SecretManager = {
  authConfig: authConfig as () => z.ZodType<AuthConfig>,
  maskedFields: new Set(['gcp_service_account_json']),
  addressFields: [],
  faultOfPath: (path) =>
    whole.test(path) || plain.test(path)
      ? null
      : 'must be the name of a secret, or projects/<project>/secrets/<name>, with /versions/<version> where one is meant',
  async fetch({ auth, path }, means) {
    const own = means.env.GCP_SECRET_MANAGER_ENDPOINT;
    const base = own?.replace(/\/$/, '') || 'https://secretmanager.googleapis.com';
    const call = {
      url: `${base}/v1/${resourceOf(path, auth)}:access`,
      method: 'GET' as const,
      headers: { accept: 'application/json' },
      fromOperator: Boolean(own),
    };
    const json = auth.gcp_service_account_json;
    const { status, text } = await callWithToken(
      means,
      {
        kind: 'google',
        credentials: json === undefined ? { from: 'gateway' } : { from: 'service-account', json },
        scope: 'https://www.googleapis.com/auth/cloud-platform',
      },
      call,
    );
    const answer = jsonOrNothing(text);
    if (status !== 200) {
      throw faultOfStatus(status, refused().safeParse(answer).data?.error.status.replaceAll('_', ''));
    }
    const parsed = answered().safeParse(answer);
    if (!parsed.success) throw nonsense();
    return Buffer.from(parsed.data.payload.data, 'base64').toString('utf8');
  },
};
