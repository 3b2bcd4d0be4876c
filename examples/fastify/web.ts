// The existing application. It uses Fastify, @fastify/session and its own login.
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import session from '@fastify/session';
import bcrypt from 'bcryptjs';
import createFastify, { type FastifyInstance } from 'fastify';
import { bearer, bearerErrors, portico } from 'portico/fastify';
import { returnPath, type Application, authorizationServerOf, token } from 'portico';
import { mcpServerOf } from '@portico/mcp';
import type { Users } from './users.ts';

interface Login {
  readonly email?: string;
  readonly password?: string;
  readonly return_to?: string;
}

/** Creates the Fastify application, with Portico mounted in it. */
export async function createWeb(
  users: Users,
  application: Application,
  secret: string,
): Promise<FastifyInstance> {
  const fastify = createFastify();
  await fastify.register(cookie);
  await fastify.register(session, {
    secret,
    saveUninitialized: false,
    cookie: { secure: false, sameSite: 'lax' },
  });
  await fastify.register(formbody);

  // These lines mount Portico.
  const server = authorizationServerOf(application);
  await fastify.register(portico(server, mcpServerOf(application)));
  fastify.setErrorHandler(bearerErrors);

  fastify.get<{ Querystring: Login }>('/login', async (request, reply) => {
    const returnTo = returnPath(request.query.return_to ?? null);
    return reply.type('text/html')
      .send(`<!doctype html><title>Sign in</title><form method="post" action="/login">
      <input type="hidden" name="return_to" value="${escape(returnTo)}">
      <label>Email <input name="email"></label> <label>Password <input name="password" type="password"></label>
      <button>Sign in</button></form>`);
  });
  fastify.post<{ Body: Login }>('/login', async (request, reply) => {
    // Another site must not sign people in to its own account.
    if (/^(cross|same)-site$/.test(request.headers['sec-fetch-site'] ?? ''))
      return reply.code(403).send();
    const { email = '', password = '', return_to: returnTo = null } = request.body;
    const back = returnPath(returnTo);
    const user = users.byEmail(email);
    if (
      user === null ||
      user.suspended !== 0 ||
      !(await bcrypt.compare(password, user.password_hash))
    ) {
      return reply.redirect(`/login?return_to=${encodeURIComponent(back)}`, 303);
    }
    await request.session.regenerate();
    request.session.userId = user.id;
    return reply.redirect(back, 303);
  });
  fastify.get('/', async (request, reply) => {
    const { userId } = request.session;
    const name = userId === undefined ? 'No one' : (users.byId(userId)?.name ?? 'No one');
    return reply
      .type('text/html')
      .send(`<!doctype html><title>Orders</title><p>${escape(name)} is signed in</p>`);
  });
  await fastify.register(async (api) => {
    api.addHook('onRequest', bearer(server));
    api.get('/api/orders', async () => {
      token().requireScope('orders:read');
      return { orders: [], of: token().user()?.getProfile().name ?? null };
    });
  });
  return fastify;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
