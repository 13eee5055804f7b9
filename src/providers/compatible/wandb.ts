/** W&B Inference. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const wandb = openAiCompatible({
  id: 'wandb',
  name: 'W&B Inference',
  address: 'https://api.inference.wandb.ai/v1',
  endpoints: { chatComplete: chat() },
});
