/** The tasks, conversations and states that an agent's answer tells of, in every generation. */
import { type Fields, isFields, listIn, textIn } from './fields.ts';

export interface Sighting {
  task: string | null;
  context: string | null;
  /** In the words of 0.3: `completed`. */
  state: string | null;
}

const wrappers = ['task', 'message', 'msg', 'statusUpdate', 'status_update', 'artifactUpdate', 'artifact_update'];

/** What a result, an event or a list of tasks tells. */
export function sightingsIn(result: unknown): Sighting[] {
  if (!isFields(result)) return [];
  if (Array.isArray(result.tasks)) return listIn(result.tasks).flatMap(sightingsIn);
  const wrapped = wrappers.flatMap((name) => (isFields(result[name]) ? [result[name]] : []));
  const inner = wrapped.length > 0 && !('status' in result) ? wrapped : [result];
  return inner.map(seenIn).filter(({ task, context }) => task !== null || context !== null);
}

function seenIn(value: Fields): Sighting {
  const status = isFields(value.status) ? value.status : null;
  const isMessage = textIn(value, 'messageId', 'message_id') !== null || value.kind === 'message';
  const named = textIn(value, 'taskId', 'task_id');
  return {
    // A task and the updates of 0.2 call themselves `id`.
    task: named ?? (isMessage ? null : textIn(value, 'id')),
    context: textIn(value, 'contextId', 'context_id', 'sessionId'),
    state: status && stateIn(status.state),
  };
}

const stateIn = (state: unknown): string | null =>
  typeof state === 'string'
    ? state
        .replace(/^TASK_STATE_/, '')
        .toLowerCase()
        .replaceAll('_', '-')
        .slice(0, 32)
    : null;

/** The id under which an entry of a list may be known as a task. */
export const taskIn = (entry: Fields): string | null => textIn(entry, 'taskId', 'task_id', 'id');

/** How many others have is nobody's business. */
export const withoutTotals = (result: Fields): Fields => {
  const shown = listIn(result.tasks).length;
  return {
    ...result,
    ...(typeof result.totalSize === 'number' && { totalSize: shown }),
    ...(typeof result.total_size === 'number' && { total_size: shown }),
  };
};
