import { expect, test } from 'bun:test';
import { GatewayError } from './gateway/errors.ts';
import { ApiError } from './http/errors.ts';
import { McpError } from './mcp/errors.ts';
import { ProviderFault, RequestFault } from './providers/faults.ts';
import { WireFault } from './wire/fault.ts';

test('refusals have no trace, and leave those of others alone', () => {
  const refusals = [
    new GatewayError('invalid_body', 'x'),
    new ApiError('AB01', 'x'),
    new McpError('upstream_error', 'x'),
    new ProviderFault(502, 'x'),
    new RequestFault('field', 'x'),
    new WireFault('InvalidAnswer', 'x'),
  ];
  for (const { stack } of refusals) expect(stack ?? '').not.toMatch(/\n\s+at /);
  expect(new Error('x').stack).toMatch(/\n\s+at /);
});
