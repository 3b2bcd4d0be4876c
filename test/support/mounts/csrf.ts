import { once } from 'node:events';
import { csrfSync } from 'csrf-sync';
import { doubleCsrf } from 'csrf-csrf';
import express, { type Express, type Request, type RequestHandler } from 'express';
import session from 'express-session';
import lusca from 'lusca';
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
} from './application.ts';

const secret = SECRET;

/**
 * Whether a request contains a token. A page of another site cannot send this header together with
 * a person's cookies.
 */
const carriesToken = (req: Request) =>
  /^\s*(?:Bearer|DPoP)(?:\s|$)/i.test(req.get('authorization') ?? '');

const sessions = () =>
  session({ secret, resave: false, saveUninitialized: true, cookie: { sameSite: 'lax' } });

/** A running application, with a record of what was written. */
export interface CheckedApplication {
  readonly mount: Mount;
  /** The accepted writes: the author and the endpoint of each. */
  readonly written: readonly string[];
}

/** CSRF libraries. Each is used as in its documentation, except for requests with a token. */
export const CSRF_CHECKS: Readonly<Record<string, (app: Express) => void>> = {
  'csrf-sync'(app) {
    const { csrfSynchronisedProtection } = csrfSync({
      getTokenFromRequest: (req) => fieldOf(req) ?? req.get('x-csrf-token'),
      skipCsrfProtection: carriesToken,
    });
    app.use(csrfSynchronisedProtection);
  },
  'csrf-csrf'(app) {
    const { doubleCsrfProtection } = doubleCsrf({
      getSecret: () => secret,
      getSessionIdentifier: (req) => req.session.id,
      cookieName: 'csrf',
      cookieOptions: { secure: false },
      getCsrfTokenFromRequest: (req) => fieldOf(req) ?? req.get('x-csrf-token'),
      skipCsrfProtection: carriesToken,
    });
    app.use(readCookies, doubleCsrfProtection);
  },
  lusca(app) {
    const csrf = lusca.csrf();
    app.use((req, res, next) => (carriesToken(req) ? next() : csrf(req, res, next)));
  },
};

function fieldOf({ body }: Request): string | undefined {
  const { _csrf: field } = (body ?? {}) as { readonly _csrf?: unknown };
  return typeof field === 'string' ? field : undefined;
}

/** Does the work of cookie-parser. */
const readCookies: RequestHandler = (req, _, next) => {
  const pairs = (req.headers.cookie ?? '').split('; ').map((pair) => pair.split(/=(.*)/s));
  req.cookies = Object.fromEntries(
    pairs.map(([name = '', value = '']) => [name, decodeURIComponent(value)]),
  );
  next();
};

/** Returns the person in the session. A request with a token has no session. */
const userIdOf = (req: Request) =>
  (req.session as { readonly userId?: number } | undefined)?.userId ?? null;

/**
 * Returns an application on Express. It checks every write with a session, and has an API behind
 * `token()`.
 */
export function checkedBy(check: (app: Express) => void): CheckedApplication {
  const written: string[] = [];
  const own = {
    userId: userIdOf,
    signOut: (req: Request) =>
      new Promise<void>((resolve) => req.session.regenerate(() => resolve())),
  };
  const start: Mount['start'] = (extra = {}, options = {}) =>
    prepared(
      { extra, options },
      (users, signers) => defineOrders<Request>(users, own, signers),
      async (application, users, port) => {
        const app = express();
        const server = authorizationServerOf(application);
        const sessionOf = sessions();
        // A request with a token has no session, so its cookie does not matter.
        app.use((req, res, next) => (carriesToken(req) ? next() : sessionOf(req, res, next)));
        app.use(express.urlencoded({ extended: true }), express.json());
        app.use(portico(server, mcpServerOf(application))); // before the CSRF check
        check(app);
        app.use('/api', bearer(server));
        app.get('/login', (req, res) => {
          const field = `<input type="hidden" name="_csrf" value="${tokenFor(req)}">`;
          res.send(loginPage(req.query['return_to']).replace('</form>', `${field}</form>`));
        });
        app.post('/login', (req, res, next) => {
          const { user, location } = readLogin(users, req.body as Login);
          if (user === null) return res.redirect(303, location);
          req.session.regenerate((error) => {
            if (error) return next(error);
            req.session.userId = user.id;
            res.redirect(303, location);
          });
        });
        app.get('/profile', (req, res) => void res.json({ token: tokenFor(req) }));
        app.post('/profile', (req, res) => {
          const id = userIdOf(req);
          if (id !== null) written.push(`the session of ${id}`);
          res.status(id === null ? 401 : 200).json({ ok: id !== null });
        });
        app.post('/api/orders', (_, res) => {
          const { of } = orders();
          written.push(`a token of ${of ?? 'an application'}`);
          res.json({ ok: true });
        });
        app.use(bearerErrors());
        app.use(refused);
        const listening = app.listen(port, '127.0.0.1');
        await once(listening, 'listening');
        return closing(listening);
      },
    );
  return { written, mount: { name: 'a CSRF check', normalises: false, parsesJson: true, start } };
}

/** Creates a token with the function that the library adds to the request. */
function tokenFor(req: Request): string {
  const { csrfToken } = req as { readonly csrfToken?: () => string };
  return csrfToken?.() ?? '';
}

/** The libraries reject with an error. The status is in the error or in the response. */
const refused: express.ErrorRequestHandler = (
  error: { readonly status?: number },
  _,
  res,
  next,
) => {
  if (res.headersSent) return next(error);
  res
    .status(error.status ?? (res.statusCode < 400 ? 500 : res.statusCode))
    .json({ error: 'Refused' });
};
