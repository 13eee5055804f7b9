/** JSON that stands in a text: in fenced blocks, as the whole text, or between braces. */
import { jsonOrNothing } from '../../bounded-json.ts';

/** More than this is not looked at: each costs a parse. */
const mostCandidates = 50;

interface Fence {
  tag: string;
  content: string;
}

/** Blocks between lines of three or more backticks. */
export function fencesIn(text: string): Fence[] {
  const fences: Fence[] = [];
  let at = text.indexOf('```');
  while (at >= 0 && fences.length < mostCandidates * 20) {
    let width = 3;
    while (text[at + width] === '`') width++;
    const lineEnd = text.indexOf('\n', at + width);
    const inline = text.indexOf('```', at + width);
    if (inline < 0) break;
    // A block in one line has its tag and its content together.
    const from = lineEnd >= 0 && lineEnd < inline ? lineEnd + 1 : at + width;
    const close = text.indexOf('`'.repeat(width), from);
    if (close < 0) break;
    const tag = from === at + width ? '' : text.slice(at + width, lineEnd).trim();
    const body = text.slice(from, close);
    fences.push(
      tag === '' && from === at + width ? { tag: '', content: body.replace(/^json\b/i, '') } : { tag, content: body },
    );
    let next = close + width;
    while (text[next] === '`') next++;
    at = text.indexOf('```', next);
  }
  return fences;
}

/** The values of JSON in the text. Fenced blocks come first, and only where there are none the text itself. */
export function jsonIn(text: string, bareToo: boolean): unknown[] {
  const fenced = fencesIn(text)
    .filter(({ tag }) => tag === '' || /^json/i.test(tag))
    .slice(0, mostCandidates)
    .flatMap(({ content }) => jsonValueOf(content));
  if (fenced.length > 0 && !bareToo) return fenced;
  return [...fenced, ...bareIn(text)];
}

/** Each brace that closes is paired in one pass, whatever stands between: looking for each one's end again would take a hostile text's square. */
function bareIn(text: string): unknown[] {
  const whole = jsonValueOf(text);
  if (whole.length > 0) return whole;
  const found: unknown[] = [];
  let tried = 0;
  let behind = 0;
  for (const { start, end } of objectsIn(text)) {
    // What stands in an object that was read is no other one.
    if (start < behind) continue;
    if (++tried > mostCandidates) break;
    const values = jsonValueOf(text.slice(start, end));
    if (values.length === 0) continue;
    found.push(...values);
    behind = end;
  }
  return found;
}

interface Pair {
  start: number;
  end: number;
}

/** Every pair of braces, in the order of where they open; braces in strings do not count. */
function objectsIn(text: string): Pair[] {
  const pairs: Pair[] = [];
  const open: number[] = [];
  let inString = false;
  for (let at = text.indexOf('{'); at >= 0 && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 92) at++;
      // A line break ends what was no string of JSON.
      else if (code === 34 || code === 10) inString = false;
    } else if (code === 34) inString = open.length > 0;
    else if (code === 123) open.push(at);
    else if (code === 125) {
      const start = open.pop();
      if (start !== undefined) pairs.push({ start, end: at + 1 });
    }
  }
  return pairs.sort((a, b) => a.start - b.start);
}

function jsonValueOf(text: string): unknown[] {
  const trimmed = text.trim();
  const value = jsonOrNothing(trimmed);
  return typeof value === 'object' && value !== null ? [value] : [];
}
