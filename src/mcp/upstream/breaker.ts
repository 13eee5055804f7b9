/** The circuit breaker of each MCP server: an upstream that fails again and again is left alone for a while. */
import { type BreakerSettings, defaultBreaker } from '../../catalog/mcp/settings.ts';
import { McpError } from '../errors.ts';

export type CircuitState = 'closed' | 'open' | 'half_open';

interface Circuit {
  slug: string;
  cooldownMs: number;
  consecutive: number;
  /** Of the present window. */
  calls: number;
  failures: number;
  windowStart: number;
  /** Null while it is closed. */
  openedAt: number | null;
  probing: boolean;
}

const mostCircuits = 10_000;

/** As metrics tell it. */
export const severity: Readonly<Record<CircuitState, number>> = { closed: 0, half_open: 1, open: 2 };

export class McpBreakers {
  readonly #now: () => number;
  readonly #circuits = new Map<string, Circuit>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws while the circuit is open; one call is let through when its rest is over. */
  admit(server: string, settings: BreakerSettings = defaultBreaker): void {
    const circuit = this.#circuits.get(server);
    if (!settings.enabled || !circuit || circuit.openedAt === null) return;
    const rest = circuit.openedAt + settings.cooldown_ms - this.#now();
    if (rest <= 0 && !circuit.probing) {
      circuit.probing = true;
      return;
    }
    const seconds = Math.max(1, Math.ceil(Math.max(rest, 1_000) / 1_000));
    throw new McpError('circuit_open', `the upstream failed repeatedly; try again in ${seconds} seconds`, {
      headers: { 'retry-after': String(seconds) },
    });
  }

  succeeded(server: string): void {
    const circuit = this.#circuits.get(server);
    if (!circuit) return;
    if (circuit.openedAt !== null) {
      this.#circuits.delete(server);
      return;
    }
    circuit.consecutive = 0;
    circuit.calls++;
  }

  /** The call told nothing of the upstream's health: if it was the one let through, the next one is. */
  undecided(server: string): void {
    const circuit = this.#circuits.get(server);
    if (circuit) circuit.probing = false;
  }

  failed({ id, slug }: { id: string; slug: string }, settings: BreakerSettings = defaultBreaker): void {
    if (!settings.enabled) return;
    const now = this.#now();
    const circuit = this.#circuits.get(id) ?? this.#opened(id, slug, now);
    circuit.cooldownMs = settings.cooldown_ms;
    if (now - circuit.windowStart > settings.window_ms) {
      circuit.windowStart = now;
      circuit.calls = 0;
      circuit.failures = 0;
    }
    circuit.consecutive++;
    circuit.calls++;
    circuit.failures++;
    const tooOften =
      circuit.calls >= settings.min_requests && circuit.failures / circuit.calls >= settings.failure_rate;
    if (circuit.openedAt !== null || circuit.consecutive >= settings.failure_threshold || tooOften) {
      circuit.openedAt = now;
      circuit.probing = false;
    }
  }

  /** Those of servers that failed lately, by their slug; of servers of several workspaces that share one, the worst. */
  states(): Map<string, CircuitState> {
    const states = new Map<string, CircuitState>();
    for (const [id, { slug, cooldownMs }] of this.#circuits) {
      const state = this.stateOf(id, { ...defaultBreaker, cooldown_ms: cooldownMs });
      if (severity[state] >= severity[states.get(slug) ?? 'closed']) states.set(slug, state);
    }
    return states;
  }

  stateOf(server: string, settings: BreakerSettings = defaultBreaker): CircuitState {
    const circuit = this.#circuits.get(server);
    if (!circuit || circuit.openedAt === null) return 'closed';
    return this.#now() - circuit.openedAt >= settings.cooldown_ms ? 'half_open' : 'open';
  }

  #opened(server: string, slug: string, now: number): Circuit {
    if (this.#circuits.size >= mostCircuits) this.#circuits.clear();
    const circuit: Circuit = {
      slug,
      cooldownMs: defaultBreaker.cooldown_ms,
      consecutive: 0,
      calls: 0,
      failures: 0,
      windowStart: now,
      openedAt: null,
      probing: false,
    };
    this.#circuits.set(server, circuit);
    return circuit;
  }
}
