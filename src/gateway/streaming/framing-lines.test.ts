/** Server-sent events that end with their line: the same wherever the bytes are cut, with and without blank lines. */
import { expect, test } from 'bun:test';
import { cutterOf } from './framing.ts';

const sent = Buffer.from(
  ': hello\ndata: {"a":"é"}\ndata:{"b":1}\r\n\r\nevent: x\nid: 7\ndata: {"c":2}\n\n\ndata: [DONE]',
);
const expected = ['{"a":"é"}', '{"b":1}', '{"c":2}', '[DONE]'].map((data) => ({ event: null, data }));

test('a stream cut at every byte gives the same events', () => {
  for (let cut = 0; cut <= sent.length; cut++) {
    const cutter = cutterOf('sse-lines');
    const events = [...cutter.push(sent.subarray(0, cut)), ...cutter.push(sent.subarray(cut)), ...cutter.rest()];
    expect(events).toEqual(expected);
  }
});

test('an event is told as soon as its line ends', () => {
  const cutter = cutterOf('sse-lines');
  expect(cutter.push(Buffer.from('data: 1\nda'))).toEqual([{ event: null, data: '1' }]);
});
