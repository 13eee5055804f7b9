/** Pangea: AI Guard and Redact. */
import { z } from 'zod';
import { listOf, objectOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { bearer, editsOf, partnerCheck, piecesOf, secret, textsOf, verdictOf } from './partner.ts';

const credentials = () => ({ apiKey: secret(), domain: z.string().min(1).max(253) });
/** The service takes 20 KiB of text; a character may be three bytes. */
const longestText = 6_800;
const overlap = 200;
const detectors = [
  'prompt_injection',
  'pii_entity',
  'malicious_entity',
  'custom_entity',
  'secrets_detection',
  'profanity_and_toxicity',
];

export const pangeaTextGuard = partnerCheck({
  id: 'pangea.textGuard',
  title: 'Pangea AI Guard',
  description: 'Asks a recipe of Pangea AI Guard about the text.',
  events: both,
  credentials,
  parameters: () => ({
    recipe: z.string().max(255).optional(),
    debug: z.boolean().optional(),
    overrides: z.record(z.string().max(128), z.unknown()).optional(),
  }),
  example: { recipe: 'pangea_prompt_guard' },
  onError: true,
  async run({ text, ask }, rules, { apiKey, domain }) {
    const answers = await Promise.all(
      piecesOf(text, longestText, overlap).map((piece) =>
        ask(`https://ai-guard.${domain}/v1/text/guard`, { text: piece, ...rules }, bearer(apiKey)),
      ),
    );
    if (answers.some(({ status }) => status !== 'Success')) throw new Error('the service did not succeed');
    const found = answers.map(({ result }) => objectOf(objectOf(result).detectors));
    const detected = detectors.filter((name) => found.some((each) => objectOf(each[name]).detected === true));
    return verdictOf(detected.length === 0, 'Pangea', { detected });
  },
});

export const pangeaPii = partnerCheck({
  id: 'pangea.pii',
  title: 'Pangea redact',
  description: 'Fails when Pangea finds personal data, or replaces it.',
  events: both,
  transforms: true,
  credentials,
  parameters: () => ({ redact: z.boolean().default(false) }),
  example: { redact: true },
  onError: true,
  async run(asking, { redact }, { apiKey, domain }) {
    const answer = await asking.ask(
      `https://redact.${domain}/v1/redact_structured`,
      { data: textsOf(asking) },
      bearer(apiKey),
    );
    if (answer.status !== 'Success') throw new Error('the service did not succeed');
    const { count, redacted_data } = objectOf(answer.result);
    const found = Number(count ?? 0) > 0 && redacted_data !== undefined;
    const texts = listOf(redacted_data).map((text) => (typeof text === 'string' ? text : null));
    return {
      ...verdictOf(!found || redact, 'Pangea', { count: Number(count ?? 0) }),
      ...(found && redact && { edits: editsOf(asking, texts) }),
    };
  },
});
