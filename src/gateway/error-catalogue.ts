/** Every error of the data plane's own, with what it means and what to do: the docs show this very text. */

interface CatalogueEntry {
  status: number;
  /** Where it is not the usual one of its status. */
  type?: string;
  remedy: string;
}

export const errorCatalogue = {
  invalid_body: {
    status: 400,
    remedy: 'Mend what the message names: it says where the JSON breaks, or which field is wrong.',
  },
  invalid_content_type: { status: 400, remedy: 'Send `application/json` or `multipart/form-data`.' },
  missing_provider: { status: 400, remedy: 'Name a provider, a config, or a model `@slug/model`.' },
  invalid_provider: {
    status: 400,
    remedy: 'No provider has this name, and no custom host is given. `GET /v1/reference/providers` lists the names.',
  },
  invalid_config: { status: 400, remedy: 'Mend every fault that `errors` lists with its path.' },
  invalid_config_json: { status: 400, remedy: 'The inline config is not JSON: mend it where the message says.' },
  config_not_found: {
    status: 400,
    remedy: "No such config in the key's workspace: `GET /v1/configs` lists their slugs.",
  },
  guardrail_not_found: {
    status: 400,
    remedy:
      'A guardrail that the config or the defaults name is gone or cannot be used. Save it again, or take it out.',
  },
  config_override_not_allowed: {
    status: 400,
    remedy: 'The key is bound to its own config: send no `x-gw-config`, or let the key override it.',
  },
  config_targets_exceeded: {
    status: 400,
    remedy: 'Take targets out of the config until it has no more than [allowed](#targets).',
  },
  invalid_custom_host: {
    status: 400,
    remedy:
      'The host may not be called; the message says why. Name another, or let the operator trust it with `TRUSTED_CUSTOM_HOSTS`.',
  },
  invalid_forward_headers: {
    status: 400,
    remedy: 'Leave out the header that the message names; it may not be forwarded.',
  },
  invalid_header: {
    status: 400,
    remedy:
      'A value from a body, a config or a setting would make a header that cannot be sent. Mend the value that the message names.',
  },
  invalid_path: {
    status: 400,
    remedy:
      'The path could be read in two ways: it holds `\\`, `#`, `.` or `..` as a part, or an encoding of them. Write it plainly.',
  },
  inline_config_blocked: { status: 400, remedy: 'Save the config and name its slug.' },
  inline_provider_blocked: { status: 400, remedy: 'Save the provider and name it as `@slug`.' },
  inline_custom_host_blocked: { status: 400, remedy: 'Save the host on an integration.' },
  inline_provider_url_blocked: { status: 400, remedy: 'Save the endpoint on an integration.' },
  inline_forward_headers_blocked: { status: 400, remedy: 'Save `forward_headers` in a config.' },
  router_no_match: { status: 400, remedy: 'No condition holds, and there is no default. Add one.' },
  router_invalid_target: {
    status: 400,
    remedy:
      'Uploads, batches and fine-tunes go to one provider: name it, or use a config with one target. See `SKIP_DATAPLANE_CONFIG_CHECK`.',
  },
  no_eligible_target: { status: 400, remedy: 'There is no target, or every weight is 0. Give one target a weight.' },
  unsupported_endpoint: {
    status: 400,
    remedy: 'The provider does not offer this route. [Providers](providers.md#all-of-them) lists who does.',
  },
  nitro_unsupported: {
    status: 400,
    remedy: 'The call cannot be made without reading its body; the message says why. Leave out `x-gw-nitro-mode`.',
  },
  provider_conflict: { status: 400, remedy: 'Two providers are named for one call. Name one.' },
  provider_not_found: {
    status: 400,
    remedy: 'No such saved provider in the workspace, or it has expired: `GET /v1/providers` lists them.',
  },
  missing_credential: {
    status: 400,
    remedy: 'The provider needs a credential and got none. Save it on the integration, or send it.',
  },
  server_tools_not_enabled: {
    status: 400,
    remedy:
      'Send `x-gw-beta: server-side-mcp-2026-06-01` with tools of `@gw-mcp/`, and in later turns of such a conversation, on a route that runs them.',
  },
  invalid_prompt: {
    status: 400,
    remedy: 'The prompt cannot be rendered with these variables. Mend the place that the message names.',
  },
  invalid_subprotocol: {
    status: 400,
    remedy: 'A WebSocket subprotocol is not a token. Offer one of letters, digits and punctuation.',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    remedy: 'The key is missing, unknown or revoked. Send one that is active in `x-gw-api-key`.',
  },
  expired_api_key: {
    status: 401,
    type: 'authentication_error',
    remedy: 'The key has come to its end. Make another, or move its end.',
  },
  invalid_jwt: {
    status: 401,
    type: 'authentication_error',
    remedy: "The organisation's token is wrong, expired or signed with an unknown key. See [JWT](jwt.md).",
  },
  jwt_not_allowed: {
    status: 403,
    type: 'permission_error',
    remedy: 'The organisation of the token does not take part. Its administrators set up [JWT](jwt.md).',
  },
  workspace_forbidden: {
    status: 403,
    type: 'permission_error',
    remedy:
      'The workspace of the token is not there, or its person does not belong to it. Add them, or name another one.',
  },
  insufficient_scope: {
    status: 403,
    type: 'permission_error',
    remedy: 'The key lacks the scope that the message names. Use another key, or add the scope.',
  },
  key_type_not_allowed: { status: 403, type: 'permission_error', remedy: 'Use a workspace or user key.' },
  model_not_allowed: {
    status: 403,
    type: 'permission_error',
    remedy:
      'The model is not enabled on this provider, or the body may hide which one it names. Enable it on the integration.',
  },
  provider_not_allowed: {
    status: 403,
    type: 'permission_error',
    remedy:
      "The integration is not enabled for this workspace, or the call asks for the gateway's own identity at a cloud and may not: see `GW_CLOUD_IDENTITY`.",
  },
  unknown_route: { status: 404, remedy: 'No route has this path. Use the one that the message names.' },
  prompt_not_found: {
    status: 404,
    remedy:
      'No prompt, version or label of that name, of this workspace or shared with it: `GET /v1/prompts` lists them.',
  },
  prompt_partial_not_found: {
    status: 404,
    remedy: 'The prompt names a partial that is gone or not shared. Restore it, or take it out of the template.',
  },
  model_not_found: {
    status: 404,
    remedy:
      'No saved provider of this workspace offers the model that `GET /models/@slug/model` names: `GET /models` lists them.',
  },
  file_not_found: { status: 404, remedy: 'The gateway keeps no such file in this workspace. Upload it again.' },
  batch_not_found: {
    status: 404,
    remedy: 'The gateway runs no such batch in this workspace: `GET /batches` lists them.',
  },
  request_timeout: {
    status: 408,
    type: 'timeout_error',
    remedy: 'The provider did not answer in time. Try again, or allow more time: see [timeouts](#timeouts).',
  },
  body_too_slow: {
    status: 408,
    type: 'timeout_error',
    remedy: 'The client sent its body too slowly, and the connection is closed. See `REQUEST_BODY_TIMEOUT`.',
  },
  guarded_output: {
    status: 403,
    remedy: 'Guardrails check the answers of this batch: read the files that `GET /batches/{id}` names.',
  },
  batch_not_finished: { status: 409, remedy: 'Ask for the output when the batch has ended.' },
  usage_limit_exceeded: {
    status: 412,
    type: 'usage_limit_error',
    remedy:
      'A budget is used up, or has no room for this call: raise it, reset it, or ask for fewer tokens. See [limits](limits.md).',
  },
  body_too_large: { status: 413, remedy: 'Send less, or raise `MAX_REQUEST_BODY_BYTES`.' },
  upgrade_required: { status: 426, remedy: '`/realtime` is a WebSocket: open it with a client of theirs.' },
  guardrail_denied: {
    status: 446,
    type: 'hooks_failed',
    remedy:
      'A guardrail refuses the request or its answer: `hook_results` says which check. The type is `hooks_failed`.',
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    remedy: 'Wait for `retry-after` seconds. See [limits](limits.md).',
  },
  client_closed: { status: 499, remedy: 'The client left. Seen only in the log; nothing to do.' },
  internal_error: { status: 500, remedy: "Our fault. Look in the program's log under the request id." },
  secret_unavailable: {
    status: 500,
    remedy:
      'The credential lives in a secret manager that gives no value. The message names the secret reference; `POST /v1/secret-references/{id}/test` says why.',
  },
  buffers_full: {
    status: 503,
    remedy:
      'The bodies in memory leave no room: see `MAX_BUFFERED_BYTES`. Try again, or send fewer large bodies at once.',
  },
  invalid_provider_response: {
    status: 502,
    remedy:
      'The provider sent something that cannot be read, or more than `MAX_RESPONSE_BODY_BYTES`. Try again, or add a fallback.',
  },
  upstream_unreachable: {
    status: 502,
    remedy: 'The provider could not be reached or closed the connection. Try again, or add a fallback.',
  },
  upstream_refused: {
    status: 502,
    remedy:
      'The provider refused in a stream or a realtime session, with its own status where that is 400 or above; or the service that gives tokens for it refused, with 401 where the credential is at fault. The message has their words.',
  },
  stream_incomplete: {
    status: 502,
    remedy: 'The stream broke before it was complete. Ask again, or add a fallback that goes on with it.',
  },
  stream_diverged: { status: 502, remedy: 'The stream broke, and the next target said something else. Ask again.' },
  upstream_connect_timeout: { status: 503, remedy: 'The connection timed out. Try again, or add a fallback.' },
  too_many_connections: {
    status: 503,
    remedy:
      'The gateway may open no further connection: raise its limit of open files (`ulimit -n`). No breaker counts it.',
  },
  store_unavailable: {
    status: 503,
    remedy: 'PostgreSQL cannot be reached, so the key cannot be checked. Try again in a moment.',
  },
  jwt_keys_unavailable: {
    status: 503,
    remedy: "The key set of the token's organisation cannot be fetched. Try again, or see to its address.",
  },
  limits_unavailable: {
    status: 503,
    remedy: 'The counters of the limits cannot be reached: try again, or see `LIMITS_ON_STORE_FAILURE`.',
  },
  first_token_timeout: {
    status: 504,
    type: 'timeout_error',
    remedy: 'The provider stayed silent. Try again, or allow more time: see [timeouts](#timeouts).',
  },
  stream_stalled: {
    status: 504,
    type: 'timeout_error',
    remedy: 'The stream fell silent. Try again, or allow more time: see [timeouts](#timeouts).',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type GatewayErrorCode = keyof typeof errorCatalogue;
