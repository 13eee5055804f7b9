/** The ids and the metadata of a message: what the client says, below what the key and the workspace say. */
import type { Principal } from './principal.ts';

const longestValue = 128;
const longestId = 512;
const traceContext = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/;

interface MessageIds {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  metadata: Readonly<Record<string, string>>;
}

export function requestMetadata(
  { caller, workspace }: Principal,
  headers: Readonly<Record<string, string>>,
  requestId: string,
): MessageIds {
  const parent = traceContext.exec(headers.traceparent ?? '');
  return {
    traceId: headers['x-gw-trace-id']?.slice(0, longestId) ?? parent?.[1] ?? requestId,
    spanId: headers['x-gw-span-id']?.slice(0, longestId) ?? requestId,
    parentSpanId: headers['x-gw-parent-span-id']?.slice(0, longestId) ?? parent?.[2] ?? '',
    metadata: {
      ...sent(headers['x-gw-metadata']),
      ...(caller.defaults.userName !== null && { _user: caller.defaults.userName }),
      ...caller.defaults.metadata,
      ...workspace.metadata,
    },
  };
}

/** What cannot be read as a JSON object counts as none. */
function sent(header: string | undefined): Record<string, string> {
  if (header === undefined) return {};
  try {
    const value: unknown = JSON.parse(header);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, 64)
        .map(([name, field]) => [
          name.slice(0, longestValue),
          (typeof field === 'string' ? field : JSON.stringify(field)).slice(0, longestValue),
        ]),
    );
  } catch {
    return {};
  }
}
