/** What guardrails say of a row of a batch and of its answer, where a provider runs the batch: the stages of a call around a call that somebody else makes. */
import type { CheckedAnswer, CheckedInput, InputVerdicts, RowAnswer } from '../../batches/guarded-calls.ts';
import { guardsOf } from '../../catalog/guards.ts';
import { shapeParameters } from '../../catalog/parameters.ts';
import { isTooDeep } from '../../providers/faults.ts';
import { parsed } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { ReceivedHeaders } from '../../wire/client/answer.ts';
import type { Incoming } from '../../wire/server/incoming.ts';
import type { Answer } from '../attempt/answer.ts';
import { newAttemptRecord } from '../attempt/attempt.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { resolveTarget } from '../attempt/target.ts';
import type { Arrival, Identified, RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { leafOf } from '../guardrails/gate.ts';
import { guardInput } from '../guardrails/guard-input.ts';
import { guardOutput } from '../guardrails/guard-output.ts';
import { reported } from '../guardrails/report.ts';
import { type GuardState, newGuardState } from '../guardrails/state.ts';
import { requireBudget, rowSpend } from '../limits/provider-batch-budgets.ts';
import { parametersOf } from '../request/body.ts';
import { KnownHeaders } from '../request/headers.ts';
import { identify } from '../request/identify.ts';
import { askedPath, dedicatedRoute, receive } from '../request/receive.ts';
import { select, unplanned } from '../request/select.ts';
import { gatewayErrorReply } from '../response/reply.ts';
import { settle } from '../settle/settle.ts';

export interface RowChecks {
  input(request: Incoming): Promise<CheckedInput>;
  output(request: Incoming, answer: JsonObject, verdicts: InputVerdicts): Promise<CheckedAnswer>;
}

export function createRowChecks(deps: GatewayDeps): RowChecks {
  const heads = new KnownHeaders(deps.settings.headerPrefixAliases);

  const arrivalOf = (request: Incoming): Arrival => {
    const asked = askedPath(request.target);
    const matched = asked && dedicatedRoute(request.method, asked);
    if (!matched) throw new Error(`No row asks for ${request.target}`);
    return receive(deps, request, heads.of(request.headers.fields), asked, matched);
  };

  const callOf = async (identified: Identified): Promise<AttemptContext> =>
    callElsewhere(deps, await select(deps, identified));

  /** As the answer stands in a file. It is logged when async guardrails have spoken. */
  const told = async (call: AttemptContext, answer: Answer): Promise<RowAnswer> => {
    const { context, record } = call;
    const { content } = answer;
    const reply =
      content.form === 'error'
        ? gatewayErrorReply(context, content.error, record)
        : { status: answer.status, headers: {}, body: content.form === 'bytes' ? content.bytes : new Uint8Array() };
    await Promise.allSettled(record.guard?.pending ?? []);
    record.status = reply.status;
    settle(deps, context, [record], reply);
    return { status: reply.status, requestId: context.requestId, body: parsed(new TextDecoder().decode(reply.body)) };
  };

  /** A row that is refused before it has a target. */
  const turnedAway = (arrival: Arrival, identified: Identified | null, fault: unknown): RowAnswer => {
    if (deps.isStoreAway(fault)) throw fault;
    const error = asError(arrival, fault);
    const reply = gatewayErrorReply(arrival, error, null);
    if (identified) {
      const context = unplanned(deps, identified);
      const record = { ...newAttemptRecord(context.plan.root), status: error.status, error };
      settle(deps, context, [record], reply);
    }
    return { status: reply.status, requestId: arrival.requestId, body: parsed(new TextDecoder().decode(reply.body)) };
  };

  const asError = ({ requestId }: Arrival, fault: unknown): GatewayError => {
    if (fault instanceof GatewayError) return fault;
    if (isTooDeep(fault)) return new GatewayError('invalid_body', 'the body is nested too deeply', { field: 'body' });
    deps.onFault(fault, requestId);
    return new GatewayError('internal_error', 'something went wrong on our side');
  };

  const guarded = async <T>(
    request: Incoming,
    work: (call: AttemptContext) => Promise<T>,
    refused: (answer: RowAnswer) => T,
  ): Promise<T> => {
    const arrival = arrivalOf(request);
    let identified: Identified | null = null;
    try {
      identified = await identify(deps, arrival);
      return await work(await callOf(identified));
    } catch (fault) {
      return refused(turnedAway(arrival, identified, fault));
    } finally {
      deps.bodies.release(request);
    }
  };

  return {
    input: (request) =>
      guarded<CheckedInput>(
        request,
        async (call) => {
          await requireBudget(call);
          const answer = guardInput.applies(call) ? await guardInput.run(call) : null;
          if (answer) return { passed: false, answer: await told(call, reported(call, answer)) };
          const { guard } = call.record;
          await Promise.allSettled(guard?.pending ?? []);
          return { passed: true, body: call.shaped, verdicts: verdictsOf(guard) };
        },
        (answer) => ({ passed: false, answer }),
      ),
    output: (request, json, verdicts) =>
      guarded<CheckedAnswer>(
        request,
        async (call) => {
          const { record, context, leaf } = call;
          const bytes = Buffer.from(JSON.stringify(json));
          record.status = 200;
          record.received = bytes;
          record.inBatch = true;
          const guards = guardsOf(context.workspace, leaf);
          if (guards?.fault) throw new GatewayError('guardrail_not_found', guards.fault);
          if (guards) record.guard = { ...newGuardState(guards, call.shaped), ...stateOf(verdicts) };
          const headers = new ReceivedHeaders({ 'content-type': 'application/json' });
          const answer: Answer = { status: 200, headers, content: { form: 'bytes', bytes }, record, rescue: null };
          const judged = guardOutput.applies(call, answer) ? await guardOutput.run(call, answer) : answer;
          const answered = await told(call, reported(call, judged));
          return { ...answered, spent: await rowSpend(call) };
        },
        (answer) => ({ ...answer, spent: [] }),
      ),
  };
}

/** A call that somebody else makes, or made, of the only target. */
export function callElsewhere(deps: GatewayDeps, context: RequestContext): AttemptContext {
  const leaf = leafOf(context.plan.root);
  const record = newAttemptRecord(leaf);
  const shaped = shapeParameters(parametersOf(context.body), leaf);
  const target = resolveTarget(deps, context, leaf, shaped);
  record.target = target;
  return { deps, context, leaf, record, target, shaped };
}

const verdictsOf = (guard: GuardState | null): InputVerdicts => ({
  sync: guard?.before ?? [],
  async: guard?.asyncResults.before ?? [],
  failed: guard?.inputFailed ?? false,
  transformed: guard?.requestTransformed ?? false,
});

const stateOf = ({ sync, async, failed, transformed }: InputVerdicts): Partial<GuardState> => ({
  before: sync,
  asyncResults: { before: async, after: [] },
  inputFailed: failed,
  requestTransformed: transformed,
});
