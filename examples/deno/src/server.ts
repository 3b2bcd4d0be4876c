import bcrypt from 'bcryptjs';
import { createHandler } from 'portico/fetch';
import { returnPath, startApplication, authorizationServerOf, token } from 'portico';
import { mcpServerOf } from '@portico/mcp';
import definition from './portico.ts';
import { createSession, userByEmail, userOfSession } from './users.ts';

const application = await startApplication(definition);
const server = authorizationServerOf(application);
const portico = createHandler<Deno.ServeHandlerInfo>(server, mcpServerOf(application));

async function signIn(request: Request, url: URL): Promise<Response> {
  // Another site must not sign people in to its own account.
  if (/^(cross|same)-site$/.test(request.headers.get('sec-fetch-site') ?? ''))
    return new Response('Forbidden', { status: 403 });
  const form = await request.formData();
  const user = userByEmail(String(form.get('email')));
  if (user === null || !(await bcrypt.compare(String(form.get('password')), user.password_hash)))
    return new Response('Wrong', { status: 401 });
  const cookie = `session=${createSession(user)}; HttpOnly; SameSite=Lax; Path=/`;
  const headers = { Location: returnPath(url.searchParams.get('return_to')), 'Set-Cookie': cookie };
  return new Response(null, { status: 303, headers });
}

const FORM = `<!doctype html><title>Sign in</title><form method="post">
  <input name="email"> <input name="password" type="password"> <button>Sign in</button></form>`;

const port = Number(Deno.env.get('PORT') ?? 8000);
Deno.serve({ port, hostname: Deno.env.get('HOST') ?? 'localhost' }, async (request, info) => {
  const answer = await portico(request, info);
  if (answer !== null) return answer;
  const url = new URL(request.url);
  if (url.pathname === '/api/orders')
    return server.withToken(request, async () => {
      token().requireScope('orders:read');
      return Response.json({ orders: [], of: token().user()?.getProfile().name ?? null });
    });
  if (url.pathname === '/login' && request.method === 'POST') return signIn(request, url);
  if (url.pathname === '/login')
    return new Response(FORM, { headers: { 'Content-Type': 'text/html' } });
  if (url.pathname === '/') return new Response(userOfSession(request)?.name ?? 'No one');
  return new Response('Not found', { status: 404 });
});
