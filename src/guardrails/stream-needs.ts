/** Which checks may watch a stream through a window. */
import type { CompiledHook } from './compile.ts';
import type { HookSpec, SpecFault } from './hook.ts';

/** A window cannot serve a check that must see the whole answer before any of it may leave. */
export function streamFaults(hook: CompiledHook, spec: HookSpec): SpecFault[] {
  if (!hook.streamWindow) return [];
  const enabled = spec.checks.filter(({ isEnabled }) => isEnabled);
  return hook.checks.flatMap(({ check, prepared }, index) => {
    if (!check.events.includes('afterRequestHook')) return [];
    if ('stream' in prepared && prepared.stream && prepared.stream.needs !== 'whole') return [];
    const path = `${enabled[index]?.path ?? 'checks'}.id`;
    return [
      {
        path,
        message: `${check.id} with these parameters needs the whole answer: use buffer_stream instead of stream_window`,
      },
    ];
  });
}
