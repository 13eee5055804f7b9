/** Clients that other people's generators make from the served OpenAPI document: they compile, and their calls work. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Served, serve } from './process.ts';

/** Where `.ci/run` installs the generators. */
const typescript = join(homedir(), '.cache/gw-openapi-ts/node_modules');
const python = join(homedir(), '.cache/gw-openapi-python/bin');
const generator = join(typescript, '@hey-api/openapi-ts/bin/run.js');
const compiler = join(typescript, 'typescript/bin/tsc');
const pythonGenerator = join(python, 'openapi-python-client');

/** Generators and compilers take long on a machine that has other things to do. */
const timeoutMs = 600_000;

let folder: string;
let gateway: Served;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-clients-'));
  gateway = await serve({ GW_DATA_DIR: join(folder, 'data') });
  await Bun.write(join(folder, 'openapi.json'), await fetch(`${gateway.url}/openapi.json`));
});
afterAll(async () => {
  gateway.kill('SIGTERM');
  await gateway.ended;
  rmSync(folder, { recursive: true, force: true });
});

/** The standard output of a command that succeeds. */
async function outputOf(...command: string[]): Promise<string> {
  const env = { ...process.env, GW_URL: gateway.url, GW_ADMIN_KEY: gateway.adminKey };
  const child = Bun.spawn(command, { cwd: folder, env, stdout: 'pipe', stderr: 'pipe' });
  const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed:\n${out}\n${errors}`);
  return out;
}

/** What both programs print: they make a key, find it in the list, and ask a model with it. */
const told = {
  found: true,
  kinds: ['workspace'],
  said: 'You said: Hello from a generated client',
  refused: 'missing_provider',
};

describe('TypeScript', () => {
  const program = `
import { createClient, createConfig } from './typescript/client';
import { getApiKeys, getAdminWorkspaces, postApiKeysWorkspaceService, postChatCompletions } from './typescript/sdk.gen';

const baseUrl = process.env.GW_URL ?? '';
const withKey = (key: string) => createClient(createConfig({ baseUrl, headers: { 'x-gw-api-key': key } }));
const admin = withKey(process.env.GW_ADMIN_KEY ?? '');
const workspaces = await getAdminWorkspaces({ client: admin, throwOnError: true });
const workspace = workspaces.data.data[0];
const made = await postApiKeysWorkspaceService({
  client: admin,
  throwOnError: true,
  body: { name: 'Generated', workspace_id: workspace?.id ?? '', scopes: ['completions.write'] },
});
const keys = await getApiKeys({ client: admin, throwOnError: true });
const messages = [{ role: 'user' as const, content: 'Hello from a generated client' }];
const client = withKey(made.data.key);
const answer = await postChatCompletions({ client, throwOnError: true, body: { model: '@sandbox/echo', messages } });
const said = typeof answer.data === 'string' ? null : answer.data.choices[0]?.message.content;
const refused = await postChatCompletions({ client, body: { model: 'echo', messages } });
process.stdout.write(
  JSON.stringify({
    found: keys.data.data.some(({ id }) => id === made.data.id),
    kinds: workspaces.data.data.map(({ object }) => object),
    said,
    refused: refused.error?.error.code,
  }),
);
`;
  const settings = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2022', 'dom', 'dom.iterable'],
      skipLibCheck: true,
      types: [],
    },
    include: ['typescript/**/*.ts', 'program.ts', 'process.d.ts'],
  };
  const ambient =
    'declare const process: { env: Record<string, string | undefined>; stdout: { write(text: string): void } };';

  test.skipIf(!existsSync(generator))(
    'a client of @hey-api/openapi-ts compiles, and works',
    async () => {
      await outputOf(
        process.execPath,
        generator,
        '-i',
        'openapi.json',
        '-o',
        'typescript',
        '-c',
        '@hey-api/client-fetch',
      );
      await Bun.write(join(folder, 'program.ts'), program);
      await Bun.write(join(folder, 'process.d.ts'), ambient);
      await Bun.write(join(folder, 'tsconfig.json'), JSON.stringify(settings));
      await outputOf(process.execPath, compiler, '-p', '.');
      expect(JSON.parse(await outputOf(process.execPath, 'program.ts'))).toEqual(told);
    },
    timeoutMs,
  );
});

describe('Python', () => {
  const program = `
import json, os
from generated import Client
from generated.api.api_keys import get_api_keys, post_api_keys_workspace_service
from generated.api.inference import post_chat_completions
from generated.api.workspaces import get_admin_workspaces
from generated.models import ChatCompletionRequest, PostApiKeysWorkspaceServiceRequest

def with_key(key):
    return Client(base_url=os.environ["GW_URL"], headers={"x-gw-api-key": key})

admin = with_key(os.environ["GW_ADMIN_KEY"])
workspaces = get_admin_workspaces.sync(client=admin)
body = PostApiKeysWorkspaceServiceRequest.from_dict(
    {"name": "Generated", "workspace_id": workspaces.data[0].id, "scopes": ["completions.write"]}
)
made = post_api_keys_workspace_service.sync(client=admin, body=body)
keys = get_api_keys.sync(client=admin)

def ask(model):
    messages = [{"role": "user", "content": "Hello from a generated client"}]
    body = ChatCompletionRequest.from_dict({"model": model, "messages": messages})
    return post_chat_completions.sync(client=with_key(made.key), body=body)

print(json.dumps({
    "found": any(key.id == made.id for key in keys.data),
    "kinds": [workspace.object_ for workspace in workspaces.data],
    "said": ask("@sandbox/echo").choices[0].message.content,
    "refused": ask("echo").error.code,
}))
`;

  test.skipIf(!existsSync(pythonGenerator))(
    'a client of openapi-python-client is whole, and works',
    async () => {
      const words = ['generate', '--path', 'openapi.json', '--output-path', 'generated', '--meta', 'none'];
      const output = await outputOf(pythonGenerator, ...words);
      expect(output).not.toContain('will be ignored');
      expect(output).not.toContain('WARNING parsing');
      await outputOf(join(python, 'python'), '-m', 'compileall', '-q', 'generated');
      await Bun.write(join(folder, 'program.py'), program);
      expect(JSON.parse(await outputOf(join(python, 'python'), 'program.py'))).toEqual(told);
    },
    timeoutMs,
  );
});
