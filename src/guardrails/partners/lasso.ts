/** Lasso Security. */
import { z } from 'zod';
import { objectOf, objectsOf } from '../../providers/json.ts';
import type { CheckResult } from '../check.ts';
import { before, both } from '../checks/events.ts';
import { type Asking, messagesOf, partnerCheck, secret, verdictOf, withoutSlash } from './partner.ts';

const credentials = () => ({
  apiKey: secret(),
  apiEndpoint: z.string().max(2_048).default('https://server.lasso.security'),
});

interface Rules {
  messages?: unknown[] | undefined;
  conversationId?: string | undefined;
  userId?: string | undefined;
}

async function classify(
  asking: Asking,
  { messages, conversationId, userId }: Rules,
  { apiKey, apiEndpoint }: { apiKey: string; apiEndpoint: string },
): Promise<CheckResult> {
  const { context, ask, io } = asking;
  const sessionId = conversationId ?? context.facts.traceId ?? io.newId();
  const answer = await ask(
    `${withoutSlash(apiEndpoint)}/gateway/v3/classify`,
    {
      messages: messages ?? (context.isInput ? messagesOf(asking) : [{ role: 'assistant', content: asking.text }]),
      messageType: context.isInput ? 'PROMPT' : 'COMPLETION',
      sessionId,
      ...(userId && { userId }),
    },
    { 'lasso-api-key': apiKey, 'lasso-conversation-id': sessionId, ...(userId && { 'lasso-user-id': userId }) },
  );
  const findings = Object.values(objectOf(answer.findings)).flatMap((entries) => objectsOf(entries));
  const blocked = findings.some(({ action }) => action === 'BLOCK');
  // The older form of the service only says that something was found.
  const violated = answer.findings === undefined && answer.violations_detected === true;
  return verdictOf(!blocked && !violated, 'Lasso', {
    findings: answer.findings ?? null,
    deputies: answer.deputies ?? null,
  });
}

export const lassoClassify = partnerCheck({
  id: 'lasso.classify',
  title: 'Lasso classification',
  description: 'Asks the deputies of Lasso about the conversation.',
  events: both,
  credentials,
  parameters: () => ({
    messages: z.array(z.unknown()).max(1_000).optional(),
    conversationId: z.string().max(64).optional(),
    userId: z.string().max(255).optional(),
  }),
  example: { userId: 'ann' },
  onError: false,
  run: classify,
});

export const lassoScan = partnerCheck({
  id: 'lasso.scan',
  title: 'Lasso scan',
  description: 'Asks the deputies of Lasso about the request.',
  events: before,
  credentials,
  parameters: () => ({}),
  example: {},
  onError: false,
  run: (asking, _, own) => classify(asking, {}, own),
});
