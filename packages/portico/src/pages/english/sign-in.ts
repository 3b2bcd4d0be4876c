/** The texts of the kit's sign-in page. */
export const SIGN_IN = {
  'sign_in.title': 'Sign in',
  'sign_in.again': 'Confirm your identity',
  'sign_in.to': 'to continue to {client}',
  'sign_in.to_unverified': 'to continue to {client}, which {server} has not verified',
  'sign_in.identifier': 'Email address',
  'sign_in.password': 'Password',
  'sign_in.show_password': 'Show password',
  'sign_in.hide_password': 'Hide password',
  'sign_in.submit': 'Sign in',
  'sign_in.forgot_password': 'Forgot your password?',
  'sign_in.terms': 'Terms',
  'sign_in.wrong': 'The email address or the password is wrong.',
  'sign_in.stale': 'This page was open for too long, or in too many tabs. Please sign in again.',
  'sign_in.slowed': {
    one:
      'Too many sign-in attempts have failed. Your password was not checked. Please try ' +
      'again in a second.',
    other:
      'Too many sign-in attempts have failed. Your password was not checked. Please try ' +
      'again in {count} seconds.',
  },
  'sign_in.overloaded':
    'Too many people are signing in right now. Please try again in a few seconds.',
} as const;
