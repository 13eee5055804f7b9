/** Feedback in the embedded log store: a small file of its own, which the thread of queries writes. */
import type { Database } from 'bun:sqlite';
import type { Feedback, LogFilter, Range } from '../query.ts';
import { feedbackFile } from './files.ts';
import { openForWriting } from './schema.ts';

const busyMs = 5_000;

type StoredFeedback = Omit<Feedback, 'metadata'> & { metadata: string };

/** A trace of one workspace. */
export type TraceKey = `${string} ${string}`;
export const traceKey = (workspaceId: string, traceId: string): TraceKey => `${workspaceId} ${traceId}`;

export interface TraceFeedback {
  workspace_id: string;
  trace_id: string;
  weighted: number;
  weight: number;
}

export class FeedbackTable {
  readonly #folder: string;
  #db: Database | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  save(feedback: readonly Feedback[]): void {
    const db = this.#open();
    const insert = db.query(
      `insert into feedbacks (id, organisation_id, workspace_id, trace_id, value, weight, metadata, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (id) do update set value = excluded.value, weight = excluded.weight, metadata = excluded.metadata`,
    );
    db.transaction(() => {
      for (const one of feedback) {
        const { id, organisation_id, workspace_id, trace_id, value, weight, metadata, created_at } = one;
        insert.run(id, organisation_id, workspace_id, trace_id, value, weight, JSON.stringify(metadata), created_at);
      }
    })();
  }

  find(id: string): Feedback | null {
    const row = this.#open().query<StoredFeedback, [string]>('select * from feedbacks where id = ?').get(id);
    return row ? readFeedback(row) : null;
  }

  onTrace(workspaceId: string, traceId: string): Feedback[] {
    return this.#open()
      .query<StoredFeedback, [string, string]>(
        'select * from feedbacks where workspace_id = ? and trace_id = ? order by created_at, id',
      )
      .all(workspaceId, traceId)
      .map(readFeedback);
  }

  /** What was given in a range of time, on the traces of the workspaces that the filter allows. */
  within({ organisationId, scopes, from, to }: LogFilter): Feedback[] {
    return this.#open()
      .query<StoredFeedback, [string, number, number]>(
        'select * from feedbacks where organisation_id = ? and created_at >= ? and created_at < ? order by created_at, id',
      )
      .all(organisationId, from, to)
      .filter((row) => scopes.some(({ workspaceId }) => workspaceId === null || workspaceId === row.workspace_id))
      .map(readFeedback);
  }

  /** The sums of all feedback on a trace whose weighted average lies in the range. */
  ofTraces({ organisationId, scopes }: LogFilter, { min = -10, max = 10 }: Range = {}): TraceFeedback[] {
    const workspaces = scopes.some(({ workspaceId }) => workspaceId === null)
      ? null
      : scopes.map((scope) => scope.workspaceId);
    return this.#open()
      .query<TraceFeedback, [string, string | null, number, number]>(
        `select workspace_id, trace_id, sum(value * weight) as weighted, sum(weight) as weight from feedbacks
         where organisation_id = ?1 and (?2 is null or workspace_id in (select value from json_each(?2)))
         group by workspace_id, trace_id
         having coalesce(sum(value * weight) / nullif(sum(weight), 0), 0) between ?3 and ?4`,
      )
      .all(organisationId, workspaces && JSON.stringify(workspaces), min, max);
  }

  close(): void {
    this.#db?.close();
    this.#db = null;
  }

  #open(): Database {
    this.#db ??= openForWriting(feedbackFile(this.#folder), 'feedback', busyMs);
    return this.#db;
  }
}

const readFeedback = (row: StoredFeedback): Feedback => ({ ...row, metadata: JSON.parse(row.metadata) });
