/** Patterns that authors of guardrails write, searched for in linear time. */
import type { Fuel } from '../../patterns/pattern.ts';
import { compileSearch, type MatchSpan, type Search } from '../../patterns/search.ts';
import { ParameterFault } from '../check.ts';
import type { TextScanner } from '../scanner.ts';

/** What one check may spend on one text; a pattern that needs more is told as an error. */
export const newFuel = (): Fuel => ({ steps: 12_000_000 });

const written = /^\/(.+)\/([a-z]*)$/s;

/** A rule without flags, as it stands. */
export function plainRule(rule: string, path = 'rule'): Search {
  const compiled = compileSearch(rule);
  if ('fault' in compiled) throw new ParameterFault(path, `the pattern ${compiled.fault}`);
  return compiled.search;
}

/** A rule as it stands, or between slashes with flags. `once`: only the first place is meant. */
export function flaggedRule(rule: string, path = 'rule'): { search: Search; once: boolean } {
  const [, source, flags] = written.exec(rule) ?? [];
  if (source === undefined || flags === undefined) return { search: plainRule(rule, path), once: false };
  const unknown = [...flags].find((flag) => !'gimsuyd'.includes(flag));
  if (unknown) throw new ParameterFault(path, `the flag ${unknown} is not known`);
  const compiled = compileSearch(source, {
    ignoreCase: flags.includes('i'),
    multiline: flags.includes('m'),
    dotAll: flags.includes('s'),
    unicode: flags.includes('u'),
  });
  if ('fault' in compiled) throw new ParameterFault(path, `the pattern ${compiled.fault}`);
  return { search: compiled.search, once: !flags.includes('g') };
}

/** Every place that matches; a match of nothing is none. */
export function spansOf(search: Search, text: string, fuel: Fuel, once = false): MatchSpan[] {
  const spans: MatchSpan[] = [];
  for (let from = 0; from <= text.length; ) {
    const span = search.find(text, from, fuel);
    if (!span) break;
    if (span.end > span.start) spans.push(span);
    if (once && spans.length > 0) break;
    from = span.end > span.start ? span.end : span.end + 1;
  }
  return spans;
}

/** Reads a stream for a pattern; null where the pattern needs the whole text. */
export function ruleScanner(search: Search, replacement: string | null): (() => TextScanner) | null {
  const { scanner } = search;
  if (!scanner) return null;
  return () => {
    const scan = scanner();
    return {
      replaces: replacement !== null,
      read(held, final) {
        const { found, settled } = scan.read(held, final, newFuel());
        return {
          settled,
          found: found
            .filter(({ start, end }) => end > start)
            .map(({ start, end }) => ({ start, end, text: replacement })),
        };
      },
      drop: (characters) => scan.drop(characters),
    };
  };
}
