/** What Unicode says of code units: which differ only in case, and which have a property. */

/** Sorted, disjoint ranges of UTF-16 code units, both ends included. */
export type CodeUnits = readonly (readonly [number, number])[];

let knownVariants: ReadonlyMap<number, readonly number[]> | undefined;

/** For every code unit that has case: all that are equal to it when case does not count. Made when a pattern first asks for it. */
function variants(): ReadonlyMap<number, readonly number[]> {
  knownVariants ??= findVariants();
  return knownVariants;
}

function findVariants(): ReadonlyMap<number, readonly number[]> {
  const byUpper = new Map<string, number[]>();
  for (let code = 0; code <= 0xffff; code++) {
    const character = String.fromCharCode(code);
    const upper = character.toUpperCase();
    // A letter is equal to one that is a single code unit, and never an ASCII letter to one that is none.
    const folded = upper.length === 1 && !(code >= 128 && upper.charCodeAt(0) < 128) ? upper : character;
    const alike = byUpper.get(folded);
    if (alike) alike.push(code);
    else byUpper.set(folded, [code]);
  }
  const known = new Map<number, readonly number[]>();
  for (const alike of byUpper.values()) if (alike.length > 1) for (const code of alike) known.set(code, alike);
  return known;
}

export function caseVariants(units: CodeUnits): CodeUnits {
  const more: [number, number][] = [];
  for (const [from, to] of units) {
    if (to - from < 64) {
      for (let code = from; code <= to; code++)
        for (const other of variants().get(code) ?? []) more.push([other, other]);
      continue;
    }
    for (const [code, alike] of variants()) {
      if (code >= from && code <= to) for (const other of alike) more.push([other, other]);
    }
  }
  return more;
}

/** The code units with a property such as `p{L}`; characters of two units have none here. */
export function propertyUnits(property: string): CodeUnits {
  const has = new RegExp(`^\\${property}$`, 'u');
  const ranges: [number, number][] = [];
  for (let code = 0; code <= 0xffff; code++) {
    if (!has.test(String.fromCharCode(code))) continue;
    const last = ranges.at(-1);
    if (last && last[1] === code - 1) last[1] = code;
    else ranges.push([code, code]);
  }
  return ranges;
}
