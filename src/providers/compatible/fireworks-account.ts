/** Where Fireworks keeps what belongs to an account: beside the address for inference, under the account's name. */
import { RequestFault } from '../faults.ts';
import type { CallFacts } from '../provider.ts';
import { setting } from '../settings.ts';
import { inPath } from './quirks/paths.ts';

export const address = 'https://api.fireworks.ai/inference/v1';

function accountOf({ fields }: CallFacts): string {
  const account = setting(fields, 'fireworks_account_id');
  if (account !== null) return account;
  throw new RequestFault('fireworks_account_id', 'set fireworks_account_id: files and jobs belong to an account');
}

/** `accounts/ACCOUNT/datasets/ID`, as one thing names another. */
export const resourceName = (facts: CallFacts, kind: string, id: string): string =>
  id.startsWith('accounts/') ? id : `accounts/${accountOf(facts)}/${kind}/${id}`;

/** The last part of such a name. */
export const bareId = (name: unknown): string => (typeof name === 'string' ? (name.split('/').at(-1) ?? '') : '');

/** The full address of one of the account's things, or of all of a kind. */
export function accountPath(facts: CallFacts, kind: string, id?: string): string {
  const host = (facts.customHost ?? address).replace(/\/inference\/v1\/?$/, '');
  const path = `${host}/v1/accounts/${inPath(accountOf(facts))}/${kind}`;
  return id === undefined ? path : `${path}/${encodeURIComponent(bareId(id))}`;
}
