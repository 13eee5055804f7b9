/** Asks an integration's own service whether a tool may be called. */

import { z } from 'zod';
import { readJson } from '../bounded-json.ts';
import { lazy } from '../lazy.ts';
import type { CallContext } from './call-context.ts';
import type { McpDeps } from './deps.ts';
import { McpError } from './errors.ts';
import type { JsonRpcFields } from './protocol/json-rpc.ts';

const verdict = lazy(() => z.object({ decision: z.enum(['allow', 'deny']), reason: z.string().max(2_048).optional() }));

export async function allowedByWebhook(
  { upstream }: McpDeps,
  context: CallContext,
  params: JsonRpcFields,
): Promise<void> {
  const webhook = context.server.settings.authorization_webhook;
  if (!webhook) return;
  const body = {
    user: { id: context.principal.userId, credential: context.principal.id },
    claims: { ...context.principal.claims, ...context.userClaims },
    server: { id: context.server.id, slug: context.server.slug, workspace_id: context.server.workspaceId },
    tool: params.name,
    arguments: params.arguments ?? {},
  };
  const headers = Object.fromEntries(
    Object.entries(webhook.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const answer = await upstream.http
    .fetch(
      {
        url: webhook.url,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: new TextEncoder().encode(JSON.stringify(body)),
        tenant: context.server.organisationId,
      },
      { bytes: 65_536, ms: webhook.timeout_ms },
    )
    .then(
      ({ status, text }) => (status === 200 ? parsed(text) : null),
      () => null,
    );
  const decision = answer ?? { decision: webhook.on_error, reason: undefined };
  if (decision.decision === 'allow') return;
  throw new McpError('forbidden', decision.reason ?? 'the authorization service denies this call');
}

function parsed(text: string) {
  try {
    return verdict().safeParse(readJson(text)).data ?? null;
  } catch {
    // An answer that is no JSON is no answer.
    return null;
  }
}
