/** Prices that are newer than the release, kept in the state store: an operator's file changes them, every node follows. */

import { z } from 'zod';
import { readJson } from '../bounded-json.ts';
import { faultFields, type Log, throttled } from '../log.ts';
import { overrideFile } from '../pricing/dated-prices.ts';
import { priceData } from '../pricing/price-data.ts';
import type { PriceTable, PriceUpdate } from '../pricing/price-table.ts';
import type { Db, Store } from '../store/database.ts';
import { decode, encode } from '../store/json.ts';

/** The command that changes prices is another process, of which SQLite tells nobody. */
export const lookEveryMs = 2_000;

export class PriceFileError extends Error {}

export interface PriceFollower {
  look(): Promise<void>;
}

/** The table has what is saved, now and whenever it is looked up again. */
export async function followPrices(store: Store, table: PriceTable, log: Log): Promise<PriceFollower> {
  const warn = throttled(log.warn);
  let seen: string | null = null;
  const look = async () => {
    try {
      const revision = await revisionOf(store.db);
      if (revision !== seen) table.update(await savedPrices(store.db));
      seen = revision;
    } catch (fault) {
      warn('Saved prices cannot be read; the former ones count, and it is tried again.', faultFields(fault));
    }
  };
  await look();
  return { look };
}

async function revisionOf(db: Db): Promise<string> {
  const rows = await db.selectFrom('price_files').select(['name', 'revision']).orderBy('name').execute();
  return rows.map(({ name, revision }) => `${name} ${revision}`).join(' ');
}

export async function savedPrices(db: Db): Promise<PriceUpdate> {
  const rows = await db.selectFrom('price_files').select(['name', 'content']).execute();
  const contentOf = (file: string): unknown => {
    const row = rows.find(({ name }) => name === file);
    return row ? decode(row.content) : null;
  };
  const [data, overrides] = [contentOf('data'), contentOf('overrides')];
  return {
    data: data === null ? null : priceData().parse(data),
    overrides: overrides === null ? [] : overrideFile().parse(overrides).models,
  };
}

/** What a file changed, in words. */
export interface PriceFileReport {
  file: 'data' | 'overrides';
  models: number;
}

/** Price data replaces what was there; prices of single models join those that were set before, and replace those of the same model and day. */
export async function savePriceFile(store: Store, text: string, now: Date): Promise<PriceFileReport> {
  const content = parsedFile(text);
  const data = priceData().safeParse(content);
  if (data.success) {
    await save(store.db, 'data', content, now);
    return { file: 'data', models: data.data.reduce((sum, { models }) => sum + models.length, 0) };
  }
  const overrides = overrideFile().safeParse(content);
  if (!overrides.success)
    throw new PriceFileError(z.prettifyError(Array.isArray(content) ? data.error : overrides.error));
  const set = wireModels(content);
  await store.atomically(async (tx) => {
    const row = await tx.selectFrom('price_files').select('content').where('name', '=', 'overrides').executeTakeFirst();
    const before = row ? wireModels(decode(row.content)) : [];
    const replaced = new Set(set.map(placeOf));
    const models = [...before.filter((model) => !replaced.has(placeOf(model))), ...set];
    // What does not fit any longer is told before it is saved.
    overrideFile().parse({ models });
    await save(tx, 'overrides', { models }, now);
  });
  return { file: 'overrides', models: set.length };
}

/** The release's own prices count again. */
export async function forgetPriceFiles(db: Db): Promise<void> {
  await db.deleteFrom('price_files').execute();
}

function parsedFile(text: string): unknown {
  try {
    return readJson(text);
  } catch (fault) {
    throw new PriceFileError(`it is no JSON (${fault instanceof Error ? fault.message : fault})`);
  }
}

const wireFile = z.object({
  models: z.array(z.looseObject({ provider: z.string(), model: z.string(), from: z.string().optional() })),
});

const wireModels = (content: unknown) => wireFile.parse(content).models;

const placeOf = ({ provider, model, from }: { provider: string; model: string; from?: string | undefined }): string =>
  JSON.stringify([provider, model.toLowerCase(), from ?? null]);

async function save(db: Db, name: 'data' | 'overrides', content: unknown, now: Date): Promise<void> {
  const row = { content: encode(content), revision: Bun.randomUUIDv7(), updated_at: now.toISOString() };
  await db
    .insertInto('price_files')
    .values({ name, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute();
}
