/** Two tools in place of hundreds: one finds tools by words, the other calls what was found. */
import type { CapabilityDefinition } from '../catalog/mcp/types.ts';
import { McpError } from './errors.ts';
import { isFields, type JsonRpcFields, type RpcRequest } from './protocol/json-rpc.ts';

export const toolSearchNames = { search: 'search_tools', execute: 'execute_tool' } as const;

export const searchTools: readonly CapabilityDefinition[] = [
  {
    name: toolSearchNames.search,
    title: 'Search tools',
    description:
      'Finds tools of this server by words. Answers with the name, the description and the input schema of each; call one with execute_tool.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What the tool should do, in a few words; empty lists all' },
        limit: { type: 'integer', minimum: 1, maximum: 50, description: 'How many tools at most (10)' },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: toolSearchNames.execute,
    title: 'Execute tool',
    description: 'Calls a tool that search_tools found.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'The name of the tool' },
        arguments: { type: 'object', description: 'The arguments, as its input schema says' },
      },
      required: ['name'],
    },
  },
];

/** The call inside of a call of `execute_tool`. */
export function executedTool(request: RpcRequest): RpcRequest {
  const given = request.params.arguments;
  if (request.params.name !== toolSearchNames.execute) return request;
  if (!isFields(given) || typeof given.name !== 'string') {
    throw new McpError('invalid_params', 'execute_tool needs arguments.name, the name of a tool');
  }
  return {
    ...request,
    params: { ...request.params, name: given.name, arguments: isFields(given.arguments) ? given.arguments : {} },
  };
}

const most = 50;

export function searchResult(tools: readonly CapabilityDefinition[], given: JsonRpcFields): JsonRpcFields {
  const words = String(given.query ?? '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .slice(0, 20);
  const limit = Math.min(most, Math.max(1, Number(given.limit) || 10));
  const found = tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => words.length === 0 || score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ tool: { name, title, description, inputSchema } }) => ({ name, title, description, inputSchema }));
  return {
    content: [{ type: 'text', text: JSON.stringify(found) }],
    structuredContent: { tools: found, total: tools.length },
  };
}

/** A word in the name says more than one in the description. */
function scoreOf(tool: CapabilityDefinition, words: readonly string[]): number {
  const name = `${String(tool.name)} ${String(tool.title ?? '')}`.toLowerCase();
  const description = String(tool.description ?? '').toLowerCase();
  return words.reduce((score, word) => score + (name.includes(word) ? 3 : 0) + (description.includes(word) ? 1 : 0), 0);
}
