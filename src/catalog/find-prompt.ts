/** Finds prompts and partials for a workspace: its own, then those that others share with it. */
import type { PromptAddress } from '../prompts/address.ts';
import { TemplateFault } from '../prompts/fault.ts';
import type { RenderSources, Variables } from '../prompts/render.ts';
import type { PartialReference, Template } from '../prompts/template.ts';
import type { Catalog, WorkspaceCatalog } from './catalog.ts';
import type { SavedPrompt } from './saved-prompts.ts';

export interface FoundPrompt {
  prompt: SavedPrompt;
  /** The workspace that owns it: its providers and partials are the ones that count. */
  home: WorkspaceCatalog;
}

export async function findPrompt(
  catalog: Catalog,
  workspace: WorkspaceCatalog,
  address: PromptAddress,
): Promise<FoundPrompt | null> {
  const own = await workspace.prompts.prompt(address);
  if (own) return { prompt: own, home: workspace };
  const sharer = workspace.prompts.sharedBy('prompt', address.reference);
  const home = sharer === null ? null : await catalog.workspace(sharer);
  const shared = home ? await home.prompts.prompt(address) : null;
  return home && shared ? { prompt: shared, home } : null;
}

async function findPartial(
  catalog: Catalog,
  home: WorkspaceCatalog,
  reference: PartialReference,
): Promise<Template | null> {
  const own = await home.prompts.partial(reference);
  if (own) return own;
  const sharer = home.prompts.sharedBy('partial', reference.slug);
  const other = sharer === null ? null : await catalog.workspace(sharer);
  return other ? other.prompts.partial(reference) : null;
}

/** Partials that one template may name; more are a mistake or an attack. */
const mostPartials = 200;

/** A partial that a template names and that is not at hand yet. */
class Unresolved extends Error {
  readonly reference: PartialReference;
  readonly byCaller: boolean;

  constructor(reference: PartialReference, byCaller: boolean) {
    super('a partial is not at hand yet');
    this.reference = reference;
    this.byCaller = byCaller;
  }
}

/** Renders with the partials of the prompt's home. Which ones are needed shows itself on the way: a variable may name some too, of those that the caller's own workspace may use. */
export async function renderWithPartials<T>(
  catalog: Catalog,
  { home, caller }: { home: WorkspaceCatalog; caller: WorkspaceCatalog },
  variables: Variables,
  render: (sources: RenderSources) => T,
): Promise<T> {
  const known = new Map<string, Template | null>();
  const keyOf = ({ slug, version }: PartialReference, byCaller: boolean) => `${byCaller} ${slug}@${version}`;
  const sources: RenderSources = {
    variables,
    findPartial(reference, byCaller) {
      const found = known.get(keyOf(reference, byCaller));
      if (found === undefined) throw new Unresolved(reference, byCaller);
      return found;
    },
  };
  for (;;) {
    try {
      return render(sources);
    } catch (fault) {
      if (!(fault instanceof Unresolved)) throw fault;
      if (known.size >= mostPartials) throw new TemplateFault(`more than ${mostPartials} partials are named`, null);
      const { reference, byCaller } = fault;
      known.set(keyOf(reference, byCaller), await findPartial(catalog, byCaller ? caller : home, reference));
    }
  }
}
