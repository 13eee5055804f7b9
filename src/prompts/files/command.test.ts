/** Prompts as files: out of one workspace, under version control, and into it or another one again. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway, type TestGateway } from '../../../test/harness.ts';
import { addOrganisation, addWorkspace, home } from '../../../test/people.ts';
import { run } from '../../../test/process.ts';
import { promptsCommand } from './command.ts';

let gateway: TestGateway;
let folder: string;
let slug: string;
beforeAll(async () => {
  gateway = await startGateway();
  folder = mkdtempSync(join(tmpdir(), 'gw-prompt-files-'));
  const key = { key: gateway.workspaceKey };
  const mail = (await gateway.post('/v1/collections', { name: 'Mail' }, key)).body.id;
  const inner = (await gateway.post('/v1/collections', { name: 'Replies', parent_collection_id: mail }, key)).body.id;
  await gateway.post('/v1/prompts/partials', { name: 'Tone', slug: 'pp-tone', string: 'Be kind.\nBe short.\n' }, key);
  const made = await gateway.post(
    '/v1/prompts',
    {
      name: 'Reply',
      collection_id: inner,
      string: JSON.stringify([
        { role: 'system', content: 'You answer mails.\n{{>pp-tone}}\n\nSign as {{name}}.' },
        { role: 'user', content: [{ type: 'text', text: '{{mail}}' }] },
      ]),
      parameters: { max_tokens: 200, stop: ['\n\n'] },
      virtual_key: 'sandbox',
      model: 'sandbox-1',
      tools: [{ type: 'function', function: { name: 'look_up' } }],
      tool_choice: 'auto',
      version_description: 'The first',
    },
    key,
  );
  expect(made.status).toBe(200);
  ({ slug } = made.body);
  const plain = { name: 'Plain', collection_id: mail, string: 'Say {{word}}', parameters: {}, virtual_key: '@sandbox' };
  expect((await gateway.post('/v1/prompts', { ...plain, slug: 'pp-plain' }, key)).status).toBe(200);
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  rmSync(folder, { recursive: true, force: true });
});

const command = (
  args: string[],
  more: { key?: string; workspace?: string; draft?: boolean; dryRun?: boolean } = {},
): Promise<string> =>
  promptsCommand({ client: { url: gateway.url, apiKey: more.key ?? gateway.workspaceKey }, port: 0 }, args, {
    workspace: more.workspace,
    draft: more.draft ?? false,
    dryRun: more.dryRun ?? false,
  });
const replyFile = () => join(folder, 'prompts', `${slug}.yaml`);
const published = async (key?: string) =>
  (await gateway.get(`/v1/prompts/${slug}`, { key: key ?? gateway.workspaceKey })).body;

describe('export', () => {
  test('writes one readable file for each prompt and partial', async () => {
    expect(await command(['export', folder])).toBe('3 written, 0 unchanged, 0 removed.\n');
    expect(readFileSync(replyFile(), 'utf8')).toBe(`kind: prompt
slug: ${slug}
name: Reply
collection:
  - Mail
  - Replies
description: "The first"
provider: "@sandbox"
model: sandbox-1
parameters:
  max_tokens: 200
  stop:
    - "\\n\\n"
tools:
  - type: function
    function:
      name: look_up
tool_choice: auto
messages:
  - role: system
    content: |-
      You answer mails.
      {{>pp-tone}}

      Sign as {{name}}.
  - role: user
    content:
      - type: text
        text: "{{mail}}"
`);
    expect(readFileSync(join(folder, 'partials/pp-tone.yaml'), 'utf8')).toBe(
      'kind: partial\nslug: pp-tone\nname: Tone\ntext: |\n  Be kind.\n  Be short.\n',
    );
    expect(readFileSync(join(folder, 'prompts/pp-plain.yaml'), 'utf8')).toContain('text: "Say {{word}}"\n');
  });

  test('again changes nothing, removes files of prompts that are gone, and leaves other files alone', async () => {
    expect(await command(['export', folder])).toBe('0 written, 3 unchanged, 0 removed.\n');
    writeFileSync(join(folder, 'prompts/notes.yaml'), 'notes: ours\n');
    writeFileSync(
      join(folder, 'prompts/pp-gone.yaml'),
      'kind: prompt\nslug: pp-gone\nname: Gone\nprovider: x\ntext: x\n',
    );
    expect(await command(['export', folder])).toBe('0 written, 3 unchanged, 1 removed.\n');
    expect(readdirSync(join(folder, 'prompts')).sort()).toEqual([`${slug}.yaml`, 'notes.yaml', 'pp-plain.yaml'].sort());
    rmSync(join(folder, 'prompts/notes.yaml'));
  });

  test('runs as a command of the program', async () => {
    const other = mkdtempSync(join(tmpdir(), 'gw-prompt-files-'));
    const env = { GW_URL: gateway.url, GW_API_KEY: gateway.workspaceKey, GW_DATA_DIR: other };
    const { code, stdout } = await run(['prompts', 'export', join(other, 'out')], env);
    expect([code, stdout]).toEqual([0, '3 written, 0 unchanged, 0 removed.\n']);
    const refused = await run(['prompts', 'import', join(other, 'nowhere')], env);
    expect([refused.code, refused.stderr]).toEqual([1, `gw: ${join(other, 'nowhere')} is no folder.\n`]);
    rmSync(other, { recursive: true, force: true });
  });
});

describe('import', () => {
  test('of what is there changes nothing', async () => {
    expect(await command(['import', folder])).toBe('0 done, 3 unchanged.\n');
    expect((await published()).prompt_version).toBe(1);
  });

  test('of changed files makes a version each and publishes it, once', async () => {
    writeFileSync(replyFile(), readFileSync(replyFile(), 'utf8').replace('You answer mails.', 'You answer letters.'));
    const tone = join(folder, 'partials/pp-tone.yaml');
    writeFileSync(tone, readFileSync(tone, 'utf8').replace('Be short.', 'Be brief.'));
    const planned = await command(['import', folder], { dryRun: true });
    expect(planned).toContain('4 to do, 1 unchanged.');
    expect((await published()).prompt_version).toBe(1);
    expect(await command(['import', folder])).toBe(
      `change partial Tone (pp-tone)\npublish partial Tone (pp-tone)\nchange prompt Reply (${slug})\npublish prompt Reply (${slug})\n4 done, 1 unchanged.\n`,
    );
    expect(await published()).toMatchObject({ prompt_version: 2, prompt_version_status: 'active' });
    expect((await published()).string).toContain('You answer letters.');
    expect(await command(['import', folder])).toBe('0 done, 3 unchanged.\n');
  });

  test('with --draft publishes nothing; without it, the draft is published and no second version made', async () => {
    writeFileSync(replyFile(), readFileSync(replyFile(), 'utf8').replace('letters', 'postcards'));
    expect(await command(['import', folder], { draft: true })).toContain(`change prompt Reply (${slug})\n1 done`);
    expect(await command(['import', folder], { draft: true })).toBe('0 done, 3 unchanged.\n');
    expect((await published()).prompt_version).toBe(2);
    expect(await command(['import', folder])).toContain(`publish prompt Reply (${slug})\n1 done`);
    expect((await published()).prompt_version).toBe(3);
  });

  test('renames and moves without a new version', async () => {
    const text = readFileSync(replyFile(), 'utf8')
      .replace('name: Reply\n', 'name: Answer\n')
      .replace('  - Replies\n', '  - Answers\n');
    writeFileSync(replyFile(), text);
    expect(await command(['import', folder])).toContain(`move prompt Answer (${slug})\n1 done`);
    expect(await published()).toMatchObject({ name: 'Answer', prompt_version: 3 });
    expect(await command(['import', folder])).toBe('0 done, 3 unchanged.\n');
  });

  test('into another organisation keeps slugs and makes collections; into it again changes nothing', async () => {
    const { adminKey: key, organisationId } = await addOrganisation(gateway);
    const { slug: workspace, id } = await addWorkspace(gateway, organisationId, 'Production');
    const asked = {
      name: 'Sandbox',
      ai_provider_id: 'sandbox',
      workspace_id: id,
      create_default_provider: true,
      default_provider_slug: 'sandbox',
    };
    const made = await gateway.post('/v1/integrations', asked, { key });
    expect([made.status, made.body.data?.message]).toEqual([200, undefined]);
    expect(await command(['import', folder], { key, workspace })).toContain('3 done, 0 unchanged.');
    expect(await published(key)).toMatchObject({ name: 'Answer', slug, prompt_version: 1 });
    expect(await command(['import', folder], { key, workspace })).toBe('0 done, 3 unchanged.\n');
    const copy = mkdtempSync(join(tmpdir(), 'gw-prompt-files-'));
    await command(['export', copy], { key, workspace });
    expect(readFileSync(join(copy, 'prompts', `${slug}.yaml`), 'utf8')).toBe(readFileSync(replyFile(), 'utf8'));
    rmSync(copy, { recursive: true, force: true });
  });

  test('a slug that another workspace of the organisation has is refused by name', async () => {
    const { organisationId } = await home(gateway);
    const { slug: workspace } = await addWorkspace(gateway, organisationId, 'Beside');
    await expect(command(['import', folder], { key: gateway.adminKey, workspace })).rejects.toThrow(
      'partials/pp-tone.yaml: POST /prompts/partials: The slug pp-tone is taken in this organisation',
    );
  });

  test('wrong files are refused before anything is changed', async () => {
    const other = mkdtempSync(join(tmpdir(), 'gw-prompt-files-'));
    mkdirSync(join(other, 'prompts'));
    const file = join(other, 'prompts/a.yaml');
    await expect(command(['import', other])).rejects.toThrow('holds no prompts');
    for (const [text, reason] of [
      ['kind: [', 'is no YAML'],
      ['kind: song', 'kind'],
      ['kind: prompt\nslug: pp-a\nname: A\nprovider: x', 'messages or text'],
      ['kind: prompt\nslug: Bad\nname: A\nprovider: x\ntext: x', 'slug'],
      ['kind: prompt\nslug: pp-a\nname: A\nprovider: x\ntext: x\ncolour: red', 'colour'],
      ['kind: prompt\nslug: pp-a\nname: A\nprovider: nobody\ntext: x', 'names no provider'],
      ['kind: prompt\nslug: pp-a\nname: A\nprovider: sandbox\ntext: "{{#a}}"', 'string'],
    ]) {
      writeFileSync(file, text ?? '');
      await expect(command(['import', other])).rejects.toThrow(reason ?? '');
    }
    writeFileSync(join(other, 'prompts/b.yaml'), readFileSync(file));
    await expect(command(['import', other])).rejects.toThrow('two files of the prompt pp-a');
    rmSync(other, { recursive: true, force: true });
  });
});

test('a wrong command, no key, a wrong key and a server that is away are told in one line', async () => {
  await expect(command(['export'])).rejects.toThrow('gw prompts needs an action and a folder');
  await expect(command(['export', folder], { key: 'nothing' })).rejects.toThrow('AB05');
  const options = { workspace: undefined, draft: false, dryRun: false };
  const client = { url: 'http://127.0.0.1:1', apiKey: null };
  await expect(promptsCommand({ client, port: 0 }, ['export', folder], options)).rejects.toThrow('GW_API_KEY');
  await expect(
    promptsCommand({ client: { ...client, apiKey: 'x' }, port: 0 }, ['export', folder], options),
  ).rejects.toThrow('GW_URL');
});

test('a slug of the caller’s choice must be of the form of ours, and free', async () => {
  const key = { key: gateway.workspaceKey };
  const partial = (chosen: string) =>
    gateway.post('/v1/prompts/partials', { name: 'P', string: 'x', slug: chosen }, key);
  expect((await partial('partials')).status).toBe(400);
  expect((await partial('pp-tone')).body.data.errorCode).toBe('AB07');
  expect((await partial('pp-mine')).body.slug).toBe('pp-mine');
});
