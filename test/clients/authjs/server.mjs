// Auth.js behind node:http: `server.mjs <providers> <port>`. The providers are those of
// docs/connecting/authjs.md, as a module.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { Auth } from '@auth/core';

const [, , file = '', port = ''] = process.argv;
const { providers } = await import(pathToFileURL(file).href);
const config = { providers, basePath: '/auth', secret: 'only-for-the-tests', trustHost: true };

createServer(async (incoming, outgoing) => {
  const { method = 'GET', url = '/' } = incoming;
  if (!url.startsWith('/auth/')) return outgoing.end('The home page');
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request(new URL(url, `http://localhost:${port}`), {
    method,
    headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
  });
  const response = await Auth(request, config);
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}).listen(Number(port), '127.0.0.1');
