/** The settings of an MCP integration as a whole: each address may be called, and they fit the way in which it is called. */
import { compiledDocument } from '../../catalog/mcp/openapi/compiled.ts';
import type { McpAuthType, McpTransport } from '../../catalog/mcp/server.ts';
import { mcpSettingNames, mcpSettings } from '../../catalog/mcp/settings.ts';
import type { SecretMapping } from '../../catalog/saved.ts';
import { faultOfCustomHost, type TrustedHosts } from '../../http/custom-host.ts';
import { type FieldError, invalid, invalidFields } from '../../http/errors.ts';
import { mapsSetting, requireKnownSettings } from '../integrations/secret-mappings.ts';

interface Integration {
  url: string;
  transport: McpTransport;
  authType: McpAuthType;
  /** Settings that come from a secret manager. */
  mapped: readonly SecretMapping[];
}

/** Throws where the settings lead to an address that may not be called, or lack what the integration needs. */
export function checkMcpSettings(
  settings: Readonly<Record<string, unknown>>,
  { url, authType, transport, mapped }: Integration,
  trustedHosts: TrustedHosts,
): void {
  const fault = faultOfCustomHost(url, trustedHosts);
  if (fault) throw invalid('url', fault);
  requireKnownSettings(mapped, mcpSettingNames());
  const parsed = mcpSettings().parse(settings);
  const faults = addressesIn(settings).flatMap(([path, address]): FieldError[] => {
    const reason = faultOfCustomHost(address, trustedHosts);
    return reason ? [{ location: 'body', path: `configurations.${path}`, message: reason }] : [];
  });
  if (faults.length > 0) throw invalidFields(faults);
  if (transport === 'openapi') {
    if (!parsed.openapi) throw invalid('configurations.openapi', 'is required by the transport openapi');
    const compiled = compiledDocument(parsed.openapi.document, parsed.openapi.operations);
    if (!compiled.ok) throw invalid('configurations.openapi.document', compiled.fault);
  }
  if (
    authType === 'oauth_client_credentials' &&
    !parsed.client_credentials &&
    !mapsSetting(mapped, 'client_credentials')
  ) {
    throw invalid('configurations.client_credentials', 'is required by the auth_type oauth_client_credentials');
  }
}

/** Settings that make the service call somewhere; those that only a browser opens are not among them. */
const calledFields = new Set([
  'jwksUri',
  'introspectEndpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'issuer',
  'url',
]);

function addressesIn(settings: Readonly<Record<string, unknown>>, above = ''): [string, string][] {
  return Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    const path = above === '' ? name : `${above}.${name}`;
    if (typeof value === 'string') return calledFields.has(name) ? [[path, value]] : [];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return addressesIn(value as Record<string, unknown>, path);
  });
}
