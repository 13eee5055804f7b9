/** Reads a whole list of an upstream, page by page. */
import type { CapabilityDefinition } from '../catalog/mcp/types.ts';
import { McpError } from './errors.ts';
import { isFields, type JsonRpcFields, type RpcError } from './protocol/json-rpc.ts';
import { type ListMethod, listMethods } from './protocol/versions.ts';
import type { Link, LinkRequest } from './upstream/link.ts';

/** An upstream whose pages have no end is left with what came by then. */
const mostPages = 20;

export interface WholeList {
  items: CapabilityDefinition[];
  /** What else the first page said. */
  rest: JsonRpcFields;
  tokenRefreshed: boolean;
}

/** The upstream answered with an error of its own. */
export class UpstreamRefusal extends Error {
  readonly error: RpcError;
  readonly status: number;

  constructor(error: RpcError, status: number) {
    super(error.message);
    this.error = error;
    this.status = status;
  }
}

export async function listAll(
  link: Link,
  method: ListMethod,
  options: Omit<LinkRequest, 'id' | 'method'> & { id?: LinkRequest['id'] },
): Promise<WholeList> {
  const { field } = listMethods[method];
  const items: CapabilityDefinition[] = [];
  const { cursor: _, ...params } = options.params;
  let cursor: string | null = null;
  let first: JsonRpcFields | null = null;
  let tokenRefreshed = false;
  for (let page = 0; page < mostPages; page++) {
    const answer = await link.request({
      ...options,
      id: options.id === undefined || page > 0 ? `gw-list-${page}` : options.id,
      method,
      params: cursor === null ? params : { ...params, cursor },
    });
    tokenRefreshed ||= answer.tokenRefreshed;
    const { response } = answer;
    if (response?.error) throw new UpstreamRefusal(response.error, answer.status);
    const result = response?.result;
    const listed = result?.[field];
    if (!result || !Array.isArray(listed)) {
      throw new McpError('upstream_error', `the upstream answered ${method} with something else than a list`);
    }
    first ??= result;
    items.push(...listed.filter(isFields));
    const next: unknown = result.nextCursor;
    if (typeof next !== 'string' || next === cursor) break;
    cursor = next;
  }
  const { [field]: _items, nextCursor: _next, ...rest } = first ?? {};
  return { items, rest, tokenRefreshed };
}
