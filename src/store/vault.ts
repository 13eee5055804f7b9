/** Secrets at rest: AES-256-GCM under the master key, each value bound to the place it was written for. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Vault {
  /** Encrypts `secret`; only `open` with the same `purpose` reads it back. */
  seal(secret: string, purpose: string): string;
  open(sealed: string, purpose: string): string;
}

const version = 'v1';
const nonceBytes = 12;
const tagBytes = 16;

export function createVault(masterKey: Buffer): Vault {
  if (masterKey.length !== 32) throw new Error('The master key must be 32 bytes');
  return {
    seal(secret, purpose) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return `${version}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(sealed, purpose) {
      const [sealedVersion, payload] = sealed.split('.');
      if (sealedVersion !== version || !payload) throw new Error('Not a sealed value');
      const bytes = Buffer.from(payload, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', masterKey, bytes.subarray(0, nonceBytes))
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
    },
  };
}

/** A key given in the environment may be any long secret; a digest makes it the 32 bytes that the cipher needs. */
export const masterKeyFrom = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** The master key kept in the data folder, made on first use and readable by its owner alone. */
export function masterKeyFile(dataDir: string): Buffer {
  const path = join(dataDir, 'master.key');
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
