/** The environment variables that send bodies of logs to an object store. */
import { z } from 'zod';
import type { BodyObjects } from '../engine.ts';
import { pathFormats } from './path.ts';

export const objectVariables = () => ({
  LOG_STORE_S3_BUCKET: z.string().min(1).max(255).optional(),
  LOG_STORE_S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  LOG_STORE_S3_REGION: z.string().min(1).max(64).default('us-east-1'),
  LOG_STORE_S3_ACCESS_KEY_ID: z.string().min(1).max(255).optional(),
  LOG_STORE_S3_SECRET_ACCESS_KEY: z.string().min(1).max(255).optional(),
  LOG_STORE_S3_SESSION_TOKEN: z.string().min(1).max(4_096).optional(),
  LOG_STORE_S3_PREFIX: z
    .string()
    .max(200)
    .regex(/^([\w.-]+\/)*$/, 'must be names of folders, each with a slash behind it')
    .default(''),
  LOG_STORE_FILE_PATH_FORMAT: z.enum(pathFormats).default('v1'),
});

type Values = z.output<z.ZodObject<ReturnType<typeof objectVariables>>>;

/** What a bucket cannot do without, by name; none where no bucket is named. */
export const missingObjectVariables = (values: Values): string[] =>
  values.LOG_STORE_S3_BUCKET === undefined
    ? []
    : (['LOG_STORE_S3_ACCESS_KEY_ID', 'LOG_STORE_S3_SECRET_ACCESS_KEY'] as const).filter((name) => !values[name]);

export function bodyObjects(values: Values): BodyObjects | null {
  const { LOG_STORE_S3_BUCKET: bucket, LOG_STORE_S3_ACCESS_KEY_ID: accessKeyId } = values;
  const { LOG_STORE_S3_SECRET_ACCESS_KEY: secretAccessKey } = values;
  if (!bucket || !accessKeyId || !secretAccessKey) return null;
  return {
    store: {
      bucket,
      endpoint: values.LOG_STORE_S3_ENDPOINT ?? null,
      region: values.LOG_STORE_S3_REGION,
      accessKeyId,
      secretAccessKey,
      sessionToken: values.LOG_STORE_S3_SESSION_TOKEN ?? null,
    },
    prefix: values.LOG_STORE_S3_PREFIX,
    format: values.LOG_STORE_FILE_PATH_FORMAT,
  };
}
