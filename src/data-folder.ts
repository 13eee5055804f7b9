/** The data folder: one server at a time, and its files are its owner's alone. */
import { Database } from 'bun:sqlite';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Another server uses the folder. What it keeps in memory would never hear of what we write. */
export class FolderTakenError extends Error {
  constructor(folder: string, holder: string) {
    super(
      `The data folder ${folder} is in use by another gw (${holder}); end that one, or choose another folder with --data-dir or GW_DATA_DIR.`,
    );
  }
}

/** Makes the folder, and keeps everything in it, old and new, from other users of the machine. */
export function preparedFolder(folder: string): void {
  // Databases, their journals and the spool are made by several libraries; this holds for all of them.
  process.umask(0o077);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  }
}

/** Takes the folder for as long as this process lives or until the lock is closed. The system frees it should we be killed. */
export function lockedFolder(folder: string, now: Date): { close(): void } {
  const holderFile = join(folder, 'process.txt');
  const lock = new Database(join(folder, 'process.lock'), { create: true });
  try {
    lock.run('begin exclusive');
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') {
      throw new FolderTakenError(folder, readHolder(holderFile));
    }
    throw error;
  }
  writeFileSync(holderFile, `process ${process.pid} on ${hostname()}, since ${now.toISOString()}\n`);
  return lock;
}

function readHolder(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    // It has taken the lock and not written its name yet.
    return 'a process that is starting';
  }
}
