import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { returnPath, startApplication, authorizationServerOf, token } from 'portico';
import { portico } from 'portico/node';
import definition from './portico.ts';
import { beginSession } from './sessions.ts';
import { checkPassword, isForeign, loginPage } from './users.ts';

const application = await startApplication(definition);
const mount = portico(authorizationServerOf(application));
const isHttps = application.publicUrl.startsWith('https:');

async function answer(incoming: IncomingMessage, outgoing: ServerResponse) {
  if (await mount.handle(incoming, outgoing)) return; // one of Portico's endpoints

  const url = URL.parse(`${application.publicUrl}${incoming.url}`);
  if (url?.pathname === '/api/orders') {
    await mount.withToken(incoming, outgoing, async () => {
      token().requireScope('orders:read'); // 401 without a valid token, 403 without the scope
      const of = token().user()?.getProfile().name ?? null;
      outgoing
        .setHeader('Content-Type', 'application/json')
        .end(JSON.stringify({ orders: [], of }));
    });
  } else if (url?.pathname === '/login' && incoming.method === 'POST') {
    if (isForeign(incoming.headers, application.publicUrl)) {
      outgoing.writeHead(403, { Connection: 'close' }).end();
      return;
    }
    // A sign-in form is short. A longer body would only fill the memory.
    if (!(Number(incoming.headers['content-length']) < 10_000)) {
      outgoing.writeHead(413, { Connection: 'close' }).end();
      return;
    }
    const form = new URLSearchParams(await text(incoming));
    const back = returnPath(form.get('return_to')); // a path of this host
    const user = await checkPassword(form.get('email'), form.get('password'));
    if (user !== undefined) beginSession(outgoing, user.id, isHttps);
    const location = user === undefined ? `/login?return_to=${encodeURIComponent(back)}` : back;
    outgoing.writeHead(303, { Location: location }).end();
  } else if (url?.pathname === '/login') {
    const page = loginPage(returnPath(url.searchParams.get('return_to')));
    outgoing.setHeader('Content-Type', 'text/html; charset=utf-8').end(page);
  } else {
    outgoing.writeHead(404).end();
  }
}

const listener = createServer((incoming, outgoing) => {
  answer(incoming, outgoing).catch((error) => {
    console.error(error);
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(500).end();
  });
});
const port = Number(application.env['PORT'] ?? 3000);
listener.listen(port, () => console.log(application.publicUrl));
