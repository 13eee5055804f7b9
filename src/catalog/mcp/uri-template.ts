/** Whether a URI may come from a URI template. No regular expression: templates are written by upstreams, and a hostile one must not cost time. */

interface Part {
  /** What stands before the variable. */
  literal: string;
  /** Whether the variable may hold slashes. */
  wide: boolean;
}

export function templateMatcher(template: string): (uri: string) => boolean {
  const parts: Part[] = [];
  let rest = template;
  for (let open = rest.indexOf('{'); open >= 0; open = rest.indexOf('{')) {
    const close = rest.indexOf('}', open);
    if (close < 0) break;
    parts.push({ literal: rest.slice(0, open), wide: '+#/.;?&'.includes(rest[open + 1] ?? '') });
    rest = rest.slice(close + 1);
  }
  const [first] = parts;
  if (!first) return (uri) => uri === template;
  return (uri) => {
    if (!uri.startsWith(first.literal) || !uri.endsWith(rest)) return false;
    let at = first.literal.length;
    const end = uri.length - rest.length;
    for (const [index, { wide }] of parts.entries()) {
      const next = parts[index + 1];
      // The first place where the next literal stands ends this variable.
      const until = next ? (next.literal === '' ? at : uri.indexOf(next.literal, at)) : end;
      if (until < at || until > end) return false;
      if (!wide && uri.slice(at, until).includes('/')) return false;
      at = until + (next?.literal.length ?? 0);
    }
    return true;
  };
}
