/** Runs a guardrail on a text without any model: what it would say of it. */
import { findCheck } from '../../guardrails/catalogue.ts';
import { compileHook } from '../../guardrails/compile.ts';
import { runHooks } from '../../guardrails/engine.ts';
import { parseSaved } from '../../guardrails/hook.ts';
import { invalid } from '../../http/errors.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { pluginCredentials } from '../plugins/store.ts';
import { guardrailAccess, reachGuardrail } from './access.ts';
import { guardrailPath, invocation, invocationResult } from './schema.ts';
import { currentContent } from './store.ts';

export const invokeGuardrail = endpoint({
  method: 'POST',
  path: '/guardrails/:guardrail/invoke',
  tag: 'Guardrails',
  summary: 'Run a guardrail on a request, an answer, or a text',
  access: { ...guardrailAccess('invoke'), callers: ['workspace-key', 'user-key', 'session'] },
  audit: { resource: 'guardrail', action: 'invoke' },
  // A service that a check asks must not hold a transaction open.
  atomic: false,
  params: guardrailPath,
  body: invocation,
  reply: invocationResult,
  async handle(call) {
    const { db, services, body, caller, workspace } = call;
    const row = await reachGuardrail(call, call.params.guardrail, 'invoke');
    const { checks, actions } = await currentContent(db, services.vault, row);
    const plugins = await pluginCredentials(db, services.vault, caller.organisationId);
    const parsed = parseSaved(checks, actions);
    const setup = {
      find: findCheck,
      credentialsOf: (plugin: string) => plugins.get(plugin)?.credentials ?? {},
      secretsOf: (plugin: string) => plugins.get(plugin)?.secrets,
      faultOfUrl: () => null,
    };
    const hook = parsed.ok ? compileHook({ ...parsed.value, async: false }, row.slug, setup) : parsed;
    if (!hook.ok) throw invalid('guardrail', 'does not fit this release; save it again');
    const facts = factsOf(body);
    const workspaceId = row.workspace_id ?? workspace?.id ?? null;
    const outcome = await runHooks([hook.value], facts, services.checkIo(workspaceId));
    const [result] = outcome.results;
    if (!result) throw invalid('guardrail', 'has no checks that can run');
    await call.commit(async () =>
      call.note({ resourceId: row.id, details: { slug: row.slug, verdict: result.verdict } }),
    );
    const side = facts.event === 'beforeRequestHook' ? 'request' : 'response';
    return {
      ...result,
      checks: result.checks.map((check) => ({ ...check })),
      feedback: result.feedback && { ...result.feedback },
      transformed_data: result.transformed ? { [side]: { json: outcome.json } } : null,
    };
  },
});

type Invocation = ReturnType<typeof invocation>['_output'];

/** Both forms of asking: whole bodies, or only their text. */
function factsOf(body: Invocation) {
  const isOutput = body.event_type
    ? body.event_type === 'afterRequestHook'
    : body.output !== undefined || body.response !== undefined;
  const requestType = body.request_type ?? body.requestType ?? 'chatComplete';
  const request = body.request?.json ?? requestOf(requestType, body.input ?? '');
  const response = body.response?.json ?? (body.output === undefined ? null : answerOf(requestType, body.output));
  if (isOutput ? !response : !body.request && body.input === undefined) {
    throw invalid(isOutput ? 'output' : 'input', 'give a text, or a whole body as request.json or response.json');
  }
  return {
    event: isOutput ? ('afterRequestHook' as const) : ('beforeRequestHook' as const),
    requestType,
    request,
    response: response && isOutput ? { json: response, status: body.response?.statusCode ?? 200 } : null,
    isStream: false,
    provider: body.provider ?? '',
    metadata: body.metadata ?? {},
    header: () => null,
    traceId: '',
  };
}

function requestOf(type: string, text: string): Record<string, unknown> {
  if (type === 'complete') return { prompt: text };
  if (type === 'embed' || type === 'createModelResponse') return { input: text };
  if (type === 'mcpToolCall') return { params: { arguments: { text } } };
  return { messages: [{ role: 'user', content: text }] };
}

function answerOf(type: string, text: string): Record<string, unknown> {
  if (type === 'complete') return { choices: [{ text }] };
  if (type === 'messages' || type === 'mcpToolCall') return { content: [{ type: 'text', text }] };
  if (type === 'createModelResponse')
    return { output: [{ type: 'message', content: [{ type: 'output_text', text }] }] };
  return { choices: [{ message: { role: 'assistant', content: text } }] };
}
