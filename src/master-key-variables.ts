/** The environment variables of the master key, and of the one that takes its place. */
import { z } from 'zod';
import { EnvironmentError } from './variable-fields.ts';

export const masterKeyVariables = () => ({
  GW_MASTER_KEY: z.string().min(32, 'must be at least 32 characters long').optional(),
  GW_MASTER_KEY_KMS_CIPHERTEXT: z.base64('must be base64').max(8_192).optional(),
  GW_MASTER_KEY_KMS_REGION: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be the name of a region')
    .optional(),
  GW_NEXT_MASTER_KEY: z.string().min(32, 'must be at least 32 characters long').optional(),
  GW_NEXT_MASTER_KEY_KMS_CIPHERTEXT: z.base64('must be base64').max(8_192).optional(),
});

type Variables = z.output<z.ZodObject<ReturnType<typeof masterKeyVariables>>>;

export interface MasterKeySettings {
  masterKey: MasterKeySource;
  /** What gw master-key rotate puts in its place. */
  nextMasterKey: MasterKeySource;
}

export const masterKeySettings = (values: Variables): MasterKeySettings => ({
  masterKey: keySource(
    { secret: values.GW_MASTER_KEY, ciphertext: values.GW_MASTER_KEY_KMS_CIPHERTEXT },
    values,
    'master.key',
  ),
  nextMasterKey: keySource(
    { secret: values.GW_NEXT_MASTER_KEY, ciphertext: values.GW_NEXT_MASTER_KEY_KMS_CIPHERTEXT },
    values,
    'master.key.next',
  ),
});

/** Where a master key comes from. */
export type MasterKeySource =
  | { from: 'environment'; secret: string }
  /** Encrypted by AWS KMS, and decrypted with it at the start. */
  | { from: 'kms'; ciphertext: string; region: string | null }
  /** In the data folder. */
  | { from: 'file'; name: string };

function keySource(
  { secret, ciphertext }: { secret: string | undefined; ciphertext: string | undefined },
  { GW_MASTER_KEY_KMS_REGION }: Variables,
  name: string,
): MasterKeySource {
  if (secret !== undefined && ciphertext !== undefined) {
    throw new EnvironmentError('Wrong environment: a master key comes from the environment or from KMS, not from both');
  }
  if (secret !== undefined) return { from: 'environment', secret };
  if (ciphertext !== undefined) return { from: 'kms', ciphertext, region: GW_MASTER_KEY_KMS_REGION ?? null };
  return { from: 'file', name };
}
