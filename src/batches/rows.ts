/** A line of a batch's input file: one request, under an id of the client's. */

import { z } from 'zod';
import { readJson } from '../bounded-json.ts';
import { lazy } from '../lazy.ts';

export const batchEndpoints = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/responses',
  '/v1/messages',
  '/v1/moderations',
] as const;

const row = lazy(() =>
  z.object({
    custom_id: z.string().min(1).max(512),
    method: z.literal('POST').default('POST'),
    url: z.enum(batchEndpoints),
    body: z.record(z.string(), z.unknown()),
  }),
);

export type ManagedBatchRow = z.infer<ReturnType<typeof row>>;

/** What is wrong with a line of an uploaded file; null when nothing is. */
export function faultOfLine(line: string, purpose: string): string | null {
  const value = parsed(line);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not a JSON object';
  if (purpose !== 'batch') return null;
  const read = row().safeParse(value);
  return read.success ? null : faultIn(read.error);
}

export function readRow(line: string): ManagedBatchRow {
  return row().parse(readJson(line));
}

function parsed(line: string): unknown {
  try {
    return readJson(line);
  } catch {
    return undefined;
  }
}

const faultIn = (error: z.ZodError): string =>
  error.issues.map(({ path, message }) => `${path.join('.') || 'the line'}: ${message}`).join('; ');
