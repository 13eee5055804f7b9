/** The rate limit that an integration sets for its own tools. */
import { type CallLimiter, createCallLimiter } from './call-limiter.ts';
import type { ToolLimiter } from './deps.ts';
import { McpError } from './errors.ts';

const windows = { rpm: 60_000, rph: 3_600_000, rpd: 86_400_000 } as const;

export function createServerLimits(now: () => number): ToolLimiter {
  const limiters = new Map<string, CallLimiter>();
  return ({ server }) => {
    const rule = server.settings.rate_limit;
    if (!rule) return;
    const key = `${rule.value} ${rule.unit}`;
    const limiter = limiters.get(key) ?? createCallLimiter(now, rule.value, windows[rule.unit]);
    limiters.set(key, limiter);
    const wait = limiter(server.id);
    if (wait === 0) return;
    throw new McpError(
      'rate_limited',
      `rate limit of ${rule.value} ${rule.unit} exceeded for MCP server "${server.slug}"`,
      {
        headers: { 'retry-after': String(wait) },
      },
    );
  };
}
