/** `gw prices`: prices that are newer than the release, from a file. */
import { readFile } from 'node:fs/promises';
import { forgetPriceFiles, PriceFileError, savedPrices, savePriceFile } from './catalog/price-files.ts';
import { systemClock } from './clock.ts';
import type { Settings } from './environment.ts';
import { openState } from './open-services.ts';
import { centsAt } from './pricing/price-sheet.ts';
import { createPriceTable } from './pricing/price-table.ts';
import type { Store } from './store/database.ts';

/** A fault of the operator's, told in one line. */
export class PricesError extends Error {}

const usage = 'use gw prices update FILE, gw prices show PROVIDER MODEL, or gw prices reset';

export async function pricesCommand(settings: Settings, [action, ...rest]: readonly string[]): Promise<string> {
  const [first, second] = rest;
  const work =
    action === 'update' && first !== undefined && rest.length === 1
      ? (store: Store) => update(store, first)
      : action === 'show' && first !== undefined && second !== undefined && rest.length === 2
        ? (store: Store) => show(store, first, second)
        : action === 'reset' && rest.length === 0
          ? reset
          : null;
  if (!work)
    throw new PricesError(
      `${action === undefined ? 'gw prices needs an action' : `gw prices cannot do that`}; ${usage}.`,
    );
  const { store } = await openState(settings, systemClock);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function update(store: Store, file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (fault) {
    throw new PricesError(`${file} cannot be read (${fault instanceof Error ? fault.message : fault}).`);
  }
  try {
    const { file: kind, models } = await savePriceFile(store, text, systemClock.now());
    const what =
      kind === 'data' ? `Price data of ${models} models replaces the release's` : `Prices of ${models} models are set`;
    return `${what}; running servers follow within seconds.\n`;
  } catch (fault) {
    if (fault instanceof PriceFileError)
      throw new PricesError(`${file} is no price file: ${fault.message.split('\n').join(' ')}`);
    throw fault;
  }
}

async function show(store: Store, provider: string, model: string): Promise<string> {
  const table = createPriceTable();
  table.update(await savedPrices(store.db));
  const known = table.find(provider, model);
  if (!known) return `No price is known of ${model} at ${provider}.\n`;
  const lines = [...known.prices].map(([key, rate]) => `${key}\t${Number(centsAt(rate, 0).toPrecision(12))}\n`);
  return `${known.id}, US cents per token or unit:\n${lines.join('')}`;
}

async function reset(store: Store): Promise<string> {
  await forgetPriceFiles(store.db);
  return "The release's own prices count again.\n";
}
