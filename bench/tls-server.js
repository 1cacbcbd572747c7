// A licensing service over TLS, as a process of its own: `node bench/tls-server.js KEY CERTIFICATE` prints its port.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [, , key = '', certificate = ''] = process.argv;
const licenses = JSON.stringify(
  [1, 2, 3].map((number) => ({
    license_code: `4F1C9-0000${number}-EF035`,
    remote_user: `user-${number}`,
    app_code: 4711,
    size_allowance: number,
  })),
);
const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(licenses);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  console.log(address.port);
});
