/** Saved-only mode: an organisation may insist that configs, providers and endpoints are saved ones. */
import { GatewayError, type GatewayErrorCode } from './errors.ts';
import type { Identified } from './journey.ts';

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
  const refuse = (code: GatewayErrorCode, header: string, instead: string) => {
    throw new GatewayError(code, `${instead} (this organisation accepts only what is saved)`, {
      field: `x-gw-${header}`,
    });
  };
  if (own.get('config')?.trimStart().startsWith('{')) {
    refuse('inline_config_blocked', 'config', 'name a saved config by its slug instead of sending one');
  }
  for (const header of ['provider', 'mode']) {
    const provider = own.get(header)?.replace(/^proxy\s+/, '');
    if (provider && !provider.startsWith('@')) {
      refuse('inline_provider_blocked', header, `name a saved provider as @slug instead of ${provider}`);
    }
  }
  if (own.get('custom-host')) {
    refuse('inline_custom_host_blocked', 'custom-host', 'save the custom host on an integration instead of sending it');
  }
  const address = addressHeaders.find((header) => own.get(header));
  if (address)
    refuse('inline_provider_url_blocked', address, 'save the endpoint on an integration instead of sending it');
  if (own.get('forward-headers')) {
    refuse(
      'inline_forward_headers_blocked',
      'forward-headers',
      'save forward_headers in a config instead of sending them',
    );
  }
}
