import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import bcrypt from 'bcryptjs';
import {
  defineApplication,
  type Application,
  type ApplicationDefinition,
  returnPath,
  oauthServer,
  token,
  type Host,
  type KeySigner,
} from 'portico';
import { administration } from '@portico/admin';
import { mcp, tool } from '@portico/mcp';
import { incomingOf, requestFrom, send } from 'portico/node';
import type { Users } from '../../examples/express/users.ts';

/** Hosts without a framework. They implement every member of the contract themselves. */

interface Session {
  userId: number | null;
  secret: string;
}

const newSession = (): Session => ({ userId: null, secret: randomBytes(32).toString('base64url') });

/** A host that stores its sessions and uses a cookie. */
export interface PlainHost {
  define(users: () => Users, keySigners?: readonly KeySigner[]): ApplicationDefinition;
  /**
   * Finds or starts the session of a request. Returns the `Set-Cookie` header for a new session, or
   * null for an existing one. `key` identifies the request.
   */
  begin(key: object, cookies: string): string | null;
  /** Answers requests for the host's own pages: the sign-in page and a home page. */
  answer(users: Users, request: Request): Promise<Response>;
  answerNode(users: Users, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
}

export function definePlain(): PlainHost {
  const sessions = new Map<string, Session>();
  const begun = new WeakMap<object, string>();

  /**
   * Finds the session by the cookie, or starts one. Stores a new session only when it is needed.
   */
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
    const session = sessions.get(id) ?? newSession();
    sessions.set(id, session);
    return session;
  }

  const answer = (users: Users, request: Request) => answerPage(users, request, sessionOf(request));

  return {
    define: (users, keySigners) => definition(users, sessionOf, { keySigners }),
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

/** A session that is stored only in the browser, encrypted. It is also the context of a request. */
export interface Sealed {
  readonly session: Session;
  /** The session as received, to detect changes. */
  readonly before: string;
}

/**
 * A host that stores no sessions. The session is in a cookie. Every response that changes the
 * session sets the cookie again.
 */
export interface StatelessHost {
  define(users: () => Users, keySigners?: readonly KeySigner[]): ApplicationDefinition;
  /** Returns the session of a request. Without a cookie from this host, returns a new session. */
  begin(request: Request): Sealed;
  /** Answers requests for the host's own pages, as PlainHost does. */
  answer(users: Users, request: Request, sealed: Sealed): Promise<Response>;
}

export function defineStateless(): StatelessHost {
  const key = randomBytes(32);

  function seal(session: Session): string {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, iv);
    const text = Buffer.concat([iv, cipher.update(JSON.stringify(session)), cipher.final()]);
    return Buffer.concat([text, cipher.getAuthTag()]).toString('base64url');
  }

  function open(sealed: string): Session {
    const bytes = Buffer.from(sealed, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), {
      authTagLength: 16,
    });
    decipher.setAuthTag(bytes.subarray(-16));
    const text = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
    return JSON.parse(text.toString()) as Session;
  }

  function commit(_: Request, response: Response, { session, before }: Sealed): void {
    if (JSON.stringify(session) === before) return;
    response.headers.append(
      'Set-Cookie',
      `sealed=${seal(session)}; HttpOnly; SameSite=Lax; Path=/`,
    );
  }

  return {
    define: (users, keySigners) =>
      definition(users, (_, { session }: Sealed) => session, { keySigners, commit }),
    begin(request) {
      const [, known] = /(?:^|; )sealed=([^;]+)/.exec(request.headers.get('cookie') ?? '') ?? [];
      const session = known === undefined ? newSession() : open(known);
      return { session, before: known === undefined ? '' : JSON.stringify(session) };
    },
    async answer(users, request, sealed) {
      const response = await answerPage(users, request, sealed.session);
      commit(request, response, sealed);
      return response;
    },
  };
}

function hostOf<Context>(
  users: Users,
  { views, log, events }: Application,
  sessionOf: (request: Request, context: Context) => Session,
): Host<Context> {
  return {
    async signedIn(request, context) {
      const session = sessionOf(request, context);
      const user = session.userId === null ? null : users.byId(session.userId);
      return user === null || user.suspended !== 0
        ? null
        : { provider: 'users', id: String(user.id) };
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
    browserSecret: async (request, context) => sessionOf(request, context).secret,
    async signOut(request, context) {
      Object.assign(sessionOf(request, context), newSession());
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
  };
}

async function answerPage(users: Users, request: Request, session: Session): Promise<Response> {
  if (request.method === 'POST') {
    const form = new URLSearchParams(await request.text());
    const user = users.byEmail(form.get('email') ?? '');
    if (user !== null && bcrypt.compareSync(form.get('password') ?? '', user.password_hash)) {
      if (session.userId !== user.id) Object.assign(session, newSession());
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

function definition<Context>(
  users: () => Users,
  sessionOf: (request: Request, context: Context) => Session,
  {
    keySigners = [],
    ...more
  }: Partial<Host<Context>> & { readonly keySigners?: readonly KeySigner[] | undefined },
): ApplicationDefinition {
  return defineApplication({
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
    plugins: [
      oauthServer({
        features: [administration],
        host: (application) => ({ ...hostOf(users(), application, sessionOf), ...more }),
        keySigners,
      }),
      mcp(),
    ],
    register() {
      tool().register({
        name: () => 'my_name',
        description: () => 'Says the name of the person',
        inputSchema: () => ({ type: 'object' }),
        handle: () => ({ name: token().user()?.getProfile().name ?? null }),
      });
    },
  });
}
