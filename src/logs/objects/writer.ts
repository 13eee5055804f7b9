/** Writes bodies into the object store and the rest into a log store: an object is there before the row that names it. */
import type { Retention } from '../embedded/files.ts';
import { metricsOf, type Row } from '../layout.ts';
import { everyMessage } from '../messages.ts';
import { previewsOf } from '../preview.ts';
import type { SegmentFrame, StoredObject } from '../segment.ts';
import type { LogWriter } from '../store.ts';
import { withoutVectors } from '../vectors.ts';
import { documentOf } from './document.ts';
import { isLogPath, objectPath, type PathSettings } from './path.ts';
import type { ObjectStore } from './store.ts';

export class ObjectsWriter implements LogWriter {
  readonly #rows: LogWriter;
  readonly #objects: ObjectStore;
  readonly #paths: PathSettings;
  #isClosed = false;

  constructor(rows: LogWriter, objects: ObjectStore, paths: PathSettings) {
    this.#rows = rows;
    this.#objects = objects;
    this.#paths = paths;
  }

  async write(frames: Iterable<SegmentFrame>, segment: string): Promise<void> {
    const objects: { path: string; text: string }[] = [];
    const slim: SegmentFrame[] = [];
    for (const frame of frames) slim.push(withoutBodies(frame, this.#paths, objects));
    await this.#objects.put(objects);
    await this.#rows.write(slim, segment);
  }

  async purge(now: number, retention: Retention): Promise<void> {
    await this.#rows.purge(now, retention);
    const { prefix } = this.#paths;
    const ours = { prefix, isOurs: (path: string) => isLogPath(path, prefix) };
    await this.#objects.deleteOlder(ours, now - retention.bodyMs, () => this.#isClosed);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#rows.close();
  }
}

/** The frame with the paths of its bodies instead of the bodies, which are added to a list. */
function withoutBodies(
  { contexts, rows, previews, messages }: SegmentFrame,
  paths: PathSettings,
  objects: { path: string; text: string }[],
): SegmentFrame {
  const kept = messages.length === 0 ? [] : everyMessage(messages);
  const stored: (StoredObject | null)[] = [];
  const slim: Row[] = [];
  for (const row of rows) {
    const [number, place, ...measures] = row;
    const context = contexts[number];
    if (!context) throw new Error('A row names a context that its frame lacks');
    const all = place === null ? undefined : kept[place];
    slim.push([number, null, ...measures]);
    if (!all) {
      stored.push(null);
      continue;
    }
    const metrics = metricsOf(context, row);
    const bodies = metrics.endpoint_type === 'embed' ? withoutVectors(all) : all;
    const path = objectPath(metrics, paths);
    objects.push({ path, text: documentOf(metrics, bodies) });
    stored.push({ path, ...previewsOf(place === null ? undefined : previews[place], () => bodies) });
  }
  return { contexts, rows: slim, previews: [], messages: Buffer.alloc(0), objects: stored };
}
