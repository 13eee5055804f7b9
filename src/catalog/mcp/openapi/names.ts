/** Names of tools from operations. */

const longest = 64;

/** The operation's own id, else its method and path in words; a number where that is taken. */
export function nameOf(operationId: unknown, method: string, path: string, isTaken: (name: string) => boolean): string {
  const base =
    fitting(typeof operationId === 'string' ? operationId : '') ||
    fitting(`${method}_${path.replace(/^\/+/, '')}`) ||
    method;
  if (!isTaken(base)) return base;
  for (let number = 2; ; number++) {
    const name = `${base.slice(0, longest - 5)}_${number}`;
    if (!isTaken(name)) return name;
  }
}

const fitting = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, longest);
