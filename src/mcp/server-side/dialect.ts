/** What the loop of server-side tools must know of a dialect: how tools are named in a request, and how calls and results look. */
import type { LiveView } from './live.ts';
import type {
  Answered,
  Executed,
  Json,
  LiveStart,
  ModelCall,
  OfferedTool,
  Resolved,
  ServerReference,
  ToolRound,
} from './tool-calls.ts';

export interface ToolDialect {
  /** The servers that the request names; the request without them. */
  references(body: Json): { servers: ServerReference[]; rest: Json };
  /** Earlier rounds that the client sends back, as ordinary turns. */
  replayed(body: Json, nameOf: (label: string, tool: string) => string): Json;
  withTools(body: Json, tools: readonly OfferedTool[]): Json;
  /** The calls in an answer of the model. */
  calls(answer: Json): ModelCall[];
  /** The request of the next round. */
  next(body: Json, answer: Json, ours: readonly (Executed & { call: ModelCall })[]): Json;
  /** Calls that waited for a person, and what they answered. */
  answered(body: Json): Answered[];
  /** The request with these calls as ordinary turns. */
  resolved(body: Json, outcomes: ReadonlyMap<string, Resolved>): Json;
  /** The last answer, with everything that was executed shown as the dialect shows it. */
  final(answer: Json, shown: ToolRound): Json;
  /** Shows the loop as a stream. */
  live(body: Json, shown: LiveStart): LiveView;
  /** The request of one round, whose answer is to be a stream. */
  streaming(body: Json): Json;
}
