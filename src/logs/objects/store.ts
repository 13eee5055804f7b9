/** An S3-compatible object store, as far as bodies of logs need it. */
import { S3Client } from 'bun';

export interface ObjectStoreSettings {
  bucket: string;
  /** Null: the address of AWS for the region. */
  endpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
}

/** Requests that go at once. */
const atOnce = 32;

/** The object store does not answer, or refuses; what was asked may be asked again. */
export class ObjectStoreFault extends Error {
  /** The importer tries again after errors that carry a code. */
  readonly code: string;

  constructor(what: string, cause: unknown) {
    super(`The object store failed to ${what}: ${cause instanceof Error ? cause.message : String(cause)}`);
    this.code = codeOf(cause) ?? 'OBJECT_STORE_AWAY';
  }
}

export class ObjectStore {
  readonly #client: S3Client;
  readonly #timeoutMs: number;

  constructor(settings: ObjectStoreSettings, timeoutMs: number) {
    const { bucket, endpoint, region, accessKeyId, secretAccessKey, sessionToken } = settings;
    this.#client = new S3Client({
      bucket,
      region,
      accessKeyId,
      secretAccessKey,
      ...(endpoint && { endpoint }),
      ...(sessionToken && { sessionToken }),
    });
    this.#timeoutMs = timeoutMs;
  }

  /** Writes all of them, or fails. What stands under a path already is replaced. */
  async put(objects: readonly { path: string; text: string }[]): Promise<void> {
    await inTurns(objects, async ({ path, text }) => {
      await this.#inTime('write an object', this.#client.write(path, text, { type: 'application/json', retry: 0 }));
    });
  }

  /** Null where there is no such object. */
  async get(path: string): Promise<string | null> {
    try {
      return await this.#inTime('read an object', this.#client.file(path).text());
    } catch (error) {
      if (error instanceof ObjectStoreFault && error.code === 'NoSuchKey') return null;
      throw error;
    }
  }

  /** Deletes what is ours and was written before a moment, until it is told to stop. */
  async deleteOlder(
    { prefix, isOurs }: { prefix: string; isOurs: (path: string) => boolean },
    before: number,
    isStopped: () => boolean,
  ): Promise<void> {
    let startAfter: string | undefined;
    for (;;) {
      const listing = this.#client.list({ prefix, maxKeys: 1_000, ...(startAfter && { startAfter }) });
      const { contents = [], isTruncated } = await this.#inTime('list objects', listing);
      const old = contents.filter(
        ({ key, lastModified }) => isOurs(key) && lastModified && Date.parse(lastModified) < before,
      );
      await inTurns(old, async ({ key }) => {
        if (!isStopped()) await this.#inTime('delete an object', this.#client.delete(key));
      });
      startAfter = contents.at(-1)?.key;
      if (!isTruncated || !startAfter || isStopped()) return;
    }
  }

  /** The client itself waits for ever. */
  async #inTime<T>(what: string, work: Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${this.#timeoutMs} ms`)), this.#timeoutMs);
    });
    try {
      return await Promise.race([work, tooLate]);
    } catch (error) {
      throw new ObjectStoreFault(what, error);
    } finally {
      clearTimeout(timer);
    }
  }
}

async function inTurns<T>(list: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < list.length; at += atOnce) await Promise.all(list.slice(at, at + atOnce).map(work));
}

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
