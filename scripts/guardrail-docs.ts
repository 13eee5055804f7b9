/** Writes `docs/guardrails.md` from what the checks say of themselves. */
import { join } from 'node:path';
import type { z } from 'zod';
import { checks } from '../src/guardrails/catalogue.ts';
import type { Check } from '../src/guardrails/check.ts';

export const pagePath = join(import.meta.dir, '..', 'docs', 'guardrails.md');

const opening = `# Guardrails

<!-- Written by \`npm run docs\` from src/guardrails. -->

A guardrail is a list of checks. Attached to a config, a workspace or the organisation, it looks at requests before they reach the cache and the provider, or at answers before they reach the client.

## Attach one

A config writes it out, or names a saved one:

\`\`\`json
{
  "provider": "@openai",
  "input_guardrails": [{ "default.contains": { "words": ["internal only"], "operator": "none" }, "deny": true }],
  "output_guardrails": ["guard-no-pii-1a2b3c"]
}
\`\`\`

Workspaces (\`defaults.input_guardrails\`, \`defaults.output_guardrails\`) and the organisation (\`/admin/organisation/defaults\`) put guardrails on every request. The order is config, workspace, organisation; one that is named twice runs once. A target's own list replaces the list of the config above it.

## What an action does

| field | default | effect |
| --- | --- | --- |
| \`deny\` | false | a failed check is refused with 446; without it the answer comes with 246 |
| \`async\` | false | runs beside the request and stands only in the log |
| \`sequential\` | false | each check sees what the one before it changed |
| \`soft_deny_200\` | false | a denial is an answer with 200, in the words of the route |
| \`message\` | | the text of a denial |
| \`on_success\`, \`on_fail\` | | \`{"feedback": {"value", "weight", "metadata"}}\`, told in the results |
| \`buffer_stream\` | false | a stream is held as a whole until it is checked: the client waits for the full answer |
| \`stream_window\` | false | a stream is held back only as far as its checks need: \`exact\` ones hold what may become a match, \`window\` ones about 50 to 160 characters |

Without \`buffer_stream\` or \`stream_window\` output guardrails only watch a stream and report at its end. A check marked \`whole\` below cannot run in a window: saving it with \`stream_window\` is a 400.

A stream that a window stops ends as its dialect ends a refused answer: \`content_filter\` in chat and responses, \`refusal\` in messages. Results stand in \`hook_results\` of the body; streams carry them when the client sends \`x-gw-strict-open-ai-compliance: false\`. Where an answer was refused or redacted, results are told without the text that they quote; the log keeps all.

A check that cannot do its work reports an error and passes, unless \`failOnError\` is set.

## What is looked at

Input is the last message: its parts of text, documents and search results whose text is in the request, and the results of all tools that stand at the end. System prompts, instructions and earlier turns are not looked at, except by partners that take whole conversations; pictures, sound and files of bytes have no text. Of an answer, every choice, block and argument of a tool is looked at. Checks that look for what must not be there (those that are \`exact\` or \`window\` below, moderation and partners) also read and redact what stands beside the answer: reasoning, refusals, citations, code and what tools of the provider found; checks that count or measure an answer read the answer alone. Escapes in arguments are read as the characters that they stand for, log probabilities of a text that was changed are removed, and where a request writes a field twice, what was checked is sent. Calls through the proxy and in passthrough configs are not looked at; \`default.allowedRequestTypes\` can forbid them.

## Batches

Every row of a batch is checked like a call, whether the gateway runs the batch or a provider does. Where guardrails apply, a file with \`purpose=batch\` for a provider that runs batches stays with the gateway, and \`POST /batches\` answers with a \`gw_batch_\` id:

1. \`validating\`: input guardrails see each row. A denied row goes to the error file with status 446 and never reaches the provider; the others become a new file, which \`input_file_id\` then names and the provider gets.
2. \`in_progress\`: the provider runs it at the price of batches. The gateway asks every 30 seconds how it stands.
3. \`processing_post_request_guardrails\`: output guardrails see each answer. Denied ones go to the error file, redacted ones are written as they were redacted.
4. \`completed\`: \`output_file_id\` and \`error_file_id\` name files of the gateway. \`internal_output_file_id\` names what the provider wrote, which nobody reads through the gateway: as a file, as output of the batch or through the proxy it is refused with 403 \`guarded_output\`.

\`gw_options\` may name the config: \`{"gw_options": {"x-gw-config": "main"}}\`. Each row has a log record under the trace id of the batch, with what guardrails said and what it cost, and counts in [budgets](limits.md#what-a-call-reserves) when its answer is checked. Rows that were uploaded to the provider before are fetched from it where it keeps them in OpenAI's form; elsewhere (Bedrock, Vertex AI, Gemini) the batch fails and says so: upload the rows again. \`restore\` of \`gw.pii\` puts nothing back here, and an answer that is denied is not asked for again. Where a provider takes rows with the call (Anthropic) and the connection breaks in that moment, the batch ends as \`batch_start_failed\`, for nobody can tell whether it runs.

## Checks
`;

const sides = (check: Check): string => {
  const input = check.events.includes('beforeRequestHook');
  const output = check.events.includes('afterRequestHook');
  return input && output ? 'input and output' : input ? 'input' : 'output';
};

function needOf(check: Check): string {
  if (check.category === 'PARTNER' || (check.network && check.category === 'BASIC')) return 'whole';
  const prepared = check.prepare(check.example, { credentials: {}, faultOfUrl: () => null, timeoutMs: 0 });
  return prepared.stream?.needs ?? 'whole';
}

const fieldsOf = (schema: z.ZodObject): string =>
  Object.keys(schema.shape)
    .map((name) => `\`${name}\``)
    .join(', ') || 'none';

function section(check: Check): string {
  const own = check.network?.credentials ? fieldsOf(check.network.credentials()) : '';
  return [
    `### ${check.id}`,
    '',
    `${check.description} Checks ${sides(check)}; of a stream it needs: ${needOf(check)}.`,
    '',
    ...(check.aliases.length > 0 ? [`Also known as ${check.aliases.map((id) => `\`${id}\``).join(', ')}.`, ''] : []),
    `Parameters: ${fieldsOf(check.schema())}.`,
    ...(own === '' || own === 'none' ? [] : ['', `Credentials: ${own}.`]),
    '',
    '```json',
    JSON.stringify({ id: check.id, parameters: check.example }),
    '```',
    '',
  ].join('\n');
}

export const guardrailsPage = (): string => `${opening}\n${checks.map(section).join('\n')}`;

if (import.meta.main) await Bun.write(pagePath, guardrailsPage());
