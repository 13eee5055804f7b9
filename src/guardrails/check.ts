/** What a check is: a value with an id, the parameters it takes, the events it serves, and one function over the text of a request or an answer. */
import { z } from 'zod';
import type { JsonObject } from '../providers/provider.ts';
import type { CheckContext, HookEvent } from './context.ts';
import type { CheckIo } from './io.ts';
import type { TextScanner } from './scanner.ts';

export type Category = 'BASIC' | 'PRO' | 'PARTNER';

/** A place of a segment that a check replaces. */
export interface Edit {
  segment: number;
  start: number;
  end: number;
  text: string;
}

export interface CheckError {
  name: string;
  message: string;
}

export interface CheckResult {
  verdict: boolean;
  data: JsonObject | null;
  error?: CheckError;
  /** What is to be replaced in the segments. */
  edits?: readonly Edit[];
  /** Replaces the whole body. */
  body?: JsonObject;
  /** Client headers that later checks see, and only they. */
  headers?: Readonly<Record<string, string>>;
  /** What was asked of a service, without its secrets. */
  log?: JsonObject;
  /** What was replaced, so that the client's answer can have it again. */
  restores?: ReadonlyMap<string, string>;
}

/** What a check must have seen of a stream before any of it may be delivered. */
export type StreamNeed =
  | { needs: 'whole' }
  /** `exact`: no more than a match that has begun. `window`: up to a place that nothing can reach across. */
  | { needs: 'exact' | 'window'; open(): TextScanner };

/** A check with its parameters, ready to run. */
export interface Prepared {
  run(context: CheckContext, io: CheckIo): CheckResult | Promise<CheckResult>;
  /** Without it the check needs the whole answer. */
  stream?: StreamNeed;
}

/** What a check finds around itself when it is prepared. */
export interface Setup {
  /** Those of the check, over those of its guardrail, over those of the organisation. */
  credentials: Readonly<JsonObject>;
  /** Why an address may not be called, or null. */
  faultOfUrl(url: string): string | null;
  timeoutMs: number;
}

/** A parameter that its schema accepts and the check cannot use. */
export class ParameterFault extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

interface Definition<Shape extends z.ZodRawShape> {
  /** `default.regexMatch`. */
  id: string;
  aliases?: readonly string[];
  title: string;
  description: string;
  category: Category;
  events: readonly HookEvent[];
  /** The request types that it serves; all that carry text where it names none. */
  requestTypes?: readonly string[];
  /** Asks a service: it takes a timeout, headers to forward, and credentials. */
  network?: { timeoutMs: number; credentials?: () => z.ZodObject };
  /** May change the text or the body. */
  transforms?: boolean;
  parameters: () => Shape;
  example: JsonObject;
  prepare(parameters: z.output<z.ZodObject<Shape>>, setup: Setup): Prepared;
}

export interface Check extends Omit<Definition<z.ZodRawShape>, 'prepare' | 'parameters' | 'aliases'> {
  aliases: readonly string[];
  /** The schema of its parameters, those that every check takes included. */
  schema(): z.ZodObject;
  /** Throws a ParameterFault or a ZodError for parameters that it cannot use. */
  prepare(parameters: unknown, setup: Setup): Prepared;
}

export function defineCheck<const Shape extends z.ZodRawShape>(definition: Definition<Shape>): Check {
  const { prepare, parameters, aliases = [], ...rest } = definition;
  let made: z.ZodObject<Shape> | undefined;
  const own = () => {
    made ??= z.object(parameters());
    return made;
  };
  let whole: z.ZodObject | undefined;
  return {
    ...rest,
    aliases,
    schema() {
      whole ??= z.strictObject({ ...commonParameters(), ...(rest.network ? networkParameters() : {}), ...own().shape });
      return whole;
    },
    prepare: (given, setup) => prepare(own().parse(given), setup),
  };
}

/** Parameters that every check takes. */
const commonParameters = () => ({
  failOnError: z.boolean().optional().describe('An error of the check fails it'),
  soft_deny_200: z.boolean().optional().describe('A denial is answered with 200 and the denial text'),
  message: z.string().max(2_000).optional().describe('The denial text of this check'),
});

/** Parameters of checks that ask a service. */
const networkParameters = () => ({
  timeout: z.number().min(1).max(120_000).optional().describe('Milliseconds'),
  forwardHeaders: z.array(forwardedHeader()).max(50).optional().describe('Client headers that the service receives'),
  credentials: z.record(z.string().max(64), z.unknown()).optional().describe('Instead of those of the organisation'),
});

/** Headers that carry credentials or belong to a connection. */
const neverForwarded = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'ocp-apim-subscription-key',
  'cookie',
  'set-cookie',
  'metadata',
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-aws-ec2-metadata-token-ttl-seconds',
  'x-google-metadata-request',
  'connection',
  'host',
  'transfer-encoding',
  'content-length',
  'content-type',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);

const ownForwarded = new Set(['x-gw-trace-id', 'x-gw-span-id']);

const forwardedHeader = () =>
  z
    .string()
    .max(128)
    .regex(/^[a-z0-9-]+$/, 'write the name of a header in lower case')
    .refine((name) => !neverForwarded.has(name) && (!name.startsWith('x-gw-') || ownForwarded.has(name)), {
      message: 'is a header that is never forwarded',
    });

/** The sentence that tells a reader why, as `data.explanation`. */
export const explained = (verdict: boolean, explanation: string, data: JsonObject = {}): CheckResult => ({
  verdict,
  data: { ...data, explanation },
});

export const failedCheck = (
  message: string,
  verdict = false,
  name = 'Error',
  data: JsonObject | null = null,
): CheckResult => ({
  verdict,
  data,
  error: { name, message },
});

const excerptLength = 100;

export const excerptOf = (text: string): string =>
  text.length > excerptLength ? `${text.slice(0, excerptLength)}...` : text;
