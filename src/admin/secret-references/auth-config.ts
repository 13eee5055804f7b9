/** How a reference gets into its manager: checked as a whole, stored sealed, read back masked. */
import { faultOfCustomHost, type TrustedHosts } from '../../http/custom-host.ts';
import { type FieldError, invalid, invalidFields } from '../../http/errors.ts';
import type { AuthConfig, ManagerType } from '../../secrets/manager.ts';
import { managers } from '../../secrets/managers/index.ts';
import { masked } from '../integrations/masking.ts';

/** The fields to store: what was sent over what is stored, without what its mode does not know. */
export function checkedAuthConfig(
  manager: ManagerType,
  sent: Readonly<Record<string, string | null>>,
  stored: AuthConfig,
  trustedHosts: TrustedHosts,
): AuthConfig {
  const { authConfig, addressFields } = managers[manager];
  // A mask that comes back stands for what is stored.
  const given = Object.entries(sent).filter(([name]) => !name.startsWith('masked_'));
  const merged = Object.fromEntries(Object.entries({ ...stored, ...Object.fromEntries(given) }).filter(isGiven));
  const parsed = authConfig().safeParse(merged, { reportInput: true });
  if (!parsed.success) {
    throw invalidFields(
      parsed.error.issues.map((issue) => ({
        location: 'body',
        path: ['auth_config', ...issue.path].join('.'),
        message:
          'input' in issue && issue.input === undefined && issue.code === 'invalid_type'
            ? 'is required'
            : issue.message,
      })),
    );
  }
  const faults = addressFields.flatMap((name): FieldError[] => {
    const fault = faultOfCustomHost(parsed.data[name] ?? '', trustedHosts);
    return fault ? [{ location: 'body', path: `auth_config.${name}`, message: fault }] : [];
  });
  if (faults.length > 0) throw invalidFields(faults);
  return parsed.data;
}

const isGiven = (entry: [string, string | null]): entry is [string, string] => entry[1] !== null;

export const maskedAuthConfig = (manager: ManagerType, auth: AuthConfig): Record<string, string> =>
  Object.fromEntries(
    Object.entries(auth).map(([name, value]) =>
      managers[manager].maskedFields.has(name) ? [`masked_${name}`, masked(value)] : [name, value],
    ),
  );

export function requireFittingPath(manager: ManagerType, path: string): void {
  const fault = managers[manager].faultOfPath?.(path);
  if (fault) throw invalid('secret_path', fault);
}
