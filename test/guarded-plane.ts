/** A data plane whose requests and answers pass guardrails, with two simulated providers behind it. */
import { guardInput } from '../src/gateway/guardrails/guard-input.ts';
import { guardOutput } from '../src/gateway/guardrails/guard-output.ts';
import { reportHooks } from '../src/gateway/guardrails/report.ts';
import { type Plane, savedProvider, startPlane } from './gateway-deps.ts';
import { type SimulatedProvider, startProvider } from './providers/simulated.ts';

export interface GuardedPlane {
  plane: Plane;
  a: SimulatedProvider;
  b: SimulatedProvider;
  stop(): Promise<void>;
}

/** Behind `@a` and `@claude` is the first provider, behind `@b` and `@claude-b` the second. */
export async function startGuardedPlane(settings: Partial<Plane['settings']> = {}): Promise<GuardedPlane> {
  const a = await startProvider();
  const b = await startProvider();
  const plane = startPlane();
  plane.deps.steps = { send: [guardInput], answer: [guardOutput, reportHooks] };
  plane.settings = { ...plane.settings, ...settings };
  plane.providers.set('a', savedProvider('a', { customHost: a.url }));
  plane.providers.set('b', savedProvider('b', { customHost: b.url }));
  plane.providers.set('claude', savedProvider('claude', { provider: 'anthropic', customHost: a.url }));
  plane.providers.set('claude-b', savedProvider('claude-b', { provider: 'anthropic', customHost: b.url }));
  return {
    plane,
    a,
    b,
    async stop() {
      await plane.stop();
      await a.stop();
      await b.stop();
    },
  };
}
