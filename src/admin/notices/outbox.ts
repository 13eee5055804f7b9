/** Notices to people, queued with the change that caused them. The mail job sends them; until then the console shows them. */
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import type { Vault } from '../../store/vault.ts';

interface KeyUsage {
  userName: string;
  apiKeyType: string;
  apiKey: string;
  keyName: string;
  organisationName: string;
  creditLimit: string;
}

interface EntityUsage {
  entityType: string;
  entityName: string;
  entityUrl: string;
  organisationName: string;
  creditLimit: string;
}

interface ProviderUsage {
  virtualKeyName: string;
  organisationName: string;
  creditLimit: string;
}

/** Each template with the fields that it shows. */
export interface NoticeFields {
  'user-invite': { organisationName: string; inviterUserName: string; inviterEmail: string; inviteLink: string };
  'password-reset': { organisationName: string; resetLink: string };
  /** `method` says what the code is good for: typing it in, or a TXT record of the domain. */
  'domain-verification-alert': {
    organisationName: string;
    domain: string;
    verificationCode: string;
    method: 'code' | 'dns';
  };
  'apikey-expired-alert': { userName: string; apiKeyType: string; apiKey: string; organisationName: string };
  'apikey-expiry-upcoming': { keyName: string; apiKey: string; organisationName: string; expiresAt: string };
  'apikey-usage-threshold-alert': KeyUsage & { creditThreshold: string };
  'apikey-usage-exhausted-alert': KeyUsage;
  'entity-usage-threshold-alert': EntityUsage & { creditThreshold: string };
  'entity-usage-exhausted-alert': EntityUsage;
  'virtualkey-usage-threshold-alert': ProviderUsage & { creditThreshold: string };
  'virtualkey-usage-exhausted-alert': ProviderUsage;
  'virtualkey-expired-alert': { virtualKeyName: string; organisationName: string };
  'apikey-rotation-upcoming': { keyName: string; apiKey: string; organisationName: string; rotatesAt: string };
  'apikey-rotation-completed': {
    keyName: string;
    apiKey: string;
    organisationName: string;
    oldKeyEndsAt: string;
    link: string;
  };
  'apikey-rotation-old-secret-ending': { keyName: string; apiKey: string; organisationName: string; endsAt: string };
}

export type NoticeTemplate = keyof NoticeFields;

const purpose = 'notice';

export async function queueNotice<T extends NoticeTemplate>(
  db: Db,
  vault: Vault,
  now: Date,
  notice: { organisationId: string; template: T; recipients: readonly string[]; fields: NoticeFields[T] },
): Promise<void> {
  const recipients = [...new Set(notice.recipients)];
  if (recipients.length === 0) return;
  await db
    .insertInto('notices')
    .values({
      id: Bun.randomUUIDv7(),
      organisation_id: notice.organisationId,
      template: notice.template,
      recipients: encode(recipients),
      fields_sealed: vault.seal(JSON.stringify(notice.fields), purpose),
      status: 'queued',
      created_at: now.toISOString(),
      sent_at: null,
    })
    .execute();
}

/** A notice's fields as they were queued; null when they were sealed under another master key. */
export function openFields(vault: Vault, sealed: string): Record<string, string> | null {
  try {
    return JSON.parse(vault.open(sealed, purpose));
  } catch {
    return null;
  }
}
