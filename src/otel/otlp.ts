/** The messages of the OpenTelemetry protocol, from JSON and from protobuf, as far as spans and log records of model calls need them. */
import protobuf from 'protobufjs/light.js';
import { z } from 'zod';
import { lazy } from '../lazy.ts';

const field = (id: number, type: string, rule?: 'repeated') => ({ id, type, ...(rule && { rule }) });

/** Fields that are not listed are skipped by the reader. */
const messages = {
  AnyValue: {
    // A value that is false or 0 was sent, and is told apart from none.
    oneofs: {
      value: { oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue'] },
    },
    fields: {
      stringValue: field(1, 'string'),
      boolValue: field(2, 'bool'),
      intValue: field(3, 'int64'),
      doubleValue: field(4, 'double'),
      arrayValue: field(5, 'ArrayValue'),
      kvlistValue: field(6, 'KeyValueList'),
    },
  },
  ArrayValue: { fields: { values: field(1, 'AnyValue', 'repeated') } },
  KeyValueList: { fields: { values: field(1, 'KeyValue', 'repeated') } },
  KeyValue: { fields: { key: field(1, 'string'), value: field(2, 'AnyValue') } },
  Resource: { fields: { attributes: field(1, 'KeyValue', 'repeated') } },
  Status: { fields: { message: field(2, 'string'), code: field(3, 'int32') } },
  Span: {
    fields: {
      traceId: field(1, 'bytes'),
      spanId: field(2, 'bytes'),
      parentSpanId: field(4, 'bytes'),
      name: field(5, 'string'),
      startTimeUnixNano: field(7, 'fixed64'),
      endTimeUnixNano: field(8, 'fixed64'),
      attributes: field(9, 'KeyValue', 'repeated'),
      status: field(15, 'Status'),
    },
  },
  ScopeSpans: { fields: { spans: field(2, 'Span', 'repeated') } },
  ResourceSpans: { fields: { resource: field(1, 'Resource'), scopeSpans: field(2, 'ScopeSpans', 'repeated') } },
  Traces: { fields: { resourceSpans: field(1, 'ResourceSpans', 'repeated') } },
  LogRecord: {
    fields: {
      timeUnixNano: field(1, 'fixed64'),
      severityNumber: field(2, 'int32'),
      body: field(5, 'AnyValue'),
      attributes: field(6, 'KeyValue', 'repeated'),
      traceId: field(9, 'bytes'),
      spanId: field(10, 'bytes'),
      observedTimeUnixNano: field(11, 'fixed64'),
      eventName: field(12, 'string'),
    },
  },
  ScopeLogs: { fields: { logRecords: field(2, 'LogRecord', 'repeated') } },
  ResourceLogs: { fields: { resource: field(1, 'Resource'), scopeLogs: field(2, 'ScopeLogs', 'repeated') } },
  Logs: { fields: { resourceLogs: field(1, 'ResourceLogs', 'repeated') } },
};

const types = lazy(() => protobuf.Root.fromJSON({ nested: messages }));

/** The message as the protocol's JSON writes it, but for ids, which are bytes. */
export function decodeProtobuf(kind: 'Traces' | 'Logs', bytes: Uint8Array): unknown {
  const type = types().lookupType(kind);
  return type.toObject(type.decode(bytes), { longs: String });
}

type AnyValue = z.output<ReturnType<typeof anyValue>>;

/** Values nest; a value that is none of these is left out. */
const anyValue = lazy(() =>
  z.object({
    stringValue: z.string().optional(),
    boolValue: z.boolean().optional(),
    intValue: z.union([z.string(), z.number()]).optional(),
    doubleValue: z.number().optional(),
    arrayValue: z.object({ values: z.array(z.unknown()).optional() }).optional(),
    kvlistValue: z.object({ values: z.array(z.unknown()).optional() }).optional(),
  }),
);

const keyValue = lazy(() => z.object({ key: z.string().max(512), value: anyValue().optional() }));
const attributes = lazy(() => z.array(keyValue()).max(1_000).optional());
const nanos = z.union([z.string().regex(/^\d{1,20}$/), z.number()]).optional();
/** Hex in JSON, bytes in protobuf; free texts of other senders are taken as they are. */
const idText = z
  .union([z.string().max(128), z.instanceof(Uint8Array)])
  .transform((id) => (typeof id === 'string' ? id : Buffer.from(id).toString('hex')))
  .optional();
const resource = lazy(() => z.object({ attributes: attributes() }).optional());

export const tracesForm = lazy(() =>
  z.object({
    resourceSpans: z
      .array(
        z.object({
          resource: resource(),
          scopeSpans: z
            .array(
              z.object({
                spans: z
                  .array(
                    z.object({
                      traceId: idText,
                      spanId: idText,
                      parentSpanId: idText,
                      name: z.string().max(4_096).optional(),
                      startTimeUnixNano: nanos,
                      endTimeUnixNano: nanos,
                      attributes: attributes(),
                      status: z
                        .object({ code: z.union([z.number(), z.string()]).optional(), message: z.string().optional() })
                        .optional(),
                    }),
                  )
                  .optional(),
              }),
            )
            .optional(),
        }),
      )
      .optional(),
  }),
);

export const logsForm = lazy(() =>
  z.object({
    resourceLogs: z
      .array(
        z.object({
          resource: resource(),
          scopeLogs: z
            .array(
              z.object({
                logRecords: z
                  .array(
                    z.object({
                      timeUnixNano: nanos,
                      observedTimeUnixNano: nanos,
                      severityNumber: z.union([z.number(), z.string()]).optional(),
                      eventName: z.string().max(4_096).optional(),
                      body: anyValue().optional(),
                      attributes: attributes(),
                      traceId: idText,
                      spanId: idText,
                    }),
                  )
                  .optional(),
              }),
            )
            .optional(),
        }),
      )
      .optional(),
  }),
);

export type Attributes = ReadonlyMap<string, unknown>;

export const attributesOf = (...lists: z.output<ReturnType<typeof attributes>>[]): Attributes =>
  new Map(lists.flatMap((list) => (list ?? []).map(({ key, value }) => [key, plainValue(value)] as const)));

const deepest = 20;

/** A value as JSON knows it. */
export function plainValue(value: AnyValue | undefined, depth = 0): unknown {
  if (!value || depth > deepest) return null;
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue } = value;
  if (stringValue !== undefined) return stringValue;
  if (boolValue !== undefined) return boolValue;
  if (intValue !== undefined) return Number(intValue);
  if (doubleValue !== undefined) return doubleValue;
  const inner = (item: unknown) => plainValue(anyValue().safeParse(item).data, depth + 1);
  if (arrayValue) return (arrayValue.values ?? []).map(inner);
  if (!kvlistValue) return null;
  const pairs = (kvlistValue.values ?? []).flatMap((item) => keyValue().safeParse(item).data ?? []);
  return Object.fromEntries(pairs.map((pair) => [pair.key, plainValue(pair.value, depth + 1)]));
}

/** Milliseconds since the epoch; null where the sender did not say. */
export const millis = (nano: string | number | undefined): number | null =>
  nano === undefined || Number(nano) === 0 ? null : Number(nano) / 1e6;
