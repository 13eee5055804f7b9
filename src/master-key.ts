/** `gw master-key`: another master key in the place of the present one. */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from './clock.ts';
import type { Settings } from './environment.ts';
import { readMasterKey } from './master-key-source.ts';
import { openState } from './open-services.ts';
import { requireSameMasterKey } from './store/master-key.ts';
import {
  ReplacedKeyError,
  retireMasterKeys,
  rotateMasterKey,
  valuesUnderOtherKeys,
} from './store/rotate-master-key.ts';
import { createVault } from './store/vault.ts';

/** A fault of the operator's, told in one line. */
export class MasterKeyError extends Error {}

const usage = 'use gw master-key rotate, gw master-key retire, or gw master-key status';

export async function masterKeyCommand(
  settings: Settings,
  [action, ...rest]: readonly string[],
  print: (text: string) => void,
  pause: (ms: number) => Promise<void> = Bun.sleep,
): Promise<void> {
  const work = rest.length === 0 && action ? actions[action] : undefined;
  if (!work) throw new MasterKeyError(`gw master-key ${action ? 'cannot do that' : 'needs an action'}; ${usage}.`);
  await work(settings, print, pause);
}

type Action = (
  settings: Settings,
  print: (text: string) => void,
  pause: (ms: number) => Promise<void>,
) => Promise<void>;

const rotate: Action = async (settings, print, pause) => {
  const { dataDir, masterKey, nextMasterKey } = settings;
  const toFile = nextMasterKey.from === 'file';
  if (toFile && masterKey.from !== 'file') {
    throw new MasterKeyError(
      'The master key comes from the environment: set GW_NEXT_MASTER_KEY or GW_NEXT_MASTER_KEY_KMS_CIPHERTEXT to the next one.',
    );
  }
  const { store } = await openState(settings, systemClock);
  try {
    const current = await readMasterKey(masterKey, dataDir);
    await requireSameMasterKey(store, createVault(current));
    const next = await readMasterKey(nextMasterKey, dataDir);
    if (current.equals(next)) throw new MasterKeyError('The next master key is the present one; choose another.');
    print('Running processes learn the next key; this takes about ten seconds.\n');
    const { values } = await rotateMasterKey({
      store,
      current,
      next,
      now: () => systemClock.now(),
      pause,
      onProgress: (table, column, count) => print(`${table}.${column}: ${count}\n`),
    });
    print(`${values} sealed values are under the next key.\n`);
    if (!toFile) {
      print('Give every process the next key as its master key, then run gw master-key retire with it.\n');
      return;
    }
    renameSync(join(dataDir, nextKeyFile), join(dataDir, 'master.key'));
    await retireMasterKeys(store, next);
    print('master.key holds it now, and the old key opens nothing any more. Back it up anew.\n');
  } finally {
    await store.close();
  }
};

const retire: Action = async (settings, print) => {
  const { store } = await openState(settings, systemClock);
  try {
    const current = await readMasterKey(settings.masterKey, settings.dataDir);
    await requireSameMasterKey(store, createVault(current));
    await retireMasterKeys(store, current).catch((fault) => {
      throw fault instanceof ReplacedKeyError ? new MasterKeyError(fault.message) : fault;
    });
    print('The old master key opens nothing any more.\n');
  } finally {
    await store.close();
  }
};

const status: Action = async (settings, print) => {
  const { store } = await openState(settings, systemClock);
  try {
    const vault = createVault(await readMasterKey(settings.masterKey, settings.dataDir));
    const { sealingKey } = vault;
    await requireSameMasterKey(store, vault);
    const left = await valuesUnderOtherKeys(store, sealingKey);
    const rows = await store.db.selectFrom('master_keys').select('id').execute();
    const waits = existsSync(join(settings.dataDir, nextKeyFile));
    print(`The master key comes from ${sources[settings.masterKey.from]}.\n`);
    print(rows.length > 0 || waits ? 'A rotation is under way.\n' : 'No rotation is under way.\n');
    print(`${left} sealed values are under another key.\n`);
  } finally {
    await store.close();
  }
};

const actions: Readonly<Record<string, Action>> = { rotate, retire, status };
const sources = { environment: 'GW_MASTER_KEY', kms: 'AWS KMS', file: 'master.key in the data folder' };
const nextKeyFile = 'master.key.next';
