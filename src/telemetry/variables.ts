/** The environment variables of metrics and traces. */
import { z } from 'zod';
import { entries, flag, isOn, list } from '../variable-fields.ts';

const address = () => z.url({ protocol: /^https?$/ }).optional();
const buckets = () =>
  z
    .string()
    .default('')
    .transform((text) => entries(text).map(Number))
    .pipe(z.array(z.number('must be numbers, separated by commas').positive()).max(50));
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export const telemetryVariables = () => ({
  ENABLE_PROMETHEUS: flag(true),
  METRICS_TOKEN: z.string().min(16, 'must be at least 16 characters long').max(500).optional(),
  PROMETHEUS_INCLUDE_MODEL_LABEL: flag(false),
  PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL: flag(false),
  PROMETHEUS_INCLUDE_API_KEY_NAME_LABEL: flag(false),
  PROMETHEUS_INCLUDE_METADATA_LABELS: flag(true),
  PROMETHEUS_EXTRA_LABELS: z
    .string()
    .max(8_192)
    .default('')
    .transform(pairs)
    .refine((labels) => Object.keys(labels).every((name) => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)), {
      message: 'must be name=value pairs, separated by commas; names are letters, digits and underscores',
    }),
  PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: list(),
  PROMETHEUS_HISTOGRAM_BUCKETS: buckets(),
  PROMETHEUS_HTTP_DURATION_BUCKETS: buckets(),
  EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED: z.string().transform(isOn).optional(),
  EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT: address(),
  EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_HEADERS: z.string().max(8_192).optional(),
  EXPERIMENTAL_GEN_AI_OTEL_RESOURCE_ATTRIBUTES: z.string().max(8_192).optional(),
  OTEL_PUSH_ENABLED: z.string().transform(isOn).optional(),
  OTEL_ENDPOINT: address(),
  OTEL_SDK_DISABLED: flag(false),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'must be otlp or none').default('otlp'),
  OTEL_EXPORTER_OTLP_ENDPOINT: address(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address(),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().max(8_192).default(''),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: z.string().max(8_192).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/protobuf', 'must be http/protobuf').default('http/protobuf'),
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce.number('must be milliseconds').int().min(1).max(600_000).default(10_000),
  OTEL_SERVICE_NAME: z.string().min(1).max(255).default('gw'),
  OTEL_RESOURCE_ATTRIBUTES: z.string().max(8_192).default(''),
  OTEL_TRACES_SAMPLER: z.enum(samplers, `must be one of ${samplers.join(', ')}`).default('parentbased_traceidratio'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number('must be a number from 0 to 1').min(0).max(1).default(1),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag(false),
});

type Values = z.output<z.ZodObject<ReturnType<typeof telemetryVariables>>> & { NODE_ENV?: string | undefined };

export interface MetricSettings {
  /** Whoever scrapes from another machine must send it; null: only this machine may. */
  token: string | null;
  modelLabel: boolean;
  configLabel: boolean;
  keyLabel: boolean;
  metadataKeys: readonly string[];
  /** Upper bounds in milliseconds; empty: the usual ones. */
  buckets: readonly number[];
  /** Those of `http_request_duration_seconds`, in seconds; empty: as the others. */
  httpBuckets: readonly number[];
  /** Labels of every sample. */
  commonLabels: Readonly<Record<string, string>>;
}

export interface TraceSettings {
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  attributes: Readonly<Record<string, string>>;
  /** The share of traces that is exported. */
  ratio: number;
  /** True: a request that stands in a trace is exported where its parent is. */
  followsParent: boolean;
  timeoutMs: number;
  /** True: with what was asked and answered. */
  content: boolean;
}

export interface TelemetrySettings {
  metrics: MetricSettings | null;
  traces: TraceSettings | null;
}

export const telemetrySettings = (values: Values): TelemetrySettings => ({
  metrics: values.ENABLE_PROMETHEUS ? metricSettings(values) : null,
  traces: traceSettings(values),
});

const metricSettings = (values: Values): MetricSettings => ({
  token: values.METRICS_TOKEN ?? null,
  modelLabel: values.PROMETHEUS_INCLUDE_MODEL_LABEL,
  configLabel: values.PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL,
  keyLabel: values.PROMETHEUS_INCLUDE_API_KEY_NAME_LABEL,
  metadataKeys: values.PROMETHEUS_INCLUDE_METADATA_LABELS ? values.PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS : [],
  buckets: values.PROMETHEUS_HISTOGRAM_BUCKETS,
  httpBuckets: values.PROMETHEUS_HTTP_DURATION_BUCKETS,
  commonLabels: {
    app: values.OTEL_SERVICE_NAME,
    env: values.NODE_ENV ?? 'development',
    ...values.PROMETHEUS_EXTRA_LABELS,
  },
});

function traceSettings(values: Values): TraceSettings | null {
  const url = tracesAddress(values);
  const isOff = values.OTEL_SDK_DISABLED || values.OTEL_TRACES_EXPORTER === 'none';
  if (url === null || isOff || values.OTEL_TRACES_SAMPLER === 'always_off') return null;
  const sampler = values.OTEL_TRACES_SAMPLER;
  const headers = [
    values.OTEL_EXPORTER_OTLP_HEADERS,
    values.OTEL_EXPORTER_OTLP_TRACES_HEADERS,
    values.EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_HEADERS,
  ];
  return {
    url,
    headers: Object.assign({}, ...headers.map((text) => pairs(text ?? ''))),
    serviceName: values.OTEL_SERVICE_NAME,
    attributes: {
      ...pairs(values.OTEL_RESOURCE_ATTRIBUTES),
      ...pairs(values.EXPERIMENTAL_GEN_AI_OTEL_RESOURCE_ATTRIBUTES ?? ''),
    },
    ratio: sampler.endsWith('_off') ? 0 : sampler.endsWith('_on') ? 1 : values.OTEL_TRACES_SAMPLER_ARG,
    followsParent: sampler.startsWith('parentbased_'),
    timeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT,
    content: values.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
  };
}

/** The variables of the reference product come first; each has a switch of its own. */
function tracesAddress(values: Values): string | null {
  const below = (base: string | undefined) => base && `${base.replace(/\/$/, '')}/v1/traces`;
  const {
    EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED: isExperimentOn = true,
    EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT: experiment,
    OTEL_PUSH_ENABLED: isPushOn = true,
    OTEL_ENDPOINT: push,
  } = values;
  return (
    (isExperimentOn && below(experiment)) ||
    values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ||
    below(values.OTEL_EXPORTER_OTLP_ENDPOINT) ||
    (isPushOn && below(push)) ||
    null
  );
}

/** `name=value` pairs with values in percent-encoding, as the conventions of OpenTelemetry write them. */
function pairs(text: string): Record<string, string> {
  return Object.fromEntries(
    entries(text).flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
