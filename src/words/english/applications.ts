/** The page of applications with access. */
export const APPLICATIONS = {
  'applications.page': 'Applications with access',
  'applications.title': 'Applications with access to your account',
  'applications.removed': 'Done: that application can no longer act for you.',
  'applications.signed_in_as': 'Signed in as {person}.',
  'applications.none': 'No application has access.',
  'applications.not_verified': 'Not verified by {server}.',
  'applications.calls_itself': 'It calls itself: {name}',
  'applications.since': 'Since {date} it can',
  'applications.nothing_now': 'nothing at this moment: you hold none of the permissions that it asked for',
  'applications.remove': 'Remove access',
  'applications.remove_of': 'of {client}',
  'applications.back': 'Back to {server}',
} as const;
