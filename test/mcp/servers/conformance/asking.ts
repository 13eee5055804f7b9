/** The tools and prompts of the conformance suite that ask the client for something, in the manner of either era. */
import {
  acceptedContent,
  type InputRequest,
  inputRequired,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

export interface Progress {
  step: string;
  name?: string;
}

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });

const form = (message: string, field: string, kind: { type: 'string' } | { type: 'boolean' } = { type: 'string' }) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [field]: kind }, required: [field] },
  });

const sampled = (question: string, maxTokens: number): InputRequest =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens,
  });

const given = ({ mcpReq }: ServerContext, key: string, field: string): string | null => {
  const value = acceptedContent(mcpReq.inputResponses, key)?.[field];
  return value === undefined ? null : String(value);
};

const has = ({ mcpReq }: ServerContext, key: string): boolean =>
  inputResponse(mcpReq.inputResponses, key).kind !== 'missing';

/** As servers of the session era ask: by a request of their own while the call is open. */
function addPushing(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      });
      return text(`LLM response: ${JSON.stringify(content)}`);
    },
  );
  const asks = (name: string, requestedSchema: Parameters<ServerContext['mcpReq']['elicitInput']>[0]) =>
    server.registerTool(name, { description: 'Asks the user' }, async ({ mcpReq }) => {
      const { action, content } = await mcpReq.elicitInput(requestedSchema);
      return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
    });
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user', inputSchema: z.object({ message: z.string() }) },
    async ({ message }, { mcpReq }) => {
      const { action, content } = await mcpReq.elicitInput({
        mode: 'form',
        message,
        requestedSchema: {
          type: 'object',
          properties: { username: { type: 'string' }, email: { type: 'string' } },
          required: ['username', 'email'],
        },
      });
      return text(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);
    },
  );
  asks('test_elicitation_sep1034_defaults', {
    mode: 'form',
    message: 'Please check the defaults',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      },
    },
  });
  const titled = (word: string) => [1, 2, 3].map((n) => ({ const: `value${n}`, title: `${word} ${n}` }));
  asks('test_elicitation_sep1330_enums', {
    mode: 'form',
    message: 'Please choose',
    requestedSchema: {
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
        titledSingle: { type: 'string', oneOf: titled('Option') },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
        titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
      },
    },
  });
}

/** As servers of the stateless era ask: by a result that wants input. */
function addReturning(server: McpServer, states: RequestStateCodec<Progress>): void {
  const tool = (
    name: string,
    run: (context: ServerContext) => Promise<ReturnType<typeof text> | ReturnType<typeof inputRequired>>,
  ) => server.registerTool(`test_input_required_result_${name}`, { description: 'Wants input' }, run);
  const confirm = { confirm: form('Please confirm', 'ok', { type: 'boolean' }) };
  const stated = (step: string) => async (context: ServerContext) => {
    const state = context.mcpReq.requestState<Progress>();
    if (state?.step === step && has(context, 'confirm')) return text(`state-ok: ${step}`);
    return inputRequired({ inputRequests: confirm, requestState: await states.mint({ step }) });
  };

  tool('elicitation', async (context) => {
    const name = given(context, 'user_name', 'name');
    return name === null
      ? inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } })
      : text(`Hello, ${name}!`);
  });
  tool('sampling', async (context) =>
    has(context, 'capital_question')
      ? text(JSON.stringify(context.mcpReq.inputResponses?.capital_question))
      : inputRequired({ inputRequests: { capital_question: sampled('What is the capital of France?', 100) } }),
  );
  tool('list_roots', async (context) =>
    has(context, 'client_roots')
      ? text(JSON.stringify(context.mcpReq.inputResponses?.client_roots))
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } }),
  );
  tool('request_state', stated('request_state'));
  tool('tampered_state', stated('tampered_state'));
  tool('multiple_inputs', async (context) => {
    if (['user_name', 'greeting', 'client_roots'].every((key) => has(context, key))) return text('all inputs came');
    return inputRequired({
      inputRequests: {
        user_name: form('What is your name?', 'name'),
        greeting: sampled('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ step: 'multiple_inputs' }),
    });
  });
  tool('multi_round', async (context) => {
    const state = context.mcpReq.requestState<Progress>();
    const name = given(context, 'step1', 'name');
    const colour = given(context, 'step2', 'color');
    if (state?.step === 'two' && colour !== null) return text(`${state.name} likes ${colour}`);
    if (state?.step === 'one' && name !== null) {
      const step2 = form('Step 2: What is your favorite color?', 'color');
      return inputRequired({ inputRequests: { step2 }, requestState: await states.mint({ step: 'two', name }) });
    }
    const step1 = form('Step 1: What is your name?', 'name');
    return inputRequired({ inputRequests: { step1 }, requestState: await states.mint({ step: 'one' }) });
  });
  tool('capabilities', async ({ mcpReq }) => {
    const capabilities = declared(mcpReq.envelope);
    return inputRequired({
      inputRequests: {
        ...(capabilities.elicitation !== undefined && { elicited: form('A value', 'value') }),
        ...(capabilities.sampling !== undefined && { sampled: sampled('A sample', 50) }),
      },
      requestState: await states.mint({ step: 'capabilities' }),
    });
  });
  server.registerPrompt('test_input_required_result_prompt', { description: 'Wants input' }, (context) => {
    const chosen = given(context, 'user_context', 'context');
    return chosen === null
      ? inputRequired({ inputRequests: { user_context: form('What context should the prompt use?', 'context') } })
      : { messages: [{ role: 'user', content: { type: 'text', text: chosen } }] };
  });
  server.registerTool(
    'test_streaming_elicitation',
    { description: 'Tells progress, then wants input' },
    async (context) => {
      const progressToken = context.mcpReq._meta?.progressToken ?? 'none';
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: 50, total: 100 },
      });
      return inputRequired({ inputRequests: confirm });
    },
  );
  // The SDK refuses what the client did not say that it can do.
  server.registerTool('test_missing_capability', { description: 'Needs sampling' }, async () =>
    inputRequired({ inputRequests: { answer: sampled('Anything', 50) } }),
  );
}

const envelopeForm = z.looseObject({
  'io.modelcontextprotocol/clientCapabilities': z.looseObject({
    sampling: z.unknown().optional(),
    elicitation: z.unknown().optional(),
  }),
});

/** What the client says that it can do; the SDK hands the envelope on as it came. */
const declared = (envelope: unknown): { sampling?: unknown; elicitation?: unknown } =>
  envelopeForm.safeParse(envelope).data?.['io.modelcontextprotocol/clientCapabilities'] ?? {};

export function addAsking(server: McpServer, era: 'legacy' | 'modern', states: RequestStateCodec<Progress>): void {
  if (era === 'legacy') addPushing(server);
  else addReturning(server, states);
}
