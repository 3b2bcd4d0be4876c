/**
 * The texts of the consent page. `offline_access` needs none, because `tokens/scopes.ts` removes
 * this scope.
 */
export const CONSENT = {
  'consent.page': 'Allow {client}?',
  'consent.title': 'Allow {client} to use your {server} account?',
  'consent.not_verified': 'Not verified by {server}.',
  'consent.anyone': 'Anyone can create an application and choose its name.',
  'consent.calls_itself': 'It calls itself: {name}',
  'consent.called_like_server': 'Its name can be mistaken for {server}. It is not {server}.',
  'consent.not_server': 'This is not {server} itself.',
  'consent.another_application': 'It is another application with a similar name.',
  'consent.signed_in_as': 'Signed in as {person}',
  'consent.switch': 'Not you?',
  'consent.at_resource': 'For use with {resource}',
  'consent.scopes': 'It will be able to',
  'consent.new_scopes': 'New: it will also be able to',
  'consent.nothing_new': 'It asks for no new access',
  'consent.granted_before': {
    other: 'It keeps what you allowed before ({count})',
  },
  'consent.leave_out': 'Uncheck what you do not want to allow.',
  'consent.addable': 'You can also allow',
  'consent.lasts':
    'Access lasts until you remove it, or until the application has not used it for {time}.',
  'consent.lasts_once': 'Access lasts {time} at most.',
  'consent.take_back': 'You can remove it at any time:',
  'consent.new_tab': '(opens in a new tab)',
  'consent.sent_to': 'Either way, you are sent to {host}. Allow only applications that you trust.',
  'consent.answer_to_site':
    'If you allow it, the answer goes to {host}. Allow it only if you came from there.',
  'consent.answer_to_other_site':
    'If you allow it, the answer goes to {host}, which is a different site from {client}. ' +
    'Allow it only if you came from there.',
  'consent.answer_to_device':
    'Either way, the answer goes to {host}. Allow this only if you started it yourself just now.',
  'consent.answer_to_device_of_site':
    'Either way, the answer goes to {host}. Other programs there can also claim to be ' +
    '{client}. Allow this only if you started it yourself just now.',
  'consent.deny': 'Deny',
  'consent.allow': 'Allow',
} as const;
