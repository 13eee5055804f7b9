/** Qualifire: evaluations of requests and answers. */
import { z } from 'zod';
import { listOf, objectsOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { Check } from '../check.ts';
import { after, before, both } from '../checks/events.ts';
import type { HookEvent } from '../context.ts';
import { type Asking, inputText, messagesOf, partnerCheck, secret, verdictOf } from './partner.ts';

const timeoutMs = 60_000;
const credentials = () => ({ apiKey: secret() });
const mode = () => z.enum(['speed', 'balanced', 'quality']).default('balanced');

async function evaluate(asking: Asking, apiKey: string, fields: JsonObject) {
  const { context, text, ask } = asking;
  const sides = context.isInput ? { input: text } : { input: inputText(asking), output: text };
  const answer = await ask(
    'https://proxy.qualifire.ai/api/evaluation/evaluate',
    { ...sides, ...fields },
    { 'X-Qualifire-API-Key': apiKey },
  );
  const isFlagged = objectsOf(answer.evaluationResults)
    .flatMap(({ results }) => objectsOf(results))
    .some((result) => result.flagged === true);
  return verdictOf(answer.status !== 'failed' && !isFlagged, 'Qualifire', {
    status: answer.status ?? null,
    score: answer.score ?? null,
    evaluationResults: answer.evaluationResults ?? [],
  });
}

const flagged = (name: string, title: string, events: readonly HookEvent[], flag: string): Check =>
  partnerCheck({
    id: `qualifire.${name}`,
    title: `Qualifire ${title}`,
    description: `Asks Qualifire for its ${title} evaluation.`,
    events,
    timeoutMs,
    credentials,
    parameters: () => ({}),
    example: {},
    answersWith: ['status', 'evaluationResults'],
    onError: false,
    run: (asking, _, { apiKey }) => evaluate(asking, apiKey, { [flag]: true }),
  });

const withMode = (name: string, title: string, flag: string): Check =>
  partnerCheck({
    id: `qualifire.${name}`,
    title: `Qualifire ${title}`,
    description: `Asks Qualifire for its ${title} evaluation of the answer.`,
    events: after,
    timeoutMs,
    credentials,
    parameters: () => ({ mode: mode() }),
    example: { mode: 'balanced' },
    onError: false,
    run: (asking, rules, { apiKey }) =>
      evaluate(asking, apiKey, { [flag]: true, [`${flag.replace(/_check$/, '')}_mode`]: rules.mode }),
  });

const toolUseQuality = partnerCheck({
  id: 'qualifire.toolUseQuality',
  title: 'Qualifire tool use',
  description: 'Asks Qualifire whether the answer uses its tools well.',
  events: after,
  timeoutMs,
  credentials,
  parameters: () => ({ mode: mode() }),
  example: { mode: 'balanced' },
  onError: false,
  run: (asking, rules, { apiKey }) =>
    evaluate(asking, apiKey, {
      tool_use_quality_check: true,
      tuq_mode: rules.mode,
      messages: messagesOf(asking),
      available_tools: listOf(asking.context.request.tools),
    }),
});

const policy = partnerCheck({
  id: 'qualifire.policy',
  title: 'Qualifire policy',
  description: 'Asks Qualifire whether policies in your own words are kept.',
  events: both,
  timeoutMs,
  credentials,
  parameters: () => ({
    policies: z.array(z.string().min(1).max(2_000)).min(1).max(50),
    mode: mode(),
    policy_target: z.enum(['input', 'output', 'both']).default('both'),
  }),
  example: { policies: ['The answer gives no medical advice.'] },
  onError: false,
  run: (asking, rules, { apiKey }) =>
    evaluate(asking, apiKey, {
      assertions: rules.policies,
      assertions_mode: rules.mode,
      policy_target: rules.policy_target,
    }),
});

export const qualifireChecks: readonly Check[] = [
  flagged('contentModeration', 'content moderation', both, 'content_moderation_check'),
  flagged('pii', 'PII', both, 'pii_check'),
  flagged('promptInjections', 'prompt injection', before, 'prompt_injections'),
  withMode('hallucinations', 'hallucination', 'hallucinations_check'),
  withMode('grounding', 'grounding', 'grounding_check'),
  withMode('instructionFollowing', 'instruction following', 'instructions_following_check'),
  toolUseQuality,
  policy,
];
