/** The settings that single providers ask for, by their ways to authenticate. */
import { z } from 'zod';
import type { Configurations } from '../../catalog/saved.ts';
import { lazy } from '../../lazy.ts';
import { allProviders } from '../../providers/index.ts';
import type { Provider } from '../../providers/provider.ts';

type Shape = Record<string, z.ZodType>;

interface ProviderRule {
  /** The settings that it knows, whichever way it authenticates. */
  shape: Shape;
  /** The setting that names the way to authenticate, and what each way asks for. */
  mode?: { field: string; shapes: Record<string, Shape> };
  /** Settings of which one must be there; the first is named where none is. */
  oneOf?: readonly [string, ...string[]];
  /** Whether these settings leave the key as the credential; absent: as the provider itself says. */
  needsKey?(configurations: Configurations): boolean;
}

/** The schema for these settings: settings that the rule does not know pass as they are. */
export function schemaOf({ shape, mode, oneOf }: ProviderRule, settings: Configurations) {
  const ways = mode ? Object.keys(mode.shapes) : [];
  const chosen = mode ? mode.shapes[String(settings[mode.field])] : {};
  const schema = z.looseObject({
    ...(mode && { [mode.field]: z.enum(ways, `must be one of ${ways.join(', ')}`) }),
    // Which settings are missing can be told only once the way is known.
    ...(chosen && { ...shape, ...chosen }),
  });
  if (!oneOf || !chosen) return schema;
  const [first, ...others] = oneOf;
  return schema.refine((sent) => oneOf.some((name) => sent[name] !== undefined), {
    path: [first],
    message: `is required, or instead of it ${others.join(' or ')}`,
  });
}

const text = lazy(() => z.string().trim().min(1).max(2_048));
const secret = lazy(() => z.string().min(1).max(16_384));
/** Becomes part of a host name, so it must not be able to end one. */
const hostPart = lazy(() =>
  z
    .string()
    .max(255)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'may hold only letters, digits, dots, - and _'),
);
const version = lazy(() => z.string().min(1).max(30));

const deployment = () =>
  z.looseObject({
    azure_deployment_name: text(),
    azure_api_version: version(),
    azure_model_slug: text(),
    alias: text().optional(),
    is_default: z.boolean().default(false),
  });

/** Requests that name no deployment go to the default one, so there is exactly one. */
const deployments = () =>
  z
    .array(deployment())
    .min(1)
    .max(200)
    .refine((list) => list.filter((entry) => entry.is_default).length <= 1, {
      message: 'only one deployment may be the default',
    })
    .transform((list) =>
      list.some((entry) => entry.is_default)
        ? list
        : list.map((entry, index) => (index === 0 ? { ...entry, is_default: true } : entry)),
    );

const azureMode = lazy(() => ({
  field: 'azure_auth_mode',
  shapes: {
    default: {},
    entra: { azure_entra_tenant_id: text(), azure_entra_client_id: text(), azure_entra_client_secret: secret() },
    managed: { azure_managed_client_id: text().optional() },
    entraFederated: { azure_entra_tenant_id: text(), azure_entra_client_id: text() },
    workload: { azure_workload_tenant_id: text(), azure_workload_client_id: text() },
  },
}));

const awsMode = lazy(() => ({
  field: 'aws_auth_type',
  shapes: {
    accessKey: { aws_access_key_id: text(), aws_secret_access_key: secret() },
    assumedRole: { aws_role_arn: text(), aws_external_id: text().optional() },
    // The machine that runs the program knows its region.
    serviceRole: { aws_region: hostPart().optional() },
    apiKey: {},
  },
}));
const aws = (shape: Shape = {}): ProviderRule => ({
  shape: { aws_region: hostPart(), ...shape },
  mode: awsMode(),
  needsKey: ({ aws_auth_type }) => aws_auth_type === 'apiKey',
});

const vertexMode = () => ({
  field: 'vertex_auth_type',
  shapes: {
    basic: { vertex_project_id: text() },
    serviceAccount: { vertex_service_account_json: z.union([z.record(z.string().max(128), z.unknown()), secret()]) },
    workload: { vertex_project_id: text() },
    workloadIdentity: { vertex_project_id: text() },
  },
});

const sagemakerOptions = () =>
  Object.fromEntries(
    [
      'custom_attributes',
      'target_model',
      'target_variant',
      'target_container_hostname',
      'inference_id',
      'enable_explanations',
      'inference_component',
      'session_id',
      'model_name',
    ].map((name) => [`amzn_sagemaker_${name}`, text().optional()]),
  );

const huggingFace = lazy((): ProviderRule => ({ shape: { huggingface_base_url: text().optional() } }));

const rules = (): Record<string, ProviderRule> => ({
  openai: { shape: { openai_organization: text().optional(), openai_project: text().optional() } },
  anthropic: {
    shape: {
      anthropic_inspect_stream_for_overloaded_error: z
        .boolean()
        .optional()
        .describe('Kept for clients that send it: the first event of every stream is looked at anyway.'),
    },
  },
  'azure-openai': {
    shape: {
      azure_resource_name: hostPart(),
      azure_deployment_config: deployments().describe(
        'The deployments: a list of objects with azure_deployment_name, azure_api_version and azure_model_slug, and perhaps alias and is_default.',
      ),
    },
    mode: azureMode(),
    needsKey: ({ azure_auth_mode }) => azure_auth_mode === 'default',
  },
  'azure-ai': {
    shape: {
      azure_foundry_url: text().optional(),
      azure_endpoint_name: hostPart().optional(),
      azure_region: hostPart().optional(),
      azure_api_version: version().optional(),
      azure_deployment_name: text().optional(),
    },
    oneOf: ['azure_foundry_url', 'custom_host', 'azure_endpoint_name'],
    mode: azureMode(),
    needsKey: ({ azure_auth_mode, is_key_required }) => azure_auth_mode === 'default' && is_key_required === true,
  },
  bedrock: aws(),
  'bedrock-mantle': aws(),
  'aws-polly': aws(),
  sagemaker: aws(sagemakerOptions()),
  'claude-platform-aws': aws({ anthropic_aws_workspace_id: text() }),
  'vertex-ai': {
    shape: {
      vertex_region: hostPart(),
      vertex_skip_ptu_cost_attribution: z
        .boolean()
        .optional()
        .describe('Kept for clients that send it: calls to provisioned throughput are priced like any other.'),
      vertex_map_metadata: z.boolean().optional(),
    },
    mode: vertexMode(),
    needsKey: ({ vertex_auth_type }) => vertex_auth_type === 'basic',
  },
  'workers-ai': { shape: { workers_ai_account_id: hostPart() } },
  huggingface: huggingFace(),
  'hugging-face': huggingFace(),
  cortex: { shape: { snowflake_account: hostPart() } },
  byteplus: { shape: { byteplus_region: hostPart().optional() } },
});

/** Of a provider without a rule of its own: what it says that it needs. A custom host replaces a setting that only makes its address. */
function plainRule({ address, fields = [] }: Provider): ProviderRule | null {
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const [first, ...others] = required;
  if (first === undefined) return null;
  if (others.length === 0 && typeof address === 'function') {
    return { shape: { [first]: text().optional() }, oneOf: [first, 'custom_host'] };
  }
  // A private key is longer than other texts.
  return { shape: Object.fromEntries(required.map((name) => [name, secret()])) };
}

export const providerRules = lazy((): ReadonlyMap<string, ProviderRule> => {
  const own = rules();
  const plain = allProviders.flatMap((provider): [string, ProviderRule][] => {
    const rule = provider.id in own ? null : plainRule(provider);
    return rule ? [[provider.id, rule]] : [];
  });
  return new Map([...Object.entries(own), ...plain]);
});

/** What saving asks of one setting, for whoever writes it down. */
export interface SettingRule {
  name: string;
  /** `always`; with these ways to authenticate; or instead of other settings. */
  required: 'always' | 'no' | { with: string; values: readonly string[] } | { orElse: readonly string[] };
  /** The only values that it takes. */
  values?: readonly string[];
  about?: string;
}

/** The settings that saving knows of a provider. */
export function settingRules(providerId: string): SettingRule[] {
  const rule = providerRules().get(providerId);
  if (!rule) return [];
  const { shape, mode, oneOf } = rule;
  const found: SettingRule[] = mode ? [{ name: mode.field, required: 'always', values: Object.keys(mode.shapes) }] : [];
  const ways = Object.entries(mode?.shapes ?? {});
  for (const name of new Set([...Object.keys(shape), ...ways.flatMap(([, own]) => Object.keys(own))])) {
    const needs = (own: Shape): boolean => isNeeded(own[name] ?? shape[name]);
    const needing = ways.filter(([, own]) => needs(own)).map(([way]) => way);
    const about = (shape[name] ?? ways.find(([, own]) => name in own)?.[1][name])?.description;
    const required: SettingRule['required'] = oneOf?.includes(name)
      ? { orElse: oneOf.filter((other) => other !== name) }
      : mode
        ? needing.length === ways.length
          ? 'always'
          : needing.length > 0
            ? { with: mode.field, values: needing }
            : 'no'
        : isNeeded(shape[name])
          ? 'always'
          : 'no';
    found.push({ name, required, ...(about !== undefined && { about }) });
  }
  return found;
}

const isNeeded = (schema: z.ZodType | undefined): boolean =>
  schema !== undefined && !schema.safeParse(undefined).success;
