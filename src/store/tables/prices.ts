/** Prices that are newer than the release. */
import type { JsonText } from '../json.ts';

/** `data`: price data as published; `overrides`: prices of single models. */
export interface PriceFileTable {
  name: 'data' | 'overrides';
  content: JsonText<unknown>;
  /** Another one with every change. */
  revision: string;
  updated_at: string;
}

export interface PriceTables {
  price_files: PriceFileTable;
}
