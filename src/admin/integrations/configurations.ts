/** The settings that an integration has for its provider: what may be sent, what each provider asks for, and whether it needs a key. */
import { z } from 'zod';
import type { Configurations } from '../../catalog/saved.ts';
import { faultOfCustomHost, type TrustedHosts } from '../../http/custom-host.ts';
import { type FieldError, invalidFields } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import { providers } from '../../providers/index.ts';
import { providerRules, schemaOf } from './provider-rules.ts';
import { customHeaders, customHost } from './upstream-overrides.ts';

const scalar = lazy(() => z.union([z.string().max(16_384), z.number(), z.boolean()]));
const flat = lazy(() => z.record(z.string().min(1).max(128), scalar()));
const setting = () =>
  z.union([scalar(), z.null(), flat(), z.array(z.union([scalar(), flat()])).max(200)], {
    error: 'must be text, a number, a boolean, null, a flat object or a list of these',
  });
const mostSettings = 100;

/** What may be sent, whatever the provider; null takes a setting away. */
export const sentConfigurations = lazy(() =>
  z
    .record(
      z
        .string()
        .max(128)
        .regex(/^[A-Za-z][A-Za-z0-9_]*$/, 'a setting is named by letters, digits and _'),
      setting(),
    )
    .refine((settings) => Object.keys(settings).length <= mostSettings, { message: `at most ${mostSettings} settings` })
    .describe('The settings of the provider, and for any of them custom_host and custom_headers')
    .meta({ examples: [{ openai_project: 'proj_1234' }] }),
);

const common = lazy(() =>
  z.looseObject({
    custom_host: customHost().optional(),
    custom_headers: customHeaders().optional(),
    is_key_required: z.boolean().optional(),
  }),
);

/** Settings that lead somewhere: each is held to the rules of addresses. */
const addresses = ['custom_host', 'azure_foundry_url', 'huggingface_base_url', 'watsonx_url'] as const;

interface CheckedConfigurations {
  configurations: Configurations;
  needsKey: boolean;
}

/** Where the caller wrote a setting, for refusals. */
export type SettingPath = (setting: string) => string;

const underConfigurations: SettingPath = (setting) => `configurations.${setting}`;

/** The settings as they are stored; a fault names the setting. */
export function checkConfigurations(
  aiProviderId: string,
  sent: Record<string, unknown>,
  trustedHosts: TrustedHosts,
  sentAs: SettingPath = underConfigurations,
  mapped: ReadonlySet<string> = new Set(),
): CheckedConfigurations {
  const settings = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
  const rule = providerRules().get(aiProviderId);
  const checked = parsed(common(), settings, sentAs, mapped);
  const configurations = rule ? parsed(schemaOf(rule, checked), checked, sentAs, mapped) : checked;
  const faults = addresses.flatMap((name): FieldError[] => {
    const address = configurations[name];
    const fault = typeof address === 'string' ? faultOfCustomHost(address, trustedHosts) : null;
    return fault ? [{ location: 'body', path: sentAs(name), message: fault }] : [];
  });
  if (faults.length > 0) throw invalidFields(faults);
  return { configurations, needsKey: needsKey(aiProviderId, configurations) };
}

function needsKey(aiProviderId: string, configurations: Configurations): boolean {
  if (configurations.is_key_required === false) return false;
  const rule = providerRules().get(aiProviderId);
  if (rule?.needsKey) return rule.needsKey(configurations);
  return providers.get(aiProviderId)?.needsCredential ?? false;
}

function parsed(
  schema: z.ZodType<Record<string, unknown>>,
  value: Record<string, unknown>,
  sentAs: SettingPath,
  mapped: ReadonlySet<string>,
): Record<string, unknown> {
  const missing = [...mapped].filter((name) => value[name] === undefined);
  const result = schema.safeParse({ ...standIns(missing), ...value }, { reportInput: true });
  if (result.success) return without(result.data, missing);
  const issues = result.error.issues.filter(({ path: [setting] }) => !mapped.has(String(setting)));
  // What is wrong about a stand-in says nothing about the secret that takes its place.
  if (issues.length === 0) return value;
  throw invalidFields(
    issues.map((issue) => {
      const [setting = '', ...inside] = issue.path.map(String);
      const missing = issue.code === 'invalid_type' && issue.input === undefined;
      return {
        location: 'body',
        path: [sentAs(setting), ...inside].join('.'),
        message: missing ? 'is required' : issue.message,
      };
    }),
  );
}

/** A setting that comes from a secret manager is not known yet, and counts as there. */
const standIns = (names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, 'mapped']));

const without = (settings: Record<string, unknown>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)));
