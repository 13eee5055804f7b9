/** Takes spans and log records of OpenTelemetry exporters: POST /otel/v1/traces and /otel/v1/logs, JSON or protobuf. */

import { promisify } from 'node:util';
import { gunzip, type InputType, type ZlibOptions } from 'node:zlib';
import type { z } from 'zod';
import { readJson } from '../bounded-json.ts';
import type { Clock } from '../clock.ts';
import { type BodyRoom, readBytes } from '../http/body.ts';
import {
  ApiError,
  errorResponse,
  forbidden,
  forbiddenField,
  invalid,
  tooLarge,
  unauthenticated,
} from '../http/errors.ts';
import type { WebHandler } from '../http/web.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import { type KeyCaller, mayInWorkspace } from '../identity/caller.ts';
import { type ForeignCall, foreignRecord } from '../logs/foreign.ts';
import type { LogSink } from '../logs/record.ts';
import type { Pricer } from '../pricing/pricer.ts';
import { callsOfLogs, callsOfTraces, resourcesOf } from './calls.ts';
import { decodeProtobuf, logsForm, tracesForm } from './otlp.ts';

interface ReceiverParts {
  authenticator: Authenticator;
  /** The slug of a workspace. */
  slugOf(workspaceId: string): Promise<string | null>;
  /** The share of an organisation in the memory of bodies. */
  bodyRoom(organisationId: string): BodyRoom;
  pricer: Pricer;
  sink: LogSink;
  clock: Clock;
  onFault(fault: unknown, requestId: string): void;
}

const path = /^(?:\/v[12])?\/otel\/v1\/(traces|logs)\/?$/;
const bodyLimit = 20 * 1024 * 1024;

const unzipped = promisify<InputType, ZlibOptions, Buffer>(gunzip);
const mostCalls = 10_000;
const day = 86_400_000;
/** What was measured longer ago would be deleted as soon as it came. */
const oldestMs = 365 * day;
const protobufType = 'application/x-protobuf';
const needed = ['completions.write', 'logs.write'] as const;
/** Where senders name the tenant; whose it is, the key alone says. */
const tenantNames = ['organisation_id', 'organization_id', 'gw.organisation.id', 'workspace_id', 'gw.workspace.id'];

export const otelReceiver =
  (parts: ReceiverParts): WebHandler =>
  async (request) => {
    const kind = path.exec(new URL(request.url).pathname)?.[1];
    if (!kind || request.method !== 'POST') return null;
    const requestId = Bun.randomUUIDv7();
    try {
      return await take(parts, request, kind === 'traces' ? 'Traces' : 'Logs');
    } catch (error) {
      if (!(error instanceof ApiError)) parts.onFault(error, requestId);
      const refusal = error instanceof ApiError ? error : new ApiError('AB04', 'Something went wrong on our side');
      return errorResponse(refusal, requestId);
    }
  };

async function take(parts: ReceiverParts, request: Request, kind: 'Traces' | 'Logs'): Promise<Response> {
  const caller = await sender(parts.authenticator, request);
  const workspace = { id: caller.workspaceId, slug: (await parts.slugOf(caller.workspaceId)) ?? '' };
  const isProtobuf = (request.headers.get('content-type') ?? '').startsWith(protobufType);
  const sent = await body(request, parts.bodyRoom(caller.organisationId));
  const message = isProtobuf ? fromProtobuf(kind, sent) : fromJson(sent);
  const now = parts.clock.now().getTime();
  const { calls, resources } = kind === 'Traces' ? traces(message, now) : logs(message, now);
  if (calls.length > mostCalls) {
    throw invalid(kind === 'Traces' ? 'resourceSpans' : 'resourceLogs', `holds more than ${mostCalls} at once`);
  }
  requireOwn(calls, resources, [caller.organisationId, workspace.id, workspace.slug]);
  const timely = calls.filter(({ createdAt }) => createdAt > now - oldestMs && createdAt < now + day);
  for (const call of timely) parts.sink.append(foreignRecord({ caller, workspace }, call, parts.pricer));
  return answer(isProtobuf, kind, calls.length - timely.length);
}

function traces(message: unknown, now: number) {
  const parsed = checked(tracesForm().safeParse(message));
  return { calls: callsOfTraces(parsed, now), resources: resourcesOf(parsed.resourceSpans) };
}

function logs(message: unknown, now: number) {
  const parsed = checked(logsForm().safeParse(message));
  return { calls: callsOfLogs(parsed, now), resources: resourcesOf(parsed.resourceLogs) };
}

async function sender(authenticator: Authenticator, request: Request): Promise<KeyCaller & { workspaceId: string }> {
  const found = await authenticator.authenticate(request.headers);
  if (found.outcome !== 'caller') throw unauthenticated('Send an API key of a workspace in the header x-gw-api-key');
  const { caller } = found;
  if (caller.kind === 'session' || caller.workspaceId === null) {
    throw forbidden('This call is open to keys of a workspace alone');
  }
  const { workspaceId } = caller;
  if (!needed.every((scope) => mayInWorkspace(caller, scope, workspaceId))) {
    throw forbidden(`This call needs the scopes ${needed.join(' and ')}`);
  }
  return { ...caller, workspaceId };
}

async function body(request: Request, room: BodyRoom): Promise<Uint8Array> {
  const bytes = await readBytes(request, bodyLimit, { room });
  if (request.headers.get('content-encoding') !== 'gzip') return bytes;
  try {
    // On another thread, so that nobody waits for it.
    return await unzipped(bytes, { maxOutputLength: bodyLimit });
  } catch (error) {
    const large = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw large ? tooLarge(bodyLimit) : new ApiError('AB01', 'The body is no gzip, although its header says so');
  }
}

function fromProtobuf(kind: 'Traces' | 'Logs', bytes: Uint8Array): unknown {
  try {
    return decodeProtobuf(kind, bytes);
  } catch (error) {
    throw new ApiError(
      'AB01',
      `The body is no protobuf message of OpenTelemetry: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function fromJson(bytes: Uint8Array): unknown {
  try {
    return readJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new ApiError('AB01', `The body is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
}

function checked<T>(result: z.ZodSafeParseResult<T>): T {
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.join('.') || 'body';
  throw new ApiError('AB01', `${where}: ${issue?.message}`, {
    errors: [{ location: 'body', path: where, message: issue?.message ?? '' }],
  });
}

/** Neither what sent it, nor a span or record in it, may name somebody else. */
function requireOwn(
  calls: readonly ForeignCall[],
  resources: readonly ReadonlyMap<string, unknown>[],
  own: readonly string[],
): void {
  for (const name of tenantNames) {
    const field = `attributes.${name}`;
    const isForeign = (value: unknown) => value !== undefined && !own.includes(String(value));
    if (resources.some((attributes) => isForeign(attributes.get(name)))) throw foreign(`resource.${field}`);
    if (calls.some(({ metadata }) => isForeign(metadata[name]))) throw foreign(field);
  }
}

const foreign = (field: string): ApiError =>
  forbiddenField('body', field, 'names another tenant than the one of the key');

/** The empty message of protobuf is no bytes at all; a message with a rejection is written by hand: field 1, with count and text. */
function answer(isProtobuf: boolean, kind: 'Traces' | 'Logs', rejected: number): Response {
  const words = 'older than a year or of the future';
  if (!isProtobuf) {
    const count = kind === 'Traces' ? { rejectedSpans: rejected } : { rejectedLogRecords: rejected };
    return Response.json({ partialSuccess: rejected === 0 ? {} : { ...count, errorMessage: words } });
  }
  return new Response(rejected === 0 ? new Uint8Array() : partialSuccess(rejected, words), {
    headers: { 'content-type': protobufType },
  });
}

function partialSuccess(rejected: number, words: string): Uint8Array<ArrayBuffer> {
  const count: number[] = [];
  for (let rest = rejected; rest > 0 || count.length === 0; rest = Math.floor(rest / 128)) {
    count.push((rest % 128) + (rest >= 128 ? 128 : 0));
  }
  const inner = [0x08, ...count, 0x12, words.length, ...Buffer.from(words)];
  return Uint8Array.from([0x0a, inner.length, ...inner]);
}
