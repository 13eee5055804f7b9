/** An upstream whose credentials live in secret managers, with their values in its settings. */
import type { McpUpstream } from '../../catalog/mcp/server.ts';
import { mcpSettings, withoutAliases } from '../../catalog/mcp/settings.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { type ResolvedSecrets, type Secrets, SecretUnavailable } from '../../secrets/resolver.ts';
import { McpError } from '../errors.ts';

const made = new WeakMap<ResolvedSecrets, McpUpstream['settings']>();
const used = new WeakMap<McpUpstream['settings'], ResolvedSecrets>();

/** The very same upstream where nothing is mapped. */
export function filledUpstream<Upstream extends McpUpstream>(
  secrets: Secrets | undefined,
  upstream: Upstream,
): MaybePromise<Upstream> {
  if (!upstream.secrets) return upstream;
  if (!secrets) throw new McpError('internal_error', 'secret references are not opened here');
  try {
    const resolved = secrets.resolve(upstream.secrets);
    if (resolved instanceof Promise) return resolved.then((values) => withValues(upstream, values)).catch(unavailable);
    return withValues(upstream, resolved);
  } catch (fault) {
    return unavailable(fault);
  }
}

/** After the upstream refused what it was shown: with newer values, where the managers have any; else null. */
export async function renewedUpstream<Upstream extends McpUpstream>(
  secrets: Secrets | undefined,
  filled: Upstream,
): Promise<Upstream | null> {
  const before = used.get(filled.settings);
  if (!secrets || !filled.secrets || !before) return null;
  try {
    const renewed = await secrets.renew(filled.secrets, before);
    return renewed && withValues(filled, renewed);
  } catch (fault) {
    if (fault instanceof SecretUnavailable) return null;
    throw fault;
  }
}

function withValues<Upstream extends McpUpstream>(upstream: Upstream, resolved: ResolvedSecrets): Upstream {
  const known = made.get(resolved);
  if (known) return { ...upstream, settings: known };
  const parsed = mcpSettings().safeParse(withoutAliases(Object.fromEntries(resolved.values)));
  if (!parsed.success) {
    const names = new Set(
      parsed.error.issues.flatMap((issue) =>
        issue.code === 'unrecognized_keys' ? issue.keys : [String(issue.path[0] ?? '')],
      ),
    );
    throw new McpError('internal_error', `a secret does not fit its setting: ${[...names].join(', ')}`);
  }
  // Agents have settings of their own besides those of any upstream.
  const settings = { ...upstream.settings, ...parsed.data };
  made.set(resolved, settings);
  used.set(settings, resolved);
  return { ...upstream, settings };
}

function unavailable(fault: unknown): never {
  if (fault instanceof SecretUnavailable) throw new McpError('internal_error', fault.message);
  throw fault;
}
