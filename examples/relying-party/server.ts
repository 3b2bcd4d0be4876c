import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { createMemory, type Visit } from './memory.ts';
import { resultPage, startPage } from './pages.ts';
import { createPortal, describe, isDenied, isOver } from './portal.ts';
import { signedInPage } from './signed-in.ts';

export interface RelyingPartyOptions {
  /** The port, or 0 for any free port. */
  readonly port: number;
  /** The address to listen on. Default: 127.0.0.1. */
  readonly hostname?: string;
  /** The origin of this application, as its visitors see it. */
  readonly publicUrl: string;
  /** The issuer of the portal where people sign in. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * How long a refresh token is valid, in seconds. The token endpoint does not report it, so the
   * operator must set it.
   */
  readonly refreshTokenLifetime?: number;
  /** Returns the time in milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
}

/**
 * An application to which people sign in with their account at the portal. It does not use any code
 * of Portico.
 */
export interface RelyingParty {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * The name of the cookie. Cookies do not depend on the port, and both applications may run on the
 * same machine, so the name differs from the portal's cookie.
 */
const COOKIE = 'relying_party';

export async function startRelyingParty(options: RelyingPartyOptions): Promise<RelyingParty> {
  const { publicUrl, issuer, refreshTokenLifetime = null, now = Date.now } = options;
  const portal = createPortal({ ...options, now, redirectUri: `${publicUrl}/callback` });
  const style = await readFile(path.join(import.meta.dirname, 'style.css'), 'utf8');
  const visits = createMemory();
  const app = new Hono();

  app.use(async (context, next) => {
    await next();
    for (const [name, value] of HEADERS) context.header(name, value);
  });
  // SameSite keeps out forms of other sites. But all ports of a machine are the same site, so the
  // origin is checked, too.
  const ownForms = csrf({ origin: publicUrl });

  app.get('/style.css', (context) =>
    context.body(style, 200, { 'Content-Type': 'text/css; charset=utf-8' }),
  );

  app.get('/', async (context) => {
    const visit = visitOf(context);
    if (visit === null || visit.tokens === null) return context.html(startPage(issuer));
    const { notice, tokens } = visit;
    visit.notice = null;
    const [userInfo, notes] = await Promise.all([
      portal.userInfo(tokens),
      portal.readNotes(tokens),
    ]);
    return context.html(
      signedInPage({ issuer, notice, tokens, refreshTokenLifetime, userInfo, notes, now: now() }),
    );
  });

  app.post('/sign-in', async (context) => {
    const { url, pending } = await portal.startSignIn();
    startVisit(context, { pending });
    return context.redirect(url, 303);
  });

  app.get('/callback', async (context) => {
    const visit = visitOf(context);
    if (visit === null || visit.pending === null) {
      return context.html(
        resultPage('This sign-in was not started here', 'You are not signed in.'),
        400,
      );
    }
    const { pending } = visit;
    visit.pending = null;
    try {
      const tokens = await portal.finishSignIn(new URL(context.req.url).search, pending);
      startVisit(context, { tokens });
      return context.redirect('/', 303);
    } catch (error) {
      return isDenied(error)
        ? context.html(resultPage('You did not allow it', 'Nothing was shared with Notebook.'))
        : context.html(resultPage('The sign-in did not succeed', describe(error)), 400);
    }
  });

  app.post('/refresh', ownForms, async (context) => {
    const visit = visitOf(context);
    if (visit === null || visit.tokens === null) return context.redirect('/', 303);
    try {
      visit.refreshing ??= portal.refresh(visit.tokens).finally(() => {
        visit.refreshing = null;
      });
      visit.tokens = await visit.refreshing;
      visit.notice =
        'Refreshed: Notebook has a new access token, and a new refresh token instead of the used one.';
      return context.redirect('/', 303);
    } catch (error) {
      if (!isOver(error)) throw error;
      visit.tokens = null;
      return context.html(resultPage('The access has ended', describe(error)), 400);
    }
  });

  app.post('/notes', ownForms, async (context) => {
    const visit = visitOf(context);
    if (visit === null || visit.tokens === null) return context.redirect('/', 303);
    const { text } = await context.req.parseBody();
    const { status } = await portal.writeNote(visit.tokens, typeof text === 'string' ? text : '');
    visit.notice = WRITTEN[status] ?? `The portal refused the note: ${status}.`;
    return context.redirect('/', 303);
  });

  app.post('/sign-out', ownForms, (context) => {
    visits.forget(getCookie(context, COOKIE));
    deleteCookie(context, COOKIE, { path: '/' });
    return context.redirect('/', 303);
  });

  app.onError((error, context) =>
    error instanceof HTTPException
      ? error.getResponse()
      : context.html(resultPage('The portal did not answer as expected', describe(error)), 502),
  );

  function visitOf(context: Context): Visit | null {
    return visits.recall(getCookie(context, COOKIE));
  }

  /**
   * Starts a new visit. This happens when a person leaves for the portal, and again when the person
   * returns. So an id that an attacker planted in the browser is useless.
   */
  function startVisit(context: Context, first: Partial<Visit>): void {
    visits.forget(getCookie(context, COOKIE));
    setCookie(context, COOKIE, visits.start(first), {
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      secure: publicUrl.startsWith('https:'),
    });
  }

  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await listening(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The message after writing a note, for each status of the portal's response. */
const WRITTEN: Readonly<Record<number, string>> = {
  201: 'The portal stored the note.',
  401: 'The portal refused the note: 401. The token is no longer valid.',
  403: 'The portal refused the note: 403. The token does not have the scope, or the person may not write notes.',
};

/** Headers for all pages. They prevent storing and framing the pages, and scripts in them. */
const HEADERS = [
  ['Cache-Control', 'no-store'],
  // The policy has no form-action, because with it, Chromium would also block the redirect to the
  // portal.
  [
    'Content-Security-Policy',
    "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  ],
  ['X-Content-Type-Options', 'nosniff'],
  // With the policy `no-referrer`, Chromium would send `Origin: null` with the forms of this
  // application.
  ['Referrer-Policy', 'same-origin'],
] as const;

function listening(
  server: Server,
  { port, hostname = '127.0.0.1' }: RelyingPartyOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, hostname, () => resolve());
  });
}
