/** What handlers may use besides the database. Wired once, in app.ts. */

import type { AgentCards } from '../../catalog/agents/cards.ts';
import type { McpProbe } from '../../catalog/mcp/probe.ts';
import type { ConfigIndex, GuardrailIndex } from '../../catalog/references.ts';
import type { Clock } from '../../clock.ts';
import type { Settings } from '../../environment.ts';
import type { CheckIo } from '../../guardrails/io.ts';
import type { BodyRoom } from '../../http/body.ts';
import type { Keyring } from '../../identity/keyring.ts';
import type { LoginThrottle } from '../../identity/login-throttle.ts';
import type { Passwords } from '../../identity/passwords.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Logs } from '../../logs/logs.ts';
import type { PriceTable } from '../../pricing/price-table.ts';
import type { Secrets } from '../../secrets/resolver.ts';
import type { ChangeFeed } from '../../store/changes.ts';
import type { Store } from '../../store/database.ts';
import type { Vault } from '../../store/vault.ts';
import type { SsoService } from '../sso/service.ts';
import type { Dependant } from './dependant.ts';

export interface Services {
  settings: Settings;
  clock: Clock;
  store: Store;
  feed: ChangeFeed;
  vault: Vault;
  passwords: Passwords;
  loginThrottle: LoginThrottle;
  /** The share of an organisation in the memory of bodies; that of all who are not known under the empty name. */
  bodyRoom(organisationId: string): BodyRoom;
  /** Finds the caller behind an API key or a JWT. */
  keyring: Pick<Keyring, 'find' | 'whyRefused'>;
  /** The TXT records of a name, each in its pieces; fails when there are none or nobody answers. */
  resolveTxt(name: string): Promise<string[][]>;
  /** Why what the name in an address leads to must not be called; null where it may, or where nobody knows the name. */
  hostFault(url: string, organisationId: string): Promise<string | null>;
  configs: ConfigIndex;
  guardrails: GuardrailIndex;
  /** What checks may do on behalf of a workspace, for those who run a guardrail by hand. */
  checkIo(workspaceId: string | null): CheckIo;
  priceTable: PriceTable;
  /** What was spent of limits, and what is left. */
  limits: Limits;
  /** The records of calls through the gateway. */
  logs: Logs;
  /** Sends people to their organisation's identity provider. */
  sso: SsoService;
  /** Speaks to upstream MCP servers. */
  mcp: McpProbe;
  /** Asks agents for their cards. */
  agents: AgentCards;
  /** Values that live in secret managers. */
  secrets: Secrets;
  /** True from the moment in which the program was told to end. */
  draining: boolean;
  /** What every resource keeps for a workspace. */
  dependants: readonly Dependant[];
}
