/** Where the bodies of a record lie in the object store. */
import type { LogMetrics } from '../record.ts';

/** `v1` by organisation, `v2` also by workspace and hour. Both begin with the days that bodies are kept, so that a bucket can have a rule of its own for each. */
export const pathFormats = ['v1', 'v2'] as const;
export type PathFormat = (typeof pathFormats)[number];

export interface PathSettings {
  /** Comes before everything else; empty, or ends in a slash. */
  prefix: string;
  format: PathFormat;
  bodyDays: number;
}

export function objectPath(
  { id, organisation_id, workspace_slug, created_at }: LogMetrics,
  { prefix, format, bodyDays }: PathSettings,
): string {
  const start = `${prefix}${bodyDays}/${organisation_id}/`;
  if (format === 'v1') return `${start}${id}.json`;
  const [year, month, day, hour] = new Date(created_at).toISOString().split(/[-T:]/);
  return `${start}${workspace_slug}/${year}/${month}/${day}/${hour}/${id}.json`;
}

/** The format in which a path was made: a workspace and an hour stand between the organisation and the id. */
export const formatOf = (path: string): PathFormat =>
  /\/[^/]+\/\d{4}\/\d{2}\/\d{2}\/\d{2}\/[^/]+\.json$/.test(path) ? 'v2' : 'v1';

/** True for paths of this form alone: a bucket may hold what others keep in it. */
export const isLogPath = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) &&
  /^\d+\/[^/]+\/([^/]+\/\d{4}\/\d{2}\/\d{2}\/\d{2}\/)?[\da-f-]{36}\.json$/.test(path.slice(prefix.length));
