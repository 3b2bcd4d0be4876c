import type { BunRequest, Server } from 'bun';
import { createHandler } from 'portico/fetch';
import { returnPath, startApplication, authorizationServerOf, token } from 'portico';
import { mcpServerOf } from '@portico/mcp';
import definition, { type Visit } from './portico.ts';
import { createSession, userByEmail, userOfSession } from './users.ts';

const application = await startApplication(definition);
const server = authorizationServerOf(application);
const handle = createHandler<Visit>(server, mcpServerOf(application));

const NOT_FOUND = () => new Response('Not found', { status: 404 });

async function portico(request: BunRequest, bun: Server<unknown>): Promise<Response> {
  const ip = bun.requestIP(request)?.address;
  return (await handle(request, { cookies: request.cookies, ip })) ?? NOT_FOUND();
}

const html = (text: string) => new Response(text, { headers: { 'Content-Type': 'text/html' } });

Bun.serve({
  port: process.env.PORT ?? 3000,
  hostname: process.env.HOST ?? 'localhost',
  routes: {
    '/.well-known/*': portico,
    '/oauth/*': portico,
    '/mcp': portico,
    '/api/orders': (request) =>
      server.withToken(request, async () => {
        token().requireScope('orders:read');
        return Response.json({ orders: [], of: token().user()?.getProfile().name ?? null });
      }),
    '/login': {
      GET: () =>
        html(`<!doctype html><title>Sign in</title><form method="post">
          <input name="email"> <input name="password" type="password"> <button>Sign in</button></form>`),
      async POST(request) {
        // Another site must not sign people in to its own account.
        if (/^(cross|same)-site$/.test(request.headers.get('sec-fetch-site') ?? ''))
          return new Response('Forbidden', { status: 403 });
        const form = await request.formData();
        const user = userByEmail(String(form.get('email')));
        const isRight =
          user !== null &&
          (await Bun.password.verify(String(form.get('password')), user.password_hash));
        if (!isRight) return new Response('Wrong', { status: 401 });
        request.cookies.set('session', createSession(user), { httpOnly: true, sameSite: 'lax' });
        const returnTo = returnPath(new URL(request.url).searchParams.get('return_to'));
        return new Response(null, { status: 303, headers: { Location: returnTo } });
      },
    },
    '/': (request) => new Response(userOfSession(request.cookies.get('session'))?.name ?? 'No one'),
  },
  fetch: NOT_FOUND,
});
