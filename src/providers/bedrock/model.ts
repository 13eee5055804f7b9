/** What a model of Bedrock's can do, told by its id: Converse is one dialect, but each vendor takes only a part of it. */
import { type ModelTraits as ClaudeTraits, traitsOf as claudeTraits } from '../anthropic/model.ts';
import type { CallFacts } from '../provider.ts';
import { setting } from '../settings.ts';

/** How a model is told to think: as Claude is, by Nova's own setting, by an effort, always, or not at all; unknown where the id tells nothing. */
type Thinking = 'claude' | 'nova' | 'effort' | 'always' | 'none' | 'unknown';

export interface BedrockModel {
  /** Vendor and name, without region or ARN: `anthropic.claude-sonnet-4-5-20250929-v1:0`. */
  id: string;
  claude: ClaudeTraits | null;
  isNova: boolean;
  thinking: Thinking;
  /** Takes a schema for its answer. */
  structured: boolean;
  /** Which tools can be forced: a certain one, any one, or none. */
  forces: 'named' | 'any' | 'none';
  /** Keeps prompts in a cache: also their tools, only the rest, or not at all. */
  caches: 'all' | 'not tools' | 'nothing';
  /** Can be told that a tool has failed. */
  knowsFailure: boolean;
}

/** Profiles that spread a model over regions put their area before its id. */
const area = /^(?:us|us-gov|eu|apac|au|ca|jp|sa|me|af|global)\./;

/** The ids of profiles, deployments and imports that somebody made tell nothing of the model behind them. */
const opaque =
  /:(?:application-inference-profile|provisioned-model|imported-model|custom-model(?:-deployment)?|prompt)\//;

/** The name of the model that is meant; null where it is not known. */
export const knownName = ({ model, fields }: Pick<CallFacts, 'model' | 'fields'>): string | null =>
  setting(fields, 'foundation_model') ?? (opaque.test(model) ? null : model);

export function modelId(facts: Pick<CallFacts, 'model' | 'fields'>): string {
  const known = knownName(facts) ?? '';
  return known.slice(known.lastIndexOf('/') + 1).replace(area, '');
}

export function modelOf(facts: Pick<CallFacts, 'model' | 'fields'>): BedrockModel {
  const id = modelId(facts);
  const claude = id.startsWith('anthropic.') ? claudeTraits(id) : null;
  const isNova = id.startsWith('amazon.nova');
  const isKnown = id.includes('.');
  return {
    id,
    claude,
    isNova,
    thinking: thinkingOf(id),
    structured: claude?.structured ?? schemaModels.test(id),
    forces: claude || isNova || !isKnown ? 'named' : id.startsWith('mistral.') ? 'any' : 'none',
    caches: claude || !isKnown ? 'all' : isNova ? 'not tools' : 'nothing',
    knowsFailure: claude !== null || isNova,
  };
}

const schemaModels =
  /^(?:openai\.|qwen\.|minimax\.|moonshot(?:ai)?\.|nvidia\.|zai\.|deepseek\.v3|google\.gemma-3|mistral\.(?:magistral|ministral|voxtral|mistral-large-3))/;

const thinkingByBeginning: readonly (readonly [beginning: string, thinking: Thinking])[] = [
  ['anthropic.', 'claude'],
  ['amazon.nova-2', 'nova'],
  ['openai.', 'effort'],
  ['qwen.', 'effort'],
  ['minimax.', 'always'],
  ['moonshot', 'always'],
  ['deepseek.', 'always'],
  ['amazon.', 'none'],
  ['meta.', 'none'],
  ['mistral.', 'none'],
  ['cohere.', 'none'],
  ['ai21.', 'none'],
  ['writer.', 'none'],
  ['google.', 'none'],
];

const thinkingOf = (id: string): Thinking =>
  thinkingByBeginning.find(([beginning]) => id.startsWith(beginning))?.[1] ?? 'unknown';

/** The model's place in a path: ARNs hold slashes and colons. */
export const modelPath = ({ model }: Pick<CallFacts, 'model'>, operation: string): string =>
  `/model/${encodeURIComponent(model)}/${operation}`;
