/** How a target proves itself to Google Cloud: a service account, the gateway's own identity, or a token or key as it is. */
import type { Authentication } from '../authentication.ts';
import type { CallFacts } from '../provider.ts';
import { setting } from '../settings.ts';
import { serviceAccount } from './place.ts';

const scope = 'https://www.googleapis.com/auth/cloud-platform';

/** Without a word about it, a service account counts where there is one. The gateway's own identity must be asked for. */
export function authentication({ fields }: CallFacts): Authentication | null {
  const type = setting(fields, 'vertex_auth_type');
  const json = serviceAccount(fields);
  if (type === 'workloadIdentity' || type === 'workload') {
    return { kind: 'google', scope, credentials: { from: 'gateway' } };
  }
  if (type === 'basic' || json === null) return null;
  return { kind: 'google', scope, credentials: { from: 'service-account', json } };
}

/** Keys of Google's begin so; anything else is a token. */
const isKey = (credential: string): boolean => /^(AIza|AQ\.)/.test(credential);

export function credentialHeaders(facts: CallFacts): Record<string, string> {
  const { credential } = facts;
  if (credential === null || authentication(facts)) return {};
  return isKey(credential) ? { 'x-goog-api-key': credential } : { authorization: `Bearer ${credential}` };
}
