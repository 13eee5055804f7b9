/** CrowdStrike AIDR. */
import { z } from 'zod';
import { isObject, objectOf, objectsOf, textOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { CheckResult } from '../check.ts';
import { both } from '../checks/events.ts';
import {
  type Asking,
  address,
  bearer,
  editsOf,
  messagesOf,
  partnerCheck,
  secret,
  textsOf,
  verdictOf,
  withoutSlash,
} from './partner.ts';

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
  async run(asking, _, { apiKey, baseUrl }) {
    const { context, ask } = asking;
    const { metadata, provider } = context.facts;
    const form = context.requestType === 'chatComplete' ? chatBody(context.json) : chatForm(asking);
    const answer = await ask(
      `${withoutSlash(baseUrl)}/v1/guard_chat_completions`,
      {
        guard_input: form.json,
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
      ...(changed && form.changes(changed)),
    };
  },
});

/** What the service gets, and what its change of that is to the body. */
interface GuardedForm {
  json: JsonObject;
  changes(changed: JsonObject): Pick<CheckResult, 'body' | 'edits'>;
}

const chatBody = (json: JsonObject): GuardedForm => ({ json, changes: (body) => ({ body }) });

/** The service reads chat completions alone. Of another dialect it gets the conversation in that form: a message or a choice for each text that is checked, so that a changed one is known by its place. */
function chatForm(asking: Asking): GuardedForm {
  const { context } = asking;
  const { model } = context.request;
  if (!context.isInput) {
    const choices = textsOf(asking).map((content, index) => ({ index, message: { role: 'assistant', content } }));
    return {
      json: { model, choices },
      changes: (changed) => ({
        edits: editsOf(
          asking,
          objectsOf(changed.choices).map(({ message }) => textOf(objectOf(message).content)),
        ),
      }),
    };
  }
  const conversation = messagesOf(asking);
  const earlier = conversation.slice(0, -1);
  const role = conversation.at(-1)?.role ?? 'user';
  return {
    json: { model, messages: [...earlier, ...textsOf(asking).map((content) => ({ role, content }))] },
    changes: (changed) => ({
      edits: editsOf(
        asking,
        objectsOf(changed.messages)
          .slice(earlier.length)
          .map(({ content }) => textOf(content)),
      ),
    }),
  };
}
