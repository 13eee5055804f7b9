/** The provider that a request or its config names for all of it. */
import type { RequestContext } from '../context.ts';

/** Null when there is none; empty where there are several. */
export function namedProvider({
  provider,
  plan: { root },
  workspace,
}: Pick<RequestContext, 'provider' | 'plan' | 'workspace'>): string | null {
  const saved = (slug: string) => workspace.provider(slug)?.provider ?? slug;
  if (provider.savedSlug !== null) return saved(provider.savedSlug);
  if (provider.name !== null) return provider.name;
  if (root.kind !== 'leaf') return '';
  if (root.provider.from === 'saved') return saved(root.provider.slug);
  return root.provider.from === 'inline' ? root.provider.provider : null;
}
