/** The words of each notice, as plain text and as HTML. */
import type { NoticeFields, NoticeTemplate } from '../admin/notices/outbox.ts';

interface Words {
  subject: string;
  paragraphs: string[];
  /** Where the reader can act. */
  link?: { text: string; url: string };
}

type Template<T extends NoticeTemplate> = (fields: NoticeFields[T]) => Words;

const templates: { [T in NoticeTemplate]: Template<T> } = {
  'password-reset': ({ organisationName, resetLink }) => ({
    subject: `A new password for ${organisationName}`,
    paragraphs: [
      `An administrator of ${organisationName} made a link with which you set a new password. It is good for a day and for one use.`,
    ],
    link: { text: 'Set a new password', url: resetLink },
  }),
  'user-invite': ({ organisationName, inviterUserName, inviterEmail, inviteLink }) => ({
    subject: `You are invited to ${organisationName}`,
    paragraphs: [`${inviterUserName}${inviterEmail && ` (${inviterEmail})`} invites you to ${organisationName}.`],
    link: { text: 'Accept the invite', url: inviteLink },
  }),
  'domain-verification-alert': ({ organisationName, domain, verificationCode, method }) => ({
    subject: `Verify ${domain}`,
    paragraphs: [
      `${organisationName} claims the domain ${domain}.`,
      method === 'dns'
        ? `Put this into a TXT record of the domain: ${verificationCode}`
        : `The code to type in: ${verificationCode}`,
    ],
  }),
  'apikey-expired-alert': ({ apiKey, apiKeyType, organisationName, userName }) => ({
    subject: 'An API key has expired',
    paragraphs: [
      greeting(userName),
      `The ${apiKeyType} key ${apiKey} of ${organisationName} has expired. Calls with it are refused.`,
    ],
  }),
  'apikey-expiry-upcoming': ({ keyName, apiKey, organisationName, expiresAt }) => ({
    subject: `The API key ${keyName} expires soon`,
    paragraphs: [`The key ${keyName} (${apiKey}) of ${organisationName} expires at ${expiresAt}.`],
  }),
  'apikey-usage-threshold-alert': ({ keyName, apiKey, organisationName, creditThreshold, creditLimit, userName }) => ({
    subject: `The API key ${keyName} has reached its alert threshold`,
    paragraphs: [
      greeting(userName),
      `The key ${keyName} (${apiKey}) of ${organisationName} has used ${creditThreshold} of ${creditLimit}.`,
    ],
  }),
  'apikey-usage-exhausted-alert': ({ keyName, apiKey, organisationName, creditLimit, userName }) => ({
    subject: `The API key ${keyName} is used up`,
    paragraphs: [
      greeting(userName),
      `The key ${keyName} (${apiKey}) of ${organisationName} has used its ${creditLimit}. Calls with it are refused until the limit is raised or reset.`,
    ],
  }),
  'entity-usage-threshold-alert': ({
    entityType,
    entityName,
    organisationName,
    creditThreshold,
    creditLimit,
    entityUrl,
  }) => ({
    subject: `The ${entityType} ${entityName} has reached its alert threshold`,
    paragraphs: [
      `The ${entityType} ${entityName} of ${organisationName} has used ${creditThreshold} of ${creditLimit}.`,
    ],
    link: { text: 'Look at it', url: entityUrl },
  }),
  'entity-usage-exhausted-alert': ({ entityType, entityName, organisationName, creditLimit, entityUrl }) => ({
    subject: `The ${entityType} ${entityName} is used up`,
    paragraphs: [
      `The ${entityType} ${entityName} of ${organisationName} has used its ${creditLimit}. Calls are refused until the limit is raised or reset.`,
    ],
    link: { text: 'Look at it', url: entityUrl },
  }),
  'virtualkey-usage-threshold-alert': ({ virtualKeyName, organisationName, creditThreshold, creditLimit }) => ({
    subject: `The provider ${virtualKeyName} has reached its alert threshold`,
    paragraphs: [
      `The provider ${virtualKeyName} of ${organisationName} has used ${creditThreshold} of ${creditLimit}.`,
    ],
  }),
  'virtualkey-usage-exhausted-alert': ({ virtualKeyName, organisationName, creditLimit }) => ({
    subject: `The provider ${virtualKeyName} is used up`,
    paragraphs: [
      `The provider ${virtualKeyName} of ${organisationName} has used its ${creditLimit}. Calls to it are refused.`,
    ],
  }),
  'virtualkey-expired-alert': ({ virtualKeyName, organisationName }) => ({
    subject: `The provider ${virtualKeyName} has expired`,
    paragraphs: [`The provider ${virtualKeyName} of ${organisationName} has expired. Calls to it are refused.`],
  }),
  'apikey-rotation-upcoming': ({ keyName, apiKey, organisationName, rotatesAt }) => ({
    subject: `The API key ${keyName} rotates soon`,
    paragraphs: [`The key ${keyName} (${apiKey}) of ${organisationName} gets a new secret at ${rotatesAt}.`],
  }),
  'apikey-rotation-completed': ({ keyName, apiKey, organisationName, oldKeyEndsAt, link }) => ({
    subject: `The API key ${keyName} has a new secret`,
    paragraphs: [
      `The key ${keyName} of ${organisationName} was rotated. Its new secret is ${apiKey}; the old one counts until ${oldKeyEndsAt}.`,
    ],
    link: { text: 'Fetch the new secret', url: link },
  }),
  'apikey-rotation-old-secret-ending': ({ keyName, apiKey, organisationName, endsAt }) => ({
    subject: `An old secret of the API key ${keyName} ends soon`,
    paragraphs: [`The old secret ${apiKey} of the key ${keyName} of ${organisationName} counts until ${endsAt}.`],
  }),
};

const greeting = (name: string): string => (name === '' ? 'Hello,' : `Hello ${name},`);

export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}

/** Throws for a template that this release does not know. */
export function rendered<T extends NoticeTemplate>(template: T, fields: NoticeFields[T]): RenderedMail {
  const make = templates[template];
  if (!make) throw new Error(`No mail is called ${template}`);
  const { subject, paragraphs, link } = make(fields);
  // A relative link is of no use in a mail.
  const shown = link && URL.canParse(link.url) ? link : null;
  return {
    subject: oneLine(subject),
    text: [...paragraphs, ...(shown ? [`${shown.text}: ${shown.url}`] : [])].join('\n\n'),
    html: [
      '<!doctype html><html><body>',
      ...paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`),
      ...(shown ? [`<p><a href="${escaped(shown.url)}">${escaped(shown.text)}</a></p>`] : []),
      '</body></html>',
    ].join('\n'),
  };
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 200);

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
