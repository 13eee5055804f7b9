/** The audit rows of single sign-on: who came in by it, who was refused, and whose sessions a provider ended. */
import type { Clock } from '../../clock.ts';
import type { AuditRow } from '../kernel/audit/audit.ts';
import { bounded, maskHeaders } from '../kernel/audit/mask.ts';
import type { Exchange } from '../kernel/endpoint.ts';

export interface SsoEvent {
  path: string;
  status: number;
  organisationId: string;
  method: 'oidc' | 'saml';
  /** Empty where nobody is known yet. */
  userId: string;
  details: object;
}

export const ssoAuditRow = (
  clock: Clock,
  exchange: Exchange,
  { path, status, organisationId, method, userId, details }: SsoEvent,
): AuditRow => ({
  id: Bun.randomUUIDv7(),
  timestamp: clock.now().toISOString(),
  method: 'POST',
  uri: path,
  request_id: exchange.requestId,
  request_body: '',
  query_params: '',
  request_headers: bounded(JSON.stringify(maskHeaders(exchange.headers))),
  user_id: userId,
  user_type: 'user',
  organisation_id: organisationId,
  workspace_id: null,
  response_status_code: status,
  resource_type: 'user',
  resource_id: userId === '' ? null : userId,
  action: 'login',
  client_ip: exchange.clientIp,
  country: exchange.country,
  details: JSON.stringify({ method, ...details }),
});
