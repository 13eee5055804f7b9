/** A call that the gateway makes for itself on behalf of a request: through the same steps, settled and logged like any other. */

import type { Leaf } from '../../catalog/plan.ts';
import { type Answer, discard } from '../attempt/answer.ts';
import { attempt } from '../attempt/attempt.ts';
import type { AttemptContext } from '../attempt/context.ts';
import type { AdmittedContext } from '../limits/admission.ts';
import { settle } from '../settle/settle.ts';
import type { MakeCall } from './embed.ts';

/** The bytes of a successful answer; null for anything else. */
export const sideCall: MakeCall = async (call, context) => {
  const { root } = context.plan;
  if (root.kind !== 'leaf') return null;
  const made = await makeAside(call, context, root);
  made.settle();
  return made.bytes;
};

interface MadeAside {
  /** Of a successful answer; null for anything else. */
  bytes: Uint8Array | null;
  /** Logs and bills it, with what became known of it since. */
  settle(metadata?: Readonly<Record<string, string>>): void;
}

export async function makeAside({ deps }: AttemptContext, asked: AdmittedContext, leaf: Leaf): Promise<MadeAside> {
  const context = asked.admission ? { ...asked, admission: asked.admission.aside(asked) } : asked;
  const answer: Answer = await attempt(deps, context, leaf, null);
  const { content, status, record } = answer;
  const bytes = content.form === 'bytes' ? content.bytes : null;
  if (!bytes) discard(answer);
  return {
    bytes: status === 200 ? bytes : null,
    settle: (metadata = {}) => {
      const told = { ...context, metadata: { ...context.metadata, ...metadata } };
      settle(deps, told, [record], { status, headers: {}, body: bytes });
    },
  };
}
