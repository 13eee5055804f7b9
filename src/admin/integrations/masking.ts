/** How credentials look when they are read: never whole, and under a name that says so. */
import type { Configurations, ModelConfigurations } from '../../catalog/saved.ts';
import { isSecret } from '../kernel/audit/mask.ts';

const stars = '*******';
const shortest = 8;

/** The first and last two characters; of a short secret none. */
export const masked = (secret: string): string =>
  secret.length < shortest ? stars : `${secret.slice(0, 2)}${stars}${secret.slice(-2)}`;

const prefix = 'masked_';

/** The settings with every credential in them, at any depth, masked and renamed to `masked_…`. */
export const maskedConfigurations = (configurations: Configurations): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(configurations).map(([name, value]) =>
      isSecret(name) ? [prefix + name, maskedValue(name, value)] : [name, maskedInside(value)],
    ),
  );

function maskedInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskedInside);
  return isFields(value) ? maskedConfigurations(value) : value;
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Headers show their names; of any other object even the names stay hidden. */
function maskedValue(name: string, value: unknown): unknown {
  if (typeof value === 'string') return masked(value);
  if (name !== 'custom_headers' || typeof value !== 'object' || value === null) return stars;
  return Object.fromEntries(Object.entries(value).map(([header, text]) => [header, masked(String(text))]));
}

export const maskedModelConfigurations = (configurations: ModelConfigurations) =>
  maskedConfigurations({ ...configurations });

/** Settings as a caller sends them who has read them masked: each mask stands for what is stored in its place, or for nothing. */
export const unmasked = (sent: Record<string, unknown>, stored: Configurations): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]): [string, unknown][] => {
      if (!name.startsWith(prefix)) return [[name, unmaskedInside(value, stored[name])]];
      const field = name.slice(prefix.length);
      return Object.hasOwn(stored, field) && !Object.hasOwn(sent, field) ? [[field, stored[field]]] : [];
    }),
  );

function unmaskedInside(sent: unknown, stored: unknown): unknown {
  if (Array.isArray(sent)) {
    return sent.map((item, index) => unmaskedInside(item, Array.isArray(stored) ? stored[index] : undefined));
  }
  return isFields(sent) ? unmasked(sent, isFields(stored) ? stored : {}) : sent;
}
