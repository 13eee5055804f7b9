#!/bin/sh
# Started by the conformance suite for each scenario of a client: hands the address of the scenario's server to the test that drives the gateway.
exec curl --silent --show-error --fail --get "$DRIVER_URL" \
  --data-urlencode "scenario=$MCP_CONFORMANCE_SCENARIO" \
  --data-urlencode "version=$MCP_CONFORMANCE_PROTOCOL_VERSION" \
  --data-urlencode "context=$MCP_CONFORMANCE_CONTEXT" \
  --data-urlencode "url=$1"
