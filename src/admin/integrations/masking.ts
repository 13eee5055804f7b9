/** How credentials look when they are read: never whole, and under a name that says so. */
import type { Configurations, ModelConfigurations } from '../../catalog/saved.ts';
import { isSecret } from '../kernel/mask.ts';

const stars = '*******';
const shortest = 8;

/** The first and last two characters; of a short secret none. */
export const masked = (secret: string): string =>
  secret.length < shortest ? stars : `${secret.slice(0, 2)}${stars}${secret.slice(-2)}`;

/** The settings with every credential among them masked and renamed to `masked_…`. */
export const maskedConfigurations = (configurations: Configurations): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(configurations).map(([name, value]) =>
      isSecret(name) ? [`masked_${name}`, maskedValue(name, value)] : [name, value],
    ),
  );

/** Headers show their names; of any other object even the names stay hidden. */
function maskedValue(name: string, value: unknown): unknown {
  if (typeof value === 'string') return masked(value);
  if (name !== 'custom_headers' || typeof value !== 'object' || value === null) return stars;
  return Object.fromEntries(Object.entries(value).map(([header, text]) => [header, masked(String(text))]));
}

export const maskedModelConfigurations = (configurations: ModelConfigurations) =>
  maskedConfigurations({ ...configurations });

/** What a caller sends who read a masked record and sends it back. */
export const withoutMasked = <T>(fields: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith('masked_')));
