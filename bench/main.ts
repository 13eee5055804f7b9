/** `npm run bench`: prints tables and writes bench-results.json. `--only admin|attacks|cache|gateway|guardrails|jwt|limits|logs|mcp|scim`, `--peer`, `--soak <minutes>`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchAdmin } from './admin.ts';
import { benchAttacks } from './attacks.ts';
import { benchCache } from './cache.ts';
import { liftCallLimit } from './call-limit.ts';
import { root } from './child.ts';
import { benchGateway } from './gateway.ts';
import { benchGuardrails } from './guardrails.ts';
import { benchJwt } from './jwt.ts';
import { benchLimits } from './limits.ts';
import { benchLogs } from './logs.ts';
import { benchMcp } from './mcp.ts';
import { benchScim } from './scim.ts';

// Thousands of streams at once take as many calls.
liftCallLimit();

const { values } = parseArgs({
  options: { only: { type: 'string' }, peer: { type: 'boolean' }, soak: { type: 'string' } },
});

const results: Record<string, unknown> = { at: new Date().toISOString(), bun: Bun.version };
const runs = (part: string) => values.only === undefined || values.only === part;
if (runs('admin')) results.admin = await benchAdmin();
if (runs('attacks')) results.attacks = await benchAttacks();
if (runs('cache')) results.cache = await benchCache();
if (runs('guardrails')) results.guardrails = await benchGuardrails();
if (runs('jwt')) results.jwt = await benchJwt();
if (runs('limits')) results.limits = await benchLimits();
if (runs('logs')) results.logs = await benchLogs();
if (runs('mcp')) results.mcp = await benchMcp();
if (runs('scim')) results.scim = await benchScim();
if (runs('gateway')) {
  results.gateway = await benchGateway({ peer: values.peer ?? false, soakMinutes: Number(values.soak ?? 0) });
}
const file = join(root, 'bench-results.json');
writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
console.log(`\nWritten to ${file}`);
