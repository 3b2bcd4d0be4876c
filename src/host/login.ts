import { randomBytes } from 'node:crypto';
import type { Application, Route } from './contracts.ts';
import { readBody } from './csrf.ts';
import { returnPath } from './return-path.ts';

/** The largest sign-in form that is read, in bytes: the path to return to may be long. */
const FORM_LIMIT = 64 * 1024;

/** The kit's own sign-in page and sign-out: the routes `login`, `login_submit` and `logout`. */
export function loginRoutes(application: Application, applicationName: string): readonly Route[] {
  async function page(status: number, form: { returnTo: string; identifier: string; error: string | null }) {
    const nonce = randomBytes(16).toString('base64');
    const html = await application.views.render('login', {
      title: 'Sign in',
      name: applicationName,
      action: application.path('login_submit'),
      csrfToken: await application.auth().csrfToken(),
      nonce,
      ...form,
    });
    return new Response(html, { status, headers: pageHeaders(nonce) });
  }

  return [
    {
      name: 'login',
      methods: ['GET'],
      path: '/login',
      handler: (_, request) => {
        const returnTo = returnPath(new URL(request.url).searchParams.get('return_to'));
        return page(200, { returnTo, identifier: '', error: null });
      },
    },
    {
      name: 'login_submit',
      methods: ['POST'],
      path: '/login',
      async handler(_, request) {
        const form = new URLSearchParams(Buffer.from(await readBody(request, FORM_LIMIT)).toString('utf8'));
        const identifier = form.get('identifier') ?? '';
        const returnTo = returnPath(form.get('return_to'));
        const user = await application.accounts.authenticate(identifier, form.get('password') ?? '');
        if (user === null) {
          return page(401, { returnTo, identifier, error: 'The email address or the password is wrong.' });
        }
        await application.auth().signIn(user.reference);
        return seeOther(returnTo);
      },
    },
    {
      name: 'logout',
      methods: ['POST'],
      path: '/logout',
      async handler() {
        await application.auth().signOut();
        return seeOther('/');
      },
    },
  ];
}

/**
 * For a page of the application: no framing, no storing, no referrer, no script, styles with this nonce. `form-action`
 * is left open: Chromium would hold the whole chain of redirects after signing in against it.
 */
export function pageHeaders(nonce: string): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy':
      `default-src 'none'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; ` +
      "base-uri 'none'; frame-ancestors 'none'",
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  };
}

function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { Location: location, 'Cache-Control': 'no-store' } });
}
