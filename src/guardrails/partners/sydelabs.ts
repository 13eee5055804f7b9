/** SydeLabs. */
import { z } from 'zod';
import { objectsOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { partnerCheck, secret, verdictOf } from './partner.ts';

const threshold = () => z.number().min(0).max(1).default(0.5);

export const sydeGuard = partnerCheck({
  id: 'sydelabs.sydeguard',
  title: 'SydeGuard',
  description: 'Fails when SydeGuard scores prompt injection, toxicity or evasion above the thresholds.',
  events: both,
  credentials: () => ({ apiKey: secret() }),
  parameters: () => ({
    prompt_injection_threshold: threshold(),
    toxicity_threshold: threshold(),
    evasion_threshold: threshold(),
  }),
  example: { prompt_injection_threshold: 0.7 },
  answersWith: ['scores'],
  onError: false,
  async run({ text, ask }, rules, { apiKey }) {
    const answer = await ask(
      'https://guard.sydelabs.ai/api/v1/guard/generate-score',
      { prompt: text },
      { 'x-api-key': apiKey },
    );
    const limits: Readonly<Record<string, number>> = {
      PROMPT_INJECT: rules.prompt_injection_threshold,
      TOXIC: rules.toxicity_threshold,
      EVASION: rules.evasion_threshold,
    };
    const above = objectsOf(answer.scores).filter(
      ({ risk_type, score }) => Number(score ?? 0) > (limits[String(risk_type)] ?? Number.POSITIVE_INFINITY),
    );
    return verdictOf(above.length === 0, 'SydeLabs', { scores: answer.scores ?? [] });
  },
});
