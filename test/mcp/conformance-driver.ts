/** Uses the server of a conformance scenario through the gateway, so that the gateway is the client that is tested. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { TestGateway } from '../harness.ts';
import { browse, signInAddressIn } from './browser.ts';
import { saveIntegration } from './upstream.ts';

/** Who uses it: a person with a key, signed in to the console. */
interface User {
  key: string;
  session: string;
}

const scenarioForm = z.object({
  scenario: z.string(),
  version: z.string(),
  url: z.string(),
  context: z.string().transform((text) => contextForm.parse(JSON.parse(text || '{}'))),
});

const contextForm = z.looseObject({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  /** The calls that a scenario is about; without them every tool is called once. */
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })).optional(),
});

type Scenario = z.infer<typeof scenarioForm>;

/** As often as an upstream may ask for another sign-in before one gives up. */
const mostSignIns = 3;

/** Answers the suite's client processes; a scenario that fails is one of their exit codes, and no fault here. */
export function serveDriver(gateway: TestGateway, user: User): ReturnType<typeof Bun.serve> {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const scenario = scenarioForm.parse(Object.fromEntries(new URL(request.url).searchParams));
      return drive(gateway, user, scenario).then(
        () => new Response('done'),
        (fault: Error) => new Response(fault.message, { status: 500 }),
      );
    },
  });
}

async function drive(gateway: TestGateway, user: User, scenario: Scenario): Promise<void> {
  const slug = `c${crypto.randomUUID().slice(0, 8)}`;
  await saveIntegration(gateway, { slug, url: scenario.url, ...signInOf(scenario) });
  for (let signIns = 0; ; signIns++) {
    const fault = await callTools(`${gateway.url}/${slug}/mcp`, user.key, scenario).then(
      () => null,
      (error: Error) => error,
    );
    if (!fault) return;
    const address = signInAddressIn(fault.message);
    if (!address || signIns === mostSignIns) throw fault;
    const page = await browse(address, { gatewayUrl: gateway.url, session: user.session, person: 'ada' });
    if (!page.ok) throw new Error(`The sign-in failed: ${await page.text()}`);
  }
}

/** How the gateway signs in at the server of the scenario. */
function signInOf({ scenario, context: { client_id, client_secret } }: Scenario) {
  if (!scenario.startsWith('auth/')) return { auth_type: 'none' };
  const known = { client_id, client_secret };
  if (scenario === 'auth/client-credentials-basic') {
    const client_credentials = { ...known, auth_method: 'client_secret_basic' };
    return { auth_type: 'oauth_client_credentials', configurations: { client_credentials } };
  }
  return { auth_type: 'oauth_auto', ...(client_id !== undefined && { configurations: { oauth_metadata: known } }) };
}

async function callTools(url: string, key: string, { version, context: { toolCalls } }: Scenario): Promise<void> {
  const client = new Client(
    { name: 'conformance-client', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } } },
      ...(version === '2026-07-28' && { versionNegotiation: { mode: { pin: version } } }),
    },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
  const requestInit = { headers: { 'x-gw-api-key': key } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  try {
    const { tools } = await client.listTools();
    const calls =
      toolCalls ?? tools.map(({ name, inputSchema }) => ({ name, arguments: sampleOf(inputSchema, tools) }));
    for (const call of calls) await client.callTool(call);
  } finally {
    await client.close();
  }
}

const kindForm = z.looseObject({ type: z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array']) });

/** Arguments that a schema of plain properties accepts; an object wants the schema of the first tool back. */
function sampleOf(
  { properties = {} }: { properties?: Record<string, unknown> | undefined },
  tools: readonly { inputSchema: object }[],
): Record<string, unknown> {
  const sample = { string: 'a', number: 1, integer: 1, boolean: true, object: tools[0]?.inputSchema, array: [] };
  const sampled = (schema: unknown) => sample[kindForm.safeParse(schema).data?.type ?? 'string'];
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, sampled(schema)]));
}
