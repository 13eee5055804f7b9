/** Fine-tuning jobs of Azure OpenAI: hyperparameters in the older place, and states of its own. */
import { isObject, objectOf, textOf } from '../json.ts';
import type { JsonObject, Translation } from '../provider.ts';

const queued = new Set(['created', 'pending', 'notRunning']);

const withState = (job: JsonObject): JsonObject =>
  queued.has(textOf(job.status) ?? '') ? { ...job, status: 'queued' } : job;

/** The older form of a job. Preference tuning has none and is sent as it is. */
export function olderForm(body: Readonly<JsonObject>): Readonly<JsonObject> {
  const { method, ...rest } = body;
  const { type, supervised } = objectOf(method);
  if (type !== 'supervised') return body;
  return { ...rest, hyperparameters: objectOf(supervised).hyperparameters ?? rest.hyperparameters ?? {} };
}

export const oneJob: Translation = { answersOnly: true, response: (answer) => withState(objectOf(answer)) };

export const listedJobs: Translation = {
  answersOnly: true,
  response: (answer) => {
    const list = objectOf(answer);
    return Array.isArray(list.data)
      ? { ...list, data: list.data.map((job: unknown) => (isObject(job) ? withState(job) : job)) }
      : list;
  },
};
