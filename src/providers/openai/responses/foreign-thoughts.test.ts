import { expect, test } from 'bun:test';
import { callFacts } from '../../../../test/call-facts.ts';
import { azureOpenAi } from '../../azure/azure-openai.ts';
import { seal } from '../../fronts/sealed.ts';
import type { JsonObject, Provider } from '../../provider.ts';
import { openai } from '../openai.ts';

function sent(
  { endpoints }: Provider,
  input: unknown,
): { body: JsonObject; adjusted: Readonly<JsonObject> | undefined } {
  const body = { model: 'gpt-5', input };
  const facts = callFacts({ kind: 'createModelResponse', model: 'gpt-5', body });
  const endpoint = endpoints.createModelResponse;
  return { body, adjusted: (typeof endpoint === 'function' ? endpoint(facts) : endpoint)?.adjust?.(body, facts) };
}

const reasoning = (encrypted_content?: string) => ({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content });
const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' };

test.each([
  ['OpenAI', openai],
  ['Azure', azureOpenAi],
])('what we sealed for another provider is not shown to %s; its own thoughts travel', (_, provider) => {
  const own = reasoning('gAAAAABo');
  const sealed = [
    reasoning(seal({ holds: 'signature', signature: 'of-claude' })),
    reasoning(seal({ holds: 'thought', content: 'hidden' })),
    reasoning(seal({ holds: 'call', id: 'c1', signature: 'of-gemini' })),
  ];
  expect(sent(provider, [own, ...sealed, reasoning(), call]).adjusted?.input).toEqual([own, reasoning(), call]);
  for (const input of [[own, call], 'Hello', undefined]) {
    const { body, adjusted } = sent(provider, input);
    expect(adjusted).toBe(body);
  }
});
