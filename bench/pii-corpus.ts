/** Sentences with personal data of every form that is promised, and with what only looks like it. Made from a seed, so that every run sees the same. */
import type { PiiCategory } from '../src/guardrails/pii/entity.ts';

export interface Labelled {
  text: string;
  /** What must be found, word for word. */
  values: readonly string[];
}

const perKind = 60;

/** A small generator of numbers that is the same everywhere. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

type Random = (below: number) => number;
const digits = (random: Random, count: number): string => Array.from({ length: count }, () => random(10)).join('');
const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T;

function luhn(withoutCheck: string): string {
  let sum = 0;
  for (let at = 0; at < withoutCheck.length; at++) {
    const digit = Number(withoutCheck[withoutCheck.length - 1 - at]);
    const doubled = at % 2 === 0 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return withoutCheck + String((10 - (sum % 10)) % 10);
}

const card = (random: Random): string => {
  const [prefix, length] = pick(random, [
    ['4', 16],
    ['51', 16],
    ['2221', 16],
    ['34', 15],
    ['6011', 16],
    ['3528', 16],
  ] as const);
  return luhn(prefix + digits(random, length - prefix.length - 1));
};
const grouped = (number: string, mark: string): string =>
  number.length === 15
    ? [number.slice(0, 4), number.slice(4, 10), number.slice(10)].join(mark)
    : (number.match(/.{4}/g) ?? []).join(mark);

const ssn = (random: Random): string =>
  `${String(1 + random(664)).padStart(3, '0')}-${String(1 + random(99)).padStart(2, '0')}-${String(1 + random(9_999)).padStart(4, '0')}`;
const ip = (random: Random): string => Array.from({ length: 4 }, () => random(256)).join('.');
const first = ['Anna', 'Omar', 'Lucía', 'Björn', 'Mei', "Seán O'Neill"];
const places = ['Maple', 'Green Hill', 'Washington', 'Park'];

/** For each kind: what is one, and what is none. */
const kinds: Record<
  PiiCategory,
  { real(random: Random): string; near(random: Random): string; around: readonly string[] }
> = {
  EMAIL_ADDRESS: {
    real: (random) =>
      `${pick(random, ['anna', 'o.mar', 'dev+test', 'x_y'])}${random(99)}@${pick(random, ['example.com', 'mail.example.co.uk', 'a-b.org'])}`,
    near: (random) => pick(random, ['@home', 'user@', 'a @ b', 'price@5', 'user@localhost', `v${random(9)}@latest`]),
    around: ['Write to % today.', 'Contact: %', '(%)', 'from % on Monday'],
  },
  CREDIT_CARD: {
    real: (random) => {
      const number = card(random);
      return pick(random, [number, grouped(number, ' '), grouped(number, '-')]);
    },
    near: (random) => {
      const number = card(random);
      const wrong = String((Number(number.at(-1)) + 1 + random(8)) % 10);
      return pick(random, [number.slice(0, -1) + wrong, digits(random, 12), `order-${digits(random, 8)}`]);
    },
    around: ['My card is %.', 'Pay with % please', 'card: %', 'charged % twice'],
  },
  SSN: {
    real: ssn,
    near: (random) =>
      pick(random, [
        `000-${digits(random, 2)}-1234`,
        `666-12-${digits(random, 4)}`,
        '123-00-4567',
        '123-45-0000',
        `9${digits(random, 2)}-65-4321`,
      ]),
    around: ['SSN % on file.', 'his number is %', 'Social security: %', 'ssn=%'],
  },
  IP_ADDRESS: {
    real: (random) =>
      pick(random, [ip(random), `2001:db8::${random(9_000) + 1}`, `fe80::1ff:fe23:${random(9_000) + 1000}:890a`]),
    near: (random) =>
      pick(random, ['256.1.1.1', '1.2.3', '10.0.0.1.5', `12:${10 + random(49)}`, 'a::b::c', `v1.2.${random(9)}`]),
    around: ['Blocked % today.', 'host % is down', 'from % again'],
  },
  PHONE_NUMBER: {
    real: (random) => {
      const area = `${2 + random(8)}${2 + random(8)}${2 + random(8)}`;
      const exchange = `${2 + random(8)}${2 + random(8)}${2 + random(8)}`;
      const rest = digits(random, 4);
      return pick(random, [
        `(${area}) ${exchange}-${rest}`,
        `${area}-${exchange}-${rest}`,
        `+1 ${area} ${exchange} ${rest}`,
        `+49 30 ${digits(random, 7).replace(/^0/, '1')}`,
      ]);
    },
    near: (random) =>
      pick(random, [
        `2026-11-${10 + random(20)}`,
        `${random(99)}.5`,
        `chapter ${random(99)}`,
        `${digits(random, 4)} EUR`,
        `10:${10 + random(49)}`,
      ]),
    around: ['Call % now.', 'Phone: %', 'reach me at % tomorrow'],
  },
  LOCATION_ADDRESS: {
    real: (random) => `${1 + random(999)} ${pick(random, places)} ${pick(random, ['Street', 'Ave', 'Road', 'Blvd'])}`,
    near: (random) =>
      pick(random, [
        `${random(99)} apples on the table`,
        `in ${1990 + random(30)} we`,
        'Main Street',
        `${random(99)} ways to go`,
      ]),
    around: ['Send it to %, please.', 'I live at %.'],
  },
  NAME: {
    real: (random) => pick(random, first),
    near: (random) => pick(random, ['the team', 'nobody', 'a friend', 'sir']),
    around: ['My name is %.', 'Dr. % will see you', 'Regards, %'],
  },
};

/** As many with personal data as without. */
export function piiCorpus(category: PiiCategory): Labelled[] {
  const { real, near, around } = kinds[category];
  const random = randomOf(category.length * 7_919);
  return Array.from({ length: 2 * perKind }, (_, at) => {
    const value = at % 2 === 0 ? real(random) : near(random);
    return { text: pick(random, around).replace('%', () => value), values: at % 2 === 0 ? [value] : [] };
  });
}
