/** `offline_access` has no text, because `tokens/scopes.ts` removes this scope from requests. */
export const CONSENT = {
  'consent.page': 'Allow {client}?',
  'consent.title': 'Allow {client} to use your {server} account?',
  'consent.not_verified': 'Not verified by {server}.',
  'consent.anyone': 'Anyone can create an application and choose its name.',
  'consent.calls_itself': 'It calls itself: {name}',
  'consent.called_like_server': 'Its name is similar to {server}, but it is not {server}.',
  'consent.not_server': 'This is not {server} itself.',
  'consent.another_application': 'It is another application with a similar name.',
  'consent.signed_in_as': 'Signed in as {person}',
  'consent.switch': 'Not you?',
  'consent.at_resource': 'For use with {resource}',
  'consent.scopes': 'It will be able to',
  'consent.new_scopes': 'It will now also be able to',
  'consent.nothing_new': 'It is not asking for new access',
  'consent.granted_before': {
    other: 'It keeps the access that you allowed before ({count})',
  },
  'consent.leave_out': 'Uncheck what you do not want to allow.',
  'consent.addable': 'You can also allow',
  'consent.lasts':
    'Access ends when you remove it, or when the application has not used it for {time}.',
  'consent.lasts_once': 'Access lasts at most {time}.',
  'consent.take_back': 'You can remove access at any time:',
  'consent.new_tab': '(opens in a new tab)',
  'consent.sent_to':
    'Either way, you will be sent to {host}. Allow only applications that you trust.',
  'consent.answer_to_site':
    'If you allow access, you will be sent to {host}. Allow access only if you started there.',
  'consent.answer_to_other_site':
    'If you allow access, you will be sent to {host}, which is a different site from {client}. ' +
    'Allow access only if you started at {host}.',
  'consent.answer_to_device':
    'Either way, you will be sent to {host}. Allow access only if you ' +
    'started this yourself just now.',
  'consent.answer_to_device_of_site':
    'Either way, you will be sent to {host}. Other programs on this ' +
    'device can also claim to be {client}. Allow access only if you started this yourself ' +
    'just now.',
  'consent.deny': 'Deny',
  'consent.allow': 'Allow',
} as const;
