/** An agent in a process of its own whose card is whatever it was last told to be. */
import { createServer } from 'node:http';

let card = 'null';

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    if (request.url === '/become') card = body;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(request.url === '/become' ? '{}' : card);
  });
});
server.listen(0, '127.0.0.1');
await new Promise<void>((resolve) => server.once('listening', resolve));
const address = server.address();
process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' && address ? address.port : 0 })}\n\n`);
