/** Which betas a call names. */
import { expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import type { Json } from '../../../test/harness.ts';
import type { CallFacts } from '../provider.ts';
import { betaHeader, betasOf } from './betas.ts';
import { anthropicApi } from './surface.ts';

const betas = (body: Json, more: Partial<CallFacts> = {}) => betasOf(callFacts({ body, ...more }), anthropicApi);

test('those of the client, of the target and of the body are named once, in this order, before those that the call implies', () => {
  const more: Partial<CallFacts> = {
    clientHeader: (name) => (name === 'anthropic-beta' ? 'b, a,' : null),
    fields: { anthropic_beta: 'c,a' },
  };
  const body = { anthropic_beta: ['d', 'b'], mcp_servers: [] };
  expect(betas(body, more)).toEqual(['b', 'a', 'c', 'd', 'mcp-client-2025-11-20']);
  expect(betaHeader(callFacts({ body, ...more }), anthropicApi)).toEqual({
    'anthropic-beta': 'b,a,c,d,mcp-client-2025-11-20',
  });
  expect(betaHeader(callFacts(), anthropicApi)).toEqual({});
});

test.each([
  [{ tools: [{ type: 'web_search_20250305' }, { type: 'bash_20250124' }] }, []],
  [{ tools: [{ type: 'computer_20251124' }] }, ['computer-use-2025-11-24']],
  [{ tools: [{ type: 'computer', computer: { name: 'computer_20250124' } }] }, ['computer-use-2025-01-24']],
  [{ tools: [{ type: 'memory_20250818' }] }, ['context-management-2025-06-27']],
  [{ tools: [{ type: 'tool_search_tool_bm25_20251119' }] }, ['advanced-tool-use-2025-11-20']],
  [
    { tools: [{ type: 'function', function: { name: 'memory_', defer_loading: true } }] },
    ['advanced-tool-use-2025-11-20'],
  ],
  [{ context_management: { edits: [{ type: 'compact_20260112' }] } }, ['compact-2026-01-12']],
  [{ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }, ['context-management-2025-06-27']],
  [{ container: { skills: [] } }, ['skills-2025-10-02']],
  [{ speed: 'fast' }, ['fast-mode-2026-02-01']],
  [{ messages: [{ content: [{ type: 'file', file: { file_id: 'f' } }] }] }, ['files-api-2025-04-14']],
  [{ input: [{ content: [{ type: 'input_file', file_id: 'f' }] }] }, ['files-api-2025-04-14']],
  [{ requests: [{ body: { mcp_servers: [] } }] }, ['mcp-client-2025-11-20']],
])('%j implies %j', (body, expected) => {
  expect(betas(body)).toEqual(expected);
});

test('a client of the native route names its own; every call about files needs theirs', () => {
  expect(betas({ mcp_servers: [] }, { kind: 'messages' })).toEqual([]);
  expect(betas({}, { kind: 'listFiles' })).toEqual(['files-api-2025-04-14']);
  expect(betas({}, { kind: 'retrieveFileContent' })).toEqual(['files-api-2025-04-14']);
});
