/** A check whose credentials live in a secret manager: prepared with their values, and once more when its service refuses them. */
import type { JsonObject } from '../providers/provider.ts';
import type { SecretUse } from '../secrets/mapping.ts';
import type { ResolvedSecrets } from '../secrets/resolver.ts';
import type { CheckResult, Prepared } from './check.ts';
import type { CheckContext } from './context.ts';
import { CallFault, type CheckIo } from './io.ts';

type PreparedOrFault = Prepared | { fault: string };

/** Prepared when it runs, and again when a value has changed. */
export function withSecrets(
  uses: readonly SecretUse[],
  prepareMapped: (values: JsonObject) => PreparedOrFault,
): Prepared {
  const made = new WeakMap<ResolvedSecrets, PreparedOrFault>();
  const preparedWith = (resolved: ResolvedSecrets): PreparedOrFault => {
    const prepared = made.get(resolved) ?? prepareMapped(Object.fromEntries(resolved.values));
    made.set(resolved, prepared);
    return prepared;
  };
  return {
    async run(context, io) {
      if (!io.secrets) throw new CallFault('Connection Error', 'secret references are not opened here');
      const resolved = await io.secrets.resolve(uses);
      const first = await runNotingRefusal(preparedWith(resolved), context, io);
      if (!first.refused) return first.result();
      const renewed = await io.secrets.renew(uses, resolved);
      return renewed ? runPrepared(preparedWith(renewed), context, io) : first.result();
    },
  };
}

/** What came of a run, and whether a service refused the credentials on the way. */
async function runNotingRefusal(prepared: PreparedOrFault, context: CheckContext, io: CheckIo) {
  let refused = false;
  const noting: CheckIo = {
    ...io,
    async call(asked) {
      const answer = await io.call(asked);
      refused ||= answer.status === 401 || answer.status === 403;
      return answer;
    },
  };
  // A run that throws has a second chance too, so that what it threw is kept for later.
  const [settled] = await Promise.allSettled([runPrepared(prepared, context, noting)]);
  return {
    refused,
    result(): CheckResult {
      if (settled.status === 'fulfilled') return settled.value;
      throw settled.reason;
    },
  };
}

async function runPrepared(prepared: PreparedOrFault, context: CheckContext, io: CheckIo): Promise<CheckResult> {
  if (!('fault' in prepared)) return prepared.run(context, io);
  return { verdict: true, data: null, error: { name: 'Missing credentials', message: prepared.fault } };
}
