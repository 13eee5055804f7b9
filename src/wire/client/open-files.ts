/** The files and connections that this process may have open at a time. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';

/** Found out by trying: the runtime tells of a socket that it cannot make as if a server had refused it, and of a client that it cannot let in nothing at all. */
export function noFileIsLeft(): boolean {
  try {
    closeSync(openSync(devNull, 'r'));
    return false;
  } catch (fault) {
    return fault instanceof Error && 'code' in fault && (fault.code === 'EMFILE' || fault.code === 'ENFILE');
  }
}

/** How many this process may have open; null where the system does not tell. */
function mostOpenFiles(): number | null {
  try {
    const told = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return told ? Number(told[1]) : null;
  } catch (fault) {
    // Only Linux tells there.
    if (fault instanceof Error && 'code' in fault) return null;
    throw fault;
  }
}

/** What one tenant's calls may take: each takes two, one on either side, so that three quarters of all are left to it at most. */
export const shareOfFiles = (): number => Math.floor(((mostOpenFiles() ?? 65_536) * 3) / 8);
