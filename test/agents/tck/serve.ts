/** For A2A's test kit, which is run by hand (docs/agents.md): its agent, and the same agent behind the gateway. The kit knows no keys, so that a forwarder adds one. */
import { startGateway } from '../../harness.ts';
import { runServer, trustLoopback } from '../../mcp/upstream.ts';
import { startForwarder } from '../forwarder.ts';
import { saveAgent } from '../upstream.ts';

const { port } = await runServer(`${import.meta.dir}/agent.ts`, []);
const direct = `http://127.0.0.1:${port}`;
/** Where the kit wants notifications sent; a machine without a name server cannot look it up. */
const pushHosts = ['example.com', 'webhook.example.com', 'webhook1.example.com', 'webhook2.example.com'];
const gateway = await startGateway({
  TRUSTED_CUSTOM_HOSTS: [trustLoopback.TRUSTED_CUSTOM_HOSTS, ...pushHosts].join(','),
});
await saveAgent(gateway, { slug: 'tck', url: direct });
const place = '/v1/agent/tck';
// The kit for 0.3 looks for the card at the root, whatever path it is given.
const { url } = await startForwarder(gateway, (path) => (path.startsWith(place) ? path : place + path));
process.stdout.write(`direct:  ${direct}\nthrough: ${url}\n`);
