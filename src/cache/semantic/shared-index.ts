/** The questions of all nodes: each node scans its own copy, and Redis holds the list from which the copies are made. */
import { z } from 'zod';
import { jsonOrNothing } from '../../bounded-json.ts';
import type { CachePlace, PurgeScope } from '../engine.ts';
import type { RedisCommands } from '../redis-engine.ts';
import type { Neighbour, SemanticIndex } from './semantic-index.ts';

export interface SharedIndexOptions {
  redis: RedisCommands;
  /** The copy of this node. */
  local: SemanticIndex;
  /** Tells the questions of this node from those of others. */
  nodeId: string;
  mostPerWorkspace: number;
  /** How long a request waits for questions of other nodes. */
  timeoutMs: number;
  now(): number;
  warn(message: string): void;
}

/** Read at once; a vector of 1,536 dimensions has 8 kB. */
const pageSize = 500;
/** No question outlives the longest age of an answer. */
const longestAgeSeconds = 7_776_000;

const questionSchema = z.object({
  partition: z.string(),
  vector: z.base64(),
  namespace: z.string(),
  key: z.string(),
  expiresAt: z.number(),
});
type Question = z.infer<typeof questionSchema>;

/** Ids of entries, each with its fields and values in turn. */
const pageSchema = z.array(z.tuple([z.string(), z.array(z.string())]));

/** What is known of a workspace's list. */
interface Follower {
  /** The last entry that was read. */
  lastId: string;
  reading: Promise<void> | null;
}

export class SharedIndex implements SemanticIndex {
  readonly #options: SharedIndexOptions;
  readonly #followers = new Map<string, Follower>();

  constructor(options: SharedIndexOptions) {
    this.#options = options;
  }

  async nearest(workspaceId: string, partition: string, vector: Float32Array): Promise<Neighbour | null> {
    await this.#caughtUp(workspaceId);
    return this.#options.local.nearest(workspaceId, partition, vector);
  }

  add(partition: string, vector: Float32Array, place: CachePlace, ttlSeconds: number): void {
    const { local, now } = this.#options;
    local.add(partition, vector, place, ttlSeconds);
    const { workspaceId, namespace, key } = place;
    const expiresAt = now() + ttlSeconds * 1_000;
    const question: Question = { partition, vector: packed(vector), namespace, key, expiresAt };
    this.#tell(workspaceId, question).catch((fault) => this.#told(fault));
  }

  purge(scope: PurgeScope): void {
    const { local, redis } = this.#options;
    local.purge(scope);
    // A part stays in the list: what it leads to is gone, so that no node answers from it.
    if (scope.namespace !== null || scope.key !== null) return;
    const name = nameOf(scope.workspaceId);
    redis.command(name, ['UNLINK', name]).catch((fault) => this.#told(fault));
  }

  close(): Promise<void> {
    return this.#options.local.close();
  }

  async #tell(workspaceId: string, question: Question): Promise<void> {
    const { redis, nodeId, mostPerWorkspace } = this.#options;
    const name = nameOf(workspaceId);
    const bound = ['MAXLEN', '~', String(mostPerWorkspace)];
    const fields = ['node', nodeId, 'question', JSON.stringify(question)];
    await redis.command(name, ['XADD', name, ...bound, '*', ...fields]);
    await redis.command(name, ['EXPIRE', name, String(longestAgeSeconds)]);
  }

  /** Until this node knows what others have asked, or the request has waited long enough. */
  #caughtUp(workspaceId: string): Promise<void> {
    const follower = this.#followers.get(workspaceId) ?? { lastId: '-', reading: null };
    this.#followers.set(workspaceId, follower);
    follower.reading ??= this.#read(workspaceId, follower)
      .catch((fault) => this.#told(fault))
      .finally(() => {
        follower.reading = null;
      });
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, this.#options.timeoutMs);
    return Promise.race([follower.reading, patience.promise]).finally(() => clearTimeout(timer));
  }

  async #read(workspaceId: string, follower: Follower): Promise<void> {
    const { redis, nodeId } = this.#options;
    const name = nameOf(workspaceId);
    for (;;) {
      const page = pageSchema.parse(
        await redis.command(name, ['XRANGE', name, follower.lastId, '+', 'COUNT', String(pageSize)]),
      );
      for (const [id, fields] of page) {
        follower.lastId = `(${id}`;
        if (fieldIn(fields, 'node') !== nodeId) this.#learn(workspaceId, fieldIn(fields, 'question'));
      }
      if (page.length < pageSize) return;
    }
  }

  #learn(workspaceId: string, text: string): void {
    const { local, now } = this.#options;
    const parsed = questionSchema.safeParse(jsonOrNothing(text));
    // Another release or somebody else wrote it.
    if (!parsed.success) return;
    const { partition, vector, namespace, key, expiresAt } = parsed.data;
    const ttlSeconds = (expiresAt - now()) / 1_000;
    if (ttlSeconds > 0) local.add(partition, unpacked(vector), { workspaceId, namespace, key }, ttlSeconds);
  }

  #told(fault: unknown): void {
    const reason = fault instanceof Error ? fault.message : String(fault);
    this.#options.warn(`The questions of other nodes cannot be read (${reason}); semantic hits are of this node only.`);
  }
}

const fieldIn = (fields: readonly string[], name: string): string => fields[fields.indexOf(name) + 1] ?? '';

const nameOf = (workspaceId: string): string => `gw:questions:${workspaceId}`;

const packed = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

const unpacked = (text: string): Float32Array => new Float32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer);
