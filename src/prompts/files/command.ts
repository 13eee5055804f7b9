/** `gw prompts`: prompts and partials as files in a folder, for teams that keep them under version control. */
import { stat } from 'node:fs/promises';
import type { Settings } from '../../environment.ts';
import { connect } from './client.ts';
import { exportPrompts } from './export.ts';
import { PromptFilesError } from './file.ts';
import { type ImportStep, importPrompts } from './import.ts';

interface PromptsOptions {
  workspace: string | undefined;
  draft: boolean;
  dryRun: boolean;
}

const usage = 'use gw prompts export FOLDER or gw prompts import FOLDER';

export async function promptsCommand(
  { client, port }: Pick<Settings, 'client' | 'port'>,
  [action, folder, ...more]: readonly string[],
  options: PromptsOptions,
): Promise<string> {
  if ((action !== 'export' && action !== 'import') || folder === undefined || more.length > 0) {
    throw new PromptFilesError(`gw prompts needs an action and a folder; ${usage}.`);
  }
  if (client.apiKey === null) {
    throw new PromptFilesError(
      'Set GW_API_KEY to a key with the scopes of prompts; an admin key also needs --workspace.',
    );
  }
  const url = client.url ?? `http://127.0.0.1:${port}`;
  const server = connect({ url, key: client.apiKey, workspace: options.workspace });
  if (action === 'export') {
    const { written, unchanged, removed } = await exportPrompts(server, folder);
    return `${written} written, ${unchanged} unchanged, ${removed} removed.\n`;
  }
  if (!(await stat(folder).catch(() => null))?.isDirectory()) throw new PromptFilesError(`${folder} is no folder.`);
  return report(await importPrompts(server, folder, options), options.dryRun);
}

function report(steps: readonly ImportStep[], dryRun: boolean): string {
  const done = steps.filter(({ deed }) => deed !== 'keep');
  const lines = done.map(({ deed, kind, name, slug }) => `${deed} ${kind} ${name} (${slug})\n`);
  const kept = steps.length - done.length;
  return `${lines.join('')}${done.length} ${dryRun ? 'to do' : 'done'}, ${kept} unchanged.\n`;
}
