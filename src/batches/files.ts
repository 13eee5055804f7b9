/** Files that clients upload to the gateway itself: lines of JSON, encrypted at rest, seen by their workspace alone. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/database.ts';
import { decode } from '../store/json.ts';
import type { Vault } from '../store/vault.ts';
import { LineChunks } from './line-chunks.ts';
import { faultOfLine } from './rows.ts';
import type { ManagedFileTable } from './schema.ts';

/** Whose the files are. */
export interface Owner {
  organisationId: string;
  workspaceId: string;
}

interface NewFile {
  filename: string;
  /** What it is for; asked for when all has come, where the client says it behind the content. */
  purpose: string | (() => Promise<string>);
  /** Headers that it would have been uploaded to a provider with. */
  providerOptions?: Readonly<Record<string, string>>;
}

/** The upload cannot be kept; the message says why. */
export class FileFault extends Error {}

interface FilePage {
  files: ManagedFileTable[];
  hasMore: boolean;
}

export interface ManagedFiles {
  /** Keeps what comes as it comes; nothing is left of a file that is refused or breaks off. */
  write(
    owner: Owner,
    file: NewFile,
    content: AsyncIterable<Uint8Array>,
    limits?: FileLimits,
  ): Promise<ManagedFileTable>;
  /** Throws where the files of the workspace have used its quota up. */
  requireRoom(owner: Owner): Promise<void>;
  find(owner: Owner, id: string): Promise<ManagedFileTable | null>;
  list(owner: Owner, query: { purpose: string | null; after: string | null; limit: number }): Promise<FilePage>;
  remove(owner: Owner, id: string): Promise<boolean>;
  /** Also of files that nobody finds. */
  discard(id: string): Promise<void>;
  /** The headers that the rows would have been uploaded to a provider with; null where the file is for the gateway. */
  providerOptions(file: ManagedFileTable): Record<string, string> | null;
  /** The content in runs of whole lines, from the run that holds `fromLine`. */
  content(id: string, fromLine?: number): AsyncGenerator<{ firstLine: number; text: string }>;
}

export const filePrefix = 'gw_file_';

/** Answers that guardrails have not seen yet: such a file is nobody's to find. */
export const rawPurpose = 'batch_raw';

/** Ids come from clients, and PostgreSQL refuses to be asked for some of what they write. */
export const isId = (text: string): boolean => /^[\w-]{1,100}$/.test(text);

interface FileLimits {
  bytes: number;
  lines: number;
  lineLength?: number;
}

/** What a client may upload. */
const uploadLimits: FileLimits = { bytes: 200 * 1024 * 1024, lines: 50_000 };

/** What came of a batch is kept whole, however much it is: its lines are as many as those of the upload. */
export const resultLimits: FileLimits = {
  bytes: Number.POSITIVE_INFINITY,
  lines: Number.POSITIVE_INFINITY,
  lineLength: Number.POSITIVE_INFINITY,
};

export function createManagedFiles(store: Store, vault: Vault, clock: Clock, quotaBytes: number): ManagedFiles {
  const { db } = store;
  /** What uploads under way have taken so far, by workspace. */
  const arriving = new Map<string, number>();

  const usedBy = async (workspaceId: string): Promise<number> => {
    const { used } = await db
      .selectFrom('managed_files')
      .select(({ fn }) => fn.sum<number | string | null>('bytes').as('used'))
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirstOrThrow();
    return Number(used ?? 0);
  };

  /** Counts what comes against the quota of the workspace, together with all else that comes at the same time. */
  const metered = async function* (
    workspaceId: string,
    content: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    const used = await usedBy(workspaceId);
    let own = 0;
    try {
      for await (const piece of content) {
        const all = (arriving.get(workspaceId) ?? 0) + piece.length;
        own += piece.length;
        arriving.set(workspaceId, all);
        if (used + all > quotaBytes) throw overQuota(quotaBytes);
        yield piece;
      }
      // Others may have ended meanwhile: they no longer arrive, but take their room.
      if ((await usedBy(workspaceId)) + own > quotaBytes) throw overQuota(quotaBytes);
    } finally {
      const left = (arriving.get(workspaceId) ?? 0) - own;
      if (left > 0) arriving.set(workspaceId, left);
      else arriving.delete(workspaceId);
    }
  };

  const purposeOf = (id: string) => `managed-file:${id}`;

  const discard = async (id: string): Promise<void> => {
    await db.deleteFrom('managed_file_chunks').where('file_id', '=', id).execute();
    await db.deleteFrom('managed_files').where('id', '=', id).execute();
  };

  const keepChunks = async (
    id: string,
    purpose: string | null,
    content: AsyncIterable<Uint8Array>,
    limits: FileLimits,
  ) => {
    const chunks = new LineChunks(limits.lineLength);
    let lines = 0;
    let sequence = 0;
    let bytes = 0;
    const keep = async (run: readonly string[]) => {
      if (run.length === 0) return;
      for (const [index, line] of run.entries()) {
        requireLine(line, purpose, lines + index);
      }
      const content_sealed = vault.seal(`${run.join('\n')}\n`, purposeOf(id));
      const row = { file_id: id, sequence: sequence++, first_line: lines, content_sealed };
      await db.insertInto('managed_file_chunks').values(row).execute();
      lines += run.length;
      if (lines > limits.lines) throw new FileFault(`a file may have ${limits.lines} lines`);
    };
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > limits.bytes) throw new FileFault(`a file may have ${limits.bytes} bytes`);
      await keep(chunks.push(piece));
    }
    await keep(chunks.rest());
    if (lines === 0) throw new FileFault('the file is empty');
    return { bytes, lines };
  };

  const contentOf: ManagedFiles['content'] = async function* (id, fromLine = 0) {
    const first = await db
      .selectFrom('managed_file_chunks')
      .select('sequence')
      .where('file_id', '=', id)
      .where('first_line', '<=', fromLine)
      .orderBy('sequence', 'desc')
      .executeTakeFirst();
    for (let sequence = first?.sequence ?? 0; ; sequence++) {
      const chunk = await db
        .selectFrom('managed_file_chunks')
        .selectAll()
        .where('file_id', '=', id)
        .where('sequence', '=', sequence)
        .executeTakeFirst();
      if (!chunk) return;
      yield { firstLine: chunk.first_line, text: vault.open(chunk.content_sealed, purposeOf(id)) };
    }
  };

  /** What a line must be depends on what the file is for: known only now, it is looked at once more. */
  const settledPurpose = async (id: string, ask: () => Promise<string>): Promise<string> => {
    const purpose = await ask();
    for await (const { firstLine, text } of contentOf(id)) {
      for (const [index, line] of text.trimEnd().split('\n').entries()) requireLine(line, purpose, firstLine + index);
    }
    return purpose;
  };

  return {
    content: contentOf,
    discard,
    async write(owner, { filename, purpose, providerOptions }, content, limits = uploadLimits) {
      const { organisationId, workspaceId } = owner;
      const id = filePrefix + Bun.randomUUIDv7();
      const row: ManagedFileTable = {
        id,
        organisation_id: organisationId,
        workspace_id: workspaceId,
        filename,
        purpose: typeof purpose === 'string' ? purpose : '',
        bytes: 0,
        lines: 0,
        status: 'uploading',
        created_at: clock.now().toISOString(),
        provider_options: providerOptions ? vault.seal(JSON.stringify(providerOptions), purposeOf(id)) : null,
      };
      await db.insertInto('managed_files').values(row).execute();
      try {
        const known = typeof purpose === 'string' ? purpose : null;
        const metering = limits === uploadLimits ? metered(workspaceId, content) : content;
        const measured = await keepChunks(id, known, metering, limits);
        const settled = typeof purpose === 'string' ? purpose : await settledPurpose(id, purpose);
        const kept = { ...measured, purpose: settled, status: 'processed' as const };
        await db.updateTable('managed_files').set(kept).where('id', '=', id).execute();
        return { ...row, ...kept };
      } catch (fault) {
        await discard(id);
        throw fault;
      }
    },
    providerOptions: ({ id, provider_options }) =>
      provider_options === null ? null : decode<Record<string, string>>(vault.open(provider_options, purposeOf(id))),
    async requireRoom({ workspaceId }) {
      if ((await usedBy(workspaceId)) >= quotaBytes) throw overQuota(quotaBytes);
    },
    async find({ workspaceId }, id) {
      if (!isId(id)) return null;
      const row = await db
        .selectFrom('managed_files')
        .selectAll()
        .where('id', '=', id)
        .where('workspace_id', '=', workspaceId)
        .where('status', '=', 'processed')
        .where('purpose', '!=', rawPurpose)
        .executeTakeFirst();
      return row ?? null;
    },
    async list({ workspaceId }, { purpose, after, limit }) {
      let query = db
        .selectFrom('managed_files')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('status', '=', 'processed')
        .where('purpose', '!=', rawPurpose)
        // Ids grow with time, so they order as well as dates and settle ties.
        .orderBy('id', 'desc')
        .limit(limit + 1);
      if (purpose !== null) query = query.where('purpose', '=', purpose);
      if (after !== null) query = query.where('id', '<', after);
      const rows = await query.execute();
      return { files: rows.slice(0, limit), hasMore: rows.length > limit };
    },
    async remove(owner, id) {
      if (!(await this.find(owner, id))) return false;
      await discard(id);
      return true;
    },
  };
}

const overQuota = (quotaBytes: number): FileFault =>
  new FileFault(`the files of this workspace may take ${quotaBytes} bytes together; delete some`);

/** Without a purpose a line is any JSON object. */
function requireLine(line: string, purpose: string | null, number: number): void {
  const fault = faultOfLine(line, purpose ?? '');
  if (fault) throw new FileFault(`line ${number + 1}: ${fault}`);
}

const abandonedAfterMs = 60 * 60_000;

/** What an upload left behind whose process was killed. */
export async function sweepUploads(store: Store, now: Date): Promise<void> {
  const before = new Date(now.getTime() - abandonedAfterMs).toISOString();
  const abandoned = store.db
    .selectFrom('managed_files')
    .select('id')
    .where('status', '=', 'uploading')
    .where('created_at', '<', before);
  await store.db.deleteFrom('managed_file_chunks').where('file_id', 'in', abandoned).execute();
  await store.db
    .deleteFrom('managed_files')
    .where('status', '=', 'uploading')
    .where('created_at', '<', before)
    .execute();
}
