/** The forms in which guardrails are written, brought to one: saved guardrails, raw hooks of a config, and the shorthand. */
import { z } from 'zod';
import { isObject } from '../providers/json.ts';
import type { JsonObject } from '../providers/provider.ts';

export interface HookFeedback {
  value: number;
  weight: number;
  metadata: Readonly<JsonObject>;
}

export interface CheckSpec {
  id: string;
  parameters: Readonly<JsonObject>;
  isEnabled: boolean;
  softDeny200: boolean;
  /** Where it stands in what was written: `checks.0`. */
  path: string;
}

export interface HookSpec {
  /** A guardrail's slug, or the label that a config gives it; null where it has none. */
  id: string | null;
  type: 'guardrail' | 'mutator';
  checks: readonly CheckSpec[];
  deny: boolean;
  async: boolean;
  sequential: boolean;
  softDeny200: boolean;
  message: string | null;
  /** Holds a whole stream until the output checks have passed it. */
  bufferStream: boolean;
  /** Holds a stream back only as far as its checks need. */
  streamWindow: boolean;
  /** As a default it guards calls of MCP tools too. */
  applyToMcp: boolean;
  onSuccess: HookFeedback | null;
  onFail: HookFeedback | null;
  versionId: string | null;
  /** For every check of the hook that has none of its own. */
  credentials: Readonly<JsonObject>;
}

export interface SpecFault {
  path: string;
  message: string;
}

export type Parsed<T> = { ok: true; value: T } | { ok: false; faults: SpecFault[] };

const mostChecks = 100;

export const checkSchema = () =>
  z.strictObject({
    id: z.string().min(1).max(255),
    name: z.string().max(255).optional(),
    parameters: z.record(z.string().max(128), z.unknown()).optional(),
    is_enabled: z.boolean().optional(),
    soft_deny_200: z.boolean().optional(),
  });

const feedback = () =>
  z.strictObject({
    value: z.number().min(-10).max(10).optional(),
    weight: z.number().min(0).max(1).optional(),
    metadata: z.union([z.string().max(4_096), z.record(z.string().max(128), z.unknown()), z.null()]).optional(),
  });

const consequence = () =>
  z.union([
    z.strictObject({ feedback: feedback().optional(), deny: z.boolean().optional() }),
    z.enum(['block', 'deny', 'log', 'warn', 'continue']),
  ]);

const actionFields = () => ({
  deny: z.boolean().optional(),
  async: z.boolean().optional(),
  sequential: z.boolean().optional(),
  on_success: consequence().optional(),
  on_fail: consequence().optional(),
  onSuccess: consequence().optional(),
  onFail: consequence().optional(),
  soft_deny_200: z.boolean().optional(),
  message: z.string().max(2_000).optional(),
  buffer_stream: z.boolean().optional(),
  stream_window: z.boolean().optional(),
  apply_to_mcp: z.boolean().optional(),
});

export const actionsSchema = () => z.strictObject(actionFields());

const hookFields = () => ({
  ...actionFields(),
  type: z.enum(['guardrail', 'mutator']).optional(),
  id: z.string().min(1).max(255).optional(),
  guardrail_version_id: z.string().max(255).optional(),
  credentials: z.record(z.string().max(64), z.unknown()).optional(),
});

type Actions = z.output<ReturnType<typeof actionsSchema>>;
type WrittenCheck = z.output<ReturnType<typeof checkSchema>>;

let rawSchema: ReturnType<typeof makeRawSchema> | undefined;
const makeRawSchema = () =>
  z.strictObject({ ...hookFields(), checks: z.array(checkSchema()).max(mostChecks).optional() });

let savedSchema: ReturnType<typeof makeSavedSchema> | undefined;
const makeSavedSchema = () =>
  z.strictObject({ checks: z.array(checkSchema()).min(1).max(mostChecks), actions: actionsSchema().optional() });

let headSchema: ReturnType<typeof makeHeadSchema> | undefined;
const makeHeadSchema = () => z.strictObject(hookFields());

/** Checks and actions as they are saved. */
export function parseSaved(checks: unknown, actions: unknown): Parsed<HookSpec> {
  savedSchema ??= makeSavedSchema();
  const parsed = savedSchema.safeParse({ checks, ...(actions !== undefined && { actions }) });
  if (!parsed.success) return { ok: false, faults: parsed.error.issues.map(faultOf) };
  return specOf(parsed.data.actions ?? {}, parsed.data.checks.map(checkSpec), 'actions.');
}

/** A hook that a config writes out: raw, with a list of checks, or in the shorthand, with a key for each. */
export function parseInline(written: unknown): Parsed<HookSpec> {
  if (!isObject(written)) return { ok: false, faults: [{ path: '', message: 'is no guardrail' }] };
  return 'checks' in written ? parseRaw(written) : parseShorthand(written);
}

function parseRaw(written: JsonObject): Parsed<HookSpec> {
  rawSchema ??= makeRawSchema();
  const parsed = rawSchema.safeParse(written);
  if (!parsed.success) return { ok: false, faults: parsed.error.issues.map(faultOf) };
  const { checks = [], id, type, guardrail_version_id, credentials, ...actions } = parsed.data;
  return withHead(specOf(actions, checks.map(checkSpec), ''), { id, type, guardrail_version_id, credentials });
}

const headNames = new Set([
  'deny',
  'async',
  'sequential',
  'on_success',
  'on_fail',
  'onSuccess',
  'onFail',
  'id',
  'type',
  'guardrail_version_id',
  'soft_deny_200',
  'message',
  'buffer_stream',
  'stream_window',
  'apply_to_mcp',
  'credentials',
]);

function parseShorthand(written: JsonObject): Parsed<HookSpec> {
  headSchema ??= makeHeadSchema();
  const names = Object.keys(written);
  const parsed = headSchema.safeParse(
    pick(
      written,
      names.filter((name) => headNames.has(name)),
    ),
  );
  const faults = parsed.success ? [] : parsed.error.issues.map(faultOf);
  const checks = names
    .filter((name) => !headNames.has(name))
    .flatMap((name): CheckSpec[] => {
      const value = written[name];
      if (isObject(value)) return [shorthandCheck(name, value)];
      faults.push({ path: name, message: 'write the parameters of the check as an object' });
      return [];
    });
  if (!parsed.success || faults.length > 0) return { ok: false, faults };
  const { id, type, guardrail_version_id, credentials, ...actions } = parsed.data;
  return withHead(specOf(actions, checks, ''), { id, type, guardrail_version_id, credentials });
}

function shorthandCheck(name: string, { id, is_enabled, soft_deny_200, ...parameters }: JsonObject): CheckSpec {
  const spec = {
    id: typeof id === 'string' && id !== '' ? id : name,
    parameters,
    ...(typeof is_enabled === 'boolean' && { is_enabled }),
    ...(typeof soft_deny_200 === 'boolean' && { soft_deny_200 }),
  };
  return { ...checkSpec(spec, 0), path: name };
}

const pick = (from: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, from[name]]));

const checkSpec = ({ id, parameters = {}, is_enabled, soft_deny_200 }: WrittenCheck, index: number): CheckSpec => ({
  id: id.includes('.') ? id : `default.${id}`,
  parameters,
  isEnabled: is_enabled ?? true,
  softDeny200: soft_deny_200 ?? parameters.soft_deny_200 === true,
  path: `checks.${index}`,
});

function withHead(
  parsed: Parsed<HookSpec>,
  head: {
    id: string | undefined;
    type: HookSpec['type'] | undefined;
    guardrail_version_id: string | undefined;
    credentials: JsonObject | undefined;
  },
): Parsed<HookSpec> {
  if (!parsed.ok) return parsed;
  return {
    ok: true,
    value: {
      ...parsed.value,
      id: head.id ?? null,
      type: head.type ?? 'guardrail',
      versionId: head.guardrail_version_id ?? null,
      credentials: head.credentials ?? {},
    },
  };
}

function specOf(actions: Actions, checks: readonly CheckSpec[], prefix: string): Parsed<HookSpec> {
  const onSuccess = actions.on_success ?? actions.onSuccess;
  const onFail = actions.on_fail ?? actions.onFail;
  // Older forms say in a word what a failed check leads to.
  const word = typeof onFail === 'string' ? onFail : null;
  const blocks = word === 'block' || word === 'deny' || (typeof onFail === 'object' && onFail.deny === true);
  const spec: HookSpec = {
    id: null,
    type: 'guardrail',
    checks,
    deny: word !== null ? blocks : (actions.deny ?? false) || blocks,
    async: blocks && word !== null ? false : (actions.async ?? false),
    sequential: actions.sequential ?? false,
    softDeny200: actions.soft_deny_200 ?? false,
    message: actions.message ?? null,
    bufferStream: actions.buffer_stream ?? false,
    streamWindow: actions.stream_window ?? false,
    applyToMcp: actions.apply_to_mcp ?? false,
    onSuccess: feedbackOf(onSuccess, 5),
    onFail: feedbackOf(onFail, -5),
    versionId: null,
    credentials: {},
  };
  const faults: SpecFault[] = [];
  if (spec.bufferStream && spec.streamWindow) {
    faults.push({
      path: `${prefix}stream_window`,
      message: 'stands beside buffer_stream, which already holds the whole stream',
    });
  }
  if (spec.async && (spec.bufferStream || spec.streamWindow)) {
    const field = spec.bufferStream ? 'buffer_stream' : 'stream_window';
    faults.push({ path: `${prefix}${field}`, message: 'holds nothing back beside async' });
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, value: spec };
}

function feedbackOf(given: Actions['on_success'], value: number): HookFeedback | null {
  if (given === undefined || typeof given === 'string' || !given.feedback) return null;
  const { metadata } = given.feedback;
  return {
    value: given.feedback.value ?? value,
    weight: given.feedback.weight ?? 1,
    metadata: typeof metadata === 'string' ? (metadata === '' ? {} : { note: metadata }) : (metadata ?? {}),
  };
}

export const faultOf = (issue: z.core.$ZodIssue): SpecFault => {
  if (issue.code === 'unrecognized_keys') {
    return { path: [...issue.path, issue.keys[0] ?? ''].join('.'), message: 'is not a known field' };
  }
  return { path: issue.path.join('.'), message: issue.message };
};
