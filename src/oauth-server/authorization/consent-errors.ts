import { AuthorizationPageError } from '../errors.ts';

/** The page that a person sees when a consent request cannot be shown or answered. */

/** Says nothing of what became of the request: somebody else may be reading. `detail` is for the log. */
export function notAnswerable(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(
    'This request can no longer be answered',
    'It was answered before, took too long, or belongs to another browser or another person. No answer was taken now. ' +
      'Go back to the application and start again.',
    detail,
  );
}

/** For the person who answered, in the browser in which they did (AS-8.9). */
export function answeredBefore(
  outcome: 'allowed' | 'denied',
  applicationsPath: string,
): AuthorizationPageError {
  const [said, detail] =
    outcome === 'allowed'
      ? ['You allowed it.', 'it was allowed before']
      : ['You did not allow it, and nothing was shared.', 'it was denied before'];
  return new AuthorizationPageError(
    'You have answered this request',
    `${said} Your page of applications (${applicationsPath}) shows which applications have access to your account, and ` +
      'takes it back.',
    detail,
    { link: { href: applicationsPath, text: 'Applications with access to your account' } },
  );
}

/** The form is incomplete, or its CSRF token is not the one of this request and browser session. */
export function notAccepted(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(
    'This answer was not accepted',
    'It did not come from the page that asked, or another person has signed in since. No answer was taken now. ' +
      'Go back to the application and start again.',
    detail,
  );
}
