/** Which policies count a call, and in which group. */
import { describe, expect, test } from 'bun:test';
import type { PolicyCondition } from './policy.ts';
import { type PolicyFacts, PolicyIndex, type PolicySource } from './policy-index.ts';

const policy = (conditions: PolicyCondition[], groupBy: string[] = ['api_key'], more: Partial<PolicySource> = {}) =>
  ({
    id: Bun.randomUUIDv7(),
    kind: 'rate',
    organisationId: 'org',
    name: null,
    conditions,
    groupBy: groupBy.map((key) => ({ key })),
    target: 'llm',
    type: 'requests',
    unit: 'rpm',
    value: 1,
    window: { kind: 'rate', unit: 'rpm' },
    mode: 'enforce',
    clampMaxTokens: false,
    ...more,
  }) satisfies PolicySource;

const facts = (more: Partial<PolicyFacts> = {}): PolicyFacts => ({
  apiKeyId: 'key-1',
  organisationId: 'org',
  workspaceId: 'ws',
  workspaceSlug: 'ws-team',
  endpointType: 'chatComplete',
  metadata: { _user: 'alice', team: 'blue' },
  config: null,
  prompt: null,
  target: null,
  service: null,
  ...more,
});

const target = { virtualKey: 'main', provider: 'openai', model: 'gpt-5' };

/** The groups in which a call is counted, by request facts and by target facts. */
const groups = (policies: PolicySource[], of: PolicyFacts) => {
  const index = new PolicyIndex(policies);
  const name = (counter: string) => counter.split('/').slice(5).join('/');
  return [...index.onRequest(of), ...(of.target ? index.onTarget(of) : [])].map(({ counter }) => name(counter));
};

describe('conditions', () => {
  test.each<[string, PolicyCondition[], boolean]>([
    ['a value', [{ key: 'api_key', value: 'key-1' }], true],
    ['another value', [{ key: 'api_key', value: 'key-2' }], false],
    ['one of a list', [{ key: 'api_key', value: ['key-2', 'key-1'] }], true],
    ['the slug of the workspace', [{ key: 'workspace_id', value: 'ws-team' }], true],
    ['the organisation', [{ key: 'organisation_id', value: 'org' }], true],
    ['any value that is there', [{ key: 'metadata._user', value: '*' }], true],
    ['any value that is not there', [{ key: 'metadata.absent', value: '*' }], false],
    ['any value but this one', [{ key: 'metadata._user', value: '*', excludes: 'alice' }], false],
    ['any value but others', [{ key: 'metadata._user', value: '*', excludes: ['bob', 'carol'] }], true],
    ['an endpoint', [{ key: 'endpoint_type', value: 'chatComplete' }], true],
    ['another endpoint', [{ key: 'endpoint_type', value: 'embed' }], false],
    [
      'all of several',
      [
        { key: 'metadata.team', value: 'blue' },
        { key: 'api_key', value: 'key-1' },
      ],
      true,
    ],
    [
      'not all of several',
      [
        { key: 'metadata.team', value: 'blue' },
        { key: 'api_key', value: 'key-9' },
      ],
      false,
    ],
    ['a provider', [{ key: 'provider', value: 'openai' }], true],
    ['a saved provider', [{ key: 'virtual_key', value: 'main' }], true],
    ['a model of a saved provider', [{ key: 'model', value: '@main/gpt-5' }], true],
    ['every model of a saved provider', [{ key: 'model', value: '@main/*' }], true],
    ['every model but this', [{ key: 'model', value: '@main/*', excludes: '@main/gpt-5' }], false],
    ['a config that was not used', [{ key: 'config', value: 'pc-x' }], false],
  ])('%s', (_what, conditions, expected) => {
    expect(groups([policy(conditions)], facts({ target }))).toEqual(expected ? ['api_key:key-1'] : []);
  });

  test('on a prompt hold before a target is chosen', () => {
    const onPrompt = policy([{ key: 'prompt', value: 'pp-greeting' }]);
    expect(groups([onPrompt], facts({ prompt: 'pp-greeting' }))).toEqual(['api_key:key-1']);
    expect(groups([onPrompt], facts())).toEqual([]);
  });

  test('on a target hold only once there is one', () => {
    const onModel = policy([{ key: 'model', value: '@main/*' }]);
    expect(new PolicyIndex([onModel]).onRequest(facts({ target }))).toEqual([]);
    expect(groups([onModel], facts())).toEqual([]);
  });
});

describe('groups', () => {
  const everyone: PolicyCondition[] = [{ key: 'workspace_id', value: '*' }];

  test('each tuple of values is one, and a missing one is the empty value', () => {
    const byUserAndTeam = policy(everyone, ['metadata._user', 'metadata.team']);
    expect(groups([byUserAndTeam], facts())).toEqual(['metadata._user:alice|metadata.team:blue']);
    expect(groups([byUserAndTeam], facts({ metadata: { team: 'red' } }))).toEqual([
      'metadata._user:|metadata.team:red',
    ]);
  });

  test('values cannot pass for another tuple', () => {
    const byUser = policy(everyone, ['metadata._user']);
    expect(groups([byUser], facts({ metadata: { _user: 'a|metadata.team:b\n' } }))).toEqual([
      'metadata._user:a%7Cmetadata.team%3Ab%0A',
    ]);
  });

  test('a model in a group is one of the target', () => {
    expect(groups([policy(everyone, ['model'])], facts({ target }))).toEqual(['model:@main/gpt-5']);
  });

  test('without group_by all calls are counted together', () => {
    expect(groups([policy(everyone, [])], facts())).toEqual(['*']);
  });

  test('a very long value is kept apart by its digest', () => {
    const byUser = policy(everyone, ['metadata._user']);
    const [one = '', other = ''] = ['1', '2'].flatMap((end) =>
      groups([byUser], facts({ metadata: { _user: 'x'.repeat(5_000) + end } })),
    );
    expect(one).not.toBe(other);
    expect(one.length).toBeLessThanOrEqual(400);
  });
});

test('policies that cannot match are not looked at', () => {
  let looked = 0;
  const watched = Array.from({ length: 10_000 }, (_, index) => {
    const source = policy([
      { key: 'metadata._user', value: `user-${index}` },
      { key: 'workspace_id', value: '*' },
    ]);
    return source;
  });
  const index = new PolicyIndex(watched);
  const metadata = new Proxy<Record<string, string>>(
    { _user: 'user-77' },
    {
      get(of, name) {
        looked++;
        return Reflect.get(of, name);
      },
    },
  );
  expect(index.onRequest(facts({ metadata }))).toHaveLength(1);
  expect(looked).toBeLessThan(10);
});

test('they come in the order in which they were made', () => {
  const first = policy([{ key: 'workspace_id', value: '*' }], [], { name: 'first' });
  const second = policy([{ key: 'api_key', value: 'key-1' }], [], { name: 'second' });
  const limits = new PolicyIndex([first, second]).onRequest(facts());
  expect(limits.map(({ name }) => name)).toEqual(['first', 'second']);
});

describe('calls of MCP tools', () => {
  const call = facts({ endpointType: 'mcpToolCall', service: { server: 'notes', tool: 'echo' } });

  test('are counted by policies on tools, apart by server and tool', () => {
    const onTools = { target: 'mcp_tools' as const };
    const own = policy([{ key: 'mcp_server', value: 'notes' }], ['mcp_tool'], onTools);
    const other = policy([{ key: 'mcp_tool', value: 'write' }], [], onTools);
    expect(groups([own, other], call)).toEqual(['mcp_tool:echo']);
    expect(groups([own, other], facts())).toEqual([]);
  });

  test('are counted by policies on models only where these name the type of call', () => {
    const everything = policy([{ key: 'api_key', value: '*' }]);
    const named = policy([{ key: 'endpoint_type', value: ['mcpToolCall', 'chatComplete'] }], ['workspace_id']);
    expect(groups([everything, named], call)).toEqual(['workspace_id:ws']);
    expect(groups([everything, named], facts())).toEqual(['api_key:key-1', 'workspace_id:ws']);
  });
});
