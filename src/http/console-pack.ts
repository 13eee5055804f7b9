/** The console as one file: every asset compressed, and the sources it was built from, so that a stale pack is noticed. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const packSchema = () =>
  z.object({
    /** Files below the root of the project that the build read. */
    sources: z.array(z.string()),
    /** What those files held. */
    digest: z.string(),
    assets: z.record(z.string(), z.object({ type: z.string(), gzip: z.base64() })),
  });

export type ConsolePack = z.output<ReturnType<typeof packSchema>>;

export const packName = 'console.pack';
export const packFile = (root: string): string => join(root, 'dist', packName);

export function digestOfSources(root: string, sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const source of sources) {
    const file = join(root, source);
    hash.update(`${source}\0`).update(existsSync(file) ? readFileSync(file) : 'gone');
  }
  return hash.digest('hex');
}

export const parsePack = (text: string): ConsolePack => packSchema().parse(JSON.parse(text));

/** The pack in `dist`, or null when there is none, it cannot be read, or the sources have changed since. */
export function freshPack(root: string): ConsolePack | null {
  if (!existsSync(packFile(root))) return null;
  try {
    const pack = parsePack(readFileSync(packFile(root), 'utf8'));
    return pack.digest === digestOfSources(root, pack.sources) ? pack : null;
  } catch {
    // A pack that was cut short or has another release's form is built again.
    return null;
  }
}

/** Another process that starts now sees the old file or the new one, never half of it. */
export function savePack(root: string, pack: ConsolePack): void {
  const file = packFile(root);
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(pack));
  renameSync(draft, file);
}
