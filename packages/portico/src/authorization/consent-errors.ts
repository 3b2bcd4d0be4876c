import { page } from '../pages/words.ts';
import { AuthorizationPageError } from '../errors.ts';

/** Error pages for consent requests that cannot be shown or answered. */

/**
 * Returns an error page for a visitor who cannot answer the consent request. The visitor may not be
 * the user who started the request, so the page does not say what happened to it. `detail` is for
 * the log. Only in development, the page shows it too.
 */
export function notAnswerable(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('error.not_answerable'), detail);
}

/**
 * Returns the error page for a user who opens a consent request that they have already answered in
 * this browser (AS-8.9).
 */
export function answeredBefore(
  outcome: 'allowed' | 'denied',
  accessPath: string,
): AuthorizationPageError {
  const [key, detail] =
    outcome === 'allowed'
      ? (['error.allowed_before', 'the consent request was already allowed'] as const)
      : (['error.denied_before', 'the consent request was already denied'] as const);
  return new AuthorizationPageError(page(key, { path: accessPath }), detail, {
    link: { href: accessPath, text: { key: 'applications.title' } },
  });
}

/**
 * Returns the error page for a submitted consent form that is incomplete, or whose CSRF token does
 * not match this request and browser session.
 */
export function notAccepted(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('error.answer_not_accepted'), detail);
}
