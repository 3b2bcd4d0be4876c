import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Server } from 'node:http';
import cookieSession from 'cookie-session';
import express, { type Express, type Request, type RequestHandler } from 'express';
import session from 'express-session';
import { administration } from '@portico/admin';
import { definePortico } from '../../../examples/express/portico.ts';
import { createWeb } from '../../../examples/express/web.ts';
import { bearer, bearerErrors, portico } from 'portico/express';
import { mcpServerOf } from '@portico/mcp';
import { authorizationServerOf } from 'portico';
import {
  closing,
  defineOrders,
  loginPage,
  orders,
  prepared,
  readLogin,
  SECRET,
  type Login,
  type Mount,
  type OwnSession,
} from './application.ts';

/** Express 4, with the types of Express 5. */
const express4 = createRequire(import.meta.url)('express-4') as typeof express;

/**
 * Sets one cookie immediately, and another when the headers are written, as session libraries do.
 */
const setCookies: RequestHandler = (_, res, next) => {
  res.cookie('early', 'a');
  const writeHead = res.writeHead.bind(res);
  res.writeHead = ((...head: Parameters<typeof writeHead>) => {
    res.cookie('late', 'b');
    return writeHead(...head);
  }) as typeof res.writeHead;
  next();
};

type Sessions = OwnSession<Request> & {
  readonly middleware: () => RequestHandler;
  begin(req: Request, userId: number): void | Promise<void>;
};

declare module 'express-session' {
  interface SessionData {
    userId: number;
  }
}

/** Uses express-session. Sign-in and sign-out create a new session. */
export const stored: Sessions = {
  middleware: () => session({ secret: SECRET, resave: false, saveUninitialized: false }),
  userId: (req) => req.session.userId ?? null,
  begin: (req, userId) =>
    new Promise((resolve) => {
      req.session.regenerate(() => {
        req.session.userId = userId;
        resolve();
      });
    }),
  signOut: (req) => new Promise((resolve) => req.session.regenerate(() => resolve())),
};

/**
 * Uses cookie-session. The whole session is in the cookie, which is set when the headers are
 * written.
 */
export const inCookie: Sessions = {
  middleware: () => cookieSession({ secret: SECRET }),
  userId: (req) => (req.session as { userId?: number } | null)?.userId ?? null,
  begin(req, userId) {
    Object.assign(req.session, { userId });
  },
  signOut(req) {
    Object.assign(req, { session: null });
  },
};

const PARSERS: readonly RequestHandler[] = [
  express4.urlencoded({ extended: true }),
  express4.json(),
];

/**
 * Mounts Portico in an application on Express 4. `before` runs before Portico. The application's
 * parsers run only for its own routes.
 */
export function mountInExpress4(
  sessions: Sessions,
  { before = [] }: { readonly before?: readonly RequestHandler[] },
): Mount['start'] {
  return (extra = {}, options = {}) =>
    prepared(
      { extra, options },
      (users, signers) => defineOrders<Request>(users, sessions, signers),
      async (application, users, port) => {
        const app = express4();
        app.use(setCookies);
        app.use(sessions.middleware());
        for (const middleware of before) app.use(middleware);

        const server = authorizationServerOf(application);
        app.use(portico(server, mcpServerOf(application)));
        app.use('/api', bearer(server));

        app.use(...PARSERS);
        app.get('/login', (req, res) => void res.send(loginPage(req.query['return_to'])));
        app.post('/login', (req, res, next) => {
          const { user, location } = readLogin(users, req.body as Login);
          const begun = user === null ? undefined : sessions.begin(req, user.id);
          Promise.resolve(begun).then(() => res.redirect(303, location), next);
        });
        app.get('/api/orders', (_, res) => void res.json(orders()));
        app.use(bearerErrors());
        return listening(app, port);
      },
    );
}

async function listening(app: Express, port: number) {
  const server: Server = app.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return closing(server);
}

export const EXPRESS: readonly Mount[] = [
  {
    name: 'portico/express',
    normalises: false,
    hashed: /^\$argon2id\$/,
    parsesJson: true,
    cookies: ['early', 'late'],
    start: (extra = {}, options = {}) =>
      prepared(
        { extra, options },
        (own) => definePortico(own, [administration]),
        (application, users, port) => {
          const app = express().use(setCookies);
          return listening(app.use(createWeb(users, application, SECRET)), port);
        },
      ),
  },
  {
    name: 'portico/express, Express 4',
    normalises: false,
    parsesJson: false,
    cookies: ['early', 'late'],
    start: mountInExpress4(inCookie, {}),
  },
  {
    name: 'portico/express, Express 4 behind parsers',
    normalises: false,
    parsesJson: true,
    cookies: ['early', 'late'],
    start: mountInExpress4(stored, { before: PARSERS }),
  },
];
