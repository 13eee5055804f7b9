/** Saved-only mode: an organisation may insist that configs, providers and endpoints are saved ones. */

import type { Identified } from '../context.ts';
import type { GatewayErrorCode } from '../error-catalogue.ts';
import { GatewayError } from '../errors.ts';
import type { OwnHeaders } from './headers.ts';

/** Headers that point a provider at an address of the caller's choosing. */
const addressHeaders = [
  'huggingface-base-url',
  'azure-foundry-url',
  'databricks-workspace',
  'azure-resource-name',
  'snowflake-account',
];

export function requireSavedOnly({ own, workspace }: Identified, forced: boolean): void {
  if (!forced && !workspace.settings.data_plane_security_settings.block_inline_config) return;
  const unsaved = own.once(firstUnsaved);
  if (!unsaved) return;
  const { code, header, instead } = unsaved;
  throw new GatewayError(code, `${instead} (this organisation accepts only what is saved)`, {
    field: `x-gw-${header}`,
  });
}

interface Unsaved {
  code: GatewayErrorCode;
  header: string;
  /** What to do. */
  instead: string;
}

function firstUnsaved(own: OwnHeaders): Unsaved | null {
  if (own.get('config')?.trimStart().startsWith('{')) {
    const instead = 'name a saved config by its slug instead of sending one';
    return { code: 'inline_config_blocked', header: 'config', instead };
  }
  for (const header of ['provider', 'mode']) {
    const provider = own.get(header)?.replace(/^proxy\s+/, '');
    if (!provider || provider.startsWith('@')) continue;
    return {
      code: 'inline_provider_blocked',
      header,
      instead: `name a saved provider as @slug instead of ${provider}`,
    };
  }
  if (own.get('custom-host')) {
    const instead = 'save the custom host on an integration instead of sending it';
    return { code: 'inline_custom_host_blocked', header: 'custom-host', instead };
  }
  const address = addressHeaders.find((header) => own.get(header));
  if (address) {
    const instead = 'save the endpoint on an integration instead of sending it';
    return { code: 'inline_provider_url_blocked', header: address, instead };
  }
  if (!own.get('forward-headers')) return null;
  const instead = 'save forward_headers in a config instead of sending them';
  return { code: 'inline_forward_headers_blocked', header: 'forward-headers', instead };
}
