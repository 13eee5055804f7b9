/** Parameters that several checks take. */

import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { ParameterFault, type Setup } from '../check.ts';

export const not = () => z.boolean().default(false).describe('Turns the verdict round');
export const rule = () => z.string().min(1).max(1_000).describe('A regular expression');
export const words = () => z.array(z.string().max(1_000)).max(1_000);
export const operator = () => z.enum(['any', 'all', 'none']);
export const url = () => z.string().min(1).max(2_048).describe('An http or https address');

/** Headers as an object, or as the JSON of one. */
export const headers = () =>
  z
    .union([z.record(z.string().max(256), z.string().max(8_192)), z.string().max(32_768)])
    .optional()
    .describe('An object, or the JSON of one');

export function headersOf(given: string | Record<string, string> | undefined): Record<string, string> {
  if (given === undefined || given === '') return {};
  if (typeof given !== 'string') return given;
  const parsed = z.record(z.string(), z.string()).safeParse(parse(given));
  if (!parsed.success) throw new ParameterFault('headers', 'is no JSON object of texts');
  return parsed.data;
}

function parse(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return null;
  }
}

/** Refuses an address that may not be called. */
export function requireUrl(address: string, path: string, { faultOfUrl }: Pick<Setup, 'faultOfUrl'>): void {
  const fault = URL.canParse(address) ? faultOfUrl(address) : 'is no address';
  if (fault) throw new ParameterFault(path, fault);
}
