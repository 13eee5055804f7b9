import { expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { completion } from './complete.ts';

const asked = (body: object) =>
  completion.request?.(callFacts({ model: 'claude-2.1', body: { prompt: 'Hi', ...body } }));

test('a user’s id that tells who it is stays here', () => {
  expect(asked({ user: 'u-17' })).toMatchObject({ metadata: { user_id: 'u-17' } });
  for (const user of ['ada@example.com', '+49 170 1234567']) expect(asked({ user })).not.toHaveProperty('metadata');
});

test('stop sequences of nothing but white space are left out', () => {
  expect(asked({ stop: ['\n', 'END'] })).toMatchObject({ stop_sequences: ['END'] });
  expect(asked({ stop: ' ' })).not.toHaveProperty('stop_sequences');
});
