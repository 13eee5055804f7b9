/** A file that the gateway keeps, for a provider that takes its contents with a call. */
import type { RawAnswer } from '../../providers/provider.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { GatewayError } from '../errors.ts';
import { ownerOf } from './owner.ts';

export async function keptFile({ deps, context }: AttemptContext, id: string): Promise<RawAnswer> {
  const file = await deps.batchService?.files.find(ownerOf(context), id);
  if (!deps.batchService || !file) {
    throw new GatewayError('invalid_body', `no file "${id}" is kept in this workspace`, { field: 'input_file_id' });
  }
  // Its contents become the body of one call.
  const limit = deps.settings.bodyLimit;
  if (file.bytes > limit) throw new GatewayError('body_too_large', `the file is larger than ${limit} bytes`);
  const pieces: Buffer[] = [];
  for await (const { text } of deps.batchService.files.content(id)) pieces.push(Buffer.from(text));
  return { status: 200, headers: new Headers(), bytes: Buffer.concat(pieces) };
}
