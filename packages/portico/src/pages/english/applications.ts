/** The texts of the page that lists the applications that have access. */
export const APPLICATIONS = {
  'applications.page': 'Applications with access',
  'applications.title': 'Applications with access to your account',
  'applications.removed': 'Access removed. The application can no longer act for you.',
  'applications.signed_in_as': 'Signed in as {person}.',
  'applications.none': 'No applications have access.',
  'applications.not_verified': 'Not verified by {server}.',
  'applications.calls_itself': 'It calls itself: {name}',
  'applications.since': 'Since {date}',
  'applications.given_by': 'Your organization gave this access ({issuer})',
  'applications.last_active': 'Last active on {date}',
  'applications.answered_at': 'Sends you back to {places}',
  'applications.can': {
    other: 'What it can do ({count})',
  },
  'applications.nothing_now':
    'It cannot do anything right now, because you do not have any of the permissions that it ' +
    'asked for.',
  'applications.remove': 'Remove access',
  'applications.remove_of': 'of {client}',
  'applications.removed_all':
    'Access removed. None of these applications can act for you any more.',
  'applications.remove_all': 'Remove all',
  'applications.confirm_page': 'Remove all access?',
  'applications.confirm_title': 'Remove access for all applications?',
  'applications.confirm_all': {
    one:
      'If you continue, one application can no longer act for you. It must ask you again the ' +
      'next time you use it.',
    other:
      'If you continue, {count} applications can no longer act for you. Each must ask you ' +
      'again the next time you use it.',
  },
  'applications.keep': 'Keep them',
  'applications.back': 'Back to {server}',
} as const;
