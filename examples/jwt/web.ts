// The existing application. Its login returns JSON with a JWT. Scripts keep the JWT in the
// browser's storage and send it with each call.
import bcrypt from 'bcryptjs';
import express, {
  type CookieOptions,
  type Express,
  type Request,
  type RequestHandler,
} from 'express';
import { bearer, bearerErrors, portico } from 'portico/express';
import { returnPath, type Application, authorizationServerOf, token } from 'portico';
import type { Tokens } from './jwt.ts';
import { COOKIE } from './portico.ts';
import type { Users } from './users.ts';

/**
 * How long a browser may use the pages below `/oauth` before the person must sign in there again,
 * in seconds.
 */
const COOKIE_LIFETIME = 600;

/** Creates the Express application, with Portico mounted in it. */
export function createWeb(users: Users, tokens: Tokens, application: Application): Express {
  const app = express();
  app.disable('x-powered-by');

  app.post('/api/login', express.json(), (req, res, next) => {
    const { email = '', password = '' } = req.body as {
      readonly email?: string;
      readonly password?: string;
    };
    const user = users.byEmail(email);
    const right =
      user !== null && user.suspended === 0 && bcrypt.compareSync(password, user.password_hash);
    if (right) tokens.sign('api', user.id, 86_400).then((jwt) => res.json({ jwt }), next);
    else res.status(401).json({ error: 'The email address or password is wrong.' });
  });
  app.get('/api/me', requireToken(tokens), (_, res) => {
    res.json({ name: users.byId(Number(res.locals['userId']))?.name ?? null });
  });

  // Mount Portico, and add an API that accepts its tokens.
  const server = authorizationServerOf(application);
  app.use(portico(server));
  app.get('/orders', bearer(server), (_, res) => {
    token().requireScope('orders:read');
    res.json({ orders: [], of: token().user()?.getProfile().name ?? null });
  });
  // This route accepts both kinds of tokens. The pages of this application send the user's JWT, and
  // other applications send a token from Portico.
  app.get('/api/orders', bearer(server), requireEither(tokens, 'orders:read'), (_, res) => {
    res.json({ orders: [], of: users.byId(Number(res.locals['userId']))?.name ?? null });
  });

  addSignIn(app, tokens, application.publicUrl);
  app.get('/', (_, res) => void res.send('<!doctype html><title>Orders</title><p>Orders</p>'));
  app.use(bearerErrors());
  return app;
}

/**
 * Adds a sign-in page, which exchanges the token for a cookie, and a sign-out page. The requests of
 * both need a header that only scripts of this origin can send.
 */
function addSignIn(app: Express, tokens: Tokens, publicUrl: string): void {
  const secure = publicUrl.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', secure, path: '/oauth' } as const;
  app.use(['/login', '/logout'], (_, res, next) => {
    res.set('X-Frame-Options', 'DENY'); // other sites cannot show the buttons in a frame
    next();
  });
  app.get('/login', (req, res) => void res.send(page(LOGIN, returnTo(req))));
  app.post('/login', requireToken(tokens), setCookie(tokens, cookie));
  app.get('/logout', (req, res) => void res.send(page(LOGOUT, returnTo(req))));
  app.post('/logout', (req, res) => {
    if (req.headers.authorization === undefined) res.sendStatus(403);
    else res.clearCookie(COOKIE, cookie).sendStatus(204);
  });
}

/** Accepts only requests with a valid JWT. Puts the user's id into `res.locals.userId`. */
function requireToken(tokens: Tokens): RequestHandler {
  return async (req, res, next) => {
    const id = await tokens.verify('api', req.headers.authorization?.replace(/^Bearer /, ''));
    res.locals['userId'] = id;
    if (id === null) res.sendStatus(401);
    else next();
  };
}

/**
 * Accepts the application's own JWT, or a token from Portico with this scope. A request with a
 * token from Portico is never checked as a JWT.
 */
function requireEither(tokens: Tokens, scope: string): RequestHandler {
  const own = requireToken(tokens);
  return (req, res, next) => {
    if (token().clientId() === null) {
      own(req, res, next);
      return;
    }
    token().requireScope(scope);
    const id = token().user()?.reference.id;
    res.locals['userId'] = id;
    if (id === undefined)
      res.sendStatus(403); // the application acts for itself and not for a user
    else next();
  };
}

function setCookie(tokens: Tokens, cookie: CookieOptions): RequestHandler {
  return async (_, res) => {
    const value = await tokens.sign('browser', Number(res.locals['userId']), COOKIE_LIFETIME);
    res.cookie(COOKIE, value, { ...cookie, maxAge: COOKIE_LIFETIME * 1000 }).sendStatus(204);
  };
}

function returnTo({ query }: Request): string {
  return returnPath(typeof query['return_to'] === 'string' ? query['return_to'] : null);
}

function page(content: string, target: string): string {
  const escaped = target.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
  return `<!doctype html><html lang="en" data-return-to="${escaped}"><title>Orders</title>${content}</html>`;
}

/**
 * The sign-in page. If the browser already has a JWT, the person can continue with a click on a
 * button. Other people sign in with their email address and password.
 */
const LOGIN = `
<button id="go-on" hidden></button>
<form><label>Email <input name="email"></label> <label>Password <input name="password" type="password"></label>
<button>Sign in</button><p role="alert"></p></form>
<script type="module">
  const bearer = () => ({ Authorization: 'Bearer ' + localStorage.getItem('jwt') });
  const goOn = async () => {
    const answer = await fetch('/login', { method: 'POST', headers: bearer() });
    if (answer.ok) location.assign(document.documentElement.dataset.returnTo);
  };
  const button = document.querySelector('#go-on');
  button.onclick = goOn;
  document.forms[0].onsubmit = async (event) => {
    event.preventDefault();
    const body = JSON.stringify(Object.fromEntries(new FormData(event.target)));
    const answer = await fetch('/api/login', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    const { jwt, error } = await answer.json();
    document.querySelector('[role=alert]').textContent = error ?? '';
    if (!answer.ok) return;
    localStorage.setItem('jwt', jwt);
    await goOn();
  };
  const me = localStorage.getItem('jwt') === null ? null : await fetch('/api/me', { headers: bearer() });
  if (me?.ok) {
    button.textContent = 'Continue as ' + (await me.json()).name;
    button.hidden = false;
  }
</script>`;

/**
 * The sign-out page. Any site can send a browser here, so the page asks first. It removes the
 * cookie even if the JWT has expired.
 */
const LOGOUT = `
<button>Sign out</button>
<script type="module">
  document.querySelector('button').onclick = async () => {
    const headers = { Authorization: 'Bearer ' + localStorage.getItem('jwt') };
    const answer = await fetch('/logout', { method: 'POST', headers });
    if (!answer.ok) return;
    localStorage.removeItem('jwt');
    location.replace(document.documentElement.dataset.returnTo);
  };
</script>`;
