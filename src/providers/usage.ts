/** Reads the usage that providers report, in each of the dialects that pass through, into one form. */
import type { Usage } from './provider.ts';

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  inputAudioTokens: 0,
  outputAudioTokens: 0,
  units: {},
  reportedCents: null,
};

type TokenCount = Exclude<keyof Usage, 'units' | 'reportedCents'>;
type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
/** Some servers write -1 where they have not counted. */
const number = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : 0;
const inside = (holder: Fields, name: string): Fields => {
  const value = holder[name];
  return isObject(value) ? value : {};
};

/** Null when there is no usage to read. */
export function readUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  if ('prompt_tokens' in raw) return chatUsage(raw);
  if ('input_tokens' in raw || 'output_tokens' in raw) {
    return 'cache_read_input_tokens' in raw || 'cache_creation_input_tokens' in raw || 'iterations' in raw
      ? messagesUsage(raw)
      : responsesUsage(raw);
  }
  if ('search_units' in raw) return { ...noUsage, units: { search: number(raw.search_units) } };
  if (raw.type === 'duration') return { ...noUsage, units: { audio_seconds: number(raw.seconds) } };
  return null;
}

/** Also what our own chat answers say beyond OpenAI's: writes to a prompt cache, searches, tokens of images. */
function chatUsage(raw: Fields): Usage {
  const input = inside(raw, 'prompt_tokens_details');
  const output = inside(raw, 'completion_tokens_details');
  return {
    inputTokens: number(raw.prompt_tokens),
    outputTokens: number(raw.completion_tokens),
    cacheReadTokens:
      number(input.cached_tokens) ||
      number(raw.cache_read_input_tokens) ||
      number(raw.prompt_cache_hit_tokens) ||
      number(raw.cached_tokens),
    cacheWriteTokens:
      number(input.cache_creation_tokens) ||
      number(input.cache_write_tokens) ||
      number(raw.cache_creation_input_tokens),
    reasoningTokens: number(output.reasoning_tokens),
    inputAudioTokens: number(input.audio_tokens),
    outputAudioTokens: number(output.audio_tokens),
    units: counted({
      web_search: inside(raw, 'server_tool_use').web_search_requests,
      cache_write_1h: input.cache_creation_1h_tokens,
      request_image_token: input.image_tokens,
      response_image_token: output.image_tokens,
    }),
    reportedCents: reportedCents(raw),
  };
}

/** What is charged for each use, by the item that a response lists for it. */
const billedItems: ReadonlyMap<unknown, string> = new Map([
  ['web_search_call', 'web_search'],
  ['file_search_call', 'file_search'],
  ['x_search_call', 'x_search'],
]);

/** Usage of a response, with the tools that the provider ran for it: they are charged by the use, and listed with the output. */
export function readResponseUsage({ usage: raw, output }: Fields): Usage | null {
  const usage = readUsage(raw);
  if (!usage || !Array.isArray(output)) return usage;
  const used: Record<string, number> = {};
  const containers = new Set<unknown>();
  for (const item of output.filter(isObject)) {
    const unit = billedItems.get(item.type);
    // Opening a page and looking for words on it are no searches.
    if (unit !== undefined && (inside(item, 'action').type ?? 'search') === 'search')
      used[unit] = (used[unit] ?? 0) + 1;
    if (item.type === 'code_interpreter_call') containers.add(item.container_id);
  }
  if (containers.size > 0) used.code_interpreter_session = containers.size;
  return { ...usage, units: mergedUnits(usage.units, used, Math.max) };
}

const listedTools = ['"web_search_call"', '"file_search_call"', '"x_search_call"', '"code_interpreter_call"'];

/** Whether a response in these bytes may list such tools. */
export const mayListTools = (bytes: Buffer): boolean => listedTools.some((name) => bytes.includes(name));

/** The units of which there are any. */
function counted(units: Fields): Record<string, number> {
  const found: Record<string, number> = {};
  for (const name in units) if (number(units[name]) > 0) found[name] = number(units[name]);
  return found;
}

function responsesUsage(raw: Fields): Usage {
  // Realtime sessions and transcriptions spell the details in the singular.
  const input = inside(raw, 'input_tokens_details' in raw ? 'input_tokens_details' : 'input_token_details');
  const output = inside(raw, 'output_tokens_details' in raw ? 'output_tokens_details' : 'output_token_details');
  return {
    inputTokens: number(raw.input_tokens),
    outputTokens: number(raw.output_tokens),
    cacheReadTokens: number(input.cached_tokens),
    cacheWriteTokens: number(input.cache_write_tokens),
    reasoningTokens: number(output.reasoning_tokens) || number(output.thinking_tokens),
    inputAudioTokens: number(input.audio_tokens),
    outputAudioTokens: number(output.audio_tokens),
    units: counted({
      web_search: inside(raw, 'server_tool_use').web_search_requests,
      cache_write_1h: input.cache_write_1h_tokens,
      request_image_token: input.image_tokens,
      response_image_token: output.image_tokens,
    }),
    reportedCents: reportedCents(raw),
  };
}

/** Ten thousand million of xAI's ticks are a dollar. */
const ticksPerCent = 1e8;

/** What a provider says that it charged: OpenRouter in dollars, Perplexity in a list of dollars, DeepInfra as an estimate, xAI in ticks. */
function reportedCents(raw: Fields): number | null {
  const { cost, cost_in_usd_ticks: ticks, estimated_cost: estimated } = raw;
  if (typeof ticks === 'number') return number(ticks) / ticksPerCent;
  const total = isObject(cost) ? cost.total_cost : (cost ?? estimated);
  if (typeof total !== 'number' || !Number.isFinite(total)) return null;
  // With a key of the customer's own at the model's vendor, that one charges beside OpenRouter.
  const vendor = raw.is_byok === true ? number(inside(raw, 'cost_details').upstream_inference_cost) : 0;
  return (number(total) + vendor) * 100;
}

/** This dialect counts what the prompt cache read and wrote beside the input, not within it. Its answers must have figures: all zero means that nobody counted. */
function messagesUsage(raw: Fields): Usage | null {
  const top = topUsage(raw);
  const rounds = Array.isArray(raw.iterations) ? raw.iterations.filter(isObject).map(topUsage) : [];
  // The figures at the top leave out what the model read and wrote to compact its context.
  const all = rounds.reduce<Usage | null>((sum, one) => (sum && one ? summedUsage(sum, one) : (sum ?? one)), null);
  return top && all ? laterUsage(all, top) : (top ?? all);
}

function topUsage(raw: Fields): Usage | null {
  const read = number(raw.cache_read_input_tokens);
  const written = number(raw.cache_creation_input_tokens);
  if (number(raw.input_tokens) + read + written + number(raw.output_tokens) === 0) return null;
  const input = inside(raw, 'input_tokens_details');
  const output = inside(raw, 'output_tokens_details');
  return {
    ...noUsage,
    inputTokens: number(raw.input_tokens) + read + written,
    outputTokens: number(raw.output_tokens),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    reasoningTokens: number(output.thinking_tokens),
    inputAudioTokens: number(input.audio_tokens),
    outputAudioTokens: number(output.audio_tokens),
    units: counted({
      web_search: inside(raw, 'server_tool_use').web_search_requests,
      cache_write_1h: inside(raw, 'cache_creation').ephemeral_1h_input_tokens,
      request_image_token: input.image_tokens,
      response_image_token: output.image_tokens,
    }),
    reportedCents: reportedCents(raw),
  };
}

/** The later figures of a stream over the earlier ones: a dialect may report input at its start and output at its end. */
export function laterUsage(earlier: Usage | null, later: Usage): Usage {
  if (!earlier) return later;
  const larger = (name: TokenCount) => Math.max(earlier[name], later[name]);
  return {
    inputTokens: larger('inputTokens'),
    outputTokens: larger('outputTokens'),
    cacheReadTokens: larger('cacheReadTokens'),
    cacheWriteTokens: larger('cacheWriteTokens'),
    reasoningTokens: larger('reasoningTokens'),
    inputAudioTokens: larger('inputAudioTokens'),
    outputAudioTokens: larger('outputAudioTokens'),
    units: mergedUnits(earlier.units, later.units, Math.max),
    reportedCents: later.reportedCents ?? earlier.reportedCents,
  };
}

/** What several calls used together. */
export function summedUsage(one: Usage, other: Usage): Usage {
  const both = (name: TokenCount) => one[name] + other[name];
  return {
    inputTokens: both('inputTokens'),
    outputTokens: both('outputTokens'),
    cacheReadTokens: both('cacheReadTokens'),
    cacheWriteTokens: both('cacheWriteTokens'),
    reasoningTokens: both('reasoningTokens'),
    inputAudioTokens: both('inputAudioTokens'),
    outputAudioTokens: both('outputAudioTokens'),
    units: mergedUnits(one.units, other.units, (a, b) => a + b),
    reportedCents:
      one.reportedCents === null || other.reportedCents === null ? null : one.reportedCents + other.reportedCents,
  };
}

function mergedUnits(
  one: Usage['units'],
  other: Usage['units'],
  merge: (a: number, b: number) => number,
): Record<string, number> {
  const units: Record<string, number> = { ...one };
  for (const unit in other) units[unit] = merge(units[unit] ?? 0, number(other[unit]));
  return units;
}
