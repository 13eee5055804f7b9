/** The guardrail partners from Mistral to Zscaler, each with what it is sent and what it answers. */
import { z } from 'zod';
import type { HookEvent } from '../../src/guardrails/context.ts';
import { chatMessages } from './a-to-l.ts';
import { after, type Json, key, type Partner } from './simulated.ts';

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

export const partnersFromM: Record<string, Partner> = {
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
