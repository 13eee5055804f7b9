/** A table of routes: case sensitive, a fixed segment wins over a parameter, a trailing slash is tolerated. */

interface Node<T> {
  fixed: Map<string, Node<T>>;
  parameter: { name: string; node: Node<T> } | undefined;
  methods: Map<string, T>;
}

export type RouteMatch<T> =
  | { found: 'route'; value: T; params: Record<string, string> }
  | { found: 'other-methods'; methods: string[] }
  | { found: 'nothing' };

export class RouteTable<T> {
  readonly #root: Node<T> = emptyNode();

  add(method: string, path: string, value: T): void {
    let node = this.#root;
    for (const segment of segmentsOf(path)) {
      if (segment.startsWith(':')) {
        const name = segment.slice(1);
        node.parameter ??= { name, node: emptyNode() };
        if (node.parameter.name !== name) {
          throw new Error(`${path}: this segment is called :${node.parameter.name} by another route`);
        }
        node = node.parameter.node;
      } else {
        let next = node.fixed.get(segment);
        if (!next) {
          next = emptyNode();
          node.fixed.set(segment, next);
        }
        node = next;
      }
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
    if (!node.parameter || !value) return null;
    const viaParameter = this.#find(node.parameter.node, segments, at + 1, params);
    if (viaParameter) params[node.parameter.name] = value;
    return viaParameter;
  }
}

const emptyNode = <T>(): Node<T> => ({ fixed: new Map(), parameter: undefined, methods: new Map() });

const segmentsOf = (path: string): string[] => path.replace(/^\//, '').replace(/\/$/, '').split('/');

/** Null for a segment that is no valid percent-encoding: such an id cannot exist. */
function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
