/** Shaping of request parameters: defaults for what the client left out, overrides, and fields removed by path. */

/** `[*]` of a path: each element of an array. */
const everyElement: unique symbol = Symbol('[*]');

/** One step of a path: a key, an index in brackets, or each element. */
type Step = string | number | typeof everyElement;

/** A `drop_params` entry, parsed. */
export type ParameterPath = readonly [Step, ...Step[]];

type Body = Record<string, unknown>;

interface ShapingRules {
  defaultParams: Readonly<Body> | null;
  overrideParams: Readonly<Body> | null;
  dropParams: readonly ParameterPath[];
}

/** A key up to the next dot or bracket, in which a backslash makes the next character an ordinary one; or a pair of brackets. */
const step = /(\.?)((?:\\.|[^.[\]\\])+)|\[([^[\]]+)\]/y;

/** `tools[0].function.strict`, `tools.0.function.strict`, `messages[*].content`, `a\.b`; null when the text is no path. */
export function parseParameterPath(text: string): ParameterPath | null {
  const steps: Step[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const match = step.exec(text);
    if (!match) return null;
    const [, dot, key, bracket] = match;
    if (key !== undefined) {
      // A dot stands between steps: none before the first, one before each other key.
      if ((dot === '.') !== steps.length > 0) return null;
      steps.push(key.replace(/\\(.)/g, '$1'));
    } else if (bracket !== undefined) {
      steps.push(stepInBrackets(bracket));
    }
  }
  const [first, ...rest] = steps;
  return first === undefined ? null : [first, ...rest];
}

function stepInBrackets(text: string): Step {
  if (text === '*') return everyElement;
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

/** Default, override, drop, in this order. The very same object comes back when nothing changes, so that the client's bytes may go on as they are; otherwise a copy of what changed. */
export function shapeParameters(body: Body, rules: ShapingRules): Body {
  let shaped = body;
  if (rules.defaultParams) {
    const missing = Object.entries(rules.defaultParams).filter(([key]) => !Object.hasOwn(body, key));
    if (missing.length > 0) shaped = { ...shaped, ...Object.fromEntries(missing) };
  }
  if (rules.overrideParams) {
    const now = shaped;
    const differing = Object.entries(rules.overrideParams).some(
      ([key, value]) => !Object.hasOwn(now, key) || now[key] !== value,
    );
    if (differing) shaped = { ...shaped, ...rules.overrideParams };
  }
  return rules.dropParams.length > 0 ? withoutFields(shaped, rules.dropParams) : shaped;
}

/** All paths are taken against the object as it was, so `messages[0]` and `messages[1]` beside each other remove the first two. */
function withoutFields(holder: Body, paths: readonly ParameterPath[]): Body {
  let copy = holder;
  for (const [name, tails] of tailsByKey(paths)) {
    if (!Object.hasOwn(holder, name)) continue;
    const kept = pruned(holder[name], tails);
    if (kept === holder[name] && kept !== removed) continue;
    if (copy === holder) copy = { ...holder };
    if (kept === removed) delete copy[name];
    else copy[name] = kept;
  }
  return copy;
}

/** On an object a key is meant literally, and so is an index. */
function tailsByKey(paths: readonly ParameterPath[]): Map<string, Step[][]> {
  const tails = new Map<string, Step[][]>();
  for (const [head, ...tail] of paths) {
    if (head === everyElement) continue;
    const name = String(head);
    const same = tails.get(name);
    if (same) same.push(tail);
    else tails.set(name, [tail]);
  }
  return tails;
}

function withoutElements(list: readonly unknown[], paths: readonly ParameterPath[]): readonly unknown[] {
  let changed = false;
  const kept: unknown[] = [];
  list.forEach((element, index) => {
    const tails = paths.filter(([head]) => meansElement(head, index)).map(([, ...tail]) => tail);
    const left = tails.length > 0 ? pruned(element, tails) : element;
    if (left !== element) changed = true;
    if (left !== removed) kept.push(left);
  });
  return changed ? kept : list;
}

const meansElement = (head: Step, index: number): boolean =>
  head === everyElement || head === '*' || head === index || head === String(index);

const removed: unique symbol = Symbol('removed');

/** What is left of a value when these paths, seen from it, are gone; an empty path means the value itself. */
function pruned(value: unknown, tails: readonly Step[][]): unknown {
  const paths: ParameterPath[] = [];
  for (const [head, ...rest] of tails) {
    if (head === undefined) return removed;
    paths.push([head, ...rest]);
  }
  if (Array.isArray(value)) return withoutElements(value, paths);
  return isObject(value) ? withoutFields(value, paths) : value;
}

const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null;
