/** The environment variables of logs: how long they are kept, and where. */
import type { z } from 'zod';
import { EnvironmentError, webAddress, wholeNumber } from '../variable-fields.ts';
import type { Breaker } from './importer.ts';
import type { LogOptions } from './logs.ts';
import { bodyObjects, missingObjectVariables, objectVariables } from './objects/variables.ts';

export const logVariables = () => ({
  LOG_RETENTION_DAYS: wholeNumber(90, 0, 36_500),
  METRICS_RETENTION_DAYS: wholeNumber(365, 1, 36_500),
  LOG_SPOOL_MAX_BYTES: wholeNumber(2 * 1024 ** 3, 1024 ** 2, Number.MAX_SAFE_INTEGER),
  CLICKHOUSE_URL: webAddress().optional(),
  LOG_QUERY_TIMEOUT_MS: wholeNumber(10_000, 100, 600_000),
  LOG_STORE_CONNECTION_FAILURE_THRESHOLD: wholeNumber(5, 1, 1_000),
  LOG_STORE_CONNECTION_BACKOFF_MS: wholeNumber(60_000, 1, 86_400_000),
  LOG_STORE_CONNECTION_TIMEOUT_MS: wholeNumber(15_000, 1, 600_000),
  ...objectVariables(),
});

type Variables = z.output<z.ZodObject<ReturnType<typeof logVariables>>>;

export interface LogSettings {
  /** How long a failing log store is left alone, and when. */
  logStore: Breaker;
  logs: Omit<LogOptions, 'now' | 'observe' | 'timer'>;
}

export function logSettings(values: Variables): LogSettings {
  const lacking = missingObjectVariables(values);
  if (lacking.length > 0) {
    throw new EnvironmentError(`Wrong environment: LOG_STORE_S3_BUCKET needs ${lacking.join(' and ')}`);
  }
  return {
    logStore: {
      failureThreshold: values.LOG_STORE_CONNECTION_FAILURE_THRESHOLD,
      backoffMs: values.LOG_STORE_CONNECTION_BACKOFF_MS,
      timeoutMs: values.LOG_STORE_CONNECTION_TIMEOUT_MS,
    },
    logs: {
      limits: {
        bodyDays: values.LOG_RETENTION_DAYS,
        rowDays: values.METRICS_RETENTION_DAYS,
        spoolBytes: values.LOG_SPOOL_MAX_BYTES,
      },
      clickhouseUrl: values.CLICKHOUSE_URL ?? null,
      objects: bodyObjects(values),
      queryTimeoutMs: values.LOG_QUERY_TIMEOUT_MS,
    },
  };
}
