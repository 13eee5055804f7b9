/** Which entry of the price data a model's name belongs to. The data's own matching, compiled once: the package builds its patterns anew at every look-up. */
import type { MatchLogic, ModelInfo } from '@pydantic/genai-prices';
import type { PricedProvider } from './price-data.ts';

type Matches = (name: string) => boolean;

export interface ModelBook {
  /** The entry that this name belongs to. */
  find(name: string): ModelInfo | null;
  /** A name of each model under which it can be called. */
  readonly names: readonly string[];
}

/** The models of a provider of the price data, then those of the providers that it resells. */
export function openModelBook(
  priceProviderId: string,
  providerOf: (priceProviderId: string) => PricedProvider | undefined,
): ModelBook {
  const provider = providerOf(priceProviderId);
  const resold = provider?.fallback_model_providers ?? [];
  const models = [provider, ...resold.map(providerOf)].flatMap((each) => each?.models ?? []);
  const entries = models.map((model) => ({ model, matches: compile(model.match) }));
  return {
    find(name) {
      const lower = name.toLowerCase();
      return entries.find((entry) => entry.matches(lower))?.model ?? null;
    },
    names: [...new Set(entries.flatMap(({ model, matches }) => nameOf(model, matches) ?? []))].sort(),
  };
}

/** The data marks prices that hold in each single region by a prefix which is no part of the model's name. */
export const idOf = (model: ModelInfo): string => model.id.replace(/^regional\./, '');

/** An id that its own entry does not match is a label, one that ends in a hyphen the beginning of many; null where the entry holds no name to call. */
function nameOf(model: ModelInfo, matches: Matches): string | null {
  const id = idOf(model);
  if (id.endsWith('-')) return null;
  if (matches(id.toLowerCase())) return id;
  const { match } = model;
  const named = ('or' in match ? match.or : [match]).find((logic) => 'equals' in logic);
  return named && 'equals' in named ? named.equals : null;
}

function compile(logic: MatchLogic): Matches {
  if ('or' in logic) {
    const any = logic.or.map(compile);
    return (name) => any.some((matches) => matches(name));
  }
  if ('and' in logic) {
    const all = logic.and.map(compile);
    return (name) => all.every((matches) => matches(name));
  }
  if ('regex' in logic) {
    const pattern = new RegExp(logic.regex);
    return (name) => pattern.test(name);
  }
  if ('equals' in logic) return comparison(logic.equals, (name, text) => name === text);
  if ('starts_with' in logic) return comparison(logic.starts_with, (name, text) => name.startsWith(text));
  if ('ends_with' in logic) return comparison(logic.ends_with, (name, text) => name.endsWith(text));
  return comparison(logic.contains, (name, text) => name.includes(text));
}

function comparison(text: string, compare: (name: string, text: string) => boolean): Matches {
  const lower = text.toLowerCase();
  return (name) => compare(name, lower);
}

/** `-2025-01-31`, `-20250131`, `-0613`, `-001`, `@20250131`, `-v1:0`, `-latest`. */
const version = /[-@](\d{3,4}|\d{8}|\d{4}-\d{2}-\d{2}|v\d+(:\d+)?|latest)$/;
const mostVersions = 2;

/** Without the path that an ARN or a publisher puts before it, and without the vendor. */
export const bareName = (model: string): string =>
  model.slice(model.lastIndexOf('/') + 1).replace(/^(anthropic|google|meta)\./, '');

/** The name as it is, without the path that an ARN or a publisher puts before it, and each of these without its version. */
export function spellingsOf(model: string): Set<string> {
  const bare = model.slice(model.lastIndexOf('/') + 1);
  const names = new Set<string>();
  for (const name of [model, bare, bareName(model)]) {
    let rest = name;
    names.add(rest);
    for (let removed = 0; removed < mostVersions && version.test(rest); removed++) {
      rest = rest.replace(version, '');
      names.add(rest);
    }
  }
  names.delete('');
  return names;
}
