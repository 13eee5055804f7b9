/** Requests to Gemini made of chat requests, for tests of what is sent. */
import { expect } from 'bun:test';
import { chatFront } from '../../src/providers/fronts/chat/chat.ts';
import { writeRequest } from '../../src/providers/google/request.ts';
import type { Surface } from '../../src/providers/google/surface.ts';
import type { CallFacts, JsonObject } from '../../src/providers/provider.ts';
import { callFacts } from '../call-facts.ts';
import { refusalOf } from './gemini-rules.ts';

export const user = { role: 'user', content: 'Hi' };
export const third = { model: 'gemini-3-flash-preview' };

export const asked = (body: JsonObject, more: Partial<CallFacts> = {}, surface: Surface = 'studio'): JsonObject => {
  const facts = callFacts({ model: 'gemini-2.5-flash', body: { messages: [user], ...body }, ...more });
  return writeRequest(chatFront.read(facts), facts, surface);
};

/** A request that the API itself would take. */
export const accepted = (body: JsonObject, more: Partial<CallFacts> = {}, surface: Surface = 'studio'): JsonObject => {
  const request = asked(body, more, surface);
  expect(refusalOf(more.model ?? 'gemini-2.5-flash', request)).toBeNull();
  return request;
};

export const tools = ['now', 'weather'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}));
