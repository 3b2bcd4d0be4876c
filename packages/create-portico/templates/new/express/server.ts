import express from 'express';
import session from 'express-session';
import { bearer, bearerErrors, portico } from 'portico/express';
import { returnPath, startApplication, authorizationServerOf, token } from 'portico';
import definition from './portico.ts';
import { checkPassword, isForeign, loginPage } from './users.ts';

const application = await startApplication(definition);
const server = authorizationServerOf(application);

const app = express();
const secret = application.env['SESSION_SECRET'] ?? crypto.randomUUID();
const isHttps = application.publicUrl.startsWith('https:');
const cookie = { sameSite: 'lax', secure: isHttps } as const;
app.set('trust proxy', isHttps && 'loopback,linklocal,uniquelocal');
app.use(session({ secret, resave: false, saveUninitialized: false, proxy: isHttps, cookie }));
app.use(express.urlencoded({ extended: true }));
app.use(portico(server)); // after your session, before your own CSRF check
app.use('/api', bearer(server)); // token() works in the handlers below

app.get('/login', (req, res) => {
  const { return_to: returnTo } = req.query;
  res.send(loginPage(returnPath(typeof returnTo === 'string' ? returnTo : null)));
});
app.post('/login', async (req, res, next) => {
  if (isForeign(req.headers, application.publicUrl)) return void res.sendStatus(403);
  const form: Record<string, string | undefined> = req.body ?? {};
  const { email, password, return_to: returnTo } = form;
  const back = returnPath(returnTo ?? null); // a path of this host
  const user = await checkPassword(email, password);
  if (user === undefined) return res.redirect(303, `/login?return_to=${encodeURIComponent(back)}`);
  req.session.regenerate((error) => {
    if (error) return next(error);
    req.session.userId = user.id;
    res.redirect(303, back);
  });
});

app.get('/api/orders', (_, res) => {
  token().requireScope('orders:read'); // 401 without a valid token, 403 without the scope
  res.json({ orders: [], of: token().user()?.getProfile().name ?? null });
});
app.use(bearerErrors()); // before your own error handler

const port = Number(application.env['PORT'] ?? 3000);
app.listen(port, () => console.log(application.publicUrl));
