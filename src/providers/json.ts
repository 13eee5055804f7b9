/** Looks into JSON of unknown shape: what is not as expected counts as absent. For answers of providers, which we cannot refuse. */
import { jsonOrNothing } from '../bounded-json.ts';
import type { JsonObject } from './provider.ts';

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const objectsOf = (value: unknown): readonly JsonObject[] => listOf(value).filter(isObject);
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
export const countOf = (value: unknown): number => Math.max(0, numberOf(value) ?? 0);

/** Seconds since 1970 for a date in words. */
export const secondsOf = (date: unknown): number | null => {
  const ms = Date.parse(textOf(date) ?? '');
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
};

/** Anything as a word, for comparisons and messages: an object of a client's may bring a `toString` that is no function. */
export const wordOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** The object without the fields that are undefined or null: what a body looks like when only what was asked for is sent. */
export const present = (fields: Readonly<JsonObject>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));

/** The value of JSON text; undefined when it is none, or none within the bounds. */
export const parsed = jsonOrNothing;

/** The object that an answer's bytes hold; empty when they hold none. */
export const objectIn = (bytes: Uint8Array | undefined): JsonObject =>
  objectOf(parsed(new TextDecoder().decode(bytes)));

/** Arguments of a tool call as an object: models write `""` or broken JSON where they mean none. */
export const argumentsOf = (text: string): JsonObject => objectOf(parsed(text));
