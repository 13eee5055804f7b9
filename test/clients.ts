/** The clients that people really use, unchanged, pointed at the gateway and given our key in place of the provider's. */
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { World } from './world.ts';

type Fields = Record<string, string>;

/** OpenAI's own SDK: our key travels as its bearer token. Retries are the gateway's business here. */
export const openaiClient = ({ gateway }: World, headers: Fields = {}, key = gateway.workspaceKey): OpenAI =>
  new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, defaultHeaders: headers, maxRetries: 0 });

/** Anthropic's own SDK: our key travels as x-api-key, and the SDK adds the version to the address by itself. */
export const anthropicClient = ({ gateway }: World, headers: Fields = {}, key = gateway.workspaceKey): Anthropic =>
  new Anthropic({ apiKey: key, authToken: null, baseURL: gateway.url, defaultHeaders: headers, maxRetries: 0 });

/** The Vercel AI SDK's provider for OpenAI. */
export const vercelClient = ({ gateway }: World, headers: Fields = {}) =>
  createOpenAI({ apiKey: gateway.workspaceKey, baseURL: `${gateway.url}/v1`, headers });
