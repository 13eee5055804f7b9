/** Secrets at rest: AES-256-GCM under the master key, each value bound to the place it was written for. */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Vault {
  /** Encrypts `secret`; only `open` with the same `purpose` reads it back. */
  seal(secret: string, purpose: string): string;
  open(sealed: string, purpose: string): string;
}

/** A vault that knows several master keys while one takes the place of another. */
export interface KeyRing extends Vault {
  /** The key that new values are sealed under. */
  readonly sealingKey: string;
  knows(keyId: string): boolean;
  /** From now on its values can be opened; sealing goes on under the key of before. */
  add(masterKey: Buffer): string;
  sealUnder(keyId: string): void;
  /** The same value under the sealing key: what it holds is neither needed nor seen. */
  rewrapped(sealed: string): string;
}

const version = 'v2';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** A multiple of three, so that values under one key begin with the same text. */
const idBytes = 6;
const wrapBytes = nonceBytes + tagBytes + keyBytes;
const wrapPurpose = Buffer.from('data key');

/** Known by it without showing anything of the key. */
const idOf = (masterKey: Buffer): string =>
  createHmac('sha256', masterKey).update('master key id').digest().subarray(0, idBytes).toString('base64url');

/** How values under a key begin. */
export const sealedPrefix = (keyId: string): string => `${version}.${keyId}`;
export const sealedMark = `${version}.`;

function encrypted(key: Buffer, content: Buffer, purpose: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(purpose);
  const body = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function decrypted(key: Buffer, bytes: Buffer, purpose: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
    .setAAD(purpose)
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
}

/**
 * A value is sealed under a key of its own, and that under the master key: another master key takes over by wrapping
 * those keys anew.
 */
export function createVault(masterKey: Buffer): KeyRing {
  const keys = new Map<string, Buffer>();
  const add = (key: Buffer): string => {
    if (key.length !== keyBytes) throw new Error('The master key must be 32 bytes');
    const id = idOf(key);
    keys.set(id, key);
    return id;
  };
  let sealing = add(masterKey);

  const keyOf = (id: string): Buffer => {
    const key = keys.get(id);
    if (!key) throw new Error('Sealed under another master key');
    return key;
  };

  const parts = (sealed: string) => {
    const [sealedVersion, payload] = sealed.split('.');
    if (sealedVersion !== version || !payload) throw new Error('Not a sealed value');
    const bytes = Buffer.from(payload, 'base64url');
    const key = keyOf(bytes.subarray(0, idBytes).toString('base64url'));
    const dataKey = decrypted(key, bytes.subarray(idBytes, idBytes + wrapBytes), wrapPurpose);
    return { dataKey, body: bytes.subarray(idBytes + wrapBytes) };
  };

  const joined = (dataKey: Buffer, body: Buffer): string => {
    const wrapped = encrypted(keyOf(sealing), dataKey, wrapPurpose);
    const bytes = Buffer.concat([Buffer.from(sealing, 'base64url'), wrapped, body]);
    return `${version}.${bytes.toString('base64url')}`;
  };

  return {
    get sealingKey() {
      return sealing;
    },
    knows: (id) => keys.has(id),
    add,
    sealUnder(id) {
      keyOf(id);
      sealing = id;
    },
    seal(secret, purpose) {
      const dataKey = randomBytes(keyBytes);
      return joined(dataKey, encrypted(dataKey, Buffer.from(secret, 'utf8'), Buffer.from(purpose)));
    },
    open(sealed, purpose) {
      const { dataKey, body } = parts(sealed);
      return decrypted(dataKey, body, Buffer.from(purpose)).toString('utf8');
    },
    rewrapped(sealed) {
      const { dataKey, body } = parts(sealed);
      return joined(dataKey, body);
    },
  };
}

/** A key given in the environment may be any long secret; a digest makes it the 32 bytes that the cipher needs. */
export const masterKeyFrom = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** The master key kept in the data folder, made on first use and readable by its owner alone. */
export function masterKeyFile(dataDir: string, name = 'master.key'): Buffer {
  const path = join(dataDir, name);
  if (!existsSync(path)) makeKeyFile(path);
  chmodSync(path, 0o600);
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'hex');
  if (key.length !== 32) {
    throw new Error(`${path} does not hold a 32-byte key in hex; restore it from a backup or set GW_MASTER_KEY`);
  }
  return key;
}

/** The file appears whole or not at all, and of two programs that make it at once the first wins. */
function makeKeyFile(path: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    unlinkSync(draft);
  }
}
