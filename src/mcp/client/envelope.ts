/** Which era a posted message belongs to, and whether its headers say the same as its body. */
import { McpError } from '../errors.ts';
import { decodeHeaderValue } from '../protocol/header-values.ts';
import { isFields, type RpcMessage } from '../protocol/json-rpc.ts';
import { isSessionVersion, isStatelessVersion, metaKeys, nameField, statelessVersion } from '../protocol/versions.ts';

type Headers = Readonly<Record<string, string>>;

/** The body decides; the header alone only where a message cannot carry an envelope. */
export function isStateless(message: RpcMessage, headers: Headers): boolean {
  const named = headers['mcp-protocol-version']?.trim();
  const byHeader = named !== undefined && isStatelessVersion(named);
  if (message.kind === 'response') return false;
  const claim = claimOf(message);
  if (message.kind === 'request' && message.method === 'initialize' && claim === undefined) {
    if (byHeader)
      throw mismatch(
        `initialize belongs to revisions before ${statelessVersion}, and the header MCP-Protocol-Version names ${named}`,
      );
    return false;
  }
  // An unknown revision is refused in the words of this era, which can say which ones are known.
  if (claim !== undefined) return typeof claim !== 'string' || !isSessionVersion(claim) || byHeader;
  return byHeader;
}

const claimOf = ({ params }: Exclude<RpcMessage, { kind: 'response' }>): unknown =>
  isFields(params._meta) ? params._meta[metaKeys.protocolVersion] : undefined;

/** Throws where a request of the stateless era lacks its envelope, or where headers and body differ. */
export function checkEnvelope(message: Exclude<RpcMessage, { kind: 'response' }>, headers: Headers): void {
  const meta = isFields(message.params._meta) ? message.params._meta : {};
  const header = headers['mcp-protocol-version']?.trim();
  const method = headers['mcp-method']?.trim();
  if (message.kind === 'notification') {
    if (method !== undefined && method !== message.method)
      throw mismatch(`Mcp-Method names ${method}, the body ${message.method}`);
    return;
  }
  const claim = meta[metaKeys.protocolVersion];
  const missing = [metaKeys.protocolVersion, metaKeys.clientCapabilities].filter((key) => meta[key] === undefined);
  if (missing.length > 0) throw invalidEnvelope(`params._meta lacks ${missing.join(' and ')}`, { missing });
  if (typeof claim !== 'string') throw invalidEnvelope(`${metaKeys.protocolVersion} must be text`, {});
  if (!isFields(meta[metaKeys.clientCapabilities])) {
    throw invalidEnvelope(`${metaKeys.clientCapabilities} must be an object`, {});
  }
  const info = meta[metaKeys.clientInfo];
  if (info !== undefined && !(isFields(info) && typeof info.name === 'string' && typeof info.version === 'string')) {
    throw invalidEnvelope(`${metaKeys.clientInfo} must have a name and a version`, {});
  }
  if (header !== undefined && header !== claim) {
    throw mismatch(`MCP-Protocol-Version names ${header}, the body ${claim}`);
  }
  if (claim !== statelessVersion) {
    throw new McpError('unsupported_version', `Unsupported protocol version: ${claim}`, {
      data: { supported: [statelessVersion], requested: claim },
    });
  }
  if (header === undefined) throw mismatch('the header MCP-Protocol-Version is missing');
  if (method === undefined) throw mismatch('the header Mcp-Method is missing');
  if (method !== message.method) throw mismatch(`Mcp-Method names ${method}, the body ${message.method}`);
  checkName(message, headers['mcp-name']);
}

function checkName(
  { method, params }: { method: string; params: Readonly<Record<string, unknown>> },
  header: string | undefined,
): void {
  const field = nameField[method];
  if (!field) return;
  const inBody = params[field];
  if (header === undefined) {
    if (typeof inBody === 'string') throw mismatch(`the header Mcp-Name is missing; the body names ${inBody}`);
    return;
  }
  const named = decodeHeaderValue(header);
  if (named === null) throw mismatch('the header Mcp-Name is not encoded as it should be');
  if (typeof inBody === 'string' && named !== inBody) throw mismatch(`Mcp-Name names ${named}, the body ${inBody}`);
}

const mismatch = (message: string): McpError => new McpError('header_mismatch', `Header mismatch: ${message}`);
const invalidEnvelope = (message: string, envelope: object): McpError =>
  new McpError('invalid_envelope', `Invalid params: ${message}`, { data: { envelope } });
