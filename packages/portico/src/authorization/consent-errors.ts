import { page } from '../pages/words.ts';
import { AuthorizationPageError } from '../errors.ts';

/**
 * Returns an error page for a visitor who cannot answer the consent request. This visitor may be a
 * stranger, so the page does not say what happened to the request. The page shows `detail` only in
 * development.
 */
export function notAnswerable(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('error.not_answerable'), detail);
}

/** Returns the error page for a user who has already answered in this browser (AS-8.9). */
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

/** Returns the error page for an incomplete consent form, or for a wrong CSRF token. */
export function notAccepted(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('error.answer_not_accepted'), detail);
}
