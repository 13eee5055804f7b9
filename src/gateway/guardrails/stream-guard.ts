/** Guardrails on a stream that is under way: texts are held back as far as checks need, and the whole answer is judged at its end. */
import type { CompiledHook } from '../../guardrails/compile.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { jsonOf } from '../dialects/dialect.ts';
import type { StageVerdict, StreamOutcome, StreamStage, StreamStop } from '../streaming/stages.ts';
import { denialError } from './denial.ts';
import type { Assembly, Lens } from './lenses/lens.ts';
import { resultEvent, resultsTold } from './result-events.ts';
import { outputFacts, run, runAsync } from './run.ts';
import { type GuardState, toldResults } from './state.ts';
import { type OpenScanner, type Refused, TextWindow } from './text-window.ts';

/** Nothing where nobody looks at the stream and nothing must be put back. */
export function streamStages(call: AttemptContext, state: GuardState, lens: Lens): StreamStage[] {
  return [new GuardedStream(call, state, lens, scannersOf(state))];
}

/** Checks that refuse read the text as it came; those that replace read what those before them left. */
function scannersOf({ guards: { output } }: GuardState): OpenScanner[] {
  const windows = output.sync.filter(({ streamWindow }) => streamWindow);
  const refusing = windows
    .filter(({ deny, sequential }) => deny && !sequential)
    .flatMap((hook) => openersOf(hook, 'refuses'));
  const inOrder = windows.flatMap((hook) => openersOf(hook, hook.sequential && hook.deny ? 'both' : 'replaces'));
  return [...refusing, ...inOrder];
}

function openersOf({ checks }: CompiledHook, which: 'refuses' | 'replaces' | 'both'): OpenScanner[] {
  return checks.flatMap(({ check, prepared }) => {
    if (!('run' in prepared) || !prepared.stream || prepared.stream.needs === 'whole') return [];
    const { open } = prepared.stream;
    if (which === 'both') return [open];
    // A check that may replace is asked what it does with a text: only its findings tell.
    const replaces = check.transforms === true && replacesText(open);
    return replaces === (which === 'replaces') ? [open] : [];
  });
}

/** A scanner that replaces marks its findings with a text. */
const replacesText = (open: OpenScanner): boolean => open().replaces === true;

class GuardedStream implements StreamStage {
  readonly name = 'guardrails';
  readonly #call: AttemptContext;
  readonly #state: GuardState;
  readonly #assembly: Assembly;
  readonly #window: TextWindow;

  constructor(call: AttemptContext, state: GuardState, lens: Lens, scanners: readonly OpenScanner[]) {
    this.#call = call;
    this.#state = state;
    this.#assembly = lens.assembly();
    this.#window = new TextWindow(lens, scanners);
  }

  push(events: readonly ServerEvent[]): MaybePromise<StageVerdict> {
    for (const event of events) {
      const json = jsonOf(event);
      if (json) this.#assembly.push(json);
    }
    const passed = this.#window.push(events);
    return typeof passed === 'string' ? this.#stop(passed) : passed;
  }

  /** The stream ends as the dialect ends one whose answer is refused. */
  async #stop(reason: Refused): Promise<StreamStop> {
    this.#call.record.withheld = true;
    await this.#judge();
    this.#state.outputFailed = true;
    const message = reason === 'not scanned' ? 'a text is too long to be checked before it is delivered' : null;
    const told = resultsTold(this.#call)
      ? [resultEvent(this.#call.context.matched.route.kind, { after_request_hooks: toldResults(this.#state) })]
      : [];
    return {
      stop: denialError({ softText: null, message }, this.#state),
      events: [...this.#assembly.refusal(this.#window.delivered), ...told],
    };
  }

  async end(outcome: StreamOutcome): Promise<StageVerdict> {
    if (outcome !== 'complete') return [];
    const left = this.#window.end();
    if (typeof left === 'string') return this.#stop(left);
    await this.#judge();
    return left;
  }

  /** The whole answer is judged once, for the log and for clients that read results. */
  async #judge(): Promise<void> {
    const { deps, context } = this.#call;
    const { sync } = this.#state.guards.output;
    const facts = outputFacts(this.#call, this.#state, this.#assembly.whole());
    if (sync.length > 0) {
      const outcome = await run(deps, context, sync, facts);
      // What was delivered was not changed, unless a window did it.
      this.#state.after = outcome.results;
      this.#state.outputFailed = outcome.failed;
    }
    runAsync(this.#call, this.#state, 'after', facts);
  }
}
