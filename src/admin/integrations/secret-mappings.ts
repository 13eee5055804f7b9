/** Credentials that are read from a secret manager: which field takes which secret. */
import { z } from 'zod';
import type { SecretMapping } from '../../catalog/saved.ts';
import { invalidFields } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import { reference } from '../kernel/fields.ts';

const fieldName = '[A-Za-z0-9_]+';

/** `holder` is what the caller calls the settings: `configurations`, or `model_config` on virtual keys. */
const mappingsOf = (holder: 'configurations' | 'model_config') =>
  z
    .array(
      z.object({
        target_field: z
          .string()
          .max(200)
          .regex(new RegExp(`^(${holder}\\.)?${fieldName}$`), `must be key, or ${holder}. and the name of a field`)
          .meta({ examples: ['key'] })
          .transform((field) => (field === 'key' ? field : `configurations.${field.replace(`${holder}.`, '')}`)),
        secret_reference_id: reference.describe('Id or slug of a secret reference of the organisation'),
        secret_key: z.string().min(1).max(512).nullish(),
        value_format: z.enum(['string', 'json']).nullish(),
      }),
    )
    .max(50)
    .refine((mappings) => new Set(mappings.map((mapping) => mapping.target_field)).size === mappings.length, {
      message: 'each target_field may be mapped once',
    });

export const secretMappings = lazy(() => mappingsOf('configurations'));
export const virtualKeySecretMappings = lazy(() => mappingsOf('model_config'));

type SentSecretMappings = z.output<ReturnType<typeof secretMappings>>;

export const secretMappingRecord = lazy(
  () =>
    z.object({
      target_field: z.string(),
      secret_reference_id: z.string(),
      secret_key: z.string().nullable(),
      value_format: z.enum(['string', 'json']),
    }) satisfies z.ZodType<SecretMapping>,
);

/** The mappings as they are stored. There are no secret references yet, so that whichever is named is unknown. */
export function storedMappings(sent: SentSecretMappings): SecretMapping[] {
  if (sent.length > 0) {
    throw invalidFields(
      sent.map((_, index) => ({
        location: 'body',
        path: `secret_mappings.${index}.secret_reference_id`,
        message: 'names no secret reference of this organisation',
      })),
    );
  }
  return [];
}

/** As virtual keys show them. */
export const underModelConfig = (mappings: readonly SecretMapping[]): SecretMapping[] =>
  mappings.map((mapping) => ({
    ...mapping,
    target_field: mapping.target_field.replace(/^configurations\./, 'model_config.'),
  }));
