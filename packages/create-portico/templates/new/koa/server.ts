import { bodyParser } from '@koa/bodyparser';
import { Router } from '@koa/router';
import Koa from 'koa';
import session from 'koa-session';
import { returnPath, startApplication, authorizationServerOf, token } from 'portico';
import { bearer, portico } from 'portico/koa';
import definition from './portico.ts';
import { checkPassword, isForeign, loginPage } from './users.ts';

const application = await startApplication(definition);
const server = authorizationServerOf(application);

const secure = application.publicUrl.startsWith('https:');
// With https, your proxy must send X-Forwarded-Proto.
const app = new Koa({ proxy: secure, maxIpsCount: 1 });
app.keys = [application.env['SESSION_SECRET'] || crypto.randomUUID()];
app.use(session({ sameSite: 'lax', secure }, app));
app.use(bodyParser());
app.use(portico(server)); // after your session, before your own CSRF check

const router = new Router();
router.get('/login', (ctx) => {
  const { return_to: returnTo } = ctx.query;
  ctx.body = loginPage(returnPath(typeof returnTo === 'string' ? returnTo : null));
});
router.post('/login', async (ctx) => {
  if (isForeign(ctx.headers, application.publicUrl)) ctx.throw(403);
  const {
    email,
    password,
    return_to: returnTo,
  } = ctx.request.body as Record<string, string | undefined>;
  const back = returnPath(returnTo ?? null); // a path of this host
  const user = await checkPassword(email, password);
  if (user !== undefined) ctx['session'] = { userId: user.id };
  ctx.redirect(user === undefined ? `/login?return_to=${encodeURIComponent(back)}` : back);
  ctx.status = 303;
});
router.get('/api/orders', bearer(server), (ctx) => {
  token().requireScope('orders:read'); // 401 without a valid token, 403 without the scope
  ctx.body = { orders: [], of: token().user()?.getProfile().name ?? null };
});
app.use(router.routes());

const port = Number(application.env['PORT'] ?? 3000);
app.listen(port, () => console.log(application.publicUrl));
