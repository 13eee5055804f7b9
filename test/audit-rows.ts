/** Rows of the audit trail that no call has made. */
import type { AuditLogTable } from '../src/store/schema.ts';

export const auditRow = (
  row: Pick<AuditLogTable, 'organisation_id' | 'timestamp'> & Partial<AuditLogTable>,
): AuditLogTable => ({
  id: Bun.randomUUIDv7(),
  method: 'POST',
  uri: '/v1/api-keys',
  request_id: '',
  request_body: '',
  query_params: '',
  request_headers: '',
  user_id: '',
  user_type: 'system',
  workspace_id: null,
  response_status_code: 200,
  resource_type: 'api_key',
  resource_id: null,
  action: 'create',
  client_ip: '',
  country: null,
  details: null,
  ...row,
});
