/** Claude on Bedrock in Anthropic's own dialect: InvokeModel takes and gives what Anthropic does, but for what the address says. */
import type { AnthropicSurface } from '../anthropic/surface.ts';
import { objectOf, parsed, textOf } from '../json.ts';
import type { ServerEvent } from '../provider.ts';
import { throwException } from './exceptions.ts';

/** What Anthropic runs on its own servers does not exist here. */
const absent = /^(?:files-api|mcp-client|web-fetch|code-execution|skills|fast-mode|advisor-tool|structured-outputs)-/;

/** The same ability under another name. */
const renamed: ReadonlyMap<string, string> = new Map(
  Object.entries({ 'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19' }),
);

export const claudeOnBedrock: AnthropicSurface = {
  structuredOutput: 'native',
  inlineMedia: true,
  betas: 'body',
  betaName: (beta) => (absent.test(beta) ? null : (renamed.get(beta) ?? beta)),
  bodyVersion: 'bedrock-2023-05-31',
  streamsByAddress: true,
  unwrap: unwrapped,
};

/** A frame of InvokeModelWithResponseStream holds one record of the model's own stream. */
export function unwrapped({ event, data }: ServerEvent): ServerEvent | null {
  if (event !== 'chunk') {
    throwException(event, data);
    return null;
  }
  const bytes = textOf(objectOf(parsed(data)).bytes);
  return bytes === null ? null : { event: null, data: Buffer.from(bytes, 'base64').toString() };
}
