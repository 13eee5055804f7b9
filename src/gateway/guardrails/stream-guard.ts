/** Guardrails on a stream that is under way: texts are held back as far as checks need, and the whole answer is judged at its end. */
import type { CompiledHook } from '../../guardrails/compile.ts';
import type { TextScanner } from '../../guardrails/scanner.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { JsonObject, ServerEvent } from '../../providers/provider.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { jsonOf } from '../dialects/dialect.ts';
import type { StageVerdict, StreamOutcome, StreamStage, StreamStop } from '../streaming/stages.ts';
import { denialError } from './denial.ts';
import { type Assembly, asEvent, type Lens } from './lenses/lens.ts';
import { TokenScanner } from './restoring.ts';
import { resultEvent, resultsTold } from './result-events.ts';
import { outputFacts, run, runAsync } from './run.ts';
import { type GuardState, toldResults } from './state.ts';
import { FilterChain, TextFilter } from './text-filter.ts';

type OpenScanner = () => TextScanner;

/** Nothing where nobody looks at the stream and nothing must be put back. */
export function streamStages(call: AttemptContext, state: GuardState, lens: Lens): StreamStage[] {
  return [new GuardedStream(call, state, lens, scannersOf(state))];
}

/** Checks that refuse read the text as it came; those that replace read what those before them left. */
function scannersOf({ guards: { output }, restores }: GuardState): OpenScanner[] {
  const windows = output.sync.filter(({ streamWindow }) => streamWindow);
  const refusing = windows
    .filter(({ deny, sequential }) => deny && !sequential)
    .flatMap((hook) => openersOf(hook, 'refuses'));
  const inOrder = windows.flatMap((hook) => openersOf(hook, hook.sequential && hook.deny ? 'both' : 'replaces'));
  const restoring = restores && restores.size > 0 ? [() => new TokenScanner(restores)] : [];
  return [...refusing, ...inOrder, ...restoring];
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
  readonly #lens: Lens;
  readonly #scanners: readonly OpenScanner[];
  readonly #assembly: Assembly;
  readonly #chains = new Map<string, { chain: FilterChain; like: JsonObject; inJson: boolean }>();
  /** What the client has of each text. */
  readonly #delivered = new Map<string, string>();
  #number = 0;

  constructor(call: AttemptContext, state: GuardState, lens: Lens, scanners: readonly OpenScanner[]) {
    this.#call = call;
    this.#state = state;
    this.#lens = lens;
    this.#scanners = scanners;
    this.#assembly = lens.assembly();
  }

  push(events: readonly ServerEvent[]): MaybePromise<StageVerdict> {
    const out: ServerEvent[] = [];
    for (const event of events) {
      const json = jsonOf(event);
      if (json) this.#assembly.push(json);
      if (this.#scanners.length === 0) continue;
      const refused = json ? this.#pass(json, out) : this.#flush([...this.#chains.keys()], out);
      if (!json && !refused) out.push(event);
      if (refused) return this.#stop(refused);
    }
    return this.#scanners.length === 0 ? events : out;
  }

  /** What may leave of an event; answers why the stream must stop where it must. */
  #pass(json: JsonObject, out: ServerEvent[]): 'found' | 'not scanned' | null {
    const deltas = this.#lens.deltas(json);
    const closing = this.#lens.closes(json, [...this.#chains.keys()]);
    // What an event brings last goes out with it, and what was held of other texts before it.
    const own = new Set(deltas.map(({ key }) => key));
    const refusedBefore = this.#flush(
      closing.filter((key) => !own.has(key)),
      out,
    );
    if (refusedBefore) return refusedBefore;
    const parts: string[] = [];
    for (const { key, text, inJson } of deltas) {
      const filtered = this.#chain(key, json, inJson).push(text, closing.includes(key));
      if ('refused' in filtered) return filtered.refused;
      parts.push(filtered.text);
      this.#note(key, filtered.text);
      if (closing.includes(key)) this.#chains.delete(key);
    }
    const rewritten =
      deltas.length > 0 ? this.#lens.withTexts(json, parts) : this.#lens.restated(json, this.#delivered);
    if (rewritten) this.#emit(rewritten, out);
    return null;
  }

  /** Lets what is held of these texts go, since they are at their end. */
  #flush(keys: readonly string[], out: ServerEvent[]): 'found' | 'not scanned' | null {
    for (const key of keys) {
      const known = this.#chains.get(key);
      if (!known) continue;
      this.#chains.delete(key);
      const filtered = known.chain.push('', true);
      if ('refused' in filtered) return filtered.refused;
      if (filtered.text === '') continue;
      this.#note(key, filtered.text);
      this.#emit(this.#lens.more(known.like, key, filtered.text), out);
    }
    return null;
  }

  #chain(key: string, like: JsonObject, inJson: boolean): FilterChain {
    const known = this.#chains.get(key);
    if (known) return known.chain;
    const chain = new FilterChain(this.#scanners.map((open) => new TextFilter(open(), inJson)));
    this.#chains.set(key, { chain, like, inJson });
    return chain;
  }

  #note(key: string, text: string): void {
    this.#delivered.set(key, (this.#delivered.get(key) ?? '') + text);
  }

  #emit(json: JsonObject, out: ServerEvent[]): void {
    out.push(asEvent(this.#lens, this.#lens.numbered(json, this.#number++)));
  }

  /** The stream ends as the dialect ends one whose answer is refused. */
  async #stop(reason: 'found' | 'not scanned'): Promise<StreamStop> {
    this.#call.record.withheld = true;
    await this.#judge();
    this.#state.outputFailed = true;
    const message = reason === 'not scanned' ? 'a text is too long to be checked before it is delivered' : null;
    const told = resultsTold(this.#call)
      ? [resultEvent(this.#call.context.matched.route.kind, { after_request_hooks: toldResults(this.#state) })]
      : [];
    return {
      stop: denialError({ softText: null, message }, this.#state),
      events: [...this.#assembly.refusal(this.#delivered), ...told],
    };
  }

  async end(outcome: StreamOutcome): Promise<StageVerdict> {
    const out: ServerEvent[] = [];
    if (outcome === 'complete' && this.#scanners.length > 0) {
      const refused = this.#flush([...this.#chains.keys()], out);
      if (refused) return this.#stop(refused);
    }
    if (outcome === 'complete') await this.#judge();
    return out;
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
