/** A target whose credentials live in secret managers, with their values in place. */
import type { SavedProvider } from '../../catalog/catalog.ts';
import type { Leaf } from '../../catalog/plan.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { type ResolvedSecrets, type Secrets, SecretUnavailable } from '../../secrets/resolver.ts';
import type { Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';

/** Kept beside the values, so that it is made once for each change of them. */
const made = new WeakMap<ResolvedSecrets, SavedProvider>();
/** What a filled provider was made from, for the day on which its provider refuses it. */
const origins = new WeakMap<SavedProvider, { original: SavedProvider; from: ResolvedSecrets }>();

/** The very same provider where nothing is mapped. */
export function filledProvider({ secrets }: GatewayDeps, saved: SavedProvider): MaybePromise<SavedProvider> {
  if (!saved.secrets) return saved;
  if (!secrets) throw new GatewayError('secret_unavailable', 'secret references are not opened here');
  try {
    const resolved = secrets.resolve(saved.secrets);
    if (resolved instanceof Promise) return resolved.then((values) => filledWith(saved, values), unavailable);
    return filledWith(saved, resolved);
  } catch (fault) {
    return unavailable(fault);
  }
}

export function filledTarget(
  deps: GatewayDeps,
  context: RequestContext,
  leaf: Leaf,
  target: Target,
): MaybePromise<Target> {
  if (!target.saved?.secrets) return target;
  const saved = filledProvider(deps, target.saved);
  return saved instanceof Promise
    ? saved.then((filled) => withSaved(context, leaf, target, filled))
    : withSaved(context, leaf, target, saved);
}

/** After its provider refused the credentials: the target with newer ones, where the managers have any; else null. */
export async function renewedTarget(
  deps: GatewayDeps,
  context: RequestContext,
  leaf: Leaf,
  target: Target,
): Promise<Target | null> {
  const renewed = target.saved && (await renewedProvider(deps, target.saved));
  return renewed && withSaved(context, leaf, target, renewed);
}

/** The same for a filled provider alone. */
export async function renewedProvider({ secrets }: GatewayDeps, filled: SavedProvider): Promise<SavedProvider | null> {
  const origin = origins.get(filled);
  const uses = origin?.original.secrets;
  if (!origin || !uses || !secrets) return null;
  const renewed = await renewedSecrets(secrets, uses, origin.from);
  return renewed && filledWith(origin.original, renewed);
}

/** What cannot be renewed leaves the provider's own refusal as the answer. */
export async function renewedSecrets(
  secrets: Secrets,
  uses: NonNullable<SavedProvider['secrets']>,
  used: ResolvedSecrets,
): Promise<ResolvedSecrets | null> {
  try {
    return await secrets.renew(uses, used);
  } catch (fault) {
    if (fault instanceof SecretUnavailable) return null;
    throw fault;
  }
}

function filledWith(original: SavedProvider, from: ResolvedSecrets): SavedProvider {
  const known = made.get(from);
  if (known) return known;
  const filled = withValues(original, from.values);
  made.set(from, filled);
  origins.set(filled, { original, from });
  return filled;
}

function withValues(saved: SavedProvider, values: ReadonlyMap<string, unknown>): SavedProvider {
  const fields: Record<string, unknown> = { ...saved.fields };
  const filled = { ...saved, fields };
  for (const [name, value] of values) {
    if (name === 'key') filled.credential = asText(value);
    else if (name === 'custom_host') filled.customHost = asText(value);
    else if (name === 'custom_headers') filled.customHeaders = { ...saved.customHeaders, ...asHeaders(value) };
    else fields[name] = value;
  }
  return filled;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const asHeaders = (value: unknown): Record<string, string> =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name.toLowerCase(), asText(text)]))
    : {};

function withSaved(context: RequestContext, leaf: Leaf, target: Target, saved: SavedProvider): Target {
  const { rule } = target;
  return {
    ...target,
    saved,
    credential: saved.credential,
    fields: { ...target.fields, ...saved.fields, ...leaf.fields },
    customHost: context.rules.customHost ?? leaf.customHost ?? rule?.customHost ?? saved.customHost,
    customHeaders: rule ? { ...saved.customHeaders, ...rule.customHeaders } : saved.customHeaders,
  };
}

function unavailable(fault: unknown): never {
  if (fault instanceof SecretUnavailable) throw new GatewayError('secret_unavailable', fault.message);
  throw fault;
}
