/** Secrets on the gateway's own machine: environment variables and files, only those that the operator has opened. */
import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { type AuthConfig, SecretFault, type SecretManager } from '../manager.ts';

const nothing = lazy(() => z.object({}));
const shared = {
  authConfig: nothing as () => z.ZodType<AuthConfig>,
  maskedFields: new Set<string>(),
  addressFields: [],
};

const isOpen = (name: string, opened: readonly string[]): boolean =>
  opened.some((entry) => (entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : entry === name));

export const environmentSecrets: SecretManager = {
  ...shared,
  faultOfPath: (path) => (/^[A-Za-z_]\w*$/.test(path) ? null : 'must be the name of an environment variable'),
  async fetch({ path }, { env, local }) {
    if (!isOpen(path, local.environmentVariables)) {
      throw new SecretFault('refused', `the operator has not opened ${path} in SECRET_ENVIRONMENT_VARIABLES`);
    }
    const value = env[path];
    if (value === undefined) throw new SecretFault('refused', `the environment variable ${path} is not set`);
    return value;
  },
};

const largestFile = 65_536;

export const fileSecrets: SecretManager = {
  ...shared,
  faultOfPath: (path) =>
    /^[^/\\\0][^\\\0]*$/.test(path) && !path.split('/').some((part) => part === '..' || part === '')
      ? null
      : 'must be the path of a file below SECRET_FILES_DIR, without a leading slash',
  async fetch({ path }, { local, readFile }) {
    if (local.filesDir === null)
      throw new SecretFault('refused', 'the operator has opened no files in SECRET_FILES_DIR');
    const unreadable = () => {
      throw new SecretFault('refused', `there is no file ${path} below SECRET_FILES_DIR that can be read`);
    };
    const folder = await realpath(local.filesDir).catch(unreadable);
    // Links may lead elsewhere inside the folder, as orchestrators make them, and nowhere else.
    const file = await realpath(join(folder, path)).catch(unreadable);
    if (!file.startsWith(folder + sep)) return unreadable();
    const facts = await stat(file).catch(unreadable);
    if (!facts.isFile() || facts.size > largestFile) {
      throw new SecretFault('refused', `${path} is no file of at most ${largestFile} bytes`);
    }
    const text = await readFile(file).catch(unreadable);
    return text.replace(/\r?\n$/, '');
  },
};
