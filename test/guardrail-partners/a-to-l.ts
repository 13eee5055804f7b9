/** The guardrail partners from Acuvity to Lasso, each with what it is sent and what it answers. */
import { z } from 'zod';
import { after, key, type Partner } from './simulated.ts';

export const chatMessages = () =>
  z.array(z.object({ role: z.enum(['system', 'user', 'assistant', 'tool']), content: z.string() })).min(1);

const token = `x.${Buffer.from(JSON.stringify({ opaque: { 'apex-url': 'apex.acuvity.ai' } })).toString('base64url')}.y`;

const azure = { resourceName: 'res', apiKey: key };
export const partnersToL: Record<string, Partner> = {
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
      guard_input: z.union([
        z.looseObject({ messages: chatMessages() }),
        z.looseObject({
          choices: z.array(z.looseObject({ message: z.looseObject({ role: z.literal('assistant') }) })),
        }),
      ]),
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
};
