/** What the price data knows of models. A model is looked up once and kept. */
import { calcPrice, type ModelInfo } from '@pydantic/genai-prices';
import { type Clock, systemClock } from '../clock.ts';
import { idOf, type ModelBook, openModelBook, spellingsOf } from './model-match.ts';
import { type PriceSheet, sheetFrom } from './price-sheet.ts';
import { priceProviderIds } from './provider-ids.ts';

export interface KnownModel {
  /** As the price data names it: a dated name and its alias are one model. */
  id: string;
  name: string;
  contextWindow: number | null;
  prices: PriceSheet;
}

export interface PriceTable {
  /** The model with the prices in force now; null when it is not known. */
  find(provider: string, model: string): KnownModel | null;
  /** The ids of a provider's known models. */
  models(provider: string): readonly string[];
}

interface Kept {
  info: ModelInfo | null;
  known: KnownModel | null;
  /** The minute whose prices these are; null where they do not depend on the time. */
  minute: number | null;
}

const modelsKept = 5_000;
/** Longer than any model's name; the text comes from callers and is matched against patterns. */
const longestModel = 256;
/** Prices may change with the date and the time of day, always on a whole minute. */
const minuteMs = 60_000;

export function createPriceTable(clock: Clock = systemClock): PriceTable {
  const kept = new Map<string, Kept>();
  const books = new Map<string, ModelBook>();

  const bookOf = (provider: string): ModelBook | null => {
    const priceProvider = priceProviderIds.get(provider);
    if (priceProvider === undefined) return null;
    let book = books.get(priceProvider);
    if (!book) {
      book = openModelBook(priceProvider);
      books.set(priceProvider, book);
    }
    return book;
  };

  const lookUp = (provider: string, model: string): ModelInfo | null => {
    const book = bookOf(provider);
    if (!book) return null;
    for (const name of spellingsOf(model)) {
      const info = book.find(name);
      if (info) return info;
    }
    return null;
  };

  return {
    find(provider, model) {
      if (model.length > longestModel) return null;
      const key = `${provider} ${model}`;
      const former = kept.get(key);
      if (former?.minute === null) return former.known;
      const now = clock.now();
      const minute = Math.floor(now.getTime() / minuteMs);
      if (former?.minute === minute) return former.known;
      const info = former ? former.info : lookUp(provider, model);
      const known = info && knownModel(info, now);
      if (kept.size >= modelsKept && !former) kept.delete(kept.keys().next().value ?? '');
      kept.set(key, { info, known, minute: Array.isArray(info?.prices) ? minute : null });
      return known;
    },
    models: (provider) => bookOf(provider)?.names ?? [],
  };
}

function knownModel(info: ModelInfo, now: Date): KnownModel | null {
  // Which of several prices is in force at this time, the package knows; it is asked about this one model alone.
  const alone = { id: 'alone', name: 'alone', api_pattern: '', models: [{ ...info, match: { equals: info.id } }] };
  const price = calcPrice({}, info.id, { provider: alone, timestamp: now });
  if (!price) return null;
  const id = idOf(info);
  return {
    id,
    name: info.name ?? id,
    contextWindow: info.context_window ?? null,
    prices: sheetFrom(price.model_price),
  };
}
