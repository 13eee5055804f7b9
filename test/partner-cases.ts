/** Each partner of guardrails as its public description has it: where it is called, what it needs, and what it answers. */
import { z } from 'zod';
import type { HookEvent } from '../src/guardrails/context.ts';

export type Json = Record<string, unknown>;

export interface Partner {
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

export const chatMessages = () =>
  z.array(z.object({ role: z.enum(['system', 'user', 'assistant', 'tool']), content: z.string() })).min(1);

export const key = 'key-123';
export const token = `x.${Buffer.from(JSON.stringify({ opaque: { 'apex-url': 'apex.acuvity.ai' } })).toString('base64url')}.y`;
export const after = 'afterRequestHook' as const;
export const azure = { resourceName: 'res', apiKey: key };
export const judged = (pass: boolean) => ({ results: [{ evaluation_result: { pass } }] });
export const patronus = (): Partner => ({
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
export const qualifire = (flag: string, event?: HookEvent, parameters: Json = {}): Partner => ({
  parameters,
  ...(event && { event }),
  url: 'https://proxy.qualifire.ai/api/evaluation/evaluate',
  key: ['X-Qualifire-API-Key', key],
  needs: ['input', flag],
  passes: { status: 'success' },
  fails: { status: 'failed' },
});

export const partners: Record<string, Partner> = {
  'acuvity.scan': {
    credentials: { apiKey: token },
    parameters: { language: false, pii_redact: true, pii_categories: ['person'] },
    url: 'https://apex.acuvity.ai/_acuvity/scan',
    key: ['authorization', `Bearer ${token}`],
    needs: ['messages', 'anonymization', 'type'],
    passes: { extractions: [{ exploits: { prompt_injection: 0.1 } }] },
    fails: { extractions: [{ exploits: { prompt_injection: 0.9 } }] },
    redacts: [{ extractions: [{ PIIs: { person: 1 }, data: 'I am XXXX' }] }, 'I am XXXX'],
  },
  'akto.guard': {
    credentials: { apiKey: key, apiDomain: 'https://akto.example' },
    url: 'https://akto.example/api/http-proxy?guardrails=true&akto_connector=gw',
    key: ['authorization', key],
    needs: ['requestPayload', 'contextSource', 'time'],
    passes: { data: { guardrailsResult: { Allowed: true } } },
    fails: { data: { guardrailsResult: { Allowed: false, Reason: 'no' } } },
  },
  'aporia.validateProject': {
    parameters: { projectID: 'p1' },
    url: 'https://gr-prd.aporia.com/p1/validate',
    key: ['X-APORIA-API-KEY', key],
    needs: ['messages', 'validation_target'],
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
    passes: { status: 'Success', result: { blocked: false } },
    fails: { status: 'Success', result: { blocked: true } },
  },
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
    passes: { status: 'Success', result: { detectors: {} } },
    fails: { status: 'Success', result: { detectors: { prompt_injection: { detected: true } } } },
  },
  'pangea.pii': {
    credentials: { apiKey: key, domain: 'aws.pangea.cloud' },
    parameters: { redact: true },
    url: 'https://redact.aws.pangea.cloud/v1/redact_structured',
    key: ['authorization', `Bearer ${key}`],
    needs: ['data'],
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
  'singulr.guard': {
    credentials: { token: key, apiBase: 'https://s.example', applicationId: 'a', guardrailId: 'g' },
    url: 'https://s.example/api/v1/ai-gateway/gw',
    key: ['X-Singulr-Gateway-Token', key],
    needs: ['input_type', 'request_data'],
    passes: { should_block: false },
    fails: { should_block: true },
  },
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
