import { page } from '../words/words.ts';
import { AuthorizationPageError } from '../errors.ts';

/** The page that a person sees when a consent request cannot be shown or answered. */

/**
 * Does not say what happened to the request, because another person may be reading. `detail` is for
 * the log.
 */
export function notAnswerable(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('error.not_answerable'), detail);
}

/** For the person who answered, in the browser in which they did (AS-8.9). */
export function answeredBefore(outcome: 'allowed' | 'denied', accessPath: string): AuthorizationPageError {
  const [key, detail] =
    outcome === 'allowed'
      ? (['error.allowed_before', 'it was allowed before'] as const)
      : (['error.denied_before', 'it was denied before'] as const);
  return new AuthorizationPageError(page(key, { path: accessPath }), detail, {
    link: { href: accessPath, text: { key: 'applications.title' } },
  });
}

/** The form is incomplete, or its CSRF token is not the one of this request and browser session. */
export function notAccepted(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('error.answer_not_accepted'), detail);
}
