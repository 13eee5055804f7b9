/** The JSON document that holds the bodies of one record in the object store. */
import { z } from 'zod';
import { contentOf } from '../content.ts';
import type { KeptBodies, KeptMessage, LogMetrics } from '../record.ts';

const messageSchema = z.object({
  headers: z.record(z.string(), z.string()),
  content_type: z.string(),
  size: z.number(),
  /** Through its compression, so that it can be read; null where it is no text. */
  body: z.string().nullable(),
});

const documentSchema = z.object({
  id: z.string(),
  organisation_id: z.string(),
  workspace_id: z.string(),
  created_at: z.string(),
  request: messageSchema.optional(),
  transformed_request: messageSchema.optional(),
  response: messageSchema.optional(),
  original_response: messageSchema.optional(),
  hook_results: messageSchema.optional(),
  final_request: messageSchema.optional(),
});

type StoredMessage = z.infer<typeof messageSchema>;

export function documentOf(metrics: LogMetrics, bodies: KeptBodies): string {
  const document: z.infer<typeof documentSchema> = {
    id: metrics.id,
    organisation_id: metrics.organisation_id,
    workspace_id: metrics.workspace_id,
    created_at: new Date(metrics.created_at).toISOString(),
    request: stored(bodies.request),
    transformed_request: stored(bodies.transformedRequest),
    response: stored(bodies.response),
    original_response: stored(bodies.originalResponse),
    hook_results: stored(bodies.hookResults),
    final_request: stored(bodies.finalRequest),
  };
  return JSON.stringify(document);
}

/** Null where it is no such document. */
export function bodiesIn(text: string): KeptBodies | null {
  const { success, data } = documentSchema.safeParse(parsed(text));
  if (!success) return null;
  const named: [keyof KeptBodies, StoredMessage | undefined][] = [
    ['request', data.request],
    ['transformedRequest', data.transformed_request],
    ['response', data.response],
    ['originalResponse', data.original_response],
    ['hookResults', data.hook_results],
    ['finalRequest', data.final_request],
  ];
  const bodies: KeptBodies = {};
  for (const [name, message] of named) if (message) bodies[name] = read(message);
  return bodies;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function stored(message: KeptMessage | undefined): StoredMessage | undefined {
  if (!message) return undefined;
  const content = contentOf(message);
  const { 'content-encoding': _, ...headers } = message.headers;
  const body = content.form === 'text' ? content.text : content.form === 'json' ? JSON.stringify(content.value) : null;
  return { headers, content_type: message.contentType, size: message.size, body };
}

const read = ({ headers, content_type, size, body }: StoredMessage): KeptMessage => ({
  headers,
  contentType: content_type,
  size,
  body: body === null ? null : Buffer.from(body),
});
