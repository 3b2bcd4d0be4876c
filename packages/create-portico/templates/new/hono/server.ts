import { serve } from '@hono/node-server';
import { useSession } from '@hono/session';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { bearer, portico } from 'portico/hono';
import { returnPath, startApplication, authorizationServerOf, token } from 'portico';
import definition, { type Env } from './portico.ts';
import { checkPassword, isForeign, loginPage } from './users.ts';

const application = await startApplication(definition);
const server = authorizationServerOf(application);

const app = new Hono<Env>();
app.use(useSession({ secret: process.env['AUTH_SECRET'] ?? crypto.randomUUID() }));
app.use(portico(server)); // after your session, before your own CSRF check
app.use('/api/*', bearer(server)); // token() works in the handlers below

app.get('/login', (c) => c.html(loginPage(returnPath(c.req.query('return_to') ?? null))));
app.post('/login', bodyLimit({ maxSize: 10_000 }), async (c) => {
  if (isForeign(c.req.header(), application.publicUrl)) return c.body(null, 403);
  const { email, password, return_to: returnTo } = await c.req.parseBody();
  const back = returnPath(typeof returnTo === 'string' ? returnTo : null); // a path of this host
  const user = await checkPassword(email, password);
  if (user === undefined) return c.redirect(`/login?return_to=${encodeURIComponent(back)}`, 303);
  await c.var.session.update({ userId: user.id });
  return c.redirect(back, 303);
});

app.get('/api/orders', (c) => {
  token().requireScope('orders:read'); // 401 without a valid token, 403 without the scope
  return c.json({ orders: [], of: token().user()?.getProfile().name ?? null });
});

const port = Number(application.env['PORT'] ?? 3000);
serve({ fetch: app.fetch, port }, () => console.log(application.publicUrl));
