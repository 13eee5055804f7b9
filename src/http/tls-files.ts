/** The PEM files of a listener that speaks TLS, looked at before anything is opened. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TlsFiles } from './server.ts';

interface TlsFault {
  file: keyof TlsFiles;
  reason: string;
}

export function faultOfTlsFiles({ key, cert, ca }: TlsFiles): TlsFault | null {
  const privateKey = parsed(key, createPrivateKey);
  if (privateKey instanceof Error) return unusable('key', privateKey);
  const certificate = parsed(cert, certificateOf);
  if (certificate instanceof Error) return unusable('cert', certificate);
  const between = ca === null ? null : parsed(ca, certificateOf);
  if (between instanceof Error) return unusable('ca', between);
  if (certificate.checkPrivateKey(privateKey)) return null;
  return { file: 'key', reason: 'is not the key of the certificate' };
}

const unusable = (file: keyof TlsFiles, { message }: Error): TlsFault => ({
  file,
  reason: `cannot be used (${message})`,
});

const certificateOf = (text: Buffer): X509Certificate => new X509Certificate(text);

function parsed<T>(path: string, parse: (text: Buffer) => T): T | Error {
  try {
    return parse(readFileSync(path));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
