/** The environment variables of secret references. */
import { z } from 'zod';
import { list, wholeNumber } from '../variable-fields.ts';

export const secretVariables = () => ({
  SECRET_MAX_AGE_SECONDS: wholeNumber(300, 1, 86_400),
  SECRET_STALE_SECONDS: wholeNumber(3_600, 0, 604_800),
  SECRET_MANAGER_TIMEOUT_MS: wholeNumber(5_000, 100, 60_000),
  SECRET_ENVIRONMENT_VARIABLES: list(),
  SECRET_FILES_DIR: z.string().optional(),
});

type Variables = z.output<z.ZodObject<ReturnType<typeof secretVariables>>>;

export interface SecretSettings {
  /** A value that is older is fetched anew before it is used. */
  maxAgeMs: number;
  /** How long beyond its age the last known value is used while its manager is away. */
  staleMs: number;
  /** For one fetch, with everything that it takes. */
  timeoutMs: number;
  /** Names that may be read, or their beginnings with a star behind. */
  environmentVariables: readonly string[];
  /** Null: no file may be read. */
  filesDir: string | null;
}

export const secretSettings = (values: Variables): SecretSettings => ({
  maxAgeMs: values.SECRET_MAX_AGE_SECONDS * 1000,
  staleMs: values.SECRET_STALE_SECONDS * 1000,
  timeoutMs: values.SECRET_MANAGER_TIMEOUT_MS,
  environmentVariables: values.SECRET_ENVIRONMENT_VARIABLES,
  filesDir: values.SECRET_FILES_DIR ?? null,
});
