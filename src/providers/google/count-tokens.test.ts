import { expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { countTokens } from './count-tokens.ts';

const url = 'https://example.com/a.png';
const body = {
  messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }],
};
const facts = callFacts({ kind: 'messagesCountTokens', model: 'models/gemini-2.5-flash', body });

test('images at addresses on the web are fetched and counted', () => {
  const { media, request } = countTokens('studio');
  expect(media?.(facts)).toEqual([url]);
  const fetched = { ...facts, media: new Map([[url, { mime: 'image/png', base64: 'aGk=' }]]) };
  expect(request?.(fetched)).toEqual({
    generateContentRequest: {
      model: 'models/gemini-2.5-flash',
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }] }],
    },
  });
});
