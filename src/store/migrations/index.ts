/** Every migration, in order. A released one is never changed; the next one is appended here. */
import type { Db, Store } from '../database.ts';
import { identity } from './0001_identity.ts';
import { catalog } from './0002_catalog.ts';
import { batches } from './0003_batches.ts';
import { limits } from './0010_limits.ts';
import { logExports } from './0011_log_exports.ts';
import { guardrails } from './0012_guardrails.ts';
import { prompts } from './0013_prompts.ts';
import { mcp } from './0014_mcp.ts';
import { scim } from './0015_scim.ts';
import { companySignIn } from './0016_company_sign_in.ts';
import { secretReferences } from './0017_secret_references.ts';
import { accounts } from './0018_accounts.ts';
import { agents } from './0019_agents.ts';
import { mcpGuardrails } from './0020_mcp_guardrails.ts';
import { installation } from './0022_installation.ts';
import { prices } from './0030_prices.ts';
import { batchTokens } from './0037_batch_tokens.ts';
import { samlSessions } from './0038_saml_sessions.ts';
import { providerBatches } from './0041_provider_batches.ts';
import { mcpTasks } from './0042_mcp_tasks.ts';
import { oidcSessions } from './0043_oidc_sessions.ts';
import { ssoProven } from './0044_sso_proven.ts';

interface Migration {
  name: string;
  /** Runs inside one transaction on either engine; what only one of them has must leave the same queries working on both. */
  up(db: Db, engine: Store['engine']): Promise<void>;
}

export const migrations: readonly Migration[] = [
  { name: 'identity', up: identity },
  { name: 'catalog', up: catalog },
  { name: 'batches', up: batches },
  { name: 'limits', up: limits },
  { name: 'mcp', up: mcp },
  { name: 'prompts', up: prompts },
  { name: 'log exports', up: logExports },
  { name: 'prices', up: prices },
  { name: 'guardrails', up: guardrails },
  { name: 'accounts', up: accounts },
  { name: 'installation', up: installation },
  { name: 'mcp guardrails', up: mcpGuardrails },
  { name: 'scim', up: scim },
  { name: 'agents', up: agents },
  { name: 'company sign-in', up: companySignIn },
  { name: 'secret references', up: secretReferences },
  { name: 'batch tokens', up: batchTokens },
  { name: 'saml sessions', up: samlSessions },
  { name: 'oidc sessions', up: oidcSessions },
  { name: 'provider batches', up: providerBatches },
  { name: 'mcp tasks', up: mcpTasks },
  { name: 'sso proven', up: ssoProven },
];
