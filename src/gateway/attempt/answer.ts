/** What a target answered, and what is remembered of the attempt for the log. */
import type { CacheEntry, CachePlace } from '../../cache/engine.ts';
import type { Leaf } from '../../catalog/plan.ts';
import type { Reservation } from '../../limits/engine.ts';
import type { CacheStatus } from '../../logs/record.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { JsonObject, Usage } from '../../providers/provider.ts';
import type { Abort } from '../../wire/abort.ts';
import type { AnswerHeaders, ByteReader } from '../../wire/client/answer.ts';
import type { GatewayError } from '../errors.ts';
import type { GuardState } from '../guardrails/state.ts';
import type { ProviderSocket } from '../realtime/upstream-socket.ts';
import type { Bytes } from '../request/body.ts';
import type { StreamStage } from '../streaming/stages.ts';
import type { UpstreamEvents } from '../streaming/upstream-events.ts';
import type { Sent } from '../upstream/upstream-request.ts';
import type { Target } from './target.ts';

/** The trail of one target: filled as the attempt goes on, read when it is settled. */
export interface AttemptRecord {
  /** The node's place in the plan. */
  path: string;
  /** Null where a strategy itself could not choose a target. */
  leaf: Leaf | null;
  target: Target | null;
  upstream: Sent | null;
  /** The status that this target ended with. */
  status: number;
  error: GatewayError | null;
  /** As the answer's header tells it: the retry that succeeded, 0 for none, -1 when they were used up. */
  retryCount: number;
  /** The answers that were retried, and how long each retry waited. */
  retries: readonly { status: number; waitMs: number }[];
  /** The rule that chose this target. */
  rule: string;
  /** Times that a request was sent again because its connection was closing; the log counts them as retries. */
  replays: number;
  startedAt: number;
  endedAt: number;
  /** Time spent waiting for the provider, all tries together. */
  upstreamMs: number;
  firstTokenMs: number | null;
  /** When the provider was first asked; null where it was not. */
  sentAt: number | null;
  /** Asking the cache; null where it was not asked. */
  cacheMs: number | null;
  /** Translating a whole answer; null where there was nothing to translate. */
  translationMs: number | null;
  responseHeaders: AnswerHeaders | null;
  /** What was received; of a stream, once it has ended. In the client's dialect where it was translated. */
  received: Uint8Array | null;
  /** The fields of an answer in JSON, and the bytes that they were read from. */
  answered: { bytes: Uint8Array; fields: JsonObject } | null;
  /** The beginning of the text that a stream told the client; null where it is not known without reading it again. */
  preview: string | null;
  /** What the provider sent, where it was translated and came whole. */
  original: Uint8Array | null;
  /** As a stream reported it, or an answer that was translated. */
  usage: Usage | null;
  /** That usage does not count yet what was produced. */
  usageOpen: boolean;
  /** The model that such a one named. */
  model: string | null;
  /** Characters that a stream delivered, for providers that report no usage. */
  producedCharacters: number;
  /** They themselves, where a stream without usage brought nothing but text. */
  producedText: string | null;
  cacheStatus: CacheStatus;
  /** What guardrails said; null where none guards the target. */
  guard: GuardState | null;
  /** The provider answered and was paid, and a guardrail withheld the answer. */
  withheld: boolean;
  /** What a service that is no model said when it failed; its status may be that of a success. */
  failure?: string;
  /** What it holds of limits; absent where it holds nothing. */
  hold?: Hold;
  /** What the cache is to keep of this attempt; null where it answered itself or has no part in it. */
  cache?: PendingEntry | null;
  /** What a recalled answer would have cost, in US cents. */
  savedCents?: number;
  /** The request as parameters and guardrails left it, where the provider gets it in another dialect. */
  finalRequest?: JsonObject;
  /** It is the answer to a row of a batch that the provider ran, at the price of batches. */
  inBatch?: true;
}

export interface PendingEntry {
  place: CachePlace;
  ttlSeconds: number;
  /** As the target gave it, once it is whole. */
  answer: Pick<CacheEntry, 'body' | 'stream' | 'contentType'> | null;
  /** A limit of ours may have ended the answer at so many tokens: one of that length is kept for nobody. */
  shortOf?: number;
  /** What the semantic index is to know of it. */
  question?: { partition: string; vector: Float32Array };
  /** Equal calls wait for this one. */
  leads?: boolean;
}

/** How a stream stands to what the client already has: there was nothing, it goes on from it, or it says it all again. */
export type Joining = 'fresh' | 'continued' | 'restarted';

export type Content =
  | { form: 'bytes'; bytes: Bytes }
  /** A stream of a dialect that we understand. */
  | { form: 'events'; events: UpstreamEvents; joined: Joining; stages: readonly StreamStage[] }
  /** Carried through as it comes. */
  | { form: 'raw'; body: ByteReader | null; abort: Abort; idleMs: number }
  /** A realtime session that the provider has accepted. */
  | { form: 'socket'; socket: ProviderSocket }
  | { form: 'error'; error: GatewayError };

/** A stream that broke: the text that its client has already received, and the status that the break stands for. */
export interface Delivered {
  text: string;
  status: number;
}

export interface Answer {
  status: number;
  headers: AnswerHeaders | null;
  content: Content;
  record: AttemptRecord;
  /** Goes on with the next target when this stream breaks; null when there is none, or none that is to be asked after such a break. */
  rescue: ((delivered: Delivered) => Promise<Answer | null>) | null;
}

/** 101 is how a realtime session succeeds. */
export const isSuccess = (status: number): boolean => (status >= 200 && status <= 299) || status === 101;

/** Lets go of an answer that nobody will read. */
export function discard({ content }: Answer): void {
  if (content.form === 'events') content.events.abandon();
  else if (content.form === 'raw') content.abort.abort();
  else if (content.form === 'socket') content.socket.terminate();
}

/** What a target that is tried holds. */
export interface Hold {
  reservation: Reservation;
  record: AttemptRecord;
  /** The size of the question, for those who learn from it. */
  asked: number;
  /** Takes as much once more, for the next turn of a session, and no less than the last one took; its requests are counted already. */
  again(spent: readonly number[]): MaybePromise<Reserved>;
}

export type Reserved = { hold: Hold } | { refusal: GatewayError };
