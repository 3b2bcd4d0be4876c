import { once } from 'node:events';
import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import { useSession, type SessionEnv } from '@hono/session';
import { Hono, type Context, type Env, type ErrorHandler, type MiddlewareHandler } from 'hono';
import { deleteCookie, getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie';
import { MemoryStore, sessionMiddleware, type Session } from 'hono-sessions';
import { bearer, bearerErrors, portico } from 'portico/hono';
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
  type Mount,
  type OwnSession,
} from './application.ts';

/** A way to keep sessions in Hono. */
interface Sessions<E extends Env> extends OwnSession<Context<E>> {
  readonly middleware: readonly MiddlewareHandler<E>[];
  begin(c: Context<E>, userId: number): void | Promise<void>;
}

/**
 * Uses @hono/session. The session is an encrypted cookie, which is set after the response is
 * created.
 */
const encrypted: Sessions<SessionEnv<{ userId?: number }>> = {
  middleware: [useSession({ secret: '5e'.repeat(32) })],
  userId: async (c) => (await c.var.session.get())?.userId ?? null,
  begin: (c, userId) => c.var.session.update({ userId }),
  signOut: (c) => c.var.session.delete(),
};

/** Uses hono-sessions. Its cookie is set before everything else. */
const stored: Sessions<{ Variables: { session: Session<{ userId: number }> } }> = {
  middleware: [sessionMiddleware({ store: new MemoryStore() })],
  userId: (c) => c.var.session.get('userId'),
  begin: (c, userId) => c.var.session.set('userId', userId),
  signOut: (c) => c.var.session.deleteSession(),
};

/** Uses hono/cookie, with only a signed cookie. */
export const signed: Sessions<Env> = {
  middleware: [],
  async userId(c) {
    const id = await getSignedCookie(c, SECRET, 'user');
    return typeof id === 'string' ? Number(id) : null;
  },
  begin: (c, userId) => setSignedCookie(c, 'user', String(userId), SECRET, { httpOnly: true }),
  signOut: (c) => void deleteCookie(c, 'user'),
};

/** Reads the body before all other handlers, as Hono's validators and loggers do. */
const readBodies: MiddlewareHandler = async (c, next) => {
  if (c.req.method !== 'POST') return next();
  if (c.req.header('Content-Type')?.startsWith('application/x-www-form-urlencoded') === true)
    await c.req.formData();
  else await c.req.text();
  return next();
};

interface Stack<E extends Env> {
  readonly sessions: Sessions<E>;
  /** Middlewares that run before Portico. */
  readonly before?: readonly MiddlewareHandler[];
  readonly onError: ErrorHandler;
}

export function mountInHono<E extends Env>({
  sessions,
  before = [],
  onError,
}: Stack<E>): Mount['start'] {
  return (extra = {}, options = {}) =>
    prepared(
      { extra, options },
      (users, signers) => defineOrders<Context<E>>(users, sessions, signers),
      async (application, users, port) => {
        const app = new Hono<E>();
        app.use(async (c, next) => {
          setCookie(c, 'early', 'a');
          c.res.headers.append('Set-Cookie', 'early_on_the_answer=b');
          await next();
          setCookie(c, 'late', 'c');
        });
        for (const middleware of [...before, ...sessions.middleware]) app.use(middleware);

        const server = authorizationServerOf(application);
        app.use(portico(server, mcpServerOf(application)));
        app.use('/api/*', bearer(server));

        app.get('/login', (c) => c.html(loginPage(c.req.query('return_to'))));
        app.post('/login', async (c) => {
          const { user, location } = readLogin(users, await c.req.parseBody());
          if (user !== null) await sessions.begin(c, user.id);
          return c.redirect(location, 303);
        });
        app.get('/api/orders', (c) => c.json(orders()));
        app.onError(onError);
        const running = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }) as Server;
        await once(running, 'listening');
        return closing(running);
      },
    );
}

const OF_HONO = {
  normalises: true,
  parsesJson: false,
  cookies: ['early', 'early_on_the_answer', 'late'],
};

/** Answers every error with the application's own text. */
export const inOwnWords: ErrorHandler = (_, c) => c.text('Something went wrong', 500);

const rethrow: ErrorHandler = (error) => {
  throw error;
};

export const HONO: readonly Mount[] = [
  {
    ...OF_HONO,
    name: 'Hono, with encrypted sessions',
    start: mountInHono({ sessions: encrypted, onError: inOwnWords }),
  },
  {
    ...OF_HONO,
    name: 'Hono, behind what reads bodies',
    start: mountInHono({
      sessions: stored,
      before: [readBodies],
      onError: bearerErrors(inOwnWords),
    }),
  },
  {
    ...OF_HONO,
    name: 'Hono, with signed cookies',
    start: mountInHono({ sessions: signed, onError: rethrow }),
  },
];
