/** Every partner check against a partner that refuses a wrong address, a wrong key and a body without what it needs. */
import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import type { HookEvent } from '../context.ts';
import { CheckContext } from '../context.ts';
import type { CheckIo, OutboundCall } from '../io.ts';
import { partnerChecks } from './index.ts';
import { piecesOf } from './partner.ts';

type Json = Record<string, unknown>;

interface Partner {
  parameters?: Json;
  credentials?: Json;
  event?: HookEvent;
  /** Where it is called. */
  url: string;
  /** The header that carries the key, and its value. */
  key?: [string, string];
  /** Fields that it refuses to do without. */
  needs: string[];
  /** The body as its public description has it: anything else is refused. */
  refuses?: z.ZodType;
  passes: Json;
  fails: Json;
  /** Its answer with something to replace, and the text that comes of it. */
  redacts?: [Json, string];
}

const chatMessages = () =>
  z.array(z.object({ role: z.enum(['system', 'user', 'assistant', 'tool']), content: z.string() })).min(1);

const key = 'key-123';
const token = `x.${Buffer.from(JSON.stringify({ opaque: { 'apex-url': 'apex.acuvity.ai' } })).toString('base64url')}.y`;
const after = 'afterRequestHook' as const;
const azure = { resourceName: 'res', apiKey: key };
const judged = (pass: boolean) => ({ results: [{ evaluation_result: { pass } }] });
const patronus = (): Partner => ({
  event: after,
  url: 'https://api.patronus.ai/v1/evaluate',
  key: ['x-api-key', key],
  needs: ['evaluators', 'evaluated_model_input', 'evaluated_model_output'],
  refuses: z.object({
    evaluators: z.array(z.object({ evaluator: z.string().min(1), explain_strategy: z.literal('always') })).min(1),
    evaluated_model_input: z.string(),
    evaluated_model_output: z.string(),
  }),
  passes: judged(true),
  fails: judged(false),
});
const qualifire = (flag: string, event?: HookEvent, parameters: Json = {}): Partner => ({
  parameters,
  ...(event && { event }),
  url: 'https://proxy.qualifire.ai/api/evaluation/evaluate',
  key: ['X-Qualifire-API-Key', key],
  needs: ['input', flag],
  refuses: z.object({
    input: z.string().min(1),
    output: z.string().min(1).optional(),
    prompt_injections: z.boolean().optional(),
    pii_check: z.boolean().optional(),
    content_moderation_check: z.boolean().optional(),
    hallucinations_check: z.boolean().optional(),
    grounding_check: z.boolean().optional(),
    assertions: z.array(z.string().min(1)).optional(),
    messages: z.array(z.object({ role: z.string(), content: z.string() })).optional(),
  }),
  passes: { status: 'completed', score: 100, evaluationResults: [{ type: flag, results: [{ flagged: false }] }] },
  fails: { status: 'completed', score: 0, evaluationResults: [{ type: flag, results: [{ flagged: true }] }] },
});

const protectable = z.strictObject({
  prompt: z.string().min(1).optional(),
  response: z.string().min(1).optional(),
  user: z.string().optional(),
  user_groups: z.array(z.string()).optional(),
  policy: z.record(z.string(), z.unknown()).optional(),
});

const partners: Record<string, Partner> = {
  'acuvity.scan': {
    credentials: { apiKey: token },
    parameters: { language: false, pii_redact: true, pii_categories: ['person'] },
    url: 'https://apex.acuvity.ai/_acuvity/scan',
    key: ['authorization', `Bearer ${token}`],
    needs: ['messages', 'anonymization', 'type'],
    refuses: z.strictObject({
      anonymization: z.enum(['FixedSize', 'VariableSize']),
      messages: z.array(z.string()).min(1),
      redactions: z.array(z.string()),
      type: z.enum(['Input', 'Output']),
    }),
    passes: { extractions: [{ exploits: { prompt_injection: 0.1 } }] },
    fails: { extractions: [{ exploits: { prompt_injection: 0.9 } }] },
    redacts: [{ extractions: [{ PIIs: { person: 1 }, data: 'I am XXXX' }] }, 'I am XXXX'],
  },
  'akto.guard': {
    credentials: { apiKey: key, apiDomain: 'https://akto.example' },
    url: 'https://akto.example/api/http-proxy?guardrails=true&akto_connector=gw',
    key: ['authorization', key],
    needs: ['requestPayload', 'contextSource', 'time'],
    refuses: z.strictObject({
      path: z.string().startsWith('/'),
      method: z.literal('POST'),
      requestHeaders: z.string(),
      responseHeaders: z.string(),
      requestPayload: z.string().refine((text) => typeof JSON.parse(JSON.parse(text).body) === 'object'),
      responsePayload: z.string(),
      ip: z.string(),
      time: z.string().regex(/^\d+$/),
      statusCode: z.string(),
      type: z.string(),
      status: z.string(),
      tag: z.string(),
      metadata: z.string(),
      contextSource: z.literal('AGENTIC'),
    }),
    passes: { data: { guardrailsResult: { Allowed: true } } },
    fails: { data: { guardrailsResult: { Allowed: false, Reason: 'no' } } },
  },
  'aporia.validateProject': {
    parameters: { projectID: 'p1' },
    url: 'https://gr-prd.aporia.com/p1/validate',
    key: ['X-APORIA-API-KEY', key],
    needs: ['messages', 'validation_target'],
    refuses: z.strictObject({
      messages: z
        .array(z.object({ role: z.enum(['system', 'user', 'assistant', 'other']), content: z.string() }))
        .min(1),
      explain: z.boolean(),
      validation_target: z.enum(['prompt', 'response', 'both']),
      response: z.string().optional(),
    }),
    passes: { action: 'passthrough' },
    fails: { action: 'rephrase' },
  },
  'azure.contentSafety': {
    credentials: { contentSafety: azure },
    url: 'https://res.cognitiveservices.azure.com/contentsafety/text:analyze?api-version=2024-11-01',
    key: ['Ocp-Apim-Subscription-Key', key],
    needs: ['text', 'categories'],
    refuses: z.object({
      text: z.string().min(1).max(10_000),
      categories: z.array(z.enum(['Hate', 'SelfHarm', 'Sexual', 'Violence'])),
      blocklistNames: z.array(z.string()),
    }),
    passes: { categoriesAnalysis: [{ category: 'Hate', severity: 0 }], blocklistsMatch: [] },
    fails: { categoriesAnalysis: [{ category: 'Hate', severity: 2 }] },
  },
  'azure.pii': {
    credentials: { pii: azure },
    parameters: { redact: true },
    url: 'https://res.cognitiveservices.azure.com/language/:analyze-text?api-version=2024-11-01',
    key: ['Ocp-Apim-Subscription-Key', key],
    needs: ['kind', 'analysisInput'],
    refuses: z.object({
      kind: z.literal('PiiEntityRecognition'),
      parameters: z.object({ domain: z.enum(['none', 'phi']), modelVersion: z.string() }),
      analysisInput: z.object({
        documents: z
          .array(z.object({ id: z.string(), language: z.string(), text: z.string().min(1).max(5_120) }))
          .min(1)
          .max(5),
      }),
    }),
    passes: { results: { documents: [{ id: '0-0', entities: [], redactedText: 'I am Ann' }] } },
    fails: {},
    redacts: [
      { results: { documents: [{ id: '0-0', entities: [{ category: 'Person' }], redactedText: 'I am ***' }] } },
      'I am ***',
    ],
  },
  'azure.shieldPrompt': {
    credentials: { contentSafety: azure },
    url: 'https://res.cognitiveservices.azure.com/contentsafety/text:shieldPrompt?api-version=2024-09-01',
    key: ['Ocp-Apim-Subscription-Key', key],
    needs: ['userPrompt', 'documents'],
    refuses: z
      .object({ userPrompt: z.string().max(10_000), documents: z.array(z.string()).max(5) })
      .refine(({ documents }) => documents.join('').length <= 10_000),
    passes: { userPromptAnalysis: { attackDetected: false }, documentsAnalysis: [] },
    fails: { userPromptAnalysis: { attackDetected: true } },
  },
  'azure.protectedMaterial': {
    event: after,
    credentials: { contentSafety: azure },
    url: 'https://res.cognitiveservices.azure.com/contentsafety/text:detectProtectedMaterial?api-version=2024-09-01',
    key: ['Ocp-Apim-Subscription-Key', key],
    needs: ['text'],
    passes: { protectedMaterialAnalysis: { detected: false } },
    fails: { protectedMaterialAnalysis: { detected: true } },
  },
  'bedrock.guard': {
    credentials: { awsAccessKeyId: 'AKIA1', awsSecretAccessKey: 's', awsRegion: 'us-east-1' },
    parameters: { guardrailId: 'g1', guardrailVersion: '2', redact: true },
    url: 'https://bedrock-runtime.us-east-1.amazonaws.com/guardrail/g1/version/2/apply',
    needs: ['source', 'content'],
    refuses: z.object({
      source: z.enum(['INPUT', 'OUTPUT']),
      content: z.array(z.object({ text: z.object({ text: z.string().min(1) }) })).min(1),
    }),
    passes: { action: 'NONE' },
    fails: { action: 'GUARDRAIL_INTERVENED', assessments: [{ topicPolicy: { topics: [{ action: 'BLOCKED' }] } }] },
    redacts: [
      {
        action: 'GUARDRAIL_INTERVENED',
        assessments: [
          { sensitiveInformationPolicy: { piiEntities: [{ match: 'Ann', type: 'NAME', action: 'BLOCKED' }] } },
        ],
      },
      'I am {NAME}',
    ],
  },
  'cato.analyze': {
    url: 'https://api.aisec.catonetworks.com/fw/v1/analyze',
    key: ['authorization', `Bearer ${key}`],
    needs: ['messages'],
    refuses: z.strictObject({ messages: chatMessages() }),
    passes: { required_action: { action_type: 'monitor_action' } },
    fails: { required_action: { action_type: 'block_action' } },
    redacts: [
      {
        required_action: { action_type: 'anonymize_action' },
        redacted_chat: { all_redacted_messages: [{ content: 'I am [NAME]' }] },
      },
      'I am [NAME]',
    ],
  },
  'crowdstrike-aidr.guardChatCompletions': {
    credentials: { apiKey: key, baseUrl: 'https://aidr.example' },
    url: 'https://aidr.example/v1/guard_chat_completions',
    key: ['authorization', `Bearer ${key}`],
    needs: ['guard_input', 'event_type'],
    refuses: z.strictObject({
      guard_input: z.looseObject({ messages: chatMessages() }),
      event_type: z.enum(['input', 'output']),
      app_id: z.string(),
      user_id: z.string().optional(),
      llm_provider: z.string(),
      model: z.string(),
      extra_info: z.strictObject({ user_name: z.string().optional() }),
    }),
    passes: { status: 'Success', result: { blocked: false } },
    fails: { status: 'Success', result: { blocked: true } },
  },
  // No public description of the API was found: it needs what the specification names.
  'f5-guardrails.scan': {
    parameters: { projectId: 'p', redact: true },
    url: 'https://us1.calypsoai.app/backend/v1/scans',
    key: ['authorization', `Bearer ${key}`],
    needs: ['input', 'project'],
    passes: { result: { outcome: 'cleared' } },
    fails: { result: { outcome: 'blocked' } },
    redacts: [{ result: { outcome: 'redacted' }, redactedInput: 'I am ***' }, 'I am ***'],
  },
  'javelin.guardrails': {
    credentials: { apiKey: key, application: 'app', domain: 'jav.example' },
    url: 'https://jav.example/v1/guardrails/apply',
    key: ['x-javelin-apikey', key],
    needs: ['input', 'config'],
    refuses: z.strictObject({
      input: z.strictObject({ text: z.string().min(1) }),
      config: z.record(z.string(), z.unknown()),
      metadata: z.record(z.string(), z.unknown()),
    }),
    passes: { assessments: [{ promptinjectiondetection: { request_reject: false } }] },
    fails: { assessments: [{ promptinjectiondetection: { request_reject: true } }] },
  },
  'lakera.guard': {
    url: 'https://api.lakera.ai/v2/guard',
    key: ['authorization', `Bearer ${key}`],
    needs: ['messages', 'payload', 'breakdown'],
    refuses: z.strictObject({ messages: chatMessages(), payload: z.boolean(), breakdown: z.boolean() }),
    passes: { flagged: false },
    fails: { flagged: true, breakdown: [{ detector_type: 'prompt_attack', detected: true }] },
    redacts: [
      {
        flagged: true,
        breakdown: [{ detector_type: 'pii/name', detected: true }],
        payload: [{ start: 5, end: 8, detector_type: 'pii/name', message_id: 0 }],
      },
      'I am [NAME]',
    ],
  },
  'lasso.classify': {
    url: 'https://server.lasso.security/gateway/v3/classify',
    key: ['lasso-api-key', key],
    needs: ['messages', 'messageType', 'sessionId'],
    refuses: z.strictObject({
      messages: chatMessages(),
      messageType: z.enum(['PROMPT', 'COMPLETION']),
      sessionId: z.string().min(1),
      userId: z.string().optional(),
    }),
    passes: { findings: { pii: [{ action: 'WARN' }] } },
    fails: { findings: { jailbreak: [{ action: 'BLOCK' }] } },
  },
  'lasso.scan': {
    url: 'https://server.lasso.security/gateway/v3/classify',
    key: ['lasso-api-key', key],
    needs: ['messages'],
    passes: { findings: {} },
    fails: { violations_detected: true },
  },
  'mistral.moderateContent': {
    parameters: { categories: ['pii'] },
    url: 'https://api.mistral.ai/v1/chat/moderations',
    key: ['authorization', `Bearer ${key}`],
    needs: ['model', 'input'],
    refuses: z.strictObject({
      model: z.string().regex(/^mistral-moderation-(latest|\d{4})$/),
      input: z.array(chatMessages()).min(1),
    }),
    passes: { results: [{ categories: { pii: false, law: true } }] },
    fails: { results: [{ categories: { pii: true } }] },
  },
  'pangea.textGuard': {
    credentials: { apiKey: key, domain: 'aws.pangea.cloud' },
    url: 'https://ai-guard.aws.pangea.cloud/v1/text/guard',
    key: ['authorization', `Bearer ${key}`],
    needs: ['text'],
    refuses: z.strictObject({
      text: z
        .string()
        .min(1)
        .refine((text) => Buffer.byteLength(text) <= 20 * 1024),
      recipe: z.string().optional(),
      debug: z.boolean().optional(),
      overrides: z.record(z.string(), z.unknown()).optional(),
    }),
    passes: { status: 'Success', result: { detectors: {} } },
    fails: { status: 'Success', result: { detectors: { prompt_injection: { detected: true } } } },
  },
  'pangea.pii': {
    credentials: { apiKey: key, domain: 'aws.pangea.cloud' },
    parameters: { redact: true },
    url: 'https://redact.aws.pangea.cloud/v1/redact_structured',
    key: ['authorization', `Bearer ${key}`],
    needs: ['data'],
    refuses: z.strictObject({ data: z.array(z.string()).min(1) }),
    passes: { status: 'Success', result: { count: 0 } },
    fails: {},
    redacts: [{ status: 'Success', result: { count: 1, redacted_data: ['I am <PERSON>'] } }, 'I am <PERSON>'],
  },
  'panw-prisma-airs.intercept': {
    credentials: { AIRS_API_KEY: key },
    url: 'https://service.api.aisecurity.paloaltonetworks.com/v1/scan/sync/request',
    key: ['x-pan-token', key],
    needs: ['tr_id', 'metadata', 'contents'],
    refuses: z.object({
      tr_id: z.string().max(100),
      metadata: z.object({ ai_model: z.string(), app_user: z.string(), app_name: z.string() }),
      contents: z.array(z.union([z.object({ prompt: z.string() }), z.object({ response: z.string() })])).min(1),
    }),
    passes: { action: 'allow' },
    fails: { action: 'block' },
  },
  'patronus.isConcise': patronus(),
  'patronus.toxicity': patronus(),
  'patronus.retrievalHallucination': patronus(),
  'patronus.custom': { ...patronus(), parameters: { profile: 'judge:mine' } },
  'patronus.pii': {
    ...patronus(),
    parameters: { redact: true },
    redacts: [
      { results: [{ evaluation_result: { pass: false, additional_info: { positions: [[5, 8]] } } }] },
      'I am ***',
    ],
    fails: {},
  },
  // No public description of the API was found: it needs what the specification names.
  'pillar.scanPrompt': {
    parameters: { scanners: ['pii'] },
    url: 'https://api.pillarseclabs.com/api/v1/scan/prompt',
    key: ['authorization', `Bearer ${key}`],
    needs: ['message', 'scanners'],
    passes: { pii: false, secrets: null },
    fails: { pii: [{ value: 'x' }] },
  },
  'pillar.scanResponse': {
    event: after,
    parameters: { scanners: ['secrets'] },
    url: 'https://api.pillarseclabs.com/api/v1/scan/response',
    key: ['authorization', `Bearer ${key}`],
    needs: ['message', 'scanners'],
    passes: {},
    fails: { secrets: true },
  },
  // No public description of the API was found: it needs what the specification names.
  'promptfoo.guard': {
    url: 'https://api.promptfoo.dev/v1/guard',
    needs: ['input'],
    passes: { results: [{ categories: { jailbreak: false } }] },
    fails: { results: [{ categories: { jailbreak: true } }] },
  },
  'promptfoo.harm': {
    url: 'https://api.promptfoo.dev/v1/harm',
    needs: ['input'],
    passes: { results: [{ flagged: false }] },
    fails: { results: [{ flagged: true }] },
  },
  'promptfoo.pii': {
    parameters: { redact: true },
    url: 'https://api.promptfoo.dev/v1/pii',
    needs: ['input'],
    passes: { results: [{ flagged: false }] },
    fails: {},
    redacts: [
      { results: [{ flagged: true, payload: { pii: [{ entity_type: 'PERSON', start: 5, end: 8 }] } }] },
      'I am [PERSON]',
    ],
  },
  'promptsecurity.protectPrompt': {
    credentials: { apiKey: key, apiDomain: 'ps.example' },
    parameters: { redact: true },
    url: 'https://ps.example/api/protect',
    key: ['APP-ID', key],
    needs: ['prompt'],
    refuses: protectable,
    passes: { result: { prompt: { passed: true } } },
    fails: { result: { prompt: { passed: false, action: 'block' } } },
    redacts: [{ result: { prompt: { passed: false, action: 'modify', modified_text: 'I am X' } } }, 'I am X'],
  },
  'promptsecurity.protectResponse': {
    event: after,
    credentials: { apiKey: key, apiDomain: 'ps.example' },
    url: 'https://ps.example/api/protect',
    key: ['APP-ID', key],
    needs: ['response'],
    refuses: protectable,
    passes: { result: { response: { passed: true } } },
    fails: { result: { response: { passed: false } } },
  },
  'qualifire.contentModeration': qualifire('content_moderation_check'),
  'qualifire.pii': qualifire('pii_check'),
  'qualifire.promptInjections': qualifire('prompt_injections'),
  'qualifire.hallucinations': qualifire('hallucinations_check', after),
  'qualifire.grounding': qualifire('grounding_check', after),
  'qualifire.instructionFollowing': qualifire('instructions_following_check', after),
  'qualifire.toolUseQuality': qualifire('available_tools', after),
  'qualifire.policy': qualifire('assertions', undefined, { policies: ['be kind'] }),
  // No public description of the API was found: it needs what the specification names.
  'singulr.guard': {
    credentials: { token: key, apiBase: 'https://s.example', applicationId: 'a', guardrailId: 'g' },
    url: 'https://s.example/api/v1/ai-gateway/gw',
    key: ['X-Singulr-Gateway-Token', key],
    needs: ['input_type', 'request_data'],
    passes: { should_block: false },
    fails: { should_block: true },
  },
  // No public description of the API was found: it needs what the specification names.
  'sydelabs.sydeguard': {
    url: 'https://guard.sydelabs.ai/api/v1/guard/generate-score',
    key: ['x-api-key', key],
    needs: ['prompt'],
    passes: { scores: [{ risk_type: 'TOXIC', score: 0.5 }] },
    fails: { scores: [{ risk_type: 'TOXIC', score: 0.51 }] },
  },
  'walledai.walledprotect': {
    url: 'https://services.walled.ai/v1/walled-protect',
    key: ['x-api-key', key],
    needs: ['text', 'pii_list', 'greetings_list'],
    refuses: z.strictObject({
      text: z.string().min(1),
      generic_safety_check: z.boolean(),
      greetings_list: z.array(z.enum(['Casual & Friendly', 'Professional & Polite'])),
      pii_list: z.array(z.string()),
      compliance_list: z.array(z.string()),
    }),
    passes: { data: { safety: [{ isSafe: true }] } },
    fails: { data: { safety: [{ isSafe: false }] } },
  },
  'zscaler.guard': {
    parameters: { policyId: '900' },
    url: 'https://api.us1.zseclipse.net/v1/detection/execute-policy',
    key: ['authorization', `Bearer ${key}`],
    needs: ['direction', 'content', 'policyId'],
    refuses: z.object({ direction: z.enum(['IN', 'OUT']), content: z.string().min(1), policyId: z.string() }),
    passes: { statusCode: 200, action: 'DETECT' },
    fails: { statusCode: 200, action: 'BLOCK', detectorResponses: { pii: { action: 'BLOCK' } } },
  },
};

/** Answers as the partner would; what it would refuse is refused. */
const simulated = (partner: Partner, answer: Json): CheckIo & { calls: OutboundCall[] } => {
  const calls: OutboundCall[] = [];
  const reply = (status: number, json: Json) => ({
    status,
    header: () => null,
    bytes: new TextEncoder().encode(JSON.stringify(json)),
  });
  return {
    calls,
    async call(call) {
      calls.push(call);
      if (call.url !== partner.url) return reply(404, { called: call.url });
      if (call.method !== 'POST') return reply(405, {});
      if (!/^application\/json\b/.test(call.headers['content-type'] ?? '')) return reply(415, {});
      const [name = '', value = ''] = partner.key ?? [];
      const sent = Object.entries(call.headers).find(([header]) => header.toLowerCase() === name.toLowerCase())?.[1];
      if (partner.key ? sent !== value : !call.sign && partner.credentials) return reply(401, {});
      const body = JSON.parse(call.body ?? 'null');
      if (partner.needs.some((field) => body[field] === undefined)) return reply(422, { body });
      if (partner.refuses && !partner.refuses.safeParse(body).success) return reply(400, { body });
      return reply(200, answer);
    },
    resolves: async () => true,
    moderate: async () => ({ categories: {}, json: {} }),
    cache: { get: () => undefined, put: () => undefined },
    now: () => 1_760_000_000_000,
    newId: () => 'id-1',
  };
};

const contextFor = (event: HookEvent, text: string) => {
  const request = { model: 'm', messages: [{ role: 'user', content: event === after ? 'who?' : text }] };
  const response = { choices: [{ message: { role: 'assistant', content: text } }] };
  const facts = {
    event,
    requestType: 'chatComplete',
    request,
    response: event === after ? { json: response, status: 200 } : null,
    isStream: false,
    provider: 'openai',
    metadata: {},
    header: () => null,
    traceId: 'trace-1',
  };
  return new CheckContext(facts, event === after ? response : request, false);
};

const byId = new Map(partnerChecks.map((check) => [check.id, check]));

function run(id: string, partner: Partner, answer: Json, text = 'I am Ann') {
  const check = byId.get(id);
  if (!check) throw new Error(`There is no ${id}`);
  const prepared = check.prepare(partner.parameters ?? {}, {
    credentials: partner.credentials ?? { apiKey: key },
    faultOfUrl: () => null,
    timeoutMs: 100,
  });
  return prepared.run(contextFor(partner.event ?? check.events[0] ?? after, text), simulated(partner, answer));
}

for (const [id, partner] of Object.entries(partners)) {
  describe(id, () => {
    test('passes what the partner allows', async () => {
      expect(await run(id, partner, partner.passes)).toMatchObject({ verdict: true });
      expect((await run(id, partner, partner.passes)).error).toBeUndefined();
    });
    if (Object.keys(partner.fails).length > 0) {
      test('fails what the partner refuses', async () => {
        const result = await run(id, partner, partner.fails);
        expect([result.verdict, result.error]).toEqual([false, undefined]);
      });
    }
    const { redacts } = partner;
    if (redacts) {
      test('replaces what the partner replaces', async () => {
        const result = await run(id, partner, redacts[0]);
        const [edit] = result.edits ?? [];
        const text = 'I am Ann';
        expect([result.verdict, edit && text.slice(0, edit.start) + edit.text + text.slice(edit.end)]).toEqual([
          true,
          redacts[1],
        ]);
      });
    }
    test('reports an error for a key that the partner refuses, and for no text', async () => {
      const wrong = await run(id, { ...partner, url: 'https://elsewhere.example/' }, partner.passes);
      expect(wrong.error?.name).toBe('HTTP Error');
      expect((await run(id, partner, partner.passes, '')).error).toBeDefined();
    });
  });
}

test('every partner check but those that search, or whose signature the service itself must see, is held against its partner', () => {
  const elsewhere = new Set([
    'exa.online',
    'tavily.online',
    'alibaba-cloud-ai.guard',
    'patronus.isHelpful',
    'patronus.isPolite',
    'patronus.noApologies',
    'patronus.noGenderBias',
    'patronus.noRacialBias',
    'patronus.retrievalAnswerRelevance',
    'patronus.phi',
  ]);
  expect(partnerChecks.map(({ id }) => id).filter((id) => !(id in partners) && !elsewhere.has(id))).toEqual([]);
});

const queries = {
  'exa.online': z.strictObject({
    query: z.string().min(1),
    numResults: z.int().min(1).max(100),
    includeDomains: z.array(z.string()).optional(),
    excludeDomains: z.array(z.string()).optional(),
    contents: z.strictObject({ text: z.boolean() }),
  }),
  'tavily.online': z.strictObject({
    query: z.string().min(1).max(400),
    max_results: z.int().min(0).max(20),
    chunks_per_source: z.int().min(1).max(3),
    search_depth: z.enum(['advanced', 'basic', 'fast', 'ultra-fast']).optional(),
    topic: z.enum(['general', 'news', 'finance']).optional(),
  }),
};

describe('searches', () => {
  for (const [id, url] of [
    ['exa.online', 'https://api.exa.ai/search'],
    ['tavily.online', 'https://api.tavily.com/search'],
  ] as const) {
    test(`${id} puts what it found before the model`, async () => {
      const header: [string, string] = id === 'exa.online' ? ['x-api-key', key] : ['authorization', `Bearer ${key}`];
      const result = await run(
        id,
        { url, key: header, needs: ['query'], refuses: queries[id], passes: {}, fails: {} },
        { results: [{ title: 'T', url: 'https://t.example', text: 'found', content: 'found' }] },
        'what is it? '.repeat(100),
      );
      expect(JSON.stringify(result.body)).toContain('found');
      expect(result.verdict).toBe(true);
    });
  }
});

describe('the conversation that partners get', () => {
  const conversation = async (requestType: string, request: Json): Promise<Json> => {
    const partner = partners['lakera.guard'] as Partner;
    const check = byId.get('lakera.guard');
    const io = simulated(partner, partner.passes);
    const prepared = check?.prepare({}, { credentials: { apiKey: key }, faultOfUrl: () => null, timeoutMs: 100 });
    const facts = { ...contextFor('beforeRequestHook', 'x').facts, requestType, request };
    const result = await prepared?.run(new CheckContext(facts, request, false), io);
    expect(result?.error).toBeUndefined();
    return JSON.parse(io.calls[0]?.body ?? '{}').messages;
  };

  test('has system prompts in any form, results of tools, documents, and roles that they know', async () => {
    const part = (text: string) => ({ type: 'text', text });
    expect(
      await conversation('messages', {
        system: [part('be kind'), part('be brief')],
        messages: [
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [part('found')] }] },
          { role: 'user', content: [{ type: 'document', source: { type: 'text', data: 'a page' } }, part('what?')] },
        ],
      }),
    ).toEqual([
      { role: 'system', content: 'be kind\nbe brief' },
      { role: 'user', content: 'found' },
      { role: 'user', content: 'a page\nwhat?' },
    ] as unknown as Json);
    expect(
      await conversation('createModelResponse', {
        instructions: 'be kind',
        input: [
          { role: 'developer', content: 'be brief' },
          { type: 'function_call_output', call_id: 'c', output: 'found' },
        ],
      }),
    ).toEqual([
      { role: 'system', content: 'be kind' },
      { role: 'system', content: 'be brief' },
      { role: 'tool', content: 'found' },
    ] as unknown as Json);
  });

  test('an action that Cato does not ask for is no error', async () => {
    const partner = partners['cato.analyze'] as Partner;
    const answer = { analysis_result: { policy_drill_down: {} }, required_action: null };
    expect(await run('cato.analyze', partner, answer)).toMatchObject({ verdict: true });
    expect((await run('cato.analyze', partner, answer)).error).toBeUndefined();
  });

  test('Lasso gets the answer alone where it judges the answer', async () => {
    const partner = { ...(partners['lasso.classify'] as Partner), event: after };
    const io = simulated(partner, partner.passes);
    const prepared = byId
      .get('lasso.classify')
      ?.prepare({}, { credentials: { apiKey: key }, faultOfUrl: () => null, timeoutMs: 100 });
    await prepared?.run(contextFor(after, 'I am Ann'), io);
    expect(JSON.parse(io.calls[0]?.body ?? '{}')).toMatchObject({
      messageType: 'COMPLETION',
      messages: [{ role: 'assistant', content: 'I am Ann' }],
    });
  });
});

describe('texts that are longer than the partner takes', () => {
  const long = 'word '.repeat(5_000);

  for (const id of ['azure.contentSafety', 'azure.shieldPrompt', 'pangea.textGuard']) {
    test(`${id} are sent in pieces, and one that is refused fails all`, async () => {
      const partner = partners[id] as Partner;
      expect(await run(id, partner, partner.passes, long)).toMatchObject({ verdict: true });
      expect((await run(id, partner, partner.passes, long)).error).toBeUndefined();
      expect((await run(id, partner, partner.fails, long)).verdict).toBe(false);
    });
  }

  test('azure.pii are an error where a piece of them is left out of the answer', async () => {
    const partner = partners['azure.pii'] as Partner;
    expect((await run('azure.pii', partner, partner.passes, long)).error?.message).toContain('did not look at all');
  });

  test('are cut at spaces and not inside a character, and make up the whole', () => {
    const texts = [long, '😀'.repeat(4_000), 'x'.repeat(3_000)];
    for (const text of texts) {
      const pieces = piecesOf(text, 1_001);
      expect(pieces.join('')).toBe(text);
      expect(pieces.every((piece) => piece.length <= 1_001 && piece.isWellFormed())).toBe(true);
      const overlapping = piecesOf(text, 1_001, 51);
      expect(overlapping.every((piece) => piece.length <= 1_001 && piece.isWellFormed())).toBe(true);
      expect(overlapping.at(-1)?.endsWith(text.slice(-20))).toBe(true);
    }
  });
});

test('an answer that says nothing of the text is an error and no pass', async () => {
  const silent = [
    'azure.contentSafety',
    'azure.shieldPrompt',
    'azure.protectedMaterial',
    'azure.pii',
    'cato.analyze',
    'f5-guardrails.scan',
    'lakera.guard',
    'mistral.moderateContent',
    'promptfoo.guard',
    'promptfoo.harm',
    'promptfoo.pii',
    'singulr.guard',
    'sydelabs.sydeguard',
    'walledai.walledprotect',
  ];
  for (const id of silent) {
    const { error } = await run(id, partners[id] as Partner, { unexpected: true });
    expect([id, error?.message ?? 'none']).toEqual([id, expect.stringMatching(/answered without|did not look/)]);
  }
});
