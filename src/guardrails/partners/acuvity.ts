/** Acuvity: exploits, malicious content, languages, personal data and secrets. */

import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { listOf, objectOf, objectsOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { both } from '../checks/events.ts';
import { secretCategories } from './acuvity-secrets.ts';
import { bearer, editsOf, partnerCheck, secret, textsOf, verdictOf, withoutSlash } from './partner.ts';

const piiCategories =
  'email_address ssn person aba_routing_number address bank_account bitcoin_wallet credit_card driver_license itin_number location medical_license money_amount passport_number phone_number'.split(
    ' ',
  );
const languages = 'english chinese spanish french german japanese gibberish'.split(' ');

const on = () => z.boolean().default(true);
const threshold = () => z.number().min(0).max(1).default(0.5);

/** Where each finding stands in an extraction. */
const findings = [
  ['prompt_injection', 'exploits', 'prompt_injection'],
  ['jail_break', 'exploits', 'jailbreak'],
  ['malicious_url', 'exploits', 'malicious_url'],
  ['toxic', 'malcontents', 'toxic'],
  ['biased', 'malcontents', 'biased'],
  ['harmful', 'malcontents', 'harmful'],
] as const;

export const acuvityScan = partnerCheck({
  id: 'acuvity.scan',
  aliases: ['acuvity.Scan'],
  title: 'Acuvity scan',
  description: 'Asks Acuvity about exploits, toxic and biased content, languages, personal data and secrets.',
  events: both,
  transforms: true,
  credentials: () => ({ apiKey: secret() }),
  parameters: () => ({
    prompt_injection: on(),
    prompt_injection_threshold: threshold(),
    toxic: on(),
    toxic_threshold: threshold(),
    jail_break: on(),
    jail_break_threshold: threshold(),
    malicious_url: on(),
    malicious_url_threshold: threshold(),
    biased: on(),
    biased_threshold: threshold(),
    harmful: on(),
    harmful_threshold: threshold(),
    language: on(),
    language_values: z.enum(languages as [string, ...string[]]).default('english'),
    pii: on(),
    pii_redact: z.boolean().default(false),
    pii_categories: z
      .array(z.enum(piiCategories as [string, ...string[]]))
      .max(50)
      .default([]),
    secrets: on(),
    secrets_redact: z.boolean().default(false),
    secrets_categories: z
      .array(z.enum(secretCategories as [string, ...string[]]))
      .max(200)
      .default([]),
  }),
  example: { prompt_injection: true, pii: true, pii_redact: true, pii_categories: ['email_address'], language: false },
  onError: true,
  async run(asking, rules, { apiKey }) {
    const redactions = [
      ...(rules.pii && rules.pii_redact ? rules.pii_categories : []),
      ...(rules.secrets && rules.secrets_redact ? rules.secrets_categories : []),
    ];
    const answer = await asking.ask(
      `${apexOf(apiKey)}/_acuvity/scan`,
      {
        anonymization: 'FixedSize',
        messages: textsOf(asking),
        redactions,
        type: asking.context.isInput ? 'Input' : 'Output',
      },
      bearer(apiKey),
    );
    const extractions = objectsOf(answer.extractions);
    const found: string[] = [];
    let redacted = false;
    for (const extraction of extractions) {
      for (const [name, group, field] of findings) {
        const score = objectOf(extraction[group])[field];
        const limit = rules[`${name}_threshold`];
        if (rules[name] && typeof score === 'number' && score >= limit) found.push(name);
      }
      const language = objectOf(extraction.languages)[rules.language_values];
      if (rules.language && typeof language === 'number' && language >= 0.5) found.push('language');
      if (rules.pii && hits(extraction.PIIs ?? extraction.piis, rules.pii_categories)) {
        if (rules.pii_redact) redacted = true;
        else found.push('pii');
      }
      if (rules.secrets && hits(extraction.secrets, rules.secrets_categories)) {
        if (rules.secrets_redact) redacted = true;
        else found.push('secrets');
      }
    }
    const verdict = found.length === 0;
    const texts = extractions.map(({ data }) => (typeof data === 'string' ? data : null));
    return {
      ...verdictOf(verdict, 'Acuvity', { findings: found }),
      ...(redacted && { edits: editsOf(asking, texts) }),
    };
  },
});

const hits = (detections: unknown, categories: readonly string[]): boolean => {
  const names = Array.isArray(detections)
    ? listOf(detections).map(String)
    : Object.keys(objectOf(detections) as JsonObject);
  return names.some((name) => categories.includes(name));
};

/** The key is a token that says where its service stands. */
function apexOf(apiKey: string): string {
  const claims = z
    .looseObject({ opaque: z.looseObject({ 'apex-url': z.string().min(1).max(2_048) }) })
    .safeParse(payloadOf(apiKey));
  if (!claims.success) throw new Error('the API key does not say where its service stands');
  const apex = claims.data.opaque['apex-url'];
  return withoutSlash(/^https?:\/\//.test(apex) ? apex : `https://${apex}`);
}

function payloadOf(token: string): unknown {
  try {
    return readJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  } catch {
    return null;
  }
}
