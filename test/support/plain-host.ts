import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import bcrypt from 'bcryptjs';
import { defineApplication, returnPath, type Application, type ApplicationDefinition } from 'portico/host';
import { mcp, tool } from 'portico/mcp';
import { incomingOf, requestFrom, send } from 'portico/node';
import { oauthServer, token, type Host } from 'portico/oauth-server';
import type { Users } from '../../examples/express-app/users.ts';

/** A host without a framework: it keeps its own sessions, by a cookie. */
export interface PlainHost {
  define(users: () => Users): ApplicationDefinition;
  /** Finds or starts the session of a request; returns the `Set-Cookie` of a new one. `key` identifies the request. */
  begin(key: object, cookies: string): string | null;
  /** The host's own pages: sign-in, and a home page. */
  answer(users: Users, request: Request): Promise<Response>;
  answerNode(users: Users, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
}

interface Session {
  userId: number | null;
  secret: string;
}

export function definePlain(): PlainHost {
  const sessions = new Map<string, Session>();
  const begun = new WeakMap<object, string>();

  /** Finds the session by the cookie, or starts one; it is kept once something asks for it. */
  function begin(key: object, cookies: string): string | null {
    const [, known = ''] = /(?:^|; )sid=([^;]+)/.exec(cookies) ?? [];
    const fresh = !sessions.has(known);
    const id = fresh ? randomUUID() : known;
    begun.set(key, id);
    return fresh ? `sid=${id}; HttpOnly; SameSite=Lax; Path=/` : null;
  }

  function sessionOf(request: Request): Session {
    const id = begun.get(incomingOf(request) ?? request);
    if (id === undefined) throw new Error('The request has not begun');
    const session = sessions.get(id) ?? { userId: null, secret: randomBytes(32).toString('base64url') };
    sessions.set(id, session);
    return session;
  }

  const host = (users: Users, { views, log, events }: Application): Host => ({
    async signedIn(request) {
      const session = sessionOf(request);
      const user = session.userId === null ? null : users.byId(session.userId);
      return user === null || user.suspended !== 0 ? null : { provider: 'users', id: String(user.id) };
    },
    async loadAccount(reference) {
      const user = users.byId(Number(reference.id));
      if (user === null) return null;
      return {
        reference,
        isActive: () => user.suspended === 0,
        getProfile: () => ({ name: user.name, email: user.email }),
      };
    },
    holdsPermission: async ({ id }, permission) => users.mayDo(Number(id), permission),
    browserSecret: async (request) => sessionOf(request).secret,
    async signOut(request) {
      const session = sessionOf(request);
      session.userId = null;
      session.secret = randomBytes(32).toString('base64url');
    },
    loginUrl: (returnTo) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
    passwordHasher: {
      hash: (password) => bcrypt.hash(password, 4),
      verify: (password, hash) => bcrypt.compare(password, hash),
    },
    render: (view, data) => views.render(view, data),
    clientAddress: () => null,
    audit: (event) => events.emit('audit', event),
    log,
  });

  async function answer(users: Users, request: Request): Promise<Response> {
    const session = sessionOf(request);
    if (request.method === 'POST') {
      const form = new URLSearchParams(await request.text());
      const user = users.byEmail(form.get('email') ?? '');
      if (user !== null && bcrypt.compareSync(form.get('password') ?? '', user.password_hash)) {
        if (session.userId !== user.id) session.secret = randomBytes(32).toString('base64url');
        session.userId = user.id;
      }
      return new Response(null, {
        status: 303,
        headers: { Location: returnPath(form.get('return_to')) },
      });
    }
    const returnTo = returnPath(new URL(request.url).searchParams.get('return_to'));
    const page = `<form method="post" action="/login"><input type="hidden" name="return_to" value="${returnTo.replaceAll('&', '&amp;')}"><input name="email"><input name="password" type="password"></form>`;
    return new Response(page, { headers: { 'Content-Type': 'text/html' } });
  }

  return {
    define: (users) =>
      defineApplication({
        directory: import.meta.dirname,
        config: (env) => ({
          public_url: env['PUBLIC_URL'],
          log: { path: `${env['STORAGE_DIR'] ?? ''}/app.log` },
          oauth_server: {
            name: 'Orders',
            login_route: '/login',
            audience: `${env['PUBLIC_URL'] ?? ''}/mcp`,
            scopes: { 'orders:read': 'See your orders', 'mcp:tools': 'Use your tools for you' },
          },
        }),
        plugins: [oauthServer({ host: (application) => host(users(), application) }), mcp()],
        register() {
          tool().register({
            name: () => 'my_name',
            description: () => 'Says the name of the person',
            inputSchema: () => ({ type: 'object' }),
            handle: () => ({ name: token().user()?.getProfile().name ?? null }),
          });
        },
      }),
    begin,
    answer,
    async answerNode(users, incoming, outgoing) {
      const request = requestFrom(
        { incoming, outgoing, target: incoming.url ?? '/', parsed: undefined },
        'http://localhost',
      );
      await send(await answer(users, request), outgoing, incoming.method === 'HEAD');
    },
  };
}
