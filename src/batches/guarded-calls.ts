/** What a batch between guardrails asks of the data plane: calls of its provider, and what guardrails say of a row and of its answer. */
import type { HookResult } from '../guardrails/results.ts';
import type { OrderedBy } from '../identity/keyring.ts';
import type { LedgerEntry } from '../limits/engine.ts';

/** Makes one call as whoever ordered it; null when their key or token no longer counts. */
export type CallAs = (by: OrderedBy, request: Request) => Promise<Response | null>;

/** What guardrails said of a row before it was sent. */
export interface InputVerdicts {
  sync: readonly HookResult[];
  async: readonly HookResult[];
  failed: boolean;
  transformed: boolean;
}

/** The answer that a row has from the gateway itself, or that it may have. */
export interface RowAnswer {
  status: number;
  requestId: string;
  body: unknown;
}

/** The answer to a row, with what it takes of budgets. */
export interface CheckedAnswer extends RowAnswer {
  spent: readonly LedgerEntry[];
}

export type CheckedInput =
  | { passed: true; body: Record<string, unknown>; verdicts: InputVerdicts }
  | { passed: false; answer: RowAnswer };

/** Null where the key or token of whoever ordered it no longer counts. */
export interface GuardedCalls {
  /** A call that no guardrail and no batch of the gateway's own stands before. */
  atProvider: CallAs;
  /** What becomes of a row before it is sent. */
  checkInput(by: OrderedBy, request: Request): Promise<CheckedInput | null>;
  /** What becomes of the answer to a row; `request` is the row as it was sent. */
  checkOutput(
    by: OrderedBy,
    request: Request,
    answer: Record<string, unknown>,
    verdicts: InputVerdicts,
  ): Promise<CheckedAnswer | null>;
}
