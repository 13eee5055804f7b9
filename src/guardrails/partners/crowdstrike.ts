/** CrowdStrike AIDR. */
import { z } from 'zod';
import { isObject, objectOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { address, bearer, partnerCheck, secret, verdictOf, withoutSlash } from './partner.ts';

export const crowdstrikeGuard = partnerCheck({
  id: 'crowdstrike-aidr.guardChatCompletions',
  title: 'CrowdStrike AIDR',
  description: 'Asks CrowdStrike AIDR about the request or the answer, and takes over what it changes.',
  events: both,
  transforms: true,
  credentials: () => ({ apiKey: secret(), baseUrl: address() }),
  parameters: () => ({ redact: z.boolean().default(false) }),
  example: {},
  onError: true,
  async run({ context, ask }, _, { apiKey, baseUrl }) {
    const { metadata, provider } = context.facts;
    const answer = await ask(
      `${withoutSlash(baseUrl)}/v1/guard_chat_completions`,
      {
        guard_input: context.json,
        event_type: context.isInput ? 'input' : 'output',
        app_id: 'gw',
        user_id: metadata._user ?? metadata.user_id,
        llm_provider: provider,
        model: context.request.model,
        extra_info: { user_name: metadata.user_name },
      },
      bearer(apiKey),
    );
    if (answer.status !== 'Success') throw new Error('the service did not succeed');
    const result = objectOf(answer.result);
    const changed = result.transformed === true && isObject(result.guard_output) ? result.guard_output : null;
    return {
      ...verdictOf(result.blocked !== true, 'CrowdStrike', { detectors: result.detectors ?? null }),
      ...(changed && { body: changed }),
    };
  },
});
