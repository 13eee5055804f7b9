/** The tools, prompts and resources that the conformance suite looks for and that answer by themselves. */
import { completable, fromJsonSchema, type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const text = (said: string) => ({ type: 'text' as const, text: said });
const image = { type: 'image' as const, data: pixel, mimeType: 'image/png' };
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** Keywords of JSON Schema 2020-12 that a proxy must not lose. */
const fullSchema = fromJsonSchema({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
});

function addTools(server: McpServer): void {
  server.registerTool('test_simple_text', { description: 'Answers with text' }, () => ({
    content: [text('This is a simple text response for testing.')],
  }));
  server.registerTool('test_image_content', { description: 'Answers with an image' }, () => ({ content: [image] }));
  server.registerTool('test_audio_content', { description: 'Answers with sound' }, () => ({
    content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }],
  }));
  server.registerTool('test_embedded_resource', { description: 'Answers with a resource' }, () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }));
  server.registerTool('test_multiple_content_types', { description: 'Answers with several things' }, () => ({
    content: [
      text('Multiple content types test:'),
      image,
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  }));
  server.registerTool('test_error_handling', { description: 'Fails' }, () => ({
    isError: true,
    content: [text('This tool intentionally returns an error for testing')],
  }));
  server.registerTool('test_header_tool', { description: 'Mirrors a header', inputSchema: mirrored }, (given) => ({
    content: [text(given.region)],
  }));
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Has a full schema', inputSchema: fullSchema },
    () => ({
      content: [text('taken')],
    }),
  );
}

/** An argument that a client of the stateless era repeats in a header. */
const region = { type: 'string' as const, 'x-mcp-header': 'Region' };
const mirrored = fromJsonSchema<{ region: string }>({
  type: 'object',
  properties: { region },
  required: ['region'],
});

function addTellingTools(server: McpServer): void {
  server.registerTool('test_tool_with_logging', { description: 'Logs while it works' }, async (context) => {
    for (const step of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await context.mcpReq.log('info', step);
      await pause();
    }
    return { content: [text('logged')] };
  });
  server.registerTool('test_logging_tool', { description: 'Logs once' }, async (context) => {
    await context.mcpReq.log('info', 'working');
    return { content: [text('logged')] };
  });
  server.registerTool('test_tool_with_progress', { description: 'Tells its progress' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await pause();
    }
    return { content: [text('done')] };
  });
  server.registerTool('test_reconnection', { description: 'Closes its stream before it answers' }, async ({ http }) => {
    http?.closeSSE?.();
    await pause();
    return { content: [text('answered after the stream was closed')] };
  });
}

function addPrompts(server: McpServer): void {
  const user = 'user' as const;
  server.registerPrompt('test_simple_prompt', { description: 'Plain' }, () => ({
    messages: [{ role: user, content: text('This is a simple prompt for testing.') }],
  }));
  const word = (hint: string) => completable(z.string(), (begun) => [hint].filter((whole) => whole.startsWith(begun)));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments', argsSchema: z.object({ arg1: word('paris'), arg2: word('world') }) },
    ({ arg1, arg2 }) => ({
      messages: [{ role: user, content: text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`) }],
    }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => ({
      messages: [
        { role: user, content: { type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded.' } } },
        { role: user, content: text('Please process the embedded resource above.') },
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () => ({
    messages: [
      { role: user, content: image },
      { role: user, content: text('Please analyze the image above.') },
    ],
  }));
}

function addResources(server: McpServer): void {
  server.registerResource('static-text', 'test://static-text', { mimeType: 'text/plain' }, ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }));
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'image/png', blob: pixel }],
  }));
  server.registerResource('watched', 'test://watched-resource', { mimeType: 'text/plain' }, ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: 'Watched.' }],
  }));
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json' },
    ({ href: uri }, { id }) => ({
      contents: [
        {
          uri,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
}

export function addPlain(server: McpServer): void {
  addTools(server);
  addTellingTools(server);
  addPrompts(server);
  addResources(server);
}
