/** JSON that stands in a text: in fenced blocks, as the whole text, or between braces. */
import { excessOf } from '../../bounded-json.ts';

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

function bareIn(text: string): unknown[] {
  const whole = jsonValueOf(text);
  if (whole.length > 0) return whole;
  const found: unknown[] = [];
  let from = text.indexOf('{');
  let tried = 0;
  while (from >= 0 && tried < mostCandidates) {
    tried++;
    const end = closing(text, from);
    const values = end < 0 ? [] : jsonValueOf(text.slice(from, end + 1));
    found.push(...values);
    // What is no JSON as a whole may still hold some.
    from = text.indexOf('{', values.length > 0 ? end + 1 : from + 1);
  }
  return found;
}

/** The brace that closes the one at `from`; braces in strings do not count. */
function closing(text: string, from: number): number {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 92) at++;
      else if (code === 34) inString = false;
    } else if (code === 34) inString = true;
    else if (code === 123) depth++;
    else if (code === 125 && --depth === 0) return at;
  }
  return -1;
}

function jsonValueOf(text: string): unknown[] {
  const trimmed = text.trim();
  if (trimmed === '' || excessOf(trimmed) !== null) return [];
  try {
    const value: unknown = JSON.parse(trimmed);
    return typeof value === 'object' && value !== null ? [value] : [];
  } catch {
    return [];
  }
}
