/** Compiled documents, kept for as long as somebody uses them: a workspace is read anew with every change of it. */
import { createHash } from 'node:crypto';
import { type CompiledDocument, compileOpenApi } from './compile.ts';

const mostKept = 100;
const kept = new Map<string, CompiledDocument>();

export function compiledDocument(text: string, only?: readonly string[]): CompiledDocument {
  const key = createHash('sha256')
    .update(JSON.stringify([text, only ?? null]))
    .digest('base64');
  const known = kept.get(key);
  if (known) return known;
  const compiled = compileOpenApi(text, only);
  if (kept.size >= mostKept) {
    const [oldest] = kept.keys();
    if (oldest !== undefined) kept.delete(oldest);
  }
  kept.set(key, compiled);
  return compiled;
}
