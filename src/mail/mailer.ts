/** Mail to people, over SMTP. */
import { createTransport } from 'nodemailer';
import type { NoticeFields, NoticeTemplate } from '../admin/notices/outbox.ts';
import { rendered } from './templates.ts';

export interface Mail {
  /** The same for every try, so that a mail sent twice can be told. */
  id: string;
  template: string;
  recipients: readonly string[];
  fields: Readonly<Record<string, string>>;
}

export interface Mailer {
  /** Fails where the server does not take it. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

export interface MailSettings {
  url: string;
  from: string;
}

const timeoutMs = 20_000;

export function createMailer({ url, from }: MailSettings): Mailer {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // What we mail is ours: no attachment may read a file or call an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ id, template, recipients, fields }) {
      const { subject, text, html } = rendered(template as NoticeTemplate, fields as NoticeFields[NoticeTemplate]);
      const [only] = recipients;
      await transport.sendMail({
        from,
        // Recipients of one notice need not know each other.
        ...(recipients.length === 1 && only ? { to: only } : { bcc: [...recipients] }),
        subject,
        text,
        html,
        messageId: `<${id}@gw.notices>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    close: () => transport.close(),
  };
}
