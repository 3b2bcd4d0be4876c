/** The consent screen. */
export const CONSENT = {
  'consent.page': 'Allow {client}?',
  'consent.title': 'Allow {client} to use your {server} account?',
  'consent.not_verified': 'Not verified by {server}.',
  'consent.anybody': 'Anybody can set up an application and choose its name.',
  'consent.calls_itself': 'It calls itself: {name}',
  'consent.called_like_server':
    'The name that it gives itself can be taken for {server}. It is not {server}.',
  'consent.not_server': 'This is not {server} itself.',
  'consent.another_application': 'It is another application, with a name like it.',
  'consent.signed_in_as': 'Signed in as {person}',
  'consent.switch': 'Not you?',
  'consent.scopes': 'It will be able to',
  'consent.new_scopes': 'New: it will also be able to',
  'consent.nothing_new': 'It asks for nothing that it cannot do already',
  'consent.granted_before': {
    other: 'It keeps what you allowed before ({count})',
  },
  'consent.lasts': 'It has access until you remove it, or until it has not used it for {time}.',
  'consent.lasts_once': 'It has access for {time} at most.',
  'consent.take_back': 'You can remove it at any time:',
  'consent.new_tab': '(opens in a new tab)',
  'consent.sent_to': 'Either way you are sent to {host}. Allow only an application that you know.',
  'consent.answer_to_site':
    'If you allow it, the answer goes to {host}. Allow it only if you came from there.',
  'consent.answer_to_other_site':
    'If you allow it, the answer goes to {host}, which is another site than {client}. Allow it only if you came from there.',
  'consent.answer_to_device':
    'Either way the answer goes to {host}. Allow only what you have started yourself just now.',
  'consent.answer_to_device_of_site':
    'Either way the answer goes to {host}. Others there can say as well that they are {client}. Allow only what you have started yourself just now.',
  'consent.deny': 'Deny',
  'consent.allow': 'Allow',
} as const;
