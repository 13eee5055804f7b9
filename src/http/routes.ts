/** A table of routes: case sensitive, a fixed segment wins over a parameter, a parameter over `*rest`, a trailing slash is tolerated. */

interface Node<T> {
  fixed: Map<string, Node<T>>;
  parameter: { name: string; node: Node<T> } | undefined;
  /** `*name` at the end of a path: one segment or more. */
  rest: { name: string; node: Node<T> } | undefined;
  methods: Map<string, T>;
}

type RouteMatch<T> =
  | { found: 'route'; value: T; params: Record<string, string> }
  | { found: 'other-methods'; methods: string[] }
  | { found: 'nothing' };

export class RouteTable<T> {
  readonly #root: Node<T> = emptyNode();

  add(method: string, path: string, value: T): void {
    let node = this.#root;
    const segments = segmentsOf(path);
    for (const [index, segment] of segments.entries()) {
      if (segment.startsWith('*') && index < segments.length - 1) {
        throw new Error(`${path}: ${segment} takes the rest of the path, so it must be last`);
      }
      node = childOf(node, segment, path);
    }
    if (node.methods.has(method)) throw new Error(`${method} ${path} is declared twice`);
    node.methods.set(method, value);
  }

  match(method: string, path: string): RouteMatch<T> {
    const segments = segmentsOf(path);
    const params: Record<string, string> = {};
    const node = this.#find(this.#root, segments, 0, params);
    if (!node) return { found: 'nothing' };
    const value = node.methods.get(method);
    if (value === undefined) return { found: 'other-methods', methods: [...node.methods.keys()] };
    return { found: 'route', value, params };
  }

  #find(node: Node<T>, segments: readonly string[], at: number, params: Record<string, string>): Node<T> | null {
    const segment = segments[at];
    if (segment === undefined) return node.methods.size > 0 ? node : null;
    const fixed = node.fixed.get(segment);
    const viaFixed = fixed && this.#find(fixed, segments, at + 1, params);
    if (viaFixed) return viaFixed;
    const value = decodeSegment(segment);
    const { parameter } = node;
    const viaParameter = parameter && value && this.#find(parameter.node, segments, at + 1, params);
    if (viaParameter) {
      params[parameter.name] = value;
      return viaParameter;
    }
    const rest = node.rest && decodeSegment(segments.slice(at).join('/'));
    if (!node.rest || !rest) return null;
    params[node.rest.name] = rest;
    return node.rest.node;
  }
}

const emptyNode = <T>(): Node<T> => ({
  fixed: new Map(),
  parameter: undefined,
  rest: undefined,
  methods: new Map(),
});

/** The node that a segment of a declared path leads to, made on first use. */
function childOf<T>(node: Node<T>, segment: string, path: string): Node<T> {
  const kind = segment.startsWith(':') ? 'parameter' : segment.startsWith('*') ? 'rest' : null;
  if (kind === null) {
    const fixed = node.fixed.get(segment) ?? emptyNode();
    node.fixed.set(segment, fixed);
    return fixed;
  }
  const child = node[kind] ?? { name: segment.slice(1), node: emptyNode() };
  if (child.name !== segment.slice(1)) {
    throw new Error(`${path}: this segment is called ${segment.charAt(0)}${child.name} by another route`);
  }
  node[kind] = child;
  return child.node;
}

const segmentsOf = (path: string): string[] => path.replace(/^\//, '').replace(/\/$/, '').split('/');

/** A segment that is no valid percent-encoding is taken as it stands: nothing has such an id, and its route says so. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
