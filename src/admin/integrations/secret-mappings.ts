/** Credentials that are read from a secret manager: which field takes which secret. */
import { z } from 'zod';
import type { SecretMapping } from '../../catalog/saved.ts';
import { type FieldError, invalidFields } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { reference } from '../kernel/fields.ts';
import { usableReferences } from '../secret-references/usable.ts';

const fieldName = '[A-Za-z0-9_]+';

type Holder = 'configurations' | 'model_config' | 'credentials';

/**
 * `holder` is what the caller calls the settings: `configurations`, `model_config` on virtual keys, `credentials` on plugins.
 * A bare name is taken for a setting. `key` is the credential itself, where the object has one beside its settings.
 */
const mappingsOf = (holder: Holder, { key }: { key: boolean }) =>
  z
    .array(
      z.object({
        target_field: z
          .string()
          .max(200)
          .regex(
            new RegExp(`^(${holder}\\.)?${fieldName}$`),
            `must be ${key ? 'key, or ' : ''}${holder}. and the name of a field`,
          )
          .meta({ examples: [key ? 'key' : `${holder}.api_key`] })
          .transform((field) =>
            field === 'key' && key ? field : `${stored(holder)}.${field.replace(`${holder}.`, '')}`,
          ),
        secret_reference_id: reference.describe('Id or slug of a secret reference of the organisation'),
        secret_key: z.string().min(1).max(255).nullish().describe('Instead of the one of the reference'),
        value_format: z.enum(['string', 'json']).nullish().describe('json: parsed before it takes its place'),
      }),
    )
    .max(50)
    .refine((mappings) => new Set(mappings.map((mapping) => mapping.target_field)).size === mappings.length, {
      message: 'each target_field may be mapped once',
    });

const stored = (holder: Holder): string => (holder === 'model_config' ? 'configurations' : holder);

export const secretMappings = lazy(() => mappingsOf('configurations', { key: true }));
export const virtualKeySecretMappings = lazy(() => mappingsOf('model_config', { key: true }));
/** For what has settings and no key beside them: MCP and agent integrations. */
export const settingSecretMappings = lazy(() => mappingsOf('configurations', { key: false }));
export const pluginSecretMappings = lazy(() => mappingsOf('credentials', { key: false }));

/** A provider belongs to people of the workspace, and its integration may not: they may bring their own key, and redirect nothing. */
export const providerSecretMappings = lazy(() =>
  mappingsOf('configurations', { key: true }).refine(
    (mappings) => mappings.every(({ target_field }) => target_field === 'key'),
    { message: 'on a provider only key can be mapped; map settings on its integration' },
  ),
);

export type SentSecretMappings = z.output<ReturnType<typeof secretMappings>>;

export const secretMappingRecord = lazy(
  () =>
    z.object({
      target_field: z.string(),
      secret_reference_id: z.string(),
      secret_key: z.string().nullable(),
      value_format: z.enum(['string', 'json']),
    }) satisfies z.ZodType<SecretMapping>,
);

/** Whose mappings they are: an object of one workspace reaches fewer references than one of the organisation. */
export interface MappingOwner {
  organisationId: string;
  /** Null: of the organisation. */
  workspaceId: string | null;
}

/** The mappings as they are stored, if every reference exists and is open to their owner. */
export async function storedMappings(
  db: Db,
  { organisationId, workspaceId }: MappingOwner,
  sent: SentSecretMappings,
): Promise<SecretMapping[]> {
  if (sent.length === 0) return [];
  const usable = await usableReferences(
    db,
    organisationId,
    workspaceId,
    sent.map((mapping) => mapping.secret_reference_id),
  );
  const faults = sent.flatMap(({ secret_reference_id }, index): FieldError[] =>
    usable.has(secret_reference_id)
      ? []
      : [
          {
            location: 'body',
            path: `secret_mappings.${index}.secret_reference_id`,
            message: `names no secret reference that ${workspaceId === null ? 'this organisation' : 'this workspace'} may use`,
          },
        ],
  );
  if (faults.length > 0) throw invalidFields(faults);
  return sent.map(({ target_field, secret_reference_id, secret_key, value_format }) => ({
    target_field,
    secret_reference_id,
    secret_key: secret_key ?? null,
    value_format: value_format ?? 'string',
  }));
}

/** Whether a setting comes from a secret manager, so that it need not be sent. */
export const mapsSetting = (mappings: readonly SecretMapping[], setting: string): boolean =>
  mappings.some(({ target_field }) => target_field === `configurations.${setting}`);

/** Throws where a mapping names none of these settings: its value would reach nobody. */
export function requireKnownSettings(mappings: readonly SecretMapping[], settings: readonly string[]): void {
  const faults = mappings.flatMap(({ target_field }, index): FieldError[] =>
    settings.some((setting) => target_field === `configurations.${setting}`)
      ? []
      : [{ location: 'body', path: `secret_mappings.${index}.target_field`, message: 'names no setting of this kind' }],
  );
  if (faults.length > 0) throw invalidFields(faults);
}

/** As virtual keys show them. */
export const underModelConfig = (mappings: readonly SecretMapping[]): SecretMapping[] =>
  mappings.map((mapping) => ({
    ...mapping,
    target_field: mapping.target_field.replace(/^configurations\./, 'model_config.'),
  }));
