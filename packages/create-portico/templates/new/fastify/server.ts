import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import session from '@fastify/session';
import createFastify from 'fastify';
import { bearer, bearerErrors, portico } from 'portico/fastify';
import { returnPath, startApplication, authorizationServerOf, token } from 'portico';
import definition from './portico.ts';
import { checkPassword, isForeign, loginPage } from './users.ts';

const application = await startApplication(definition);
const server = authorizationServerOf(application);

const secure = application.publicUrl.startsWith('https:');
// With https, a proxy in your network sends X-Forwarded-Proto and X-Forwarded-For.
const trustProxy = secure && ['loopback', 'linklocal', 'uniquelocal'];
const fastify = createFastify({ trustProxy });
const secret = application.env['SESSION_SECRET'] ?? crypto.randomUUID();
await fastify.register(cookie);
await fastify.register(session, {
  secret,
  saveUninitialized: false,
  cookie: { secure, sameSite: 'lax' },
});
await fastify.register(formbody);
await fastify.register(portico(server)); // behind the session
fastify.setErrorHandler(bearerErrors); // or call it in your own

type Login = Record<string, string | undefined>;
fastify.get<{ Querystring: Login }>('/login', (request, reply) =>
  reply.type('text/html').send(loginPage(returnPath(request.query['return_to'] ?? null))),
);
fastify.post<{ Body?: Login | null }>('/login', async (request, reply) => {
  if (isForeign(request.headers, application.publicUrl)) return reply.code(403).send();
  const { email, password, return_to: returnTo } = request.body ?? {};
  const back = returnPath(returnTo ?? null); // a path of this host
  const user = await checkPassword(email, password);
  if (user === undefined)
    return reply.redirect(`/login?return_to=${encodeURIComponent(back)}`, 303);
  await request.session.regenerate();
  request.session.userId = user.id;
  return reply.redirect(back, 303);
});

await fastify.register(async (api) => {
  api.addHook('onRequest', bearer(server)); // token() in the handlers of this part
  api.get('/api/orders', async () => {
    token().requireScope('orders:read'); // 401 without a valid token, 403 without the scope
    return { orders: [], of: token().user()?.getProfile().name ?? null };
  });
});

await fastify.listen({ port: Number(application.env['PORT'] ?? 3000) });
console.log(application.publicUrl);
