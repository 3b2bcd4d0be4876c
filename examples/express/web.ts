// The existing application. It uses Express, express-session, passport-local and bcrypt.
import express, { type Express } from 'express';
import session from 'express-session';
import passport from 'passport';
import { Strategy } from 'passport-local';
import bcrypt from 'bcryptjs';
import { bearer, bearerErrors, portico } from 'portico/express';
import { mcpServerOf } from '@portico/mcp';
import {
  authorizationServerOf,
  token,
  type WaitingFor,
  returnPath,
  type Application,
} from 'portico';
import type { User, Users } from './users.ts';

/** Creates the Express application, with Portico mounted in it. */
export function createWeb(users: Users, application: Application, secret: string): Express {
  const app = express();
  const people = new passport.Passport();
  people.use(
    new Strategy({ usernameField: 'email' }, (email, password, done) => {
      const user = users.byEmail(email);
      const right =
        user !== null && user.suspended === 0 && bcrypt.compareSync(password, user.password_hash);
      done(null, right ? user : false);
    }),
  );
  people.serializeUser((user, done) => done(null, (user as User).id));
  people.deserializeUser((id, done) => {
    const user = users.byId(id as number);
    done(null, user !== null && user.suspended === 0 ? user : false);
  });

  app.disable('x-powered-by');
  app.use(express.urlencoded({ extended: true }));
  app.use(express.json());
  app.use(
    session({ secret, resave: false, saveUninitialized: false, cookie: { sameSite: 'lax' } }),
  );
  app.use(people.initialize());
  app.use(people.session());

  // Portico needs only these three lines.
  const server = authorizationServerOf(application);
  app.use(portico(server, mcpServerOf(application)));
  app.use('/api', bearer(server));

  app.get('/login', (req, res, fail) => {
    const returnTo = returnPath(
      typeof req.query['return_to'] === 'string' ? req.query['return_to'] : null,
    );
    // Returns which application sent the person here, and its hint about who the person is.
    const told = server.waitingFor(req, returnTo);
    told.then((waiting) => res.send(loginPage(returnTo, waiting))).catch(fail);
  });
  app.post('/login', (req, res, next) => {
    // Another site must not sign people in to its own account.
    if (/^(cross|same)-site$/.test(req.get('sec-fetch-site') ?? '')) {
      res.sendStatus(403);
      return;
    }
    const body = req.body as { readonly return_to?: string };
    const back = returnPath(body.return_to ?? null);
    const failureRedirect = `/login?return_to=${encodeURIComponent(back)}`;
    people.authenticate('local', { failureRedirect, successRedirect: back })(req, res, next);
  });
  app.get('/', (req, res) => {
    const user = req.user as User | undefined;
    res.send(
      `<!doctype html><title>Orders</title><p>${escape(user?.name ?? 'No one')} is signed in</p>`,
    );
  });
  app.get('/api/orders', (_, res) => {
    token().requireScope('orders:read');
    res.json({ orders: [], of: token().user()?.getProfile().name ?? null });
  });
  app.use(bearerErrors());
  return app;
}

function loginPage(returnTo: string, waiting: WaitingFor | null): string {
  const to =
    waiting === null ? '' : `<p>to continue to <bdi>${escape(waiting.clientName)}</bdi></p>`;
  return `<!doctype html><title>Sign in</title>${to}<form method="post" action="/login">
    <input type="hidden" name="return_to" value="${escape(returnTo)}">
    <label>Email <input name="email" value="${escape(waiting?.loginHint ?? '')}"></label>
    <label>Password <input name="password" type="password"></label>
    <button>Sign in</button></form>`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
