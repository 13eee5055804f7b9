/** An authority made on the spot, and certificates that it vouches for. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  key: string;
  cert: string;
}

export interface Authority {
  /** The file that says whom to trust. */
  path: string;
  /** `names` as certificates write them (`DNS:a.example,IP:127.0.0.1`); `days` below zero: it has expired. */
  certify(names: string, days?: number): Certificate;
  remove(): void;
}

export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'gw-authority-'));
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  const openssl = (command: string) => {
    const { success, stderr } = Bun.spawnSync(['openssl', ...command.split(' ')], { cwd: folder });
    if (!success) throw new Error(stderr.toString());
  };
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  openssl(`req -x509 ${newKey} -days 1 -subj /CN=authority -keyout ca.key -out ca.pem`);
  return {
    path: join(folder, 'ca.pem'),
    certify(names, days = 1) {
      writeFileSync(join(folder, 'names'), `subjectAltName=${names}\n`);
      openssl(`req ${newKey} -subj /CN=server -keyout key -out request`);
      openssl(`x509 -req -in request -CA ca.pem -CAkey ca.key -CAcreateserial -days ${days} -extfile names -out cert`);
      return { key: read('key'), cert: read('cert') };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Work with servers that nobody vouches for. */
export async function anyCertificate<T>(work: () => Promise<T>): Promise<T> {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  }
}
