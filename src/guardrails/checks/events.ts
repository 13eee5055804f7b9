/** The events that checks serve. */
import type { HookEvent } from '../context.ts';

export const before: readonly HookEvent[] = ['beforeRequestHook'];
export const after: readonly HookEvent[] = ['afterRequestHook'];
export const both: readonly HookEvent[] = ['beforeRequestHook', 'afterRequestHook'];
