/** Headers, the key's defaults and the body to a plan: a compiled tree of targets, and what the headers set over it. */
import { readJson } from '../../bounded-json.ts';
import { compileConfig, parseConfig, planForProvider } from '../../catalog/compile.ts';
import { faultOfForwardedHeader } from '../../catalog/forward-headers.ts';
import { guardrailFaults } from '../../catalog/guardrail-faults.ts';
import { cacheRule, retryRule } from '../../catalog/inheritance.ts';
import type { Plan } from '../../catalog/plan.ts';
import type { GatewaySettings } from '../../environment.ts';
import { faultOfCustomHost } from '../../http/custom-host.ts';
import { digestOf } from '../../identity/secrets.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { HeaderRules, Identified, RequestContext, RequestProvider } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { keepsGuardedRows } from '../managed/guarded.ts';
import { keepsRowsHere } from '../managed/keeps-rows.ts';
import { namedProvider } from '../managed/named-provider.ts';
import { type Looked, lookForPurpose } from '../managed/purpose.ts';
import { refuseHost } from '../upstream/host-guard.ts';
import { type ClientBody, inTime, readBody, requireContentType } from './body.ts';
import type { OwnHeaders } from './headers.ts';
import { metadataOf } from './metadata.ts';
import { splitModel } from './model-name.ts';
import { unreadBody, wantsNitro } from './nitro.ts';
import { requireSavedOnly } from './saved-only.ts';
import { refuseServerTools } from './server-tools.ts';
import { requireSingleTarget } from './single-target.ts';

/** The plan of a request that names no config: its one leaf takes the provider from the request. */
const requestPlan = planForProvider({ from: 'request' });

/** What can be said of a request by its head alone: content type and headers, then what must be saved, then the config. */
export function judgeHead(deps: GatewayDeps, identified: Identified): Pick<RequestContext, 'plan' | 'rules'> {
  const { settings } = deps;
  const { request, own, matched } = identified;
  requireContentType(request, matched.route);
  own.once(forwardedNames);
  requireSavedOnly(identified, settings.blockInlineConfig);
  const rules = own.once(headerRules, settings);
  const plan = choosePlan(deps, identified);
  const exceeded = plan.exceeds(settings.targetLimits);
  if (exceeded) throw new GatewayError('config_targets_exceeded', exceeded, { field: 'x-gw-config' });
  return { plan, rules };
}

/** At once where the body is there. */
export function select(deps: GatewayDeps, identified: Identified): MaybePromise<RequestContext> {
  const { settings } = deps;
  const { plan, rules } = judgeHead(deps, identified);
  if (!settings.skipSingleTargetCheck) requireSingleTarget(identified.matched.route.kind, plan);
  const provider = requestProvider(identified);
  refuseTrace(identified);
  const sent =
    identified.prompt?.body ?? (wantsNitro(identified) ? unreadBody(identified, plan) : bodyOf(deps, identified));
  const chosen: Chosen = { plan, rules, provider };
  if (isUpload(identified)) return ofUpload(deps, identified, chosen, sent);
  return sent instanceof Promise ? later(deps, identified, chosen, sent) : contextOf(deps, identified, chosen, sent);
}

type Chosen = Pick<RequestContext, 'plan' | 'rules' | 'provider'>;

async function later(
  deps: GatewayDeps,
  identified: Identified,
  chosen: Chosen,
  sent: Promise<ClientBody>,
): Promise<RequestContext> {
  return contextOf(deps, identified, chosen, await sent);
}

async function ofUpload(
  deps: GatewayDeps,
  identified: Identified,
  chosen: Chosen,
  sent: MaybePromise<ClientBody>,
): Promise<RequestContext> {
  const { purpose, body } = await lookedInto(deps, { ...identified, ...chosen }, await sent);
  return contextOf(deps, identified, chosen, body, purpose);
}

function contextOf(
  { settings }: GatewayDeps,
  identified: Identified,
  { plan, rules, provider }: Chosen,
  body: ClientBody,
  purpose: string | null = null,
): RequestContext {
  if (body.form === 'json') refuseServerTools(body, identified);
  return {
    ...identified,
    selectedAt: performance.now(),
    plan,
    rules,
    provider,
    body,
    metadata: metadataOf(identified, plan.metadata, body, settings.headersToMetadata),
    purpose,
    labelPrefix: settings.labelPrefix,
    lentBuckets: settings.lentBuckets,
    ignoredHeaders: settings.ignoredHeaders,
  };
}

/** Where the rows of a batch are kept here and other files there, whether it is such a file must be known. */
function lookedInto(
  deps: GatewayDeps,
  named: Parameters<typeof namedProvider>[0],
  body: ClientBody,
): MaybePromise<Looked> {
  const { settings, providers } = deps;
  const takesRows = keepsRowsHere(providers.get(namedProvider(named) ?? '')) || keepsGuardedRows(deps, named);
  return takesRows ? lookForPurpose(body, settings.bodyLimit) : { purpose: null, body };
}

export function bodyOf(
  { settings, deadlines, bodies }: GatewayDeps,
  { request, matched, caller }: Identified,
): MaybePromise<ClientBody> {
  const hold = (bytes: number) => bodies.hold(request, caller.organisationId, bytes);
  const reading = readBody(request, matched.route, settings.bodyLimit, hold);
  if (!(reading instanceof Promise)) return reading;
  return inTime(reading, request.length, deadlines, settings.bodyTimeout);
}

const isUpload = ({ matched }: Identified): boolean => matched.route.kind === 'uploadFile';

/** A server that answers it sends back the request as it came, with the credential that we put into it. */
function refuseTrace({ request, matched }: Identified): void {
  if (matched.route.kind !== 'proxy' || request.method !== 'TRACE') return;
  throw new GatewayError('unsupported_endpoint', 'TRACE is not passed on to providers');
}

/** A request that was refused before it had a plan, as its log record needs it. */
export function unplanned({ settings }: GatewayDeps, identified: Identified): RequestContext {
  const body: ClientBody = { form: 'none' };
  return {
    ...identified,
    selectedAt: performance.now(),
    plan: requestPlan,
    rules: {
      requestTimeout: null,
      customHost: null,
      forwardHeaders: null,
      strictOff: false,
      retry: null,
      cache: null,
      debug: identified.own.flag('debug') !== false,
    },
    provider: { savedSlug: null, name: null, credential: null, model: null },
    body,
    metadata: metadataOf(identified, {}, body, settings.headersToMetadata),
    purpose: null,
    labelPrefix: settings.labelPrefix,
    lentBuckets: settings.lentBuckets,
    ignoredHeaders: settings.ignoredHeaders,
  };
}

function choosePlan(deps: GatewayDeps, { own, caller, workspace }: Identified): Plan {
  const named = own.get('config')?.trim();
  const { configId, allowConfigOverride } = caller.defaults;
  if (!named) {
    if (configId === null) return requestPlan;
    const plan = workspace.plan(configId);
    if (plan) return plan;
    // Whoever issues tokens does not hear of configs that go; the token counts without.
    if (caller.token) return requestPlan;
    throw new GatewayError('config_not_found', 'the default config of this API key is gone; give the key another one');
  }
  if (configId !== null && !allowConfigOverride && !isSamePlan(workspace, configId, named)) {
    throw new GatewayError('config_override_not_allowed', 'this API key is bound to its own config; send no other', {
      field: 'x-gw-config',
    });
  }
  if (named.startsWith('{')) return inlinePlan(deps, named, caller.organisationId);
  const plan = workspace.plan(named);
  if (!plan) {
    throw new GatewayError('config_not_found', `no config "${named}" in this workspace`, { field: 'x-gw-config' });
  }
  return plan;
}

/** A config that was deleted equals no other. */
function isSamePlan(workspace: Identified['workspace'], one: string, other: string): boolean {
  const plan = workspace.plan(one);
  return plan !== null && plan === workspace.plan(other);
}

const longestInline = 65_536;

/** Clients send the same inline config again and again; it is compiled once. */
function inlinePlan(deps: GatewayDeps, text: string, organisationId: string): Plan {
  const { inlinePlans } = deps;
  const known = inlinePlans.get(text);
  if (known) return known;
  if (text.length > longestInline) {
    throw new GatewayError('invalid_config', `an inline config may have ${longestInline} characters; save this one`);
  }
  const plan = compileInline(deps, text);
  inlinePlans.put(text, plan, organisationId);
  return plan;
}

function compileInline({ settings, providers }: GatewayDeps, text: string): Plan {
  const parsed = parseConfig(jsonIn('x-gw-config', text), 'inline', {
    faultOfCustomHost: (url) => faultOfCustomHost(url, settings.trustedHosts),
    needsCredential: (name) => providers.get(name)?.needsCredential ?? true,
    faultsOfGuardrail: guardrailFaults((url) => faultOfCustomHost(url, settings.trustedHosts)),
  });
  if (!parsed.ok) {
    const faults = parsed.errors.map(({ path, message }) => `path: ${path}, message: ${message}`);
    throw new GatewayError('invalid_config', `the config is not valid: ${faults.join('; ')}`, {
      field: 'x-gw-config',
      faults,
    });
  }
  return compileConfig(parsed.config, {
    id: digestOf(text),
    saved: null,
    ignoredKeys: parsed.ignoredKeys,
  });
}

function headerRules(own: OwnHeaders, settings: GatewaySettings): HeaderRules {
  const customHost = own.get('custom-host');
  if (customHost) refuseHost(customHost, settings.trustedHosts);
  return {
    requestTimeout: own.milliseconds('request-timeout'),
    customHost,
    forwardHeaders: own.once(forwardedNames),
    strictOff: strictFlag(own) === false,
    retry: retryOf(own.milliseconds('retry-count')),
    cache: own.once(cacheOf),
    debug: own.flag('debug') !== false,
  };
}

const strictFlag = (own: OwnHeaders): boolean | null =>
  own.flag('strict-open-ai-compliance') ?? own.flag('strict-openai-compliance');

/** Whether the request, or else its config, asks in so many words for OpenAI's own fields alone. */
export function asksStrict(deps: GatewayDeps, identified: Identified): boolean {
  const said = strictFlag(identified.own);
  if (said !== null) return said;
  try {
    return choosePlan(deps, identified).asksStrict;
  } catch (fault) {
    // Its model calls are refused for the same reason, and tell it.
    if (fault instanceof GatewayError) return false;
    throw fault;
  }
}

const retryOf = (attempts: number | null): HeaderRules['retry'] => (attempts === null ? null : retryRule({ attempts }));

/** The word of a mode, or the object that a config would hold. */
function cacheOf(own: OwnHeaders): HeaderRules['cache'] {
  const header = own.get('cache');
  if (header === null) return null;
  const field = 'x-gw-cache';
  const parsed = parseConfig({ cache: header.startsWith('{') ? jsonIn(field, header) : header }, 'inline');
  if (parsed.ok) return parsed.config.cache ? cacheRule(parsed.config.cache) : null;
  const faults = parsed.errors.map(({ path, message }) => `path: ${path}, message: ${message}`);
  throw new GatewayError('invalid_config', `${field} is not valid: ${faults.join('; ')}`, { field, faults });
}

function jsonIn(header: string, text: string): unknown {
  try {
    return readJson(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('invalid_config_json', `${header} is not valid JSON (${reason})`, { field: header });
  }
}

function forwardedNames(own: OwnHeaders): HeaderRules['forwardHeaders'] {
  const header = own.get('forward-headers');
  if (header === null) return null;
  const names = header
    .replace(/^\s*\[|\]\s*$/g, '')
    .split(',')
    .map((name) => name.trim().replace(/^"|"$/g, '').toLowerCase())
    .filter((name) => name !== '');
  for (const name of names) {
    const fault = faultOfForwardedHeader(name);
    if (fault)
      throw new GatewayError('invalid_forward_headers', `${name}: ${fault}`, { field: 'x-gw-forward-headers' });
  }
  return names.map((name) => ({ from: name, to: name }));
}

/** The provider that the headers name. */
function requestProvider({ own, keyHeaders, workspace, prompt }: Identified): RequestProvider {
  const { virtualKey, header, named } = own.once(namedProviders);
  if (virtualKey && named) {
    const kind = workspace.provider(virtualKey)?.provider;
    const agree = named.savedSlug ? named.savedSlug === virtualKey : kind === undefined || named.name === kind;
    if (!agree) {
      throw new GatewayError(
        'provider_conflict',
        `x-gw-provider names ${header} but x-gw-virtual-key names ${virtualKey}; send one of them`,
        { field: 'x-gw-provider' },
      );
    }
  }
  const authorization = keyHeaders.has('authorization') ? null : own.fields.authorization;
  const apiKey = keyHeaders.has('x-api-key') ? null : own.fields['x-api-key'];
  return {
    savedSlug: virtualKey ?? (named ? named.savedSlug : (prompt?.provider ?? null)),
    name: virtualKey ? null : (named?.name ?? null),
    model: named?.model ?? null,
    credential: authorization?.replace(/^bearer\s+/i, '') ?? apiKey ?? null,
  };
}

function namedProviders(own: OwnHeaders) {
  const virtualKey = own.get('virtual-key')?.replace(/^@/, '') ?? null;
  const header = own.get('provider') ?? own.get('mode')?.replace(/^proxy\s+/, '') ?? null;
  return { virtualKey, header, named: header ? parseProvider(header) : null };
}

/** `@slug`, `@slug/model` or a provider's own name. Of a header that was sent twice, a saved one wins. */
function parseProvider(header: string): Pick<RequestProvider, 'savedSlug' | 'name' | 'model'> {
  const values = header.split(',').map((value) => value.trim());
  const value = values.findLast((candidate) => candidate.startsWith('@')) ?? values[0] ?? '';
  if (!value.startsWith('@')) return { savedSlug: null, name: value, model: null };
  const { slug, model } = splitModel(value);
  return { savedSlug: slug, name: null, model };
}
