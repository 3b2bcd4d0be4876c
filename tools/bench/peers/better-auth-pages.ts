import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { fromNodeHeaders } from 'better-auth/node';
import type { Credentials } from '../target.ts';
import type { Auth } from './better-auth.ts';

/**
 * The path of the sign-in page. The plugin sends browsers there, with the signed authorization
 * request as the query.
 */
export const SIGN_IN_PAGE = '/sign-in';
export const CONSENT_PAGE = '/consent';

/**
 * The paths that the application answers itself: the two pages, and an endpoint that accepts access
 * tokens.
 */
export function pagesOf(auth: Auth, url: string, own: Credentials) {
  const introspect = introspectionOf(auth, url, own);

  async function signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    // Every endpoint accepts the query in its body, although the types do not contain it.
    const body = {
      email: form.get('email') ?? '',
      password: form.get('password') ?? '',
      oauth_query: form.get('oauth_query') ?? '',
    };
    await redirect(
      response,
      auth.api.signInEmail({ body, ...contextOf(request), asResponse: true }),
    );
  }

  async function consent(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    const body = {
      accept: form.get('decision') === 'allow',
      oauth_query: form.get('oauth_query') ?? '',
    };
    await redirect(
      response,
      auth.api.oauth2Consent({ body, ...contextOf(request), asResponse: true }),
    );
  }

  /**
   * Returns what better-auth reads in addition to the body. Setting `Origin` is safe, because
   * `sameOrigin` has checked it.
   */
  function contextOf(request: IncomingMessage) {
    const headers = fromNodeHeaders(request.headers);
    headers.set('Origin', url);
    return { headers, request: new Request(url, { headers }) };
  }

  async function notes(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
    const found = token === undefined ? {} : await introspect(token);
    if (found['active'] !== true || found.sub === undefined) {
      answer(response, 401, JSON_TYPE, '{"error":"invalid_token"}', {
        'WWW-Authenticate': 'Bearer',
      });
    } else if (!String(found['scope']).split(' ').includes('notes:read')) {
      answer(response, 403, JSON_TYPE, '{"error":"insufficient_scope"}');
    } else {
      answer(response, 200, JSON_TYPE, JSON.stringify({ user: found.sub }));
    }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    switch (`${request.method} ${path}`) {
      case `GET ${SIGN_IN_PAGE}`:
        return page(response, SIGN_IN_PAGE, query, SIGN_IN_FIELDS);
      case `GET ${CONSENT_PAGE}`:
        return page(response, CONSENT_PAGE, query, CONSENT_FIELDS);
      case `POST ${SIGN_IN_PAGE}`:
        return sameOrigin(request) ? signIn(request, response) : forbid(response);
      case `POST ${CONSENT_PAGE}`:
        return sameOrigin(request) ? consent(request, response) : forbid(response);
      case 'GET /protected':
        return notes(request, response);
      default:
        return answer(response, 404, HTML_TYPE, 'Not found');
    }
  };
}

function sameOrigin(request: IncomingMessage): boolean {
  return request.headers['sec-fetch-site'] === 'same-origin';
}

function forbid(response: ServerResponse): void {
  answer(response, 403, HTML_TYPE, 'Forbidden');
}

/**
 * Calls the plugin's own introspection in this process. It checks expiry, revocation, client and
 * session, and returns a `sub` only if it found the person. It needs the credentials of the client
 * that got the token.
 */
function introspectionOf(auth: Auth, url: string, own: Credentials) {
  const credentials = Buffer.from(`${own.id}:${own.secret}`).toString('base64');
  const request = new Request(url, { headers: { Authorization: `Basic ${credentials}` } });
  return (token: string) =>
    auth.api.oauth2Introspect({ body: { token }, request, asResponse: false });
}

const HTML_TYPE = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json';
const SIGN_IN_FIELDS =
  '<input type="email" name="email"><input type="password" name="password"><button>Sign in</button>';
const CONSENT_FIELDS =
  '<button name="decision" value="allow">Allow</button><button name="decision" value="deny">Deny</button>';

/** Sends a form that contains the signed query. */
function page(response: ServerResponse, action: string, query: string, fields: string): void {
  const escaped = query.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  answer(
    response,
    200,
    HTML_TYPE,
    `<!doctype html><title>Bench</title><form method="post" action="${action}">` +
      `<input type="hidden" name="oauth_query" value="${escaped}">${fields}</form>`,
  );
}

/**
 * better-auth returns the next address as a redirect, or as JSON for its own client in the page.
 */
async function redirect(response: ServerResponse, answered: Promise<Response>): Promise<void> {
  const { status, headers, body } = await partsOf(await answered);
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) response.setHeader('Set-Cookie', cookies);
  const location = headers.get('Location') ?? body.url;
  if (location === undefined) answer(response, status, JSON_TYPE, JSON.stringify(body));
  else answer(response, 303, HTML_TYPE, '', { Location: location });
}

async function partsOf(answered: Response) {
  const { status, headers } = answered;
  const body = JSON.parse((await answered.text()) || '{}') as { readonly url?: string };
  return { status, headers, body };
}

function answer(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(body),
      ...headers,
    })
    .end(body);
}
