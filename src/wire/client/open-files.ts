/** The files and connections that this process may have open at a time. */
import { closeSync, openSync } from 'node:fs';
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
