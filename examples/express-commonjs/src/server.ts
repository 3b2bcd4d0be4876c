import bcrypt from 'bcryptjs';
import express from 'express';
import session from 'express-session';
import { bearer, bearerErrors, portico } from 'portico/express';
import { returnPath, startApplication, authorizationServerOf, token } from 'portico';
import { mcpServerOf } from '@portico/mcp';
import definition from './portico';
import { userByEmail } from './users';

async function start() {
  const application = await startApplication(definition);
  const server = authorizationServerOf(application);
  const app = express();
  app.use(express.urlencoded({ extended: true }));
  app.use(express.json());
  app.use(
    session({
      secret: process.env.SESSION_SECRET ?? '',
      resave: false,
      saveUninitialized: false,
      cookie: { sameSite: 'lax' },
    }),
  );
  app.use(portico(server, mcpServerOf(application)));
  app.use('/api', bearer(server));

  app.get('/login', (req, res) => {
    const returnTo = encodeURIComponent(returnPath(String(req.query.return_to ?? '')));
    res.send(`<!doctype html><title>Sign in</title><form method="post" action="/login?return_to=${returnTo}">
      <input name="email"> <input name="password" type="password"> <button>Sign in</button></form>`);
  });
  app.post('/login', async (req, res, next) => {
    // Another site must not sign people in to its own account.
    if (/^(cross|same)-site$/.test(req.get('sec-fetch-site') ?? ''))
      return void res.sendStatus(403);
    const { email, password } = req.body as { email: string; password: string };
    const back = returnPath(String(req.query.return_to ?? ''));
    const user = userByEmail(email);
    if (user === undefined || !(await bcrypt.compare(password, user.password_hash))) {
      res.redirect(`/login?return_to=${encodeURIComponent(back)}`);
      return;
    }
    const { portico } = req.session;
    req.session.regenerate((error) => {
      if (error) return next(error);
      if (portico?.userId === user.id) req.session.portico = portico;
      req.session.userId = user.id;
      res.redirect(303, back);
    });
  });
  app.get('/api/orders', (_, res) => {
    token().requireScope('orders:read');
    res.json({ orders: [], of: token().user()?.getProfile().name ?? null });
  });
  app.use(bearerErrors());
  app.listen(Number(process.env.PORT), process.env.HOST ?? 'localhost');
}

void start();
