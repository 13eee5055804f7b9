/** What clients send: prompts of 0.5 to 32 kB that all differ, and heads with a trace of their own, as SDKs behind tracing send them. */
import type { Aim } from './child.ts';

const smallest = 512;
const largest = 32 * 1024;
const texts = 64;

/** Sizes are spread evenly over their logarithm: most prompts are short. */
const prompts = Array.from({ length: texts }, (_, index) => {
  const size = Math.round(smallest * (largest / smallest) ** (index / (texts - 1)));
  return `${'The quick brown fox jumps over the lazy dog. '.repeat(Math.ceil(size / 45)).slice(0, size)}`;
});

/** One prompt, sent again and again; for comparison with programs that remember what they were asked. */
export const sameBody = (aim: Aim, more: object = {}): string =>
  JSON.stringify({ model: modelOf(aim), messages: [{ role: 'user', content: 'y'.repeat(600) }], ...more });

export interface Traffic {
  body(aim: Aim, more: object): string;
  headers(): Record<string, string>;
}

export const sameTraffic: Traffic = { body: sameBody, headers: () => ({}) };

let calls = 0;

export const differingTraffic: Traffic = {
  body(aim, more) {
    calls++;
    // Any step that has no factor in common with their number visits all of them, in no order of size.
    const content = `Call ${calls}. ${prompts[(calls * 37) % texts]}`;
    return JSON.stringify({ model: modelOf(aim), messages: [{ role: 'user', content }], ...more });
  },
  headers: () => ({ traceparent: `00-${hex(calls, 32)}-${hex(calls, 16)}-01` }),
};

const hex = (value: number, width: number): string => (value + 1).toString(16).padStart(width, '0');
const modelOf = ({ model }: Aim): string => model ?? 'gpt-4o-mini';
