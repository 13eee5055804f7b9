/** A guardrail as it was written to one that runs: its checks found, their parameters read, patterns compiled. */
import { z } from 'zod';
import { isObject } from '../providers/json.ts';
import type { JsonObject } from '../providers/provider.ts';
import type { SecretUse } from '../secrets/mapping.ts';
import { type Check, ParameterFault, type Prepared } from './check.ts';
import type { CheckSpec, HookSpec, Parsed, SpecFault } from './hook.ts';
import { withSecrets } from './mapped-credentials.ts';

export interface CompiledCheck {
  check: Check;
  /** As its author wrote it. */
  id: string;
  failOnError: boolean;
  softDeny200: boolean;
  message: string | null;
  /** Null where only the request shows that it cannot run: what is missing, told as an error of the check. */
  prepared: Prepared | { fault: string };
}

export interface CompiledHook extends Omit<HookSpec, 'checks' | 'credentials' | 'id'> {
  id: string;
  checks: readonly CompiledCheck[];
}

export interface CompileSetup {
  /** Finds a check by its id or one of its other names. */
  find(id: string): Check | null;
  /** The organisation's credentials for a plugin. */
  credentialsOf(plugin: string): Readonly<JsonObject>;
  /** Those of them that live in secret managers; absent: none. */
  secretsOf?(plugin: string): readonly SecretUse[] | undefined;
  faultOfUrl(url: string): string | null;
}

/** Every fault, with its path. What is sound runs; nothing is looked up any more. */
export function compileHook(spec: HookSpec, id: string, setup: CompileSetup): Parsed<CompiledHook> {
  const faults: SpecFault[] = [];
  const checks: CompiledCheck[] = [];
  for (const written of spec.checks) {
    if (!written.isEnabled && !setup.find(written.id)) faults.push(unknownCheck(written));
    if (!written.isEnabled) continue;
    const compiled = compileCheck(written, spec, setup);
    if ('faults' in compiled) faults.push(...compiled.faults);
    else checks.push(compiled.check);
  }
  if (faults.length > 0) return { ok: false, faults };
  const { checks: _, credentials: __, ...rest } = spec;
  return { ok: true, value: Object.freeze({ ...rest, id, checks: Object.freeze(checks) }) };
}

const unknownCheck = ({ id, path }: CheckSpec): SpecFault => ({
  path: `${path}.id`,
  message: `${id} is no check; GET /guardrails/checks lists them`,
});

function compileCheck(
  written: CheckSpec,
  spec: HookSpec,
  setup: CompileSetup,
): { check: CompiledCheck } | { faults: SpecFault[] } {
  const check = setup.find(written.id);
  if (!check) return { faults: [unknownCheck(written)] };
  const at = (path: string): string => `${written.path}.parameters${path && `.${path}`}`;
  const parsed = check.schema().safeParse(written.parameters);
  if (!parsed.success) return { faults: parsed.error.issues.flatMap((issue) => faultsOf(issue, at)) };
  const parameters: JsonObject = parsed.data;
  const own = isObject(parameters.credentials) ? parameters.credentials : {};
  const credentials = inOneCase({ ...setup.credentialsOf(pluginOf(check.id)), ...spec.credentials, ...own });
  const base = {
    check,
    id: written.id,
    failOnError: parameters.failOnError === true,
    softDeny200: written.softDeny200 || spec.softDeny200,
    message: typeof parameters.message === 'string' ? parameters.message : null,
  };
  const timeoutMs = typeof parameters.timeout === 'number' ? parameters.timeout : (check.network?.timeoutMs ?? 0);
  const forwarded = Array.isArray(parameters.forwardHeaders) ? parameters.forwardHeaders.map(String) : [];
  const prepareWith = (known: JsonObject): CompiledCheck['prepared'] => {
    const needs = check.network?.credentials ? known : {};
    const prepared = check.prepare(parameters, { credentials: needs, faultOfUrl: setup.faultOfUrl, timeoutMs });
    // Whether a credential is there is only known for sure when the check runs: organisations add it later.
    const missing = missingCredentials(check, known);
    if (missing) return { fault: missing };
    return forwarded.length > 0 ? forwarding(prepared, forwarded) : prepared;
  };
  try {
    const prepared = prepareWith(credentials);
    const uses = check.network?.credentials && setup.secretsOf?.(pluginOf(check.id));
    if (!uses) return { check: { ...base, prepared } };
    // The author's own credentials win here too.
    const overriding = inOneCase({ ...spec.credentials, ...own });
    const prepareMapped = (mapped: JsonObject) => prepareWith({ ...credentials, ...inOneCase(mapped), ...overriding });
    return { check: { ...base, prepared: withSecrets(uses, prepareMapped) } };
  } catch (fault) {
    if (fault instanceof ParameterFault) return { faults: [{ path: at(fault.path), message: fault.message }] };
    if (fault instanceof z.ZodError) return { faults: fault.issues.flatMap((issue) => faultsOf(issue, at)) };
    throw fault;
  }
}

function faultsOf(issue: z.core.$ZodIssue, at: (path: string) => string): SpecFault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: at([...issue.path, key].join('.')),
      message: 'is no parameter of this check',
    }));
  }
  return [{ path: at(issue.path.join('.')), message: issue.message }];
}

export const pluginOf = (checkId: string): string => checkId.slice(0, checkId.indexOf('.'));

/** `api_key` and `apiKey` are the same credential. */
function inOneCase(credentials: JsonObject): JsonObject {
  const entries = Object.entries(credentials).map(([name, value]) => [
    /[a-z]_[a-z]/.test(name) ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name,
    isObject(value) ? inOneCase(value) : value,
  ]);
  return Object.fromEntries(entries);
}

function missingCredentials({ network }: Check, credentials: JsonObject): string | null {
  const parsed = network?.credentials?.().safeParse(credentials);
  if (!parsed || parsed.success) return null;
  const names = parsed.error.issues.map(({ path }) => path.join('.')).filter((name) => name !== '');
  return `credentials are missing or not valid: ${[...new Set(names)].join(', ') || 'the object as a whole'}`;
}

/** Adds the client headers that the check's author asked for to every call; the check's own headers win. */
function forwarding(prepared: Prepared, names: readonly string[]): Prepared {
  return {
    ...prepared,
    run(context, io) {
      const headers: Record<string, string> = {};
      for (const name of names) {
        const value =
          context.header(name) ?? (name === 'traceparent' ? traceParent(context.header('x-gw-trace-id')) : null);
        if (value !== null) headers[name] = value;
      }
      return prepared.run(context, {
        ...io,
        call: (call) => io.call({ ...call, headers: { ...headers, ...lowerCased(call.headers) } }),
      });
    },
  };
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** A trace that stands for one that the client named in its own words. */
function traceParent(traceId: string | null): string | null {
  if (traceId === null) return null;
  const hex = traceId.replaceAll('-', '').toLowerCase();
  const trace = /^[0-9a-f]{32}$/.test(hex) && !/^0+$/.test(hex) ? hex : digest(traceId);
  return `00-${trace}-${trace.slice(16)}-01`;
}

const digest = (text: string): string => new Bun.CryptoHasher('md5').update(text).digest('hex');
