/** The hooks that a request to one target passes: those of its config, then the workspace's, then the organisation's, each once. */
import { type CompiledHook, compileHook } from '../guardrails/compile.ts';
import { parseInline } from '../guardrails/hook.ts';
import { isObject } from '../providers/json.ts';
import type { AgentServer } from './agents/server.ts';
import type { WorkspaceCatalog } from './catalog.ts';
import type { McpServer } from './mcp/server.ts';
import type { Leaf } from './plan.ts';

export interface HookSet {
  sync: readonly CompiledHook[];
  /** Run beside the request; they only report. */
  async: readonly CompiledHook[];
  /** Of all hooks only what decides which kinds of request may be made at all. */
  gate: readonly CompiledHook[];
}

export interface Guards {
  input: HookSet;
  output: HookSet;
  /** Why no request may pass: what a config or a default names is not there. */
  fault: string | null;
}

/** For each workspace the guards of its targets; both are forgotten when something of them changes. */
const known = new WeakMap<WorkspaceCatalog, WeakMap<Leaf, Guards>>();

/** Null where nothing guards the target, as for most. */
export function guardsOf(workspace: WorkspaceCatalog, leaf: Leaf): Guards | null {
  if (workspace.guardrails.isOff) return null;
  const { input, output } = workspace.guardrails.defaults;
  const { before, after } = leaf.hooks;
  if (before.length === 0 && after.length === 0 && input.length === 0 && output.length === 0) return null;
  let ofWorkspace = known.get(workspace);
  if (!ofWorkspace) {
    ofWorkspace = new WeakMap();
    known.set(workspace, ofWorkspace);
  }
  let guards = ofWorkspace.get(leaf);
  if (!guards) {
    guards = compileGuards(workspace, leaf);
    ofWorkspace.set(leaf, guards);
  }
  return guards;
}

function compileGuards(workspace: WorkspaceCatalog, leaf: Leaf): Guards {
  const { defaults } = workspace.guardrails;
  const faults: string[] = [];
  const input = hooksOf(workspace, [...leaf.hooks.before, ...defaults.input], 'input', faults);
  const output = hooksOf(workspace, [...leaf.hooks.after, ...defaults.output], 'output', faults);
  return { input: hookSet(input), output: hookSet(output), fault: faults[0] ?? null };
}

const knownOfServers = new WeakMap<WorkspaceCatalog, WeakMap<McpServer, Guards>>();

/** What guards the tools of an MCP server: what it names itself, and those defaults that apply to MCP. Null where nothing does. */
export function guardsOfServer(workspace: WorkspaceCatalog, server: McpServer): Guards | null {
  const { defaults, isOff } = workspace.guardrails;
  const { input, output } = server.guardrails;
  if (isOff) return null;
  if (input.length + output.length + defaults.input.length + defaults.output.length === 0) return null;
  let ofWorkspace = knownOfServers.get(workspace);
  if (!ofWorkspace) {
    ofWorkspace = new WeakMap();
    knownOfServers.set(workspace, ofWorkspace);
  }
  let guards = ofWorkspace.get(server);
  if (!guards) {
    guards = compileServerGuards(workspace, server);
    ofWorkspace.set(server, guards);
  }
  const { input: before, output: after, fault } = guards;
  const all = before.sync.length + before.async.length + after.sync.length + after.async.length;
  return all === 0 && fault === null ? null : guards;
}

/** What guards the messages of an agent: what its integration names, and nothing besides. Null where it names nothing. */
export function guardsOfAgent(workspace: WorkspaceCatalog, { settings }: AgentServer): Guards | null {
  const { input_guardrails: input = [], output_guardrails: output = [] } = settings;
  if (workspace.guardrails.isOff || input.length + output.length === 0) return null;
  const faults: string[] = [];
  return {
    input: hookSet(hooksOf(workspace, input, 'input', faults)),
    output: hookSet(hooksOf(workspace, output, 'output', faults)),
    fault: faults[0] ?? null,
  };
}

function compileServerGuards(workspace: WorkspaceCatalog, server: McpServer): Guards {
  const { defaults, find } = workspace.guardrails;
  const faults: string[] = [];
  const applies = (reference: string) => find(reference)?.hook()?.applyToMcp === true;
  const input = hooksOf(workspace, [...server.guardrails.input, ...defaults.input.filter(applies)], 'input', faults);
  const output = hooksOf(
    workspace,
    [...server.guardrails.output, ...defaults.output.filter(applies)],
    'output',
    faults,
  );
  return { input: hookSet(input), output: hookSet(output), fault: faults[0] ?? null };
}

function hookSet(hooks: readonly CompiledHook[]): HookSet {
  const usable = hooks.filter(({ type, async }) => !(type === 'mutator' && async));
  return {
    sync: usable.filter(({ async }) => !async),
    async: usable.filter(({ async }) => async),
    gate: usable.flatMap((hook) => {
      const checks = hook.checks.filter(({ check }) => check.id === 'default.allowedRequestTypes');
      return checks.length > 0 && !hook.async ? [{ ...hook, checks }] : [];
    }),
  };
}

function hooksOf(
  { guardrails }: WorkspaceCatalog,
  written: readonly unknown[],
  direction: 'input' | 'output',
  faults: string[],
): CompiledHook[] {
  const hooks = new Map<string, CompiledHook>();
  written.forEach((entry, index) => {
    const reference = referenceOf(entry);
    if (reference !== null) {
      const saved = guardrails.find(reference);
      const hook = saved?.hook();
      if (!saved || !hook)
        faults.push(`the ${direction} guardrail ${reference} ${saved ? 'cannot be used' : 'does not exist'}`);
      else if (!hooks.has(saved.slug)) hooks.set(saved.slug, typed(hook, entry));
      return;
    }
    const parsed = parseInline(entry);
    const id = (parsed.ok && parsed.value.id) || `${direction}_guardrail_${index + 1}`;
    const compiled = parsed.ok ? compileHook(parsed.value, id, guardrails.setup) : parsed;
    if (compiled.ok) hooks.set(`${index} ${id}`, compiled.value);
    else
      faults.push(
        `the ${direction} guardrail ${id} cannot be used: ${compiled.faults[0]?.path} ${compiled.faults[0]?.message}`,
      );
  });
  return [...hooks.values()];
}

/** A name, or an object that holds nothing but one. */
export function referenceOf(entry: unknown): string | null {
  if (typeof entry === 'string') return entry;
  if (!isObject(entry) || typeof entry.id !== 'string' || 'checks' in entry) return null;
  return Object.keys(entry).every((name) => name === 'id' || name === 'type' || name === 'guardrail_version_id')
    ? entry.id
    : null;
}

/** A list of mutators makes a mutator of what it names. */
const typed = (hook: CompiledHook, entry: unknown): CompiledHook =>
  isObject(entry) && entry.type === 'mutator' && hook.type !== 'mutator' ? { ...hook, type: 'mutator' } : hook;
