/** Users confirm on this page that an application may sign them out. */
export const LOGOUT = {
  'logout.page': 'Sign out',
  'logout.title': 'Sign out of {server}?',
  'logout.asked_by': '{client} asks you to sign out.',
  'logout.confirm': 'Sign out',
  'logout.stay': 'Stay signed in',
  'logout.done.title': 'You are signed out',
  'logout.done.message': 'You can close this page.',
  'logout.stayed.title': 'You are still signed in',
  'logout.stayed.message': 'Nothing was changed. You can close this page.',
  'logout.not_valid.title': 'You cannot sign out this way',
  'logout.not_valid.message': 'The application sent an invalid request. Nothing was changed.',
} as const;
