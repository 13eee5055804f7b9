/** The messages endpoint of providers that offer Anthropic's dialect beside OpenAI's. */
import { withoutOurMarks } from '../../anthropic/foreign-thoughts.ts';
import type { ProviderEndpoint } from '../../provider.ts';
import { setting } from '../../settings.ts';

const defaultVersion = '2023-06-01';

export const messagesAt = (path?: ProviderEndpoint['path']): ProviderEndpoint => ({
  ...(path !== undefined && { path }),
  adjust: withoutOurMarks,
  headers({ credential, fields, clientHeader }) {
    const beta = clientHeader('anthropic-beta') ?? setting(fields, 'anthropic_beta');
    return {
      'anthropic-version': clientHeader('anthropic-version') ?? setting(fields, 'anthropic_version') ?? defaultVersion,
      ...(beta !== null && { 'anthropic-beta': beta }),
      ...(credential !== null && { 'x-api-key': credential }),
    };
  },
});
