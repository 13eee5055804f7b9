/** Palo Alto Networks Prisma AIRS. */
import { z } from 'zod';
import { both } from '../checks/events.ts';
import { type Asking, messagesOf, partnerCheck, secret, verdictOf } from './partner.ts';

const scopes = ['last_message', 'last_user_message', 'user_messages', 'all_messages'] as const;

export const panwIntercept = partnerCheck({
  id: 'panw-prisma-airs.intercept',
  aliases: ['panwPrismaAirs.intercept'],
  title: 'Prisma AIRS',
  description: 'Asks a security profile of Prisma AIRS about the text.',
  events: both,
  credentials: () => ({ AIRS_API_KEY: secret() }),
  parameters: () => ({
    profile_name: z.string().max(255).optional(),
    profile_id: z.string().max(255).optional(),
    ai_model: z.string().max(255).default('unknown-model'),
    app_user: z.string().max(255).default('gw-gateway'),
    app_name: z.string().max(255).optional(),
    scan_scope: z.enum(scopes).default('last_message'),
    strip_scaffolding: z.boolean().default(false),
  }),
  example: { profile_name: 'default' },
  onError: false,
  async run(asking, rules, { AIRS_API_KEY: key }) {
    const { context, ask, io } = asking;
    const scanned = rules.strip_scaffolding
      ? withoutScaffolding(scopedText(asking, rules.scan_scope))
      : scopedText(asking, rules.scan_scope);
    const answer = await ask(
      'https://service.api.aisecurity.paloaltonetworks.com/v1/scan/sync/request',
      {
        tr_id: context.facts.traceId || io.newId(),
        metadata: {
          ai_model: rules.ai_model,
          app_user: rules.app_user,
          app_name: rules.app_name ? `GW-${rules.app_name}` : 'GW',
        },
        contents: [context.isInput ? { prompt: scanned } : { response: scanned }],
        ...((rules.profile_name ?? rules.profile_id) && {
          ai_profile: {
            ...(rules.profile_name && { profile_name: rules.profile_name }),
            ...(rules.profile_id && { profile_id: rules.profile_id }),
          },
        }),
      },
      { 'x-pan-token': key },
    );
    if (typeof answer.action !== 'string') throw new Error('the service answered without an action');
    return verdictOf(answer.action !== 'block', 'Prisma AIRS', {
      action: answer.action,
      category: answer.category ?? null,
      scan_id: answer.scan_id ?? null,
    });
  },
});

function scopedText(asking: Asking, scope: (typeof scopes)[number]): string {
  const { context, text } = asking;
  if (!context.isInput || scope === 'last_message') return text;
  const turns = messagesOf(asking);
  const users = turns.filter(({ role }) => role === 'user');
  const chosen = scope === 'all_messages' ? turns : scope === 'user_messages' ? users : users.slice(-1);
  return chosen.map(({ content }) => content).join('\n');
}

/** Blocks that agents wrap around what people say. */
const withoutScaffolding = (text: string): string =>
  ['system-reminder', 'tool-instructions', 'tool_instructions', 'environment_details'].reduce((rest, tag) => {
    let result = rest;
    for (let from = result.indexOf(`<${tag}>`); from >= 0; from = result.indexOf(`<${tag}>`)) {
      const end = result.indexOf(`</${tag}>`, from);
      if (end < 0) break;
      result = result.slice(0, from) + result.slice(end + tag.length + 3);
    }
    return result;
  }, text);
