/** The advanced configuration of an agent integration: those settings of MCP integrations that mean something to an agent, and guardrails. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { mcpSettingsShape, sentSettings } from '../mcp/settings.ts';

const guardrails = () => z.array(z.string().trim().min(1).max(255)).max(50);

const shape = lazy(() => ({
  ...z.object(mcpSettingsShape()).pick({
    headers: true,
    passthrough_headers: true,
    forward_headers: true,
    user_identity_forwarding: true,
    client_credentials: true,
    timeout_ms: true,
    circuit_breaker: true,
    log_payloads: true,
  }).shape,
  input_guardrails: guardrails(),
  output_guardrails: guardrails(),
}));

export const sentAgentSettings = lazy(() => sentSettings(shape()));

export const agentSettings = lazy(() => z.strictObject(shape()).partial());
export type AgentSettings = z.output<ReturnType<typeof agentSettings>>;
