/** Every provider, by its id. */
import { anthropic } from './anthropic.ts';
import { openai } from './openai/openai.ts';
import type { Provider } from './provider.ts';
import { sandbox } from './sandbox/sandbox.ts';

const all: readonly Provider[] = [openai, anthropic, sandbox];

export const providers: ReadonlyMap<string, Provider> = new Map(all.map((provider) => [provider.id, provider]));
