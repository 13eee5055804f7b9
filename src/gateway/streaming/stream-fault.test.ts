import { afterAll, expect, test } from 'bun:test';
import { newLab, saveConfig, savedProvider, workspaceKey } from '../../../test/gateway-deps.ts';
import { scriptedProvider, streamed } from '../../../test/providers/scripted.ts';
import { dialects } from '../../../test/stream-dialects.ts';
import { incomingOf, responseOf } from '../../http/web.ts';
import { providers } from '../../providers/index.ts';
import { createGateway } from '../handle.ts';

const lab = newLab();
lab.providers.set('a', savedProvider('a', { provider: 'scripted-a' }));
lab.providers.set('b', savedProvider('b', { provider: 'scripted-b' }));
const whole = dialects.chat.whole(['Hello', ' there'], 'id-of-a');
const cut = scriptedProvider('scripted-a', {}, () => () => streamed(whole.slice(0, 2)));
const next = scriptedProvider('scripted-b', {}, () => () => streamed(whole));
lab.deps.providers = new Map([...providers, [cut.id, cut], [next.id, next]]);
const gateway = createGateway(lab.deps);
afterAll(() => gateway.close());

test('a fault of ours in a stream is told to the operator, breaks the connection and still settles the call', async () => {
  const ours = new Error('a fault of ours');
  const { breakers } = lab.deps;
  lab.deps.breakers = {
    isOpen: (scope, node) => breakers.isOpen(scope, node),
    // Told when the first target has broken, in the middle of the delivery.
    record(_, __, status) {
      if (status !== 200) throw ours;
    },
  };
  const config = saveConfig(lab, { strategy: { mode: 'fallback' }, targets: [{ provider: '@a' }, { provider: '@b' }] });
  const reply = await gateway.handle(
    incomingOf(
      new Request('http://gw/v1/chat/completions', {
        method: 'POST',
        body: JSON.stringify({ model: 'm', messages: [], stream: true }),
        headers: { 'x-gw-api-key': workspaceKey, 'content-type': 'application/json', 'x-gw-config': config },
      }),
    ),
  );
  if (!reply || reply === 'upgraded') throw new Error('there was no answer');
  const response = responseOf(reply);
  expect(response.status).toBe(200);
  expect(await response.text().catch((fault: unknown) => fault)).toBe(ours);
  await gateway.idle();
  expect(lab.faults).toEqual([ours]);
  expect(lab.records.length).toBe(1);
});
