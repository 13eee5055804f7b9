/** Where Anthropic's models are offered: its own API, and clouds that speak the same dialect with differences. */
import type { ServerEvent } from '../provider.ts';

export interface AnthropicSurface {
  /** `tool`: no native structured output; a tool that must be called stands in for it. */
  structuredOutput: 'native' | 'tool';
  /** Takes bytes only: what stands at an address on the web is fetched and sent along. */
  inlineMedia: boolean;
  /** Where the betas are named: in the header `anthropic-beta`, or in the body. */
  betas: 'header' | 'body';
  /** What a beta is called here; null where this surface refuses it. Absent: all are known. */
  betaName?(beta: string): string | null;
  /** Where the address names the model: the body then says this version instead of a model. */
  bodyVersion: string | null;
  /** With `bodyVersion`: the address also says whether to stream, so that the body must not. */
  streamsByAddress?: boolean;
  /** Brings an event of another framing into the form that Anthropic itself sends; null for one that says nothing. */
  unwrap?(event: ServerEvent): ServerEvent | null;
}

/** Anthropic's own API. */
export const anthropicApi: AnthropicSurface = {
  structuredOutput: 'native',
  inlineMedia: false,
  betas: 'header',
  bodyVersion: null,
};
