/** What is wrong with a guardrail that a config writes out. */
import { findCheck } from '../guardrails/catalogue.ts';
import { compileHook } from '../guardrails/compile.ts';
import { parseInline, type SpecFault } from '../guardrails/hook.ts';
import { streamFaults } from '../guardrails/stream-needs.ts';
import { referenceOf } from './guards.ts';

/** `faultOfUrl` says why an address may not be called; nothing is said of what is only named. */
export const guardrailFaults =
  (faultOfUrl: (url: string) => string | null) =>
  (written: unknown): SpecFault[] => {
    if (referenceOf(written) !== null) return [];
    const parsed = parseInline(written);
    if (!parsed.ok) return parsed.faults;
    const hook = compileHook(parsed.value, '', { find: findCheck, credentialsOf: () => ({}), faultOfUrl });
    return hook.ok ? streamFaults(hook.value, parsed.value) : hook.faults;
  };
