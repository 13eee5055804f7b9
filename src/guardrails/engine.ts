/** Runs the hooks of one event: mutators first and in order, then all guardrails at once; verdicts, errors, transformations and feedback. */

import type { MaybePromise } from '../maybe-promise.ts';
import type { JsonObject } from '../providers/provider.ts';
import type { CheckResult, Edit } from './check.ts';
import type { CompiledCheck, CompiledHook } from './compile.ts';
import { CheckContext, type HookFacts } from './context.ts';
import { edited } from './edits.ts';
import type { CheckIo } from './io.ts';
import { type HookResult, passes, type RanCheck, resultRow } from './results.ts';
import { UnwritableText } from './text/segments.ts';

export interface Denial {
  /** The text of a denial that is answered with 200; null where it is refused. */
  softText: string | null;
  /** What the author of the guardrail wants to be told. */
  message: string | null;
}

export interface GuardrailOutcome {
  results: HookResult[];
  /** The body of the event's side: the very same where nothing changed it. */
  json: JsonObject;
  /** A hook failed, whether or not it denies. */
  failed: boolean;
  denial: Denial | null;
  /** What was replaced and must be put back for the client. */
  restores: ReadonlyMap<string, string> | null;
}

interface RanHook {
  hook: CompiledHook;
  checks: readonly RanCheck[];
  startedAt: number;
  endedAt: number;
  context: CheckContext;
  /** The edits of parallel checks, on the texts that they all saw. */
  edits: readonly Edit[];
  body: JsonObject | null;
}

/** Runs hooks that are all of one manner: sync ones before the answer goes out, async ones beside it. */
export function runHooks(
  hooks: readonly CompiledHook[],
  facts: HookFacts,
  io: CheckIo,
): MaybePromise<GuardrailOutcome> {
  const side = facts.event === 'beforeRequestHook' ? facts.request : (facts.response?.json ?? {});
  const start = new CheckContext(facts, side, false);
  const mutators = hooks.filter(({ type }) => type === 'mutator');
  if (mutators.length === 0) return runGuardrails(hooks, start, [], io);
  return mutateFirst(mutators, hooks, start, io);
}

async function mutateFirst(
  mutators: readonly CompiledHook[],
  hooks: readonly CompiledHook[],
  start: CheckContext,
  io: CheckIo,
): Promise<GuardrailOutcome> {
  const ran: RanHook[] = [];
  let context = start;
  for (const mutator of mutators) {
    const result = await runInOrder(mutator, context, io);
    ran.push(result);
    context = result.context;
  }
  return runGuardrails(
    hooks.filter(({ type }) => type !== 'mutator'),
    context,
    ran,
    io,
  );
}

function runGuardrails(
  hooks: readonly CompiledHook[],
  context: CheckContext,
  before: readonly RanHook[],
  io: CheckIo,
): MaybePromise<GuardrailOutcome> {
  const running = hooks.map((hook) => (hook.sequential ? runInOrder(hook, context, io) : runAtOnce(hook, context, io)));
  if (running.some((ran) => ran instanceof Promise)) {
    return Promise.all(running).then((ran) => outcomeOf(before, ran, context));
  }
  return outcomeOf(before, running as RanHook[], context);
}

/** Each check sees what those before it changed. */
function runInOrder(hook: CompiledHook, start: CheckContext, io: CheckIo): MaybePromise<RanHook> {
  const startedAt = io.now();
  const checks: RanCheck[] = [];
  let context = start;
  const take = (ran: RanCheck): void => {
    const applied = applyOne(ran, context);
    context = applied.context;
    checks.push(applied.ran);
  };
  const finish = (): RanHook => ({ hook, checks, startedAt, endedAt: io.now(), context, edits: [], body: null });
  const from = (index: number): MaybePromise<RanHook> => {
    for (let at = index; at < hook.checks.length; at++) {
      const check = hook.checks[at];
      if (!check) break;
      const ran = runCheck(check, context, io);
      if (ran instanceof Promise) {
        return ran.then((result) => {
          take(result);
          return from(at + 1);
        });
      }
      take(ran);
    }
    return finish();
  };
  return from(0);
}

/** A transformation that cannot be written is an error of its check, and changes nothing. */
function applyOne(ran: RanCheck, context: CheckContext): { ran: RanCheck; context: CheckContext } {
  const { edits, body, headers } = ran.result;
  let next = headers ? context.withHeaders(headers) : context;
  if (body) next = next.withJson(body);
  else if (edits && edits.length > 0) {
    const written = writtenBody(next, edits);
    if (written instanceof UnwritableText) return { ran: unwritable(ran, written), context: next };
    next = next.withJson(written);
  }
  return { ran, context: next };
}

function writtenBody(context: CheckContext, edits: readonly Edit[]): JsonObject | UnwritableText {
  try {
    return edited(context.json, context.withBeside.segments, edits);
  } catch (fault) {
    if (fault instanceof UnwritableText) return fault;
    throw fault;
  }
}

/** What should be gone and cannot be taken out fails the check. */
const unwritable = (ran: RanCheck, { message }: UnwritableText): RanCheck => ({
  ...ran,
  transformed: false,
  result: { verdict: false, data: ran.result.data },
  note: message,
});

function runAtOnce(hook: CompiledHook, context: CheckContext, io: CheckIo): MaybePromise<RanHook> {
  const startedAt = io.now();
  const running = hook.checks.map((check) => runCheck(check, context, io));
  const finish = (checks: readonly RanCheck[]): RanHook => {
    const edits: Edit[] = [];
    let body: JsonObject | null = null;
    const sound = checks.map((ran) => {
      const tried = applyOne(ran, context);
      if (tried.ran !== ran) return tried.ran;
      if (ran.result.edits) edits.push(...ran.result.edits);
      body = ran.result.body ?? body;
      return ran;
    });
    return { hook, checks: sound, startedAt, endedAt: io.now(), context, edits, body };
  };
  if (running.some((ran) => ran instanceof Promise)) return Promise.all(running).then(finish);
  return finish(running as RanCheck[]);
}

function runCheck(compiled: CompiledCheck, context: CheckContext, io: CheckIo): MaybePromise<RanCheck> {
  const startedAt = io.now();
  const done = (result: CheckResult): RanCheck => finished(compiled, context, result, startedAt, io.now());
  try {
    const result = resultOf(compiled, context, io);
    return result instanceof Promise ? result.then(done, (fault) => done(thrown(fault))) : done(result);
  } catch (fault) {
    return done(thrown(fault));
  }
}

function resultOf({ check, prepared }: CompiledCheck, context: CheckContext, io: CheckIo): MaybePromise<CheckResult> {
  if (!check.events.includes(context.event)) {
    const side = context.isInput ? 'input' : 'output';
    return {
      verdict: true,
      data: null,
      error: { name: 'Unsupported event', message: `${check.id} does not check ${side}` },
    };
  }
  if (check.requestTypes && !check.requestTypes.includes(context.requestType)) {
    const message = `${check.id} does not check ${context.requestType}`;
    return { verdict: true, data: null, error: { name: 'Unsupported request', message } };
  }
  if ('fault' in prepared) {
    return { verdict: true, data: null, error: { name: 'Missing credentials', message: prepared.fault } };
  }
  return prepared.run(looksFor({ check, prepared }) ? context.withBeside : context, io);
}

/** Whether a check looks for what must not be there: then reasoning is no place to hide it. Those that count or measure an answer look at the answer alone. */
const looksFor = ({ check, prepared }: Pick<CompiledCheck, 'check' | 'prepared'>): boolean =>
  check.category === 'PARTNER' ||
  check.id === 'gw.moderateContent' ||
  ('run' in prepared && prepared.stream !== undefined && prepared.stream.needs !== 'whole');

/** The name of what a check throws is kept where the check named it; anything else is told as it is. */
function thrown(fault: unknown): CheckResult {
  const message = fault instanceof Error ? fault.message : String(fault);
  const name = fault instanceof Error && fault.name !== 'Error' && / /.test(fault.name) ? fault.name : 'Check error';
  return { verdict: false, data: null, error: { name, message: message.slice(0, 1_000) } };
}

function finished(
  compiled: CompiledCheck,
  context: CheckContext,
  given: CheckResult,
  startedAt: number,
  endedAt: number,
): RanCheck {
  let result = given;
  const changes = (result.edits?.length ?? 0) > 0 || result.body !== undefined;
  // Vectors of a text that was changed would be those of another text.
  if (changes && context.requestType === 'embed') {
    const message = 'the input of embeddings is not changed; the check only looks at it';
    result = { verdict: true, data: result.data, error: { name: 'Unsupported request', message } };
  }
  const transformed = (result.edits?.length ?? 0) > 0 || result.body !== undefined || result.headers !== undefined;
  return { compiled, result, transformed, startedAt, endedAt, note: null };
}

function outcomeOf(
  before: readonly RanHook[],
  guardrails: readonly RanHook[],
  context: CheckContext,
): GuardrailOutcome {
  let json = context.json;
  const edits: Edit[] = [];
  for (const ran of guardrails) {
    edits.push(...ran.edits);
    if (ran.body) json = ran.body;
    else if (ran.hook.sequential && ran.context !== context) {
      if (guardrails.length === 1 || json === context.json) json = ran.context.json;
      // Another guardrail has changed the body too: what both replaced is replaced.
      else edits.push(...editsBetween(context, ran.context));
    }
  }
  if (edits.length > 0) {
    // A body that was replaced as a whole has other texts than those that were looked at.
    const target = json === context.json ? context : context.withJson(json);
    json = edited(target.json, target.withBeside.segments, edits, context.withBeside.segments);
  }
  const all = [...before, ...guardrails];
  const results = all.map(({ hook, checks, startedAt, endedAt }) => resultRow(hook, checks, startedAt, endedAt));
  return {
    results,
    json,
    failed: results.some(({ verdict }) => !verdict),
    denial: denialOf(all, results),
    restores: restoresOf(all),
  };
}

function editsBetween(from: CheckContext, to: CheckContext): Edit[] {
  const after = to.withBeside.segments;
  return from.withBeside.segments.flatMap((segment, index) => {
    const text = after[index]?.text;
    return text === undefined || text === segment.text
      ? []
      : [{ segment: index, start: 0, end: segment.text.length, text }];
  });
}

function restoresOf(ran: readonly RanHook[]): GuardrailOutcome['restores'] {
  let all: Map<string, string> | null = null;
  for (const { checks } of ran) {
    for (const { result } of checks) {
      if (!result.restores) continue;
      all ??= new Map();
      for (const [token, text] of result.restores) all.set(token, text);
    }
  }
  return all;
}

function denialOf(ran: readonly RanHook[], results: readonly HookResult[]): Denial | null {
  const denying = ran.filter((_, index) => results[index]?.deny);
  if (denying.length === 0) return null;
  const failing = denying.flatMap(({ hook, checks }) =>
    checks.filter((check) => !passes(check)).map((check) => ({ hook, check })),
  );
  const [first] = failing;
  const message = first?.check.compiled.message ?? first?.hook.message ?? null;
  const allSoft = failing.length > 0 && failing.every(({ check }) => check.compiled.softDeny200);
  if (!allSoft) return { softText: null, message };
  const explanation = first?.check.result.data?.explanation;
  const softText =
    message ??
    (typeof explanation === 'string' && explanation !== '' ? explanation : null) ??
    `The guardrail ${first?.hook.id ?? ''} does not allow this.`;
  return { softText, message };
}

/** What stands in for the results of hooks whose runner broke: those that deny have failed. */
export function brokenOutcome(hooks: readonly CompiledHook[], facts: HookFacts, io: CheckIo): GuardrailOutcome {
  const now = io.now();
  const ran = hooks.map((hook): RanHook => {
    const checks = hook.checks.map((compiled): RanCheck => {
      const error = { name: 'Check error', message: 'the check could not be run' };
      const strict = { ...compiled, failOnError: compiled.failOnError || hook.deny };
      return {
        compiled: strict,
        result: { verdict: false, data: null, error },
        transformed: false,
        startedAt: now,
        endedAt: now,
        note: null,
      };
    });
    return {
      hook,
      checks,
      startedAt: now,
      endedAt: now,
      context: new CheckContext(facts, {}, false),
      edits: [],
      body: null,
    };
  });
  const results = ran.map(({ hook, checks }) => resultRow(hook, checks, now, now));
  const json = facts.event === 'beforeRequestHook' ? facts.request : (facts.response?.json ?? {});
  return {
    results,
    json,
    failed: results.some(({ verdict }) => !verdict),
    denial: denialOf(ran, results),
    restores: null,
  };
}
