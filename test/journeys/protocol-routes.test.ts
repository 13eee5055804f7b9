/** Every route of a protocol that the OpenAPI document lists is served. */
import { beforeAll, expect, test } from 'bun:test';
import { protocolsDocument } from '../../src/openapi-protocols.ts';
import { sharedByTests } from '../journey.ts';
import { startWorld, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({});
});
sharedByTests(
  () => world.gateway,
  () => [],
);

async function answerTo(method: string, path: string): Promise<string> {
  const sends = method === 'POST' || method === 'PUT' || method === 'PATCH';
  const response = await fetch(world.gateway.url + path, {
    method,
    headers: { 'x-gw-api-key': world.gateway.workspaceKey, 'content-type': 'application/json' },
    redirect: 'manual',
    ...(sends && { body: '{}' }),
  });
  const { status, headers } = response;
  const words = status >= 400 ? (await response.text()).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id') : '';
  return `${status} ${headers.get('content-type')} ${words}`;
}

const listed = protocolsDocument().operations.flatMap(({ method, path, operation }) =>
  [path, ...operation['x-aliases']].map((spelling) => [method.toUpperCase(), spelling] as const),
);

test.each(listed)('%s %s', async (method, path) => {
  const asked = path.replaceAll(/\{\w+\}/g, 'some');
  const answer = await answerTo(method, asked);
  expect(answer).not.toStartWith('405');
  // What nobody serves is answered alike wherever it stands.
  expect(answer).not.toBe(await answerTo(method, `/nowhere${asked}`));
});
