// Serves Auth.js with node:http. Usage: `server.mjs <providers> <port>`. `<providers>` is a module
// with the providers in docs/connecting/authjs.md.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { Auth } from '@auth/core';

const [, , file = '', port = ''] = process.argv;
const { providers } = await import(pathToFileURL(file).href);
const config = { providers, basePath: '/auth', secret: 'only-for-the-tests', trustHost: true };

async function answer({ method = 'GET', url = '/', headers }, body) {
  if (!url.startsWith('/auth/')) return new Response('The home page');
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request(new URL(url, `http://localhost:${port}`), {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    ...(hasBody ? { body, duplex: 'half' } : {}),
  });
  return Auth(request, config);
}

async function reply(incoming, outgoing) {
  const response = await answer(incoming, Readable.toWeb(incoming));
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

createServer((incoming, outgoing) => void reply(incoming, outgoing)).listen(
  Number(port),
  '127.0.0.1',
);
