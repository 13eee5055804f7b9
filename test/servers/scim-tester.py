"""Runs every check of scim2-tester against the SCIM server at the given address and prints what each one found."""

import json
import sys

import httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server

url, token = sys.argv[1:3]
client = httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, trust_env=False)
results = check_server(SyncSCIMClient(client))
findings = [
    {"status": r.status.name, "check": r.title or "", "resource": r.resource_type, "reason": r.reason}
    for r in results
]
print(json.dumps(findings))
