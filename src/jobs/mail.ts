/** Mails the notices that wait, and tries again those that the server did not take. */
import type { Services } from '../admin/kernel/services.ts';
import { openFields } from '../admin/notices/outbox.ts';
import type { Mailer } from '../mail/mailer.ts';
import { decode } from '../store/json.ts';
import type { NoticeTable } from '../store/schema.ts';
import { laterBy, retryDelayMs } from './retry-delay.ts';
import type { Job } from './runner.ts';

const atOnce = 50;
/** A node that takes a notice holds it for this long. If the node ends meanwhile, the next one takes it. */
const claimMs = 5 * 60_000;
const longestError = 500;

/** Without a mailer notices stay queued, and the console shows them. */
export const createMailJob = (services: Services, mailer: Mailer | null): Job => ({
  name: 'mail',
  everyMs: 10_000,
  async run() {
    if (mailer) while ((await sendSome(services, mailer)) === atOnce);
  },
});

type Notice = Pick<NoticeTable, 'id' | 'template' | 'recipients' | 'fields_sealed'> & { attempts: number };

async function sendSome(services: Services, mailer: Mailer): Promise<number> {
  const due = await claim(services);
  for (const notice of due) await send(services, mailer, notice);
  return due.length;
}

function claim({ store, clock }: Services): Promise<Notice[]> {
  const now = clock.now();
  return store.atomically(async (tx) => {
    const due = await tx
      .selectFrom('notices')
      .select(['id', 'template', 'recipients', 'fields_sealed', 'attempts'])
      .where('status', '=', 'queued')
      .where((eb) => eb.or([eb('next_attempt_at', 'is', null), eb('next_attempt_at', '<=', now.toISOString())]))
      .orderBy('id')
      .limit(atOnce)
      .execute();
    if (due.length === 0) return [];
    const ids = due.map(({ id }) => id);
    await tx
      .updateTable('notices')
      .set({ next_attempt_at: laterBy(now, claimMs) })
      .where('id', 'in', ids)
      .execute();
    return due;
  });
}

async function send({ store, vault, clock }: Services, mailer: Mailer, notice: Notice): Promise<void> {
  const fields = openFields(vault, notice.fields_sealed);
  let fault = fields === null ? 'its fields were sealed under another master key' : null;
  if (fields !== null) {
    const { id, template } = notice;
    await mailer.send({ id, template, recipients: decode(notice.recipients), fields }).catch((reason) => {
      fault = reason instanceof Error ? reason.message : String(reason);
    });
  }
  const now = clock.now();
  const attempts = notice.attempts + 1;
  const delay = fields === null ? null : retryDelayMs(attempts);
  await store.db
    .updateTable('notices')
    .set(
      fault === null
        ? { status: 'sent', sent_at: now.toISOString(), attempts, next_attempt_at: null, last_error: null }
        : {
            status: delay === null ? 'failed' : 'queued',
            attempts,
            next_attempt_at: delay === null ? null : laterBy(now, delay),
            last_error: String(fault).slice(0, longestError),
          },
    )
    .where('id', '=', notice.id)
    .execute();
}
