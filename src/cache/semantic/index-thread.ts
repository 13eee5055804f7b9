/** The thread that holds the questions: a scan over many of them would hold up requests. */
import type { CachePlace, PurgeScope } from '../engine.ts';
import type { Neighbour } from './semantic-index.ts';
import { VectorIndex } from './vector-index.ts';

export type IndexOrder =
  | { order: 'open'; mostPerWorkspace: number }
  | { order: 'nearest'; call: number; workspaceId: string; partition: string; vector: Float32Array }
  | { order: 'add'; partition: string; vector: Float32Array; place: CachePlace; ttlSeconds: number }
  | { order: 'purge'; scope: PurgeScope };

export interface IndexReport {
  call: number;
  found: Neighbour | null;
}

declare const self: Worker;

let index = new VectorIndex(0, Date.now);

self.onmessage = ({ data }: MessageEvent<IndexOrder>) => {
  if (data.order === 'open') index = new VectorIndex(data.mostPerWorkspace, Date.now);
  else if (data.order === 'add') index.add(data.partition, data.vector, data.place, data.ttlSeconds);
  else if (data.order === 'purge') index.purge(data.scope);
  else {
    const report: IndexReport = {
      call: data.call,
      found: index.nearest(data.workspaceId, data.partition, data.vector),
    };
    self.postMessage(report);
  }
};
