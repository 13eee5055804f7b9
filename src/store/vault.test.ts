/** Secrets at rest. */
import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createVault, masterKeyFile, masterKeyFrom, sealedPrefix } from './vault.ts';

const vault = createVault(masterKeyFrom('a master key of at least 32 characters'));

describe('a sealed secret', () => {
  test('is read back as it was, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (secret, purpose) => {
        expect(vault.open(vault.seal(secret, purpose), purpose)).toBe(secret);
      }),
    );
  });

  test('does not show the secret, and looks different every time', () => {
    const [one, two] = [vault.seal('open sesame', 'door'), vault.seal('open sesame', 'door')];
    expect(one).not.toBe(two);
    expect(one).not.toContain('sesame');
    expect(Buffer.from(one.split('.')[1] ?? '', 'base64url').toString('latin1')).not.toContain('sesame');
  });

  test('is not read for another purpose', () => {
    expect(() => vault.open(vault.seal('open sesame', 'door'), 'window')).toThrow();
  });

  test('is not read under another master key', () => {
    const other = createVault(masterKeyFrom('another master key of enough length'));
    expect(() => other.open(vault.seal('open sesame', 'door'), 'door')).toThrow();
  });

  test('is not read when any byte of it was changed', () => {
    const [version, payload = ''] = vault.seal('open sesame', 'door').split('.');
    const bytes = Buffer.from(payload, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const forged = Buffer.from(bytes);
      forged[at] = (forged[at] ?? 0) ^ 1;
      expect(() => vault.open(`${version}.${forged.toString('base64url')}`, 'door')).toThrow();
    }
  });

  test('is not read when its tag was cut short', () => {
    const bytes = Buffer.from(vault.seal('', 'door').split('.')[1] ?? '', 'base64url');
    for (let length = 0; length < bytes.length; length++) {
      expect(() => vault.open(`v2.${bytes.subarray(0, length).toString('base64url')}`, 'door')).toThrow();
    }
  });

  test.each(['', 'v2', 'v2.', 'v2.AAAA', 'v1.AAAA', 'plain text'])('%p is no sealed value', (text) => {
    expect(() => vault.open(text, 'door')).toThrow();
  });
});

describe('a second master key', () => {
  const next = masterKeyFrom('the next master key, as long as any');

  test('opens what the first sealed once that was wrapped anew, and the first does not any more', () => {
    const both = createVault(masterKeyFrom('a master key of at least 32 characters'));
    const sealed = both.seal('open sesame', 'door');
    both.sealUnder(both.add(next));
    const moved = both.rewrapped(sealed);
    expect(createVault(next).open(moved, 'door')).toBe('open sesame');
    expect(() => vault.open(moved, 'door')).toThrow('another master key');
    expect(both.open(sealed, 'door')).toBe('open sesame');
    expect(moved.startsWith(sealedPrefix(both.sealingKey))).toBe(true);
    expect(sealed.startsWith(sealedPrefix(both.sealingKey))).toBe(false);
    expect(() => createVault(next).open(moved, 'window')).toThrow();
  });
});

describe('the master key', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-vault-'));
  const path = join(folder, 'master.key');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('must have 32 bytes', () => {
    expect(() => createVault(Buffer.alloc(16))).toThrow('32 bytes');
  });

  test('in the data folder is made once and is readable by its owner alone', () => {
    const first = masterKeyFile(folder);
    expect(first).toHaveLength(32);
    expect(masterKeyFile(folder)).toEqual(first);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('leaves no draft behind', () => {
    expect(readdirSync(folder)).toEqual(['master.key']);
  });

  test('that others can read is closed to them again', () => {
    chmodSync(path, 0o644);
    masterKeyFile(folder);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('that was damaged is refused and left as it is', () => {
    writeFileSync(path, 'not a key');
    expect(() => masterKeyFile(folder)).toThrow('restore it from a backup');
    expect(readFileSync(path, 'utf8')).toBe('not a key');
  });
});
