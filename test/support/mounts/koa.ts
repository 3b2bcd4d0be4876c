import { once } from 'node:events';
import { createRequire } from 'node:module';
import { bodyParser } from '@koa/bodyparser';
import Koa, { type Context, type Middleware } from 'koa';
import { koaBody } from 'koa-body';
import olderBodyParser from 'koa-bodyparser';
import { KoaPassport } from 'koa-passport';
import session from 'koa-session';
import { Strategy } from 'passport-local';
import { bearer, portico } from 'portico/koa';
import { mcpServerOf } from '@portico/mcp';
import { authorizationServerOf } from 'portico';
import type { User, Users } from '../../../examples/express/users.ts';
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

/** Koa 2, with the types of Koa 3. */
const Koa2 = createRequire(import.meta.url)('koa-2') as typeof Koa;

/** A way to sign in with koa-session. */
interface SigningIn extends OwnSession<Context> {
  readonly middleware: (users: Users) => readonly Middleware[];
  begin(ctx: Context, user: User): void | Promise<void>;
}

export const byHand: SigningIn = {
  middleware: () => [],
  userId: (ctx) => (ctx['session'] as { userId?: number } | null)?.userId ?? null,
  begin(ctx, { id: userId }) {
    ctx['session'] = { userId };
  },
  signOut(ctx) {
    ctx['session'] = null;
  },
};

const byPassport: SigningIn = {
  middleware(users) {
    const passport = new KoaPassport();
    passport.use(new Strategy((_, __, done) => done(null, false)));
    passport.serializeUser((user, done) => done(null, (user as User).id));
    passport.deserializeUser((id, done) => done(null, users.byId(id as number) ?? false));
    return [passport.initialize(), passport.session()] as readonly Middleware[];
  },
  userId: ({ state }) => (state['user'] as User | undefined)?.id ?? null,
  begin: (ctx, user) => ctx.login(user),
  signOut: (ctx) => ctx.logout(),
};

/** Creates a store of sessions, similar to a store in Redis. */
function createStore() {
  const kept = new Map<string, unknown>();
  return {
    get: async (key: string) => kept.get(key),
    async set(key: string, value: unknown) {
      kept.set(key, value);
    },
    async destroy(key: string) {
      kept.delete(key);
    },
  };
}

interface Stack {
  readonly koa: typeof Koa;
  readonly signingIn: SigningIn;
  readonly stored: boolean;
  /** Middlewares that run before Portico. */
  readonly before: readonly Middleware[];
  /** Middlewares that run after Portico. */
  readonly behind: readonly Middleware[];
  /** Whether the session runs after Portico, by mistake. */
  readonly sessionLast?: boolean;
}

export function mountInKoa({
  koa,
  signingIn,
  stored,
  before,
  behind,
  sessionLast = false,
}: Stack): Mount['start'] {
  return (extra = {}, options = {}) =>
    prepared(
      { extra, options },
      (users, signers) => defineOrders<Context>(users, signingIn, signers),
      async (application, users, port) => {
        const app = new koa();
        app.keys = [SECRET];
        // Koa would print a stack for each caller who leaves a stream.
        app.silent = true;
        app.use(async (ctx, next) => {
          ctx.cookies.set('early', 'a', { signed: false });
          await next();
          ctx.cookies.set('late', 'b', { signed: false });
        });
        const sessions = session(stored ? { store: createStore() } : {}, app);
        if (!sessionLast) app.use(sessions);
        for (const middleware of [...signingIn.middleware(users), ...before]) app.use(middleware);

        const server = authorizationServerOf(application);
        app.use(portico(server, mcpServerOf(application)));
        const guard = bearer(server);
        app.use((ctx, next) => (ctx.path.startsWith('/api/') ? guard(ctx, next) : next()));

        if (sessionLast) app.use(sessions);
        for (const middleware of behind) app.use(middleware);
        app.use(async (ctx) => {
          if (ctx.path === '/api/orders') ctx.body = orders();
          else if (ctx.path === '/login' && ctx.method === 'POST') {
            const { user, location } = readLogin(users, ctx.request.body as Login);
            if (user !== null) await signingIn.begin(ctx, user);
            ctx.redirect(location);
            ctx.status = 303;
          } else if (ctx.path === '/login') ctx.body = loginPage(ctx.query['return_to']);
        });
        const http = app.listen(port, '127.0.0.1');
        await once(http, 'listening');
        return closing(http);
      },
    );
}

const OF_KOA = { normalises: false, cookies: ['early', 'late'] };

export const KOA: readonly Mount[] = [
  {
    ...OF_KOA,
    name: 'portico/koa',
    parsesJson: true,
    leavesBodies: true,
    start: mountInKoa({
      koa: Koa,
      signingIn: byHand,
      stored: false,
      before: [bodyParser()],
      behind: [],
    }),
  },
  {
    ...OF_KOA,
    name: 'portico/koa, Koa 2 with sessions in a store',
    parsesJson: false,
    start: mountInKoa({
      koa: Koa2,
      signingIn: byPassport,
      stored: true,
      before: [],
      behind: [koaBody()],
    }),
  },
  {
    ...OF_KOA,
    name: 'portico/koa, Koa 2 behind koa-bodyparser',
    parsesJson: true,
    leavesBodies: true,
    start: mountInKoa({
      koa: Koa2,
      signingIn: byHand,
      stored: true,
      before: [olderBodyParser()],
      behind: [],
    }),
  },
];
