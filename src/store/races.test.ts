/** Many writes of one row at once, on two nodes: each has its turn. */
import { expect, test } from 'bun:test';
import { newDatabase, postgresInstalled } from '../../test/servers/postgres.ts';
import { createLanes } from '../identity/passwords.ts';
import { openStore } from './database.ts';
import { migrate } from './migrate.ts';

const writes = 200;

test.if(postgresInstalled)(`${writes} writes of one row all happen, one after the other`, async () => {
  const url = await newDatabase();
  const nodes = [openStore({ engine: 'postgres', url }), openStore({ engine: 'postgres', url })] as const;
  const [first] = nodes;
  await migrate(first, new Date());
  await first.db.insertInto('leases').values({ name: 'count', holder: '0', expires_at: '' }).execute();
  const addOne = (index: number) =>
    nodes[index % 2 === 0 ? 0 : 1].atomically(async (tx) => {
      const { holder } = await tx
        .selectFrom('leases')
        .select('holder')
        .where('name', '=', 'count')
        .executeTakeFirstOrThrow();
      // A call looks at many rows before it writes; meanwhile others write.
      for (let look = 0; look < 20; look++) await tx.selectFrom('organisations').select('id').execute();
      const next = String(Number(holder) + 1);
      await tx.updateTable('leases').set({ holder: next }).where('name', '=', 'count').execute();
    });
  // As many at once as both nodes have connections: whoever waits longer for one is refused, on a busy machine too.
  const together = createLanes(20);
  const ends = await Promise.allSettled(Array.from({ length: writes }, (_, index) => together(() => addOne(index))));
  expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
  const row = await first.db.selectFrom('leases').select('holder').executeTakeFirstOrThrow();
  expect(row.holder).toBe(String(writes));
  for (const node of nodes) await node.close();
});
