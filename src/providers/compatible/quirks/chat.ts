/** The chat endpoint of a provider that nearly speaks OpenAI's dialect: what is asked otherwise, and what is answered otherwise. */
import type { OpenAiVariant } from '../../openai/variant.ts';
import type { CallFacts, Framing, ProviderEndpoint } from '../../provider.ts';
import type { Mend } from './answers.ts';
import { asksForFunctions, callAsFunction, functionsAsTools } from './functions.ts';
import { mended, mendedFamily } from './mended.ts';
import { developerAsSystem, withoutCacheMarks } from './messages.ts';
import { inTurn, type Quirk } from './parameters.ts';

interface ChatDifferences {
  path?: ProviderEndpoint['path'];
  asks?: readonly Quirk[];
  /** Absent: answers are relayed byte for byte. */
  answers?: readonly Mend[];
  /** What it takes beyond OpenAI's own fields: marks for the prompt cache, earlier thoughts. */
  takes?: OpenAiVariant;
  framing?: Framing;
}

type ChosenEndpoint = (facts: CallFacts) => ProviderEndpoint;

export function chat({ path, asks = [], answers, takes, framing }: ChatDifferences = {}): ChosenEndpoint {
  const usual = takes?.cacheMarks ? [developerAsSystem] : [developerAsSystem, withoutCacheMarks];
  const mendedBy = (mends: readonly Mend[]): ProviderEndpoint => ({
    translation: mended(mends),
    chat: mendedFamily(mends, takes),
  });
  const quirks = [...usual, ...asks];
  const common = { ...(path !== undefined && { path }), ...(framing && { framing }) };
  const plain: ProviderEndpoint = {
    ...common,
    adjust: inTurn(quirks),
    ...((answers || takes) && mendedBy(answers ?? [])),
  };
  const older: ProviderEndpoint = {
    ...common,
    adjust: inTurn([functionsAsTools, ...quirks]),
    ...mendedBy([...(answers ?? []), callAsFunction]),
  };
  return ({ body }) => (asksForFunctions(body) ? older : plain);
}
