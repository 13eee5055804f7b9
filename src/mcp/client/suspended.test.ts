/** Calls that wait for their clients: each organisation has a share, and no upstream asks without end. */
import { expect, test } from 'bun:test';
import type { RpcResponse } from '../protocol/json-rpc.ts';
import { OpenCall, SuspendedCalls } from './suspended.ts';

const seal = { seal: (text: string) => text, open: (text: string) => text };

test('an organisation that has its share makes room itself, and takes none from others', () => {
  const calls = new SuspendedCalls(seal);
  const waiting = () => new OpenCall(() => new Promise(() => undefined));
  const theirs = calls.keep(waiting(), 'owner', 'b');
  const states = Array.from({ length: 1_251 }, () => calls.keep(waiting(), 'owner', 'a'));
  expect(() => calls.take(states[0] ?? '', 'owner')).toThrow('has expired');
  expect(calls.take(states[1] ?? '', 'owner')).toBeInstanceOf(OpenCall);
  expect(calls.take(theirs, 'owner')).toBeInstanceOf(OpenCall);
  calls.close();
});

test('an upstream that wants to know too much at once is refused', async () => {
  const answers: Promise<RpcResponse>[] = [];
  const call = new OpenCall((ask) => {
    for (let id = 0; id < 101; id++) {
      answers.push(ask({ kind: 'request', id, method: 'elicitation/create', params: {} }));
    }
    return new Promise(() => undefined);
  });
  expect(Object.keys(call.inputRequests)).toHaveLength(100);
  expect((await answers[100])?.error?.message).toBe('Too much is asked at once');
  call.abandon();
});
