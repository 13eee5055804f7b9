/** Answers queries from the files of the embedded log store. It runs in a thread of its own (`query-thread.ts`). */
import { mkdirSync } from 'node:fs';
import type {
  Aggregate,
  AggregateQuery,
  CountedFeedback,
  Feedback,
  ListQuery,
  LogFilter,
  LogPage,
  OfferedValues,
} from '../query.ts';
import type { KeptRecord } from '../record.ts';
import { aggregate } from './aggregate.ts';
import { BodyReader } from './bodies.ts';
import { ColumnCache } from './column-cache.ts';
import { FeedbackTable, type TraceFeedback, type TraceKey, traceKey } from './feedback.ts';
import { monthsIn, monthsWithin, rowsFile } from './files.ts';
import { listRows } from './list.ts';
import { type Chunk, Month } from './month.ts';
import { scan } from './scan.ts';
import { type Checkpoint, isOfContexts, type Selection, select } from './selection.ts';

/** More values of one field than these are not offered. */
const mostValues = 1_000;
const offered = ['ai_org', 'ai_model', 'virtual_key', 'config', 'api_key_id', 'prompt_slug'] as const;

export class EmbeddedReader {
  readonly #folder: string;
  readonly #checkpoint: Checkpoint;
  readonly #months = new Map<string, Month>();
  readonly #columns = new ColumnCache();
  readonly #bodies: BodyReader;
  readonly #feedback: FeedbackTable;

  constructor(folder: string, checkpoint: Checkpoint = () => undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#checkpoint = checkpoint;
    this.#bodies = new BodyReader(folder);
    this.#feedback = new FeedbackTable(folder);
  }

  find(id: string): KeptRecord | null {
    for (const month of this.#open(monthsIn(this.#folder)).toReversed()) {
      const n = month.numberOf(id);
      const row = n === null ? null : month.row(n);
      if (row) {
        return {
          metrics: row.metrics,
          bodies: row.body ? this.#bodies.at(row.body) : {},
          ...(row.object !== null && { object: row.object }),
        };
      }
    }
    return null;
  }

  list(query: ListQuery): LogPage {
    return this.#atOneMoment(query.filter, (months) => listRows(months, query, this.#finder, this.#checkpoint));
  }

  aggregate(query: AggregateQuery): Aggregate[] {
    return this.#atOneMoment(query.filter, (months) => aggregate(months, query, this.#finder, this.#checkpoint));
  }

  values(filter: LogFilter): OfferedValues {
    return this.#atOneMoment(filter, (months) => this.#valuesOf(months, filter));
  }

  traces(filter: LogFilter): string[] {
    const found = [...this.#modelsOfTraces(filter).keys()];
    return [...new Set(found.map((key) => key.slice(key.indexOf(' ') + 1)))];
  }

  saveFeedback(feedback: readonly Feedback[]): void {
    this.#feedback.save(feedback);
  }

  findFeedback(id: string): Feedback | null {
    return this.#feedback.find(id);
  }

  feedbackOnTrace(workspaceId: string, traceId: string): Feedback[] {
    return this.#feedback.onTrace(workspaceId, traceId);
  }

  feedback(filter: LogFilter): CountedFeedback[] {
    const given = this.#feedback.within(filter);
    // A trace may be older than what was said about it.
    const traces = { ...filter, from: 0, traceIds: [...new Set(given.map(({ trace_id }) => trace_id))] };
    const models = this.#modelsOfTraces(traces);
    const unfiltered = isUnfiltered(filter);
    return given.flatMap(({ value, weight, created_at, workspace_id, trace_id }) => {
      const model = models.get(traceKey(workspace_id, trace_id));
      return model === undefined && !unfiltered ? [] : [{ value, weight, createdAt: created_at, model: model ?? '' }];
    });
  }

  close(): void {
    for (const month of this.#months.values()) month.close();
    this.#bodies.close();
    this.#feedback.close();
  }

  readonly #finder = {
    withFeedback: (month: Month, filter: LogFilter): number[] => {
      const traces = byTrace(this.#feedback.ofTraces(filter, filter.feedback));
      return rowsOf(month, traces).filter((n) => traces.has(month.traceOf(n)));
    },

    withText: (month: Month, chunk: Chunk, rows: Uint32Array, search: string): Uint32Array => {
      const text = search.toLowerCase();
      const chosen = new Set(rows);
      const holding: number[] = [];
      for (const { n, texts, day, ...place } of month.textsOf(chunk.first, chunk.first + chunk.rows - 1)) {
        const row = n - chunk.first;
        if (!chosen.has(row)) continue;
        this.#checkpoint();
        if (texts.toLowerCase().includes(text) || (day !== null && this.#bodies.hold({ day, ...place }, text))) {
          holding.push(row);
        }
      }
      return Uint32Array.from(holding);
    },

    onRows: (month: Month, { filter }: AggregateQuery) => {
      const sums = new Map<number, { weighted: number; weight: number }>();
      const traces = byTrace(this.#feedback.ofTraces(filter));
      for (const n of rowsOf(month, traces)) {
        const trace = traces.get(month.traceOf(n));
        if (trace) sums.set(n, trace);
      }
      return sums;
    },
  };

  /** The model that answered each trace which the filter chooses. */
  #modelsOfTraces(filter: LogFilter): Map<TraceKey, string> {
    const models = new Map<TraceKey, string>();
    if (filter.traceIds?.length === 0) return models;
    this.#atOneMoment(filter, (months) => {
      for (const month of months) {
        const selection = select(month, filter, this.#finder);
        if (!selection) continue;
        for (const chunk of month.chunks(filter.from, filter.to)) {
          this.#checkpoint();
          const rows = selection.rowsOf(chunk);
          const contexts = chunk.column('context');
          for (const row of rows) {
            models.set(month.traceOf(chunk.first + row), selection.contexts[contexts[row] ?? 0]?.ai_model ?? '');
          }
        }
      }
    });
    return models;
  }

  #valuesOf(months: readonly Month[], filter: LogFilter): OfferedValues {
    const found = new Map<string, Set<string>>(offered.map((field) => [field, new Set()]));
    const statuses = new Set<number>();
    const keys = new Set<string>();
    for (const month of months) {
      const selection = select(month, filter, this.#finder);
      if (!selection) continue;
      const { contexts, sets } = this.#seen(month, selection, filter);
      selection.contexts.forEach((context, number) => {
        if (!context || contexts[number] !== 1) return;
        statuses.add(context.response_status_code);
        for (const field of offered) if (context[field]) found.get(field)?.add(context[field]);
      });
      for (const key of month.metadataKeys(sets)) keys.add(key);
    }
    const sorted = (field: (typeof offered)[number]) => [...(found.get(field) ?? [])].sort().slice(0, mostValues);
    return {
      ai_org: sorted('ai_org'),
      ai_model: sorted('ai_model'),
      virtual_key: sorted('virtual_key'),
      config: sorted('config'),
      api_key_id: sorted('api_key_id'),
      prompt_slug: sorted('prompt_slug'),
      response_status_code: [...statuses].sort((a, b) => a - b),
      metadataKeys: [...keys].sort().slice(0, mostValues),
    };
  }

  /** Which contexts and which metadata the chosen rows have. */
  #seen(month: Month, selection: Selection, filter: LogFilter) {
    const contexts = new Uint8Array(selection.contexts.length);
    const sets = new Uint8Array(month.metadataCount + 1);
    scan(
      { month, selection, filter, edges: null, fromRollups: isOfContexts(filter) },
      {
        entries(rollup, first, end) {
          const contextOf = rollup.count('context');
          const setsEnd = rollup.count('setsEnd');
          const all = rollup.sets();
          for (let entry = first; entry < end; entry++) {
            const context = contextOf[entry] ?? 0;
            if (selection.contextMask[context] !== 1) continue;
            contexts[context] = 1;
            for (let at = entry === 0 ? 0 : (setsEnd[entry - 1] ?? 0); at < (setsEnd[entry] ?? 0); at++) {
              sets[all[at] ?? 0] = 1;
            }
          }
        },
        rows(chunk, rows) {
          const contextOf = chunk.column('context');
          const setOf = chunk.column('metadata_set');
          for (const row of rows) {
            contexts[contextOf[row] ?? 0] = 1;
            sets[setOf[row] ?? 0] = 1;
          }
        },
      },
      this.#checkpoint,
    );
    return { contexts, sets };
  }

  #atOneMoment<T>({ from, to }: LogFilter, work: (months: readonly Month[]) => T): T {
    const months = this.#open(monthsWithin(monthsIn(this.#folder), from, to));
    const nested = months.reduceRight<() => T>(
      (inner, month) => () => month.read(inner),
      () => work(months),
    );
    return nested();
  }

  /** The months that are still there; files that retention deleted are let go of. */
  #open(names: readonly string[]): Month[] {
    const present = new Set(monthsIn(this.#folder));
    for (const [name, month] of this.#months) {
      if (present.has(name)) continue;
      month.close();
      this.#months.delete(name);
    }
    return names.flatMap((name) => {
      const known = this.#months.get(name) ?? openMonth(name, this.#folder, this.#columns);
      if (!known) return [];
      this.#months.set(name, known);
      return [known];
    });
  }
}

const byTrace = (given: readonly TraceFeedback[]): Map<TraceKey, TraceFeedback> =>
  new Map(given.map((trace) => [traceKey(trace.workspace_id, trace.trace_id), trace]));

/** The rows of these traces, in whatever workspace. */
const rowsOf = (month: Month, traces: ReadonlyMap<TraceKey, TraceFeedback>): number[] =>
  month.rowsOfTraces([...new Set([...traces.values()].map(({ trace_id }) => trace_id))]);

/** Null while the importer has made the file and not its tables yet. */
function openMonth(name: string, folder: string, columns: ColumnCache): Month | null {
  const month = new Month(name, rowsFile(folder, name), columns);
  try {
    month.contexts();
    return month;
  } catch (error) {
    month.close();
    if (error instanceof Error && error.message.includes('no such table')) return null;
    throw error;
  }
}

/** True where a filter asks for all rows of its workspaces, so that feedback counts whether its trace is here or not. */
const isUnfiltered = (filter: LogFilter): boolean =>
  filter.scopes.every(({ userId }) => userId === null) &&
  !filter.traceIds &&
  !filter.spanIds &&
  !filter.feedback &&
  !filter.models &&
  !filter.search &&
  Object.keys(filter.ranges ?? {}).length === 0 &&
  Object.keys(filter.values ?? {}).length === 0 &&
  Object.keys(filter.metadata ?? {}).length === 0;
