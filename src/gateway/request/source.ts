/** Where the body comes from when the client names a saved prompt: the prompt, rendered with its variables, and the client's overrides. */
import type { WorkspaceCatalog } from '../../catalog/catalog.ts';
import { type FoundPrompt, findPrompt, renderWithPartials } from '../../catalog/find-prompt.ts';
import type { PlanNode } from '../../catalog/plan.ts';
import { parseAddress } from '../../prompts/address.ts';
import { TemplateFault } from '../../prompts/fault.ts';
import type { Variables } from '../../prompts/render.ts';
import { isObject } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { Reply } from '../../wire/server/reply.ts';
import type { Identified, PromptUse, RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { arrivalHeaders } from '../response/reply.ts';
import { JsonBody } from './body.ts';
import { completionRoutes } from './routes.ts';
import { bodyOf, judgeHead } from './select.ts';

/** The request as if the client had sent the rendered prompt to the route of its kind. */
export async function sourced(deps: GatewayDeps, identified: Identified): Promise<Identified> {
  // What is wrong with the head counts before what is wrong with the prompt.
  judgeHead(deps, identified);
  const { variables, overrides } = await readPromptCall(deps, identified);
  const named = identified.matched.params.id ?? '';
  const prompt = await usedPrompt(deps, identified, named, variables, overrides);
  const route = 'prompt' in prompt.body.json && !('messages' in prompt.body.json) ? 'text' : 'chat';
  return { ...identified, prompt, matched: completionRoutes[route] };
}

/** What `/render` answers; nothing is sent to anybody and nothing is logged. */
export async function renderedPrompt(deps: GatewayDeps, identified: Identified): Promise<Reply> {
  const { prompt } = await sourced(deps, identified);
  const body = Buffer.from(JSON.stringify({ success: true, data: prompt?.body.json ?? {} }));
  return { status: 200, headers: { 'content-type': 'application/json', ...arrivalHeaders(identified) }, body };
}

interface PromptCall {
  variables: Variables;
  /** The other fields of the body: they stand over what the prompt says. */
  overrides: JsonObject;
}

/** Fields that clients send along and no model knows. */
const notParameters = new Set(['variables', 'promptID', 'hyperparameters']);

async function readPromptCall(deps: GatewayDeps, identified: Identified): Promise<PromptCall> {
  const body = await bodyOf(deps, identified);
  if (body.form !== 'json' && body.form !== 'none') {
    throw new GatewayError('invalid_content_type', 'send the variables as application/json', { field: 'content-type' });
  }
  const sent = body.form === 'json' ? body.json : {};
  const variables = sent.variables ?? {};
  if (!isObject(variables)) {
    throw new GatewayError('invalid_body', 'variables must be an object', { field: 'variables' });
  }
  const overrides = Object.fromEntries(Object.entries(sent).filter(([name]) => !notParameters.has(name)));
  return { variables, overrides };
}

async function usedPrompt(
  deps: GatewayDeps,
  identified: Identified,
  named: string,
  variables: Variables,
  overrides: JsonObject,
): Promise<PromptUse> {
  const address = parseAddress(named);
  const found = await findPrompt(deps.catalog, identified.workspace, address);
  if (!found) {
    throw new GatewayError('prompt_not_found', `no prompt or version "${named.slice(0, 100)}" in this workspace`, {
      field: 'prompt_id',
    });
  }
  const json = { ...(await rendered(deps, identified.workspace, found, variables)), ...overrides };
  const { prompt, home } = found;
  return {
    id: prompt.id,
    slug: prompt.slug,
    versionId: prompt.versionId,
    provider: prompt.content().provider,
    home,
    body: new JsonBody(Buffer.from(JSON.stringify(json)), json),
    variables,
    overrides,
  };
}

/** Saved parameters and the filled template. Whether to stream is the client's to say. */
async function rendered(
  deps: GatewayDeps,
  caller: WorkspaceCatalog,
  { prompt, home }: FoundPrompt,
  variables: Variables,
): Promise<JsonObject> {
  const content = prompt.content();
  const { stream: _, ...parameters } = content.parameters;
  try {
    const filled = await renderWithPartials(deps.catalog, { home, caller }, variables, (sources) =>
      prompt.compiled().render(sources),
    );
    return {
      ...(content.model !== null && { model: content.model }),
      ...filled,
      ...parameters,
      ...(content.tools && { tools: content.tools }),
      ...(content.toolChoice !== null && content.toolChoice !== undefined && { tool_choice: content.toolChoice }),
      ...(content.functions && { functions: content.functions }),
    };
  } catch (fault) {
    if (!(fault instanceof TemplateFault)) throw fault;
    const code = fault.kind === 'missing' ? 'prompt_partial_not_found' : 'invalid_prompt';
    throw new GatewayError(code, `the prompt ${prompt.slug} cannot be rendered: ${fault.message}`, {
      field: 'variables',
    });
  }
}

/** Targets of the config that name a prompt of their own run that one, with the same variables. */
export async function withTargetPrompts(deps: GatewayDeps, context: RequestContext): Promise<RequestContext> {
  const { prompt } = context;
  const named = prompt ? promptsIn(context.plan.root) : [];
  if (!prompt || named.length === 0) return context;
  const swaps = new Map<string, PromptUse | GatewayError>();
  for (const id of named) {
    try {
      swaps.set(id, await usedPrompt(deps, context, id, prompt.variables, prompt.overrides));
    } catch (fault) {
      // One target that cannot be used is that target's failure.
      if (!(fault instanceof GatewayError)) throw fault;
      swaps.set(id, fault);
    }
  }
  return { ...context, prompt: { ...prompt, swaps } };
}

const promptsIn = (node: PlanNode): string[] =>
  node.kind === 'leaf' ? (node.promptId === null ? [] : [node.promptId]) : node.children.flatMap(promptsIn);
