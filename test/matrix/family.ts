/** What a family of providers brings to the matrix. */
import type { Json } from '../harness.ts';
import type { Behaviour, ReceivedCall } from '../providers/simulated.ts';
import type { CellName, Script, Told } from './cells.ts';
import type { ClientName } from './clients.ts';

/** Of a family without tools and forms: nothing arrives, because all of it is refused. */
export const textAlone = {
  asked: { 'tool call': null, 'parallel tools': null, 'tool result turn': null, 'structured output': null },
  refuses: {
    'tool call': 'tools',
    'parallel tools': 'tools',
    'tool result turn': 'tools',
    'structured output': 'response_format',
  },
} as const;

export interface MatrixFamily {
  name: string;
  /** The provider's id, and the model that is asked for. */
  provider: string;
  model: string;
  /** Where its API begins, given where the simulated one does, version included. */
  address?: (url: string) => string;
  /** Settings of the saved provider besides its address. */
  settings?: object;
  /** Fields that every client adds, where they choose between surfaces of the provider. */
  chosenBy?: Json;
  /** Headers that every client adds, for the same reason. */
  headers?: Record<string, string>;
  /** Dialects that it speaks itself: their requests arrive as they were sent. */
  speaks: readonly ClientName[];
  /** Dialects that it nearly speaks: what a client gives back of an answer travels as it is. */
  nearlySpeaks?: readonly ClientName[];
  /** The simulated provider: does what the script says, in its own dialect, whole or streamed as it is asked. */
  does(script: Script): Behaviour;
  /** The requests that must arrive, by cell. */
  asked: Record<CellName, Json>;
  /** Where a client cannot ask for all of it, or asks for more. */
  askedBy?: Partial<Record<ClientName, Partial<Record<CellName, Json>>>>;
  /** The request that arrived, where its body alone does not tell. */
  received?(call: ReceivedCall): Json;
  /** The request of a streamed call, given that of a whole one. */
  streamed(asked: Json, cell: CellName, client: ClientName): Json;
  /** Calls that only fetch what was asked for before. */
  fetches?(call: ReceivedCall): boolean;
  /** The turn in which its model thought and called, as it comes back to it; null where thoughts cannot come back. */
  ownTurn: Json;
  /** That turn, in a request. */
  turnIn(asked: Json): Json;
  /** What a client can be told of a script, where the provider keeps some of it to itself. */
  tells?(told: Told, client: ClientName, stream: boolean): Told;
  /** What its scripts report as used; nothing where it does not say. */
  usage: { input: number; cached: number; output: number };
  /** Where its streams report something else. */
  streamUsage?: { input: number; cached: number; output: number };
  /** Cells that it cannot do, by the field that its refusal names. */
  refuses?: Partial<Record<CellName, string>>;
  /** Those of one dialect alone. */
  refusesBy?: Partial<Record<ClientName, Partial<Record<CellName, string>>>>;
}
