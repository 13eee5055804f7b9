/** A stream that is cut at any byte and completed by another target. */
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { streamed } from '../../../test/providers/scripted.ts';
import { dialects } from '../../../test/stream-dialects.ts';
import { complete, encoder, newStreamLab, words } from '../../../test/stream-lab.ts';

const { lab, scripts, rescued, ask } = newStreamLab();

afterAll(() => lab.deps.deadlines.stop());
afterEach(() => {
  expect(lab.faults).toEqual([]);
});

describe.each(Object.entries(dialects))('%s', (_, dialect) => {
  const whole = encoder.encode(dialect.whole(words).join(''));

  test('cut at every byte, with another target behind, the answer is complete and sound', async () => {
    scripts.b = () => streamed(dialect.whole(['On', 'e two žl', 'uť 🐎 fi', 've'], 'id-of-b'));
    for (const ending of ['end', 'break'] as const) {
      for (let cut = 0; cut < whole.length; cut++) {
        scripts.a = () => streamed([whole.subarray(0, cut)], ending);
        expect({ cut, ...(await ask(dialect, rescued)) }).toMatchObject({ cut, ...complete });
      }
    }
  });
});
