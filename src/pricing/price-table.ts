/** What is known of models and their prices: the price data, corrections of it, and what the operator set. A model is looked up once and kept. */
import { findProvider, type ModelInfo } from '@pydantic/genai-prices';
import { type Clock, systemClock } from '../clock.ts';
import { correctionsOf, toolPricesOf } from './corrections.ts';
import { type DatedPrices, type PriceOverride, withDated } from './dated-prices.ts';
import { idOf, type ModelBook, openModelBook, spellingsOf } from './model-match.ts';
import { type PricedProvider, priceInForce } from './price-data.ts';
import { type PriceSheet, type Rate, sheetFrom } from './price-sheet.ts';
import { priceProviderIds } from './provider-ids.ts';

export interface KnownModel {
  /** As the price data names it: a dated name and its alias are one model. */
  id: string;
  name: string;
  contextWindow: number | null;
  prices: PriceSheet;
}

/** Prices that are newer than this release. */
export interface PriceUpdate {
  /** Price data in place of the package's; null: the package's. */
  data: readonly PricedProvider[] | null;
  overrides: readonly PriceOverride[];
}

export interface PriceTable {
  /** The model with the prices in force now; null when it is not known. */
  find(provider: string, model: string): KnownModel | null;
  /** The ids of a provider's known models. */
  models(provider: string): readonly string[];
  /** From now on these count. */
  update(update: PriceUpdate): void;
}

interface Kept {
  info: ModelInfo | null;
  dated: readonly DatedPrices[];
  known: KnownModel | null;
  /** The minute whose prices these are; null where they do not depend on the time. */
  minute: number | null;
}

const modelsKept = 5_000;
/** Longer than any model's name; the text comes from callers and is matched against patterns. */
const longestModel = 256;
/** Prices may change with the date and the time of day, always on a whole minute. */
const minuteMs = 60_000;

const packaged = (providerId: string): PricedProvider | undefined => findProvider({ providerId });

export function createPriceTable(clock: Clock = systemClock): PriceTable {
  const kept = new Map<string, Kept>();
  const books = new Map<string, ModelBook>();
  let providerOf = packaged;
  /** By provider and model, in lower case. */
  let overrides = new Map<string, PriceOverride[]>();

  const bookOf = (provider: string): ModelBook | null => {
    const priceProvider = priceProviderIds.get(provider);
    if (priceProvider === undefined) return null;
    let book = books.get(priceProvider);
    if (!book) {
      book = openModelBook(priceProvider, providerOf);
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

  /** Set for this very name, or for another name of the same model. */
  const overridesOf = (provider: string, model: string, info: ModelInfo | null): readonly PriceOverride[] => {
    if (overrides.size === 0) return [];
    const exact = overrides.get(overrideKey(provider, model));
    if (exact) return exact;
    for (const name of spellingsOf(model)) {
      const found = overrides.get(overrideKey(provider, name));
      if (found && lookUp(provider, name) === info) return found;
    }
    return [];
  };

  const entryOf = (provider: string, model: string): Pick<Kept, 'info' | 'dated'> => {
    const info = lookUp(provider, model);
    const corrections = correctionsOf(provider, model).filter(({ cents }) => info !== null || isWhole(cents));
    return { info, dated: [...corrections, ...overridesOf(provider, model, info)] };
  };

  return {
    find(provider, model) {
      if (model === '' || model.length > longestModel) return null;
      const key = `${provider} ${model}`;
      const former = kept.get(key);
      if (former?.minute === null) return former.known;
      const now = clock.now();
      const minute = Math.floor(now.getTime() / minuteMs);
      if (former?.minute === minute) return former.known;
      const { info, dated } = former ?? entryOf(provider, model);
      const known = knownModel(provider, model, info, dated, now);
      if (kept.size >= modelsKept && !former) kept.delete(kept.keys().next().value ?? '');
      const changes = Array.isArray(info?.prices) || dated.some(({ from }) => from > 0);
      kept.set(key, { info, dated, known, minute: changes ? minute : null });
      return known;
    },
    models(provider) {
      const names = bookOf(provider)?.names ?? [];
      if (overrides.size === 0) return names;
      const own = [...overrides.values()].flatMap(([one]) => (one?.provider === provider ? [one.model] : []));
      return [...new Set([...names, ...own])].sort();
    },
    update(update) {
      const { data } = update;
      const byId = data && new Map(data.map((provider) => [provider.id, provider]));
      providerOf = byId ? (id) => byId.get(id) : packaged;
      overrides = Map.groupBy(update.overrides, ({ provider, model }) => overrideKey(provider, model));
      kept.clear();
      books.clear();
    },
  };
}

/** What a tool costs says nothing of the model that uses it. */
const isWhole = (cents: DatedPrices['cents']): boolean => 'request_token' in cents || 'characters' in cents;

const overrideKey = (provider: string, model: string): string => `${provider} ${model.toLowerCase()}`;

function knownModel(
  provider: string,
  model: string,
  info: ModelInfo | null,
  dated: readonly DatedPrices[],
  now: Date,
): KnownModel | null {
  const current = dated.filter(({ from }) => from <= now.getTime());
  if (!info && current.length === 0) return null;
  const id = info ? idOf(info) : model;
  const prices = withDated(info ? sheetFrom(priceInForce(info, now)) : new Map(), current, now);
  return {
    id,
    name: info?.name ?? id,
    contextWindow: info?.context_window ?? null,
    // Only models that write anything can use tools.
    prices: prices.has('response_token') ? withTools(provider, prices) : prices,
  };
}

function withTools(provider: string, prices: PriceSheet): PriceSheet {
  const all = new Map<string, Rate>(prices);
  for (const [key, cents] of Object.entries(toolPricesOf(provider)))
    if (!all.has(key)) all.set(key, { cents, tiers: [] });
  return all;
}
