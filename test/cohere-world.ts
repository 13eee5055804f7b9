/** A simulated Cohere behind a gateway, asked with OpenAI's SDK. */
import type { OpenAI } from 'openai';
import { openaiClient } from './clients.ts';
import { type Behaviour, type SimulatedProvider, startProvider } from './providers/simulated.ts';
import { startWorld, type World } from './world.ts';

export const upstream = 'command-a-03-2025';

export interface CohereWorld {
  provider: SimulatedProvider;
  /** Cohere's own address, for its SDK. */
  address: string;
  world: World;
  client: OpenAI;
}

export async function startCohere(simulated: Behaviour): Promise<CohereWorld> {
  const provider = await startProvider(simulated);
  const address = provider.url.replace(/\/v1$/, '');
  const world = await startWorld({});
  await world.saveProvider('c', 'cohere', { url: address });
  return { provider, address, world, client: openaiClient(world) };
}
