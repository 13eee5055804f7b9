/** `gw prompts export`: writes the published prompts and partials of a workspace into a folder, one a file. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PromptClient } from './client.ts';
import { type ItemFile, isItem, writeItem } from './file.ts';

const folders = { prompt: 'prompts', partial: 'partials' } as const;

export const fileOf = ({ kind, slug }: Pick<ItemFile, 'kind' | 'slug'>): string => join(folders[kind], `${slug}.yaml`);

export interface ExportReport {
  written: number;
  unchanged: number;
  /** Files of prompts that are gone. */
  removed: number;
}

export async function exportPrompts(client: PromptClient, folder: string): Promise<ExportReport> {
  const collections = await client.collections();
  const report: ExportReport = { written: 0, unchanged: 0, removed: 0 };
  const kept = new Set<string>();
  const write = async (item: ItemFile) => {
    const file = fileOf(item);
    kept.add(file);
    const text = writeItem(item);
    if ((await readFile(join(folder, file), 'utf8').catch(() => null)) === text) {
      report.unchanged += 1;
      return;
    }
    await writeFile(join(folder, file), text);
    report.written += 1;
  };
  for (const name of Object.values(folders)) await mkdir(join(folder, name), { recursive: true });
  for (const { slug } of await client.partials()) await write((await client.readPartial(slug, collections)).file);
  for (const { slug } of await client.prompts()) await write((await client.readPrompt(slug, collections)).file);
  for (const file of await itemsIn(folder)) {
    if (kept.has(file)) continue;
    await rm(join(folder, file));
    report.removed += 1;
  }
  return report;
}

/** The files of ours in a folder; whatever else lies there is left alone. */
async function itemsIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of Object.values(folders)) {
    for (const entry of await readdir(join(folder, name))) {
      const file = join(name, entry);
      if (entry.endsWith('.yaml') && isItem(await readFile(join(folder, file), 'utf8'))) found.push(file);
    }
  }
  return found;
}
