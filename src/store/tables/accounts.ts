/** Rows of accounts: passwords and the links that set one anew. */
import type { Timestamp } from './columns.ts';

/** A password counts in the organisation that took it. The same hash in several means that one password opens them all. */
export interface UserPasswordTable {
  user_id: string;
  organisation_id: string;
  password_hash: string;
  last_updated_at: Timestamp;
}

export interface PasswordResetTable {
  token_digest: string;
  user_id: string;
  organisation_id: string;
  created_by: string;
  created_at: Timestamp;
  expires_at: Timestamp;
}

export interface AccountTables {
  user_passwords: UserPasswordTable;
  password_resets: PasswordResetTable;
}
