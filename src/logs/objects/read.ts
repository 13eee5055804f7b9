/** Fetches the bodies of a record that lie in the object store, and says where they cannot be had. */
import type { KeptRecord } from '../record.ts';
import { bodiesIn } from './document.ts';
import { type ObjectStore, ObjectStoreFault } from './store.ts';

export async function withObject(record: KeptRecord | null, store: ObjectStore | null): Promise<KeptRecord | null> {
  if (!record?.object) return record;
  const { object: path } = record;
  if (!store) return missing(record, `The bodies lie in an object store under ${path}, and none is configured`);
  try {
    const text = await store.get(path);
    if (text === null) return missing(record, `The object store has no object ${path}`);
    const bodies = bodiesIn(text);
    return bodies ? { ...record, bodies } : missing(record, `The object ${path} is not a log of this service`);
  } catch (error) {
    if (!(error instanceof ObjectStoreFault)) throw error;
    const message = 'The object store does not answer now; the bodies can be read when it does';
    return { ...record, bodiesFault: { kind: 'away', message } };
  }
}

const missing = (record: KeptRecord, message: string): KeptRecord => ({
  ...record,
  bodiesFault: { kind: 'missing', message },
});
