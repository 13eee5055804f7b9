/** The config of a request body: read, held against the rules, and made ready to be stored. */
import { readJson } from '../../bounded-json.ts';
import { withSnakeCaseKeys } from '../../catalog/camel-case.ts';
import { compileConfig, parseConfig } from '../../catalog/compile.ts';
import { guardrailFaults } from '../../catalog/guardrail-faults.ts';
import { faultOfCustomHost, type TrustedHosts } from '../../http/custom-host.ts';
import { invalid, invalidFields } from '../../http/errors.ts';
import { providers } from '../../providers/index.ts';
import { requireStorable } from '../kernel/validate.ts';
import { restoreCredentials } from './credentials.ts';

export type StoredConfig = Readonly<Record<string, unknown>>;

export interface CheckedConfig {
  /** As it was written, with its keys in one spelling and its credentials whole. */
  config: StoredConfig;
  /** What in it can never have an effect. */
  warnings: readonly string[];
}

/** A long list of faults must not make an answer longer than the question. */
const faultsTold = 20;

/** `saved` is the version before, whose credentials a caller may send back as they were shown: masked. */
export function checkConfig(
  sent: string | StoredConfig,
  saved: StoredConfig | null,
  trustedHosts: TrustedHosts,
): CheckedConfig {
  const written = typeof sent === 'string' ? parseText(sent) : sent;
  const spelled = withSnakeCaseKeys(written);
  const parsed = parseConfig(spelled, 'saved', {
    faultOfCustomHost: (url) => faultOfCustomHost(url, trustedHosts),
    needsCredential: (provider) => providers.get(provider)?.needsCredential ?? true,
    faultsOfGuardrail: guardrailFaults((url) => faultOfCustomHost(url, trustedHosts)),
  });
  if (!parsed.ok) {
    throw invalidFields(
      parsed.errors.slice(0, faultsTold).map(({ path, message }) => ({
        location: 'body',
        path: path === '' ? 'config' : `config.${path.replaceAll(/\[(\d+)\]/g, '.$1')}`,
        message,
      })),
    );
  }
  const { config, unknown } = restoreCredentials(spelled as StoredConfig, saved);
  if (unknown.length > 0) {
    throw invalidFields(
      unknown.slice(0, faultsTold).map((path) => ({
        location: 'body',
        path: `config.${path}`,
        message: 'is masked and stands for no saved credential: send the credential itself',
      })),
    );
  }
  const { warnings } = compileConfig(parsed.config, { id: '', saved: null });
  return { config, warnings };
}

function parseText(text: string): StoredConfig {
  let value: unknown;
  try {
    value = readJson(text);
  } catch {
    throw invalid('config', 'is text that is no JSON');
  }
  requireStorable('body', { config: value });
  // `parseConfig` refuses what is no object.
  return value as StoredConfig;
}
