/** The advanced configuration of an agent integration: those settings of MCP integrations that mean something to an agent, and guardrails. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { mcpSettingsShape } from '../mcp/settings.ts';

const guardrails = () => z.array(z.string().trim().min(1).max(255)).max(50);

const shape = lazy(() => {
  const {
    headers,
    passthrough_headers,
    forward_headers,
    user_identity_forwarding,
    client_credentials,
    timeout_ms,
    circuit_breaker,
    log_payloads,
  } = mcpSettingsShape();
  return {
    headers,
    passthrough_headers,
    forward_headers,
    user_identity_forwarding,
    client_credentials,
    timeout_ms,
    circuit_breaker,
    log_payloads,
    input_guardrails: guardrails(),
    output_guardrails: guardrails(),
  };
});

/** What may be saved; null takes a setting away. */
export const sentAgentSettings = lazy(() => {
  const known = shape();
  const nullable = Object.fromEntries(
    Object.entries({ ...known, custom_headers: known.headers, passthrough_header: known.passthrough_headers }).map(
      ([name, schema]) => [name, schema.nullish()],
    ),
  );
  return z.strictObject(nullable);
});

export const agentSettings = lazy(() => z.strictObject(shape()).partial());
export type AgentSettings = z.output<ReturnType<typeof agentSettings>>;
