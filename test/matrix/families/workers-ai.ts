/** Cloudflare Workers AI. */
import { json } from '../../providers/simulated.ts';
import { chatHost, limitAsMaxTokens, standsAt } from '../chat-host.ts';
import type { MatrixFamily } from '../family.ts';

const model = '@cf/openai/gpt-oss-120b';
const account = '/accounts/acc-1/ai';

export const workersAi: MatrixFamily = chatHost({
  name: 'Workers AI',
  provider: 'workers-ai',
  model,
  // What begins with @ would be taken for a saved provider, unless one stands before it.
  chosenBy: { model: `@target/${model}` },
  address: (url) => new URL(url).origin + account,
  settings: { workers_ai_account_id: 'acc-1' },
  asks: limitAsMaxTokens,
  serves: standsAt(`${account}/v1/chat/completions`, 'authorization', 'Bearer sk-target-secret'),
  fails: (status, message) =>
    json(status, { result: null, success: false, errors: [{ code: 3040, message }], messages: [] }),
});
