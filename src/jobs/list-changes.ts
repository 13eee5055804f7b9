/** Forgets changes of listed tables that are too old to be followed: whoever missed them counts again. */
import type { Services } from '../admin/kernel/services.ts';
import { momentsOf } from '../store/list-changes.ts';
import { namesOfListed } from '../store/listed-tables.ts';
import type { Job } from './runner.ts';

export const createListChangeSweep = ({ store }: Pick<Services, 'store'>): Job => ({
  name: 'list-change-sweep',
  everyMs: 60_000,
  async run() {
    const moments = momentsOf(store.engine);
    for (const table of namesOfListed) {
      while (await moments.forget(store.db, table));
    }
  },
});
