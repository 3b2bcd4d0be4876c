import { OAuthError } from '../errors.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest } from '../store/requests.ts';
import { responseTo, type AuthorizationResponse } from './response.ts';

/**
 * Returns true if the browser opened this URL as a page.
 *
 * Returns false for prefetches: the person may never see the page. Returns false for scripts and
 * images too, because other sites can send them with the session's cookie. A silent request
 * (`prompt=none`) may also be in a frame.
 */
export function isOpened({ method, headers }: Request, silent: boolean): boolean {
  const destination = headers.get('sec-fetch-dest') ?? 'document';
  const isPage = destination === 'document' || (silent && destination === 'iframe');
  const isEarly = EARLY.some((name) => /prefetch|prerender/i.test(headers.get(name) ?? ''));
  return method === 'GET' && isPage && !isEarly;
}

/** Browsers send these headers when they load a page in advance. */
const EARLY = ['sec-purpose', 'purpose', 'x-moz', 'x-purpose'];

/** Returns the error response to a silent request (`prompt=none`) that needs the consent page. */
export function notSilent(asked: AuthorizationRequest, client: Client): AuthorizationResponse {
  const detail = 'the client sent prompt=none, but no remembered consent covers the request';
  return silentRefusal(asked, client, 'interaction_required', 'The person must be asked.', detail);
}

/** Returns the error response to a silent request (`prompt=none`) that needs a sign-in. */
export function notSignedInSilently(
  asked: AuthorizationRequest,
  client: Client,
): AuthorizationResponse {
  const detail = 'the client sent prompt=none, but the person must sign in or authenticate again';
  return silentRefusal(asked, client, 'login_required', 'The person must sign in.', detail);
}

function silentRefusal(
  asked: AuthorizationRequest,
  client: Client,
  code: 'interaction_required' | 'login_required',
  description: string,
  detail: string,
): AuthorizationResponse {
  return responseTo(asked, client, { error: new OAuthError(code, description, detail) });
}
