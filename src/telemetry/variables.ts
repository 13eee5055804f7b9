/** The environment variables of metrics and traces. */
import { z } from 'zod';

const names = (text: string): string[] => text.split(',').flatMap((entry) => entry.trim() || []);
const isOn = (text: string): boolean => ['1', 'true', 'on', 'yes'].includes(text.trim().toLowerCase());
const flag = (fallback: boolean) => z.string().default(String(fallback)).transform(isOn);

export const telemetryVariables = () => ({
  ENABLE_PROMETHEUS: flag(true),
  METRICS_TOKEN: z.string().min(16, 'must be at least 16 characters long').max(500).optional(),
  PROMETHEUS_INCLUDE_MODEL_LABEL: flag(false),
  PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL: flag(false),
  PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: z.string().default('').transform(names),
  PROMETHEUS_HISTOGRAM_BUCKETS: z
    .string()
    .default('')
    .transform((text) => names(text).map(Number))
    .pipe(z.array(z.number('must be numbers, separated by commas').positive()).max(50)),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().max(8_192).default(''),
  OTEL_SERVICE_NAME: z.string().min(1).max(255).default('gw'),
  OTEL_RESOURCE_ATTRIBUTES: z.string().max(8_192).default(''),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number('must be a number from 0 to 1').min(0).max(1).default(1),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag(false),
});

type Values = z.output<z.ZodObject<ReturnType<typeof telemetryVariables>>>;

export interface MetricSettings {
  /** Whoever scrapes from another machine must send it; null: only this machine may. */
  token: string | null;
  modelLabel: boolean;
  configLabel: boolean;
  metadataKeys: readonly string[];
  /** Upper bounds in milliseconds; empty: the usual ones. */
  buckets: readonly number[];
}

export interface TraceSettings {
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  attributes: Readonly<Record<string, string>>;
  /** The share of traces that is exported. */
  ratio: number;
  /** True: with what was asked and answered. */
  content: boolean;
}

export interface TelemetrySettings {
  metrics: MetricSettings | null;
  traces: TraceSettings | null;
}

export function telemetrySettings(values: Values): TelemetrySettings {
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/$/, '');
  const url = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base}/v1/traces`);
  return {
    metrics: values.ENABLE_PROMETHEUS
      ? {
          token: values.METRICS_TOKEN ?? null,
          modelLabel: values.PROMETHEUS_INCLUDE_MODEL_LABEL,
          configLabel: values.PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL,
          metadataKeys: values.PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS,
          buckets: values.PROMETHEUS_HISTOGRAM_BUCKETS,
        }
      : null,
    traces: url
      ? {
          url,
          headers: pairs(values.OTEL_EXPORTER_OTLP_HEADERS),
          serviceName: values.OTEL_SERVICE_NAME,
          attributes: pairs(values.OTEL_RESOURCE_ATTRIBUTES),
          ratio: values.OTEL_TRACES_SAMPLER_ARG,
          content: values.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
        }
      : null,
  };
}

/** `name=value` pairs with values in percent-encoding, as the conventions of OpenTelemetry write them. */
const pairs = (text: string): Record<string, string> =>
  Object.fromEntries(
    names(text).flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
    }),
  );

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
