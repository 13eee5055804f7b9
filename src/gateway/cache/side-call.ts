/** A call that the gateway makes for itself on behalf of a request: through the same steps, settled and logged like any other. */
import { discard } from '../attempt/answer.ts';
import { attempt } from '../attempt/attempt.ts';
import { settle } from '../settle/settle.ts';
import type { MakeCall } from './embed.ts';

/** The bytes of a successful answer; null for anything else. */
export const sideCall: MakeCall = async ({ deps }, context) => {
  const { root } = context.plan;
  if (root.kind !== 'leaf') return null;
  const answer = await attempt(deps, context, root, null);
  const { content, status, record } = answer;
  const bytes = content.form === 'bytes' ? content.bytes : null;
  if (!bytes) discard(answer);
  settle(deps, context, [record], { status, headers: {}, body: bytes });
  return status === 200 ? bytes : null;
};
