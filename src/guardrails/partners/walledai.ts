/** Walled AI. */
import { z } from 'zod';
import { objectOf, objectsOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { partnerCheck, secret, verdictOf } from './partner.ts';

const pii = [
  "Person's Name",
  'Address',
  'Email Id',
  'Contact No',
  'Date Of Birth',
  'Unique Id',
  'Financial Data',
] as const;
const greetings = ['Casual & Friendly', 'Professional & Polite'] as const;

export const walledProtect = partnerCheck({
  id: 'walledai.walledprotect',
  title: 'Walled Protect',
  description: 'Fails when Walled AI does not take the text for safe.',
  events: both,
  credentials: () => ({ apiKey: secret() }),
  parameters: () => ({
    generic_safety_check: z.boolean().default(true),
    greetings_list: z.array(z.enum(greetings)).max(2).default(['Casual & Friendly']),
    pii_list: z
      .array(z.enum(pii))
      .max(7)
      .default([...pii]),
    compliance_list: z.array(z.string().max(255)).max(50).default([]),
  }),
  example: { compliance_list: ['Medical'] },
  answersWith: ['data'],
  onError: true,
  async run({ text, ask }, rules, { apiKey }) {
    const answer = await ask(
      'https://services.walled.ai/v1/walled-protect',
      { text, ...rules },
      { 'x-api-key': apiKey },
    );
    const data = objectOf(answer.data);
    const [safety] = objectsOf(data.safety);
    return verdictOf(safety?.isSafe !== false, 'Walled AI', {
      safety: data.safety ?? [],
      pii: data.pii ?? [],
      greetings: data.greetings ?? [],
      compliance: data.compliance ?? [],
    });
  },
});
