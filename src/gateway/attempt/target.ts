/** A leaf of the plan to what it calls: the provider, its credential, the model, and whether this caller may use them. */
import type { ModelRule, SavedProvider } from '../../catalog/catalog.ts';
import type { Leaf } from '../../catalog/plan.ts';
import type { Clock } from '../../clock.ts';
import { openAiCompatible } from '../../providers/openai-compatible.ts';
import type { JsonObject, Provider, TargetFields } from '../../providers/provider.ts';
import type { CallDeps } from '../call-deps.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import { readsAsModel, splitModel } from '../request/model-name.ts';

export interface Target {
  provider: Provider;
  saved: SavedProvider | null;
  credential: string | null;
  fields: TargetFields;
  /** As the provider knows it, without a prefix of ours; empty when the call names none. */
  model: string;
  rule: ModelRule | null;
  customHost: string | null;
  customHeaders: Readonly<Record<string, string>>;
}

export function resolveTarget(deps: CallDeps, context: RequestContext, leaf: Leaf, parameters: JsonObject): Target {
  const asked = typeof parameters.model === 'string' ? parameters.model : '';
  if (!asked.isWellFormed()) throw new GatewayError('invalid_body', 'model holds half a character', { field: 'model' });
  const prefixed = prefixOf(context, leaf, asked);
  const choice = chooseProvider(context, leaf, prefixed?.slug ?? null);
  if (choice.savedSlug !== null) {
    const named = prefixed ? (prefixed.model ?? '') : asked;
    // A model written with the provider stands over the client's, and below what the config overrides.
    const model = typeof leaf.overrideParams?.model === 'string' ? named : (choice.model ?? named);
    if (prefixed && model === '') throw namesNoModel(asked);
    refuseOtherSpelling(context, choice.savedSlug, parameters);
    return savedTarget(deps, context, leaf, choice.savedSlug, model);
  }
  const provider = providerNamed(deps, choice.name, choice.fields, context.rules.customHost ?? leaf.customHost);
  return {
    provider,
    saved: null,
    credential: choice.credential,
    fields: choice.fields,
    // Some providers have names of their own that begin with @.
    model: asked,
    rule: null,
    customHost: context.rules.customHost ?? leaf.customHost,
    customHeaders: {},
  };
}

/** The provider that a model names: `@slug/model`. Some providers have models of their own that begin with @. */
function prefixOf(
  { provider, workspace }: RequestContext,
  leaf: Leaf,
  asked: string,
): ReturnType<typeof splitModel> | null {
  if (!asked.startsWith('@')) return null;
  const prefixed = splitModel(asked);
  const chosen = leaf.provider.from === 'saved' || (leaf.provider.from === 'request' && provider.savedSlug !== null);
  return chosen && !workspace.provider(prefixed.slug) ? null : prefixed;
}

interface Choice {
  savedSlug: string | null;
  name: string;
  credential: string | null;
  fields: TargetFields;
  model: string | null;
}

function chooseProvider(context: RequestContext, leaf: Leaf, modelSlug: string | null): Choice {
  const { provider } = leaf;
  if (provider.from === 'inline') {
    refuseOther(context, provider.provider, modelSlug);
    return {
      savedSlug: null,
      name: provider.provider,
      credential: provider.credential,
      fields: { ...leaf.fields, ...provider.fields },
      model: null,
    };
  }
  const own = provider.from === 'saved' ? provider.slug : context.provider.savedSlug;
  if (own !== null && modelSlug !== null && own !== modelSlug) throw conflict(modelSlug, `@${own}`);
  const { name, credential } = context.provider;
  if (own === null && name !== null) refuseOther(context, name, modelSlug);
  const savedSlug = own ?? (name === null ? modelSlug : null);
  const model = provider.from === 'saved' ? provider.model : context.provider.model;
  if (savedSlug !== null) return { savedSlug, name: '', credential: null, fields: leaf.fields, model };
  if (name)
    return { savedSlug: null, name, credential, fields: { ...leaf.fields, ...headerFields(context) }, model: null };
  throw new GatewayError(
    'missing_provider',
    leaf.passthrough
      ? 'this target takes its provider from the request, and the request names none: send x-gw-provider: @slug or a model "@slug/model"'
      : 'no provider is named: send x-gw-config, x-gw-provider or x-gw-virtual-key, or a model "@slug/model"',
  );
}

/** A provider by its own name, and a model of a saved one: only one of them can be meant. */
function refuseOther({ workspace }: RequestContext, name: string, modelSlug: string | null): void {
  if (modelSlug !== null && workspace.provider(modelSlug)) throw conflict(modelSlug, name);
}

/** Some servers read names in any case: where only some models are allowed, none may stand under another spelling. */
function refuseOtherSpelling({ workspace }: RequestContext, slug: string, parameters: JsonObject): void {
  const saved = workspace.provider(slug);
  if (!saved || (saved.models.allowAll && saved.models.bySlug.size === 0)) return;
  const spelled = Object.keys(parameters).find((name) => name !== 'model' && readsAsModel(name));
  if (spelled === undefined) return;
  throw new GatewayError('invalid_body', `the field "${spelled}" may be taken for the model; leave it out`, {
    field: spelled,
  });
}

const namesNoModel = (asked: string) =>
  new GatewayError('invalid_body', `"${asked}" names a provider and no model; write @slug/model`, { field: 'model' });

const conflict = (modelSlug: string, chosen: string) =>
  new GatewayError('provider_conflict', `the model names provider @${modelSlug}, but ${chosen} is already chosen`, {
    field: 'model',
  });

function savedTarget(deps: CallDeps, context: RequestContext, leaf: Leaf, slug: string, model: string): Target {
  const saved = savedProvider(context, leaf, slug);
  if (!saved) throw new GatewayError('provider_not_found', `no provider "@${slug}" in this workspace`);
  requireUsable(saved, deps.clock);
  const rule = saved.models.bySlug.get(model) ?? null;
  if (model !== '' && !isAllowed(saved, model)) throw notAllowed(saved, model, '');
  const customHost = context.rules.customHost ?? leaf.customHost ?? rule?.customHost ?? saved.customHost;
  const fields = isEmpty(leaf.fields) ? saved.fields : { ...saved.fields, ...leaf.fields };
  return {
    provider: providerNamed(deps, saved.provider, fields, customHost ?? mappedHost(saved)),
    saved,
    credential: saved.credential,
    fields,
    model,
    rule,
    customHost,
    customHeaders: rule ? { ...saved.customHeaders, ...rule.customHeaders } : saved.customHeaders,
  };
}

/** The host comes from a secret manager: it is not known yet, and is there. */
const mappedHost = ({ secrets }: SavedProvider): string | null =>
  secrets?.some(({ target }) => target === 'custom_host') ? '' : null;

/** A shared prompt runs on the provider of the workspace that shares it. */
function savedProvider({ workspace, prompt, own }: RequestContext, leaf: Leaf, slug: string): SavedProvider | null {
  const fromPrompt = prompt && leaf.provider.from === 'request' && !own.get('provider') && !own.get('virtual-key');
  return (fromPrompt && prompt.provider === slug ? prompt.home : workspace).provider(slug);
}

function isEmpty(fields: TargetFields): boolean {
  for (const _ in fields) return false;
  return true;
}

export const isAllowed = ({ models }: SavedProvider, model: string): boolean =>
  models.bySlug.get(model)?.enabled ?? (models.allowAll && !(models.bySlug.size > 0 && isDisabled(models, model)));

const disabledIn = new WeakMap<SavedProvider['models'], ReadonlySet<string>>();

/** Some providers read names of models in any case: a disabled one is not reached by another spelling. */
function isDisabled(models: SavedProvider['models'], model: string): boolean {
  let disabled = disabledIn.get(models);
  if (!disabled) {
    disabled = new Set([...models.bySlug].flatMap(([slug, { enabled }]) => (enabled ? [] : [slug.toLowerCase()])));
    disabledIn.set(models, disabled);
  }
  return disabled.has(model.toLowerCase());
}

export const notAllowed = ({ slug }: SavedProvider, model: string, where: string): GatewayError =>
  new GatewayError('model_not_allowed', `${where}the model "${model}" is not enabled on provider "@${slug}"`, {
    field: 'model',
  });

/** Whether there are models that the provider has and the caller may not use. */
export const restrictsModels = ({ models }: SavedProvider): boolean =>
  !models.allowAll || [...models.bySlug.values()].some(({ enabled }) => !enabled);

/** A model that is named elsewhere than in `model`, under the same rules: its provider's own prefix goes, another's is refused. */
export function plainModel({ workspace }: RequestContext, { saved }: Target, named: string, where: string): string {
  const prefixed = named.startsWith('@') ? splitModel(named) : null;
  const isOurs = prefixed !== null && workspace.provider(prefixed.slug) !== null;
  if (isOurs && prefixed.slug !== saved?.slug) {
    throw new GatewayError('provider_conflict', `${where}: the model names provider @${prefixed.slug}`, {
      field: 'model',
    });
  }
  return isOurs ? (prefixed.model ?? '') : named;
}

/** And the provider's integration must allow it. */
export function permittedModel(context: RequestContext, target: Target, named: string, where: string): string {
  const { saved } = target;
  const model = plainModel(context, target, named, where);
  if (saved && model !== '' && !isAllowed(saved, model)) throw notAllowed(saved, model, `${where}: `);
  return model;
}

function requireUsable(saved: SavedProvider, clock: Clock): void {
  if (!saved.enabled) {
    throw new GatewayError(
      'provider_not_allowed',
      `the integration of provider "@${saved.slug}" is not enabled for this workspace`,
    );
  }
  if (saved.status === 'expired' || (saved.expiresAt !== null && saved.expiresAt <= clock.now().toISOString())) {
    throw new GatewayError('provider_not_found', `the provider "@${saved.slug}" has expired`);
  }
}

/** A host to which every route goes as it came, with whatever headers the client sent. */
export const asItComes: Provider = {
  id: 'passthrough',
  name: 'Passthrough',
  address: null,
  needsCredential: false,
  headers: () => ({}),
  endpoints: {},
};

/** A provider that we do not know by name is taken for an OpenAI-compatible one when its address is given. */
function providerNamed(deps: CallDeps, name: string, fields: TargetFields, customHost: string | null): Provider {
  const known = deps.providers.get(name);
  if (known) return known;
  if (customHost !== null || typeof fields.custom_host === 'string')
    return name === asItComes.id ? asItComes : openAiCompatible({ id: name, name, address: null });
  throw new GatewayError('invalid_provider', `no provider is called "${name}"; see GET /v1/reference/providers`, {
    field: 'x-gw-provider',
  });
}

const notFields = new Set([
  'api-key',
  'config',
  'provider',
  'virtual-key',
  'custom-host',
  'metadata',
  'forward-headers',
  'mode',
]);

/** Settings of a provider that the request names by headers: `x-gw-azure-api-version` is `azure_api_version`. */
function headerFields({ own }: RequestContext): TargetFields {
  const fields: Record<string, string> = {};
  for (const [name, value] of own.all()) {
    if (!notFields.has(name)) fields[name.replaceAll('-', '_')] = value;
  }
  return fields;
}
