/** Calls the webhooks that wait, each call signed, and tries again those that did not answer well. */
import { createHmac } from 'node:crypto';
import type { Services } from '../admin/kernel/services.ts';
import { openWebhookSecret } from '../admin/webhooks/secret.ts';
import { laterBy, retryDelayMs } from './retry-delay.ts';
import type { Job } from './runner.ts';

interface OutsideCall {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Whose share of connections and look-ups it takes. */
  organisationId: string;
}

/** Posts a body to an address that a customer chose, under the rules for such addresses; answers the status. */
export type PostOutside = (call: OutsideCall) => Promise<number>;

const answerBytes = 64 * 1024;
const timeoutMs = 10_000;

/** Every address is checked before it is dialled, also behind a redirect. */
export const postThrough =
  (http: OutsideHttp): PostOutside =>
  async ({ url, headers, body, organisationId }) => {
    const call = { url, method: 'POST' as const, headers, body: Buffer.from(body), tenant: organisationId };
    const { status } = await http.fetch(call, { bytes: answerBytes, ms: timeoutMs });
    return status;
  };

interface OutsideHttp {
  fetch(
    call: {
      url: string;
      method: 'POST';
      headers: Readonly<Record<string, string>>;
      body: Uint8Array<ArrayBuffer>;
      tenant: string;
    },
    limits: { bytes: number; ms: number },
  ): Promise<{ status: number }>;
}

const atOnce = 50;
/** Of one organisation, so that its sleeping receiver holds up nobody else's webhooks. */
const atOnceOfOrganisation = 10;
const claimMs = 5 * 60_000;
const longestError = 500;

export const createWebhookJob = (services: Services, post: PostOutside): Job => ({
  name: 'webhooks',
  everyMs: 10_000,
  async run() {
    while ((await deliverSome(services, post)) > 0);
  },
});

interface Delivery {
  id: string;
  event: string;
  payload: string;
  attempts: number;
  url: string;
  secret_sealed: string;
  organisation_id: string;
}

async function deliverSome(services: Services, post: PostOutside): Promise<number> {
  const due = await claim(services);
  await Promise.all(due.map((delivery) => deliver(services, post, delivery)));
  return due.length;
}

function claim({ store, clock }: Services): Promise<Delivery[]> {
  const now = clock.now();
  return store.atomically(async (tx) => {
    const queued = tx
      .selectFrom('webhook_deliveries as delivery')
      .innerJoin('alert_webhooks as hook', 'hook.id', 'delivery.webhook_id')
      .select([
        'delivery.id',
        'delivery.event',
        'delivery.payload',
        'delivery.attempts',
        'hook.url',
        'hook.secret_sealed',
        'hook.organisation_id',
      ])
      .select(({ fn }) =>
        fn
          .agg<number>('row_number')
          .over((by) => by.partitionBy('hook.organisation_id').orderBy('delivery.id'))
          .as('place'),
      )
      .where('delivery.status', '=', 'queued')
      .where('delivery.next_attempt_at', '<=', now.toISOString())
      .where('hook.status', '=', 'active');
    const due = await tx
      .selectFrom(queued.as('queued'))
      .selectAll()
      .where('place', '<=', atOnceOfOrganisation)
      .orderBy('id')
      .limit(atOnce)
      .execute();
    if (due.length === 0) return [];
    await tx
      .updateTable('webhook_deliveries')
      .set({ next_attempt_at: laterBy(now, claimMs) })
      .where(
        'id',
        'in',
        due.map(({ id }) => id),
      )
      .execute();
    return due;
  });
}

async function deliver({ store, vault, clock }: Services, post: PostOutside, delivery: Delivery): Promise<void> {
  const sentAt = clock.now();
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  let fault: string | null = null;
  try {
    const secret = openWebhookSecret(vault, delivery.secret_sealed);
    const status = await post({
      url: delivery.url,
      headers: {
        'content-type': 'application/json',
        'webhook-id': delivery.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signature(secret, delivery.id, timestamp, delivery.payload),
      },
      body: delivery.payload,
      organisationId: delivery.organisation_id,
    });
    if (status < 200 || status > 299) fault = `it answered with status ${status}`;
  } catch (reason) {
    fault = reason instanceof Error ? reason.message : String(reason);
  }
  const now = clock.now();
  const attempts = delivery.attempts + 1;
  const delay = retryDelayMs(attempts);
  await store.db
    .updateTable('webhook_deliveries')
    .set(
      fault === null
        ? { status: 'delivered', attempts, next_attempt_at: null, last_error: null, delivered_at: now.toISOString() }
        : {
            status: delay === null ? 'failed' : 'queued',
            attempts,
            next_attempt_at: delay === null ? null : laterBy(now, delay),
            last_error: fault.slice(0, longestError),
          },
    )
    .where('id', '=', delivery.id)
    .execute();
}

/** As the Standard Webhooks say: over id, time and body, so that none of them can be replaced. */
const signature = (secret: string, id: string, timestamp: string, body: string): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64')}`;
