/** What environment variables are made of: lists, switches, numbers and addresses, as text. */
import { z } from 'zod';

/** Names with commas between them. */
export const entries = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

export const list = () => z.string().default('').transform(entries);

export const listInSmallLetters = (fallback = '') =>
  z
    .string()
    .default(fallback)
    .transform((text) => entries(text).map((entry) => entry.toLowerCase()));

/** The form of the reference product's feature switches: `OFF` turns a feature off, anything else leaves it on. */
export const onUnlessOff = () =>
  z
    .string()
    .default('ON')
    .transform((value) => value.trim().toUpperCase() !== 'OFF');

export const isOn = (text: string): boolean => ['1', 'true', 'on', 'yes'].includes(text.trim().toLowerCase());

export const flag = (fallback = false) => z.string().default(String(fallback)).transform(isOn);

export function wholeNumber(fallback: number, least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}, in digits alone`;
  return z.coerce.number(error).int(error).min(least, error).max(most, error).default(fallback);
}

export const webAddress = () => z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' });

/** The environment says something that the program cannot start with. */
export class EnvironmentError extends Error {}
