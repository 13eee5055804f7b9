/** The environment variables of organisation JWTs. */
import { z } from 'zod';
import { list, listInSmallLetters } from '../../variable-fields.ts';

export const jwtVariables = () => ({
  JWT_ENABLED: z
    .string()
    .default('')
    .transform((value) => value.trim().toUpperCase() === 'ON'),
  ORGANISATIONS_TO_SYNC: listInSmallLetters(),
  JWT_LOCAL_AUTH_DEFAULT_SCOPES: list(),
  JWT_LOCAL_AUTH_WORKSPACES: list(),
  JWT_LOCAL_AUTH_SUBJECTS: list(),
});

type Variables = z.output<z.ZodObject<ReturnType<typeof jwtVariables>>>;

export interface JwtEnvironment {
  /** True: tokens are read by the rules of a gateway that validates by itself, with defaults for what they leave out. */
  local: boolean;
  /** The organisations whose tokens count in local mode; empty: all of them. */
  organisations: readonly string[];
  /** Scopes of tokens that name none, in local mode. */
  defaultScopes: readonly string[];
  /** The workspaces, by id or slug, that tokens may use in local mode; the first one takes those that name none. Empty: all of them. */
  workspaces: readonly string[];
  /** The values of `sub` that count in local mode; empty: all of them, and tokens without it. */
  subjects: readonly string[];
}

export const jwtEnvironment = (values: Variables): JwtEnvironment => ({
  local: values.JWT_ENABLED,
  organisations: values.ORGANISATIONS_TO_SYNC,
  defaultScopes: values.JWT_LOCAL_AUTH_DEFAULT_SCOPES,
  workspaces: values.JWT_LOCAL_AUTH_WORKSPACES,
  subjects: values.JWT_LOCAL_AUTH_SUBJECTS,
});
