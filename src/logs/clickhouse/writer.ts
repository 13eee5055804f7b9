/** Writes segments into ClickHouse: rows and bodies of a segment in one insert each, with a token by which a repetition is known. */
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { exactCents } from '../cents.ts';
import { contentOf } from '../content.ts';
import type { Retention } from '../embedded/files.ts';
import { metricsOf } from '../layout.ts';
import { everyMessage } from '../messages.ts';
import { noPreviews, type Previews, previewsOf } from '../preview.ts';
import type { KeptBodies, KeptMessage, LogMetrics } from '../record.ts';
import type { SegmentFrame } from '../segment.ts';
import type { LogWriter } from '../store.ts';
import { withoutVectors } from '../vectors.ts';
import { connect } from './client.ts';
import { migrateClickHouse } from './schema.ts';

/** Codes of ClickHouse for what is wrong with the rows themselves, which no repetition mends. */
const dataFaults = new Set(['6', '26', '27', '38', '41', '53', '69', '72', '117', '321']);

export async function openClickHouseWriter(url: string, timeoutMs: number, retention: Retention): Promise<LogWriter> {
  const client = connect(url, timeoutMs);
  try {
    await migrateClickHouse(client, retention);
  } catch (error) {
    await client.close();
    throw error;
  }
  return new ClickHouseWriter(client);
}

class ClickHouseWriter implements LogWriter {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  async write(frames: Iterable<SegmentFrame>, segment: string): Promise<void> {
    const rows: object[] = [];
    const bodies: object[] = [];
    for (const frame of frames) addFrame(frame, rows, bodies);
    // The bodies first: a row is there only together with its bodies.
    await this.#insert('gw_log_bodies', bodies, segment);
    await this.#insert('gw_logs', rows, segment);
  }

  /** The tables have a time to live; the engine drops their parts by itself. */
  purge(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #insert(table: string, values: object[], token: string): Promise<void> {
    if (values.length === 0) return;
    try {
      await this.#client.insert({
        table,
        values,
        format: 'JSONEachRow',
        clickhouse_settings: { insert_deduplication_token: token, insert_deduplicate: 1, async_insert: 0 },
      });
    } catch (error) {
      if (error instanceof ClickHouseError && dataFaults.has(error.code)) throw new Error(error.message);
      throw asFault(error);
    }
  }
}

/** The importer waits and tries again after errors that carry a code. */
function asFault(error: unknown): unknown {
  if (!(error instanceof Error) || 'code' in error) return error;
  return Object.assign(error, { code: 'CLICKHOUSE_AWAY' });
}

function addFrame(frame: SegmentFrame, rowValues: object[], bodyValues: object[]): void {
  const { contexts, rows, previews, messages, objects } = frame;
  const kept = messages.length === 0 ? [] : everyMessage(messages);
  for (const [number, row] of rows.entries()) {
    const context = contexts[row[0]];
    if (!context) throw new Error('A row names a context that its frame lacks');
    const metrics = metricsOf(context, row);
    const at = row[1];
    const all = at === null ? undefined : kept[at];
    const bodies = all && metrics.endpoint_type === 'embed' ? withoutVectors(all) : all;
    const known = at === null ? undefined : previews[at];
    const object = objects?.[number] ?? null;
    const told = object ?? (bodies ? previewsOf(known, () => bodies) : noPreviews);
    rowValues.push({ ...rowValue(metrics, told), object_path: object?.path ?? '' });
    if (bodies) bodyValues.push(bodyValue(metrics, bodies));
  }
}

function rowValue(metrics: LogMetrics, { prompt, answer }: Previews): object {
  return {
    ...metrics,
    created_at: new Date(metrics.created_at).toISOString(),
    cost: exactCents(metrics.cost).toFixed(9),
    saved_cost: exactCents(metrics.saved_cost ?? 0).toFixed(9),
    attempt: metrics.attempt ? JSON.stringify(metrics.attempt) : '',
    mcp_server: metrics.mcp_server ?? '',
    mcp_method: metrics.mcp_method ?? '',
    mcp_tool: metrics.mcp_tool ?? '',
    mcp: metrics.mcp ? JSON.stringify(metrics.mcp) : '',
    timings: metrics.timings ? JSON.stringify(metrics.timings) : '',
    guardrails: metrics.guardrails ? JSON.stringify(metrics.guardrails) : '',
    prompt_preview: prompt,
    answer_preview: answer,
  };
}

function bodyValue({ id, organisation_id, workspace_id, created_at }: LogMetrics, bodies: KeptBodies): object {
  const { request, transformedRequest, response, originalResponse, hookResults, finalRequest } = bodies;
  const texts = {
    request: textOf(request),
    transformed_request: textOf(transformedRequest),
    response: textOf(response),
    original_response: textOf(originalResponse),
    hook_results: textOf(hookResults),
    final_request: textOf(finalRequest),
  };
  const heads = {
    request: headOf(request, texts.request),
    transformedRequest: headOf(transformedRequest, texts.transformed_request),
    response: headOf(response, texts.response),
    originalResponse: headOf(originalResponse, texts.original_response),
    hookResults: headOf(hookResults, texts.hook_results),
    finalRequest: headOf(finalRequest, texts.final_request),
  };
  const plain = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text ?? '']));
  return {
    id,
    organisation_id,
    workspace_id,
    created_at: new Date(created_at).toISOString(),
    messages: JSON.stringify(heads),
    ...plain,
  };
}

/** The body as text, through its compression, so that it can be searched; null where it is none. */
function textOf(message: KeptMessage | undefined): string | null {
  if (!message) return null;
  const content = contentOf(message);
  if (content.form === 'text') return content.text;
  return content.form === 'json' ? JSON.stringify(content.value) : null;
}

/** What is known of a message besides its body. */
export interface MessageHead {
  headers: Record<string, string>;
  contentType: string;
  size: number;
  hasBody: boolean;
}

function headOf(message: KeptMessage | undefined, text: string | null): MessageHead | undefined {
  if (!message) return undefined;
  const { 'content-encoding': _, ...headers } = message.headers;
  return { headers, contentType: message.contentType, size: message.size, hasBody: text !== null };
}
