/** Each error page has a title and a message. */
export const ERROR = {
  'error.back':
    'If you followed a link to get here, go back to the application and try again. If this ' +
    'keeps happening, tell the developer of that application.',
  'error.request_id': 'Request id: {id}',

  'error.not_found.title': 'Page not found',
  'error.not_found.message':
    'There is no page at this address. The address may be wrong, or the page may have moved.',
  'error.too_large.title': 'The request is too large',
  'error.too_large.message': 'You sent more data than this site accepts.',
  'error.unavailable.title': 'Please try again in a moment',
  'error.unavailable.message': 'This site cannot respond right now. Wait a moment, then try again.',
  'error.refused.title': 'Request refused',
  'error.refused.message':
    'This request was not accepted. Go back, reload the page, and try again.',
  'error.failed.title': 'Something went wrong',
  'error.failed.message':
    'This is our fault, and we have recorded it. If it happens again, send us the request id ' +
    'below.',
  'error.fault.title': 'Something went wrong',
  'error.fault.message':
    'This is our fault, and we have recorded it. Go back to the application and start again.',

  'error.unknown_client.title': 'Unknown application',
  'error.unknown_client.message':
    'The link that brought you here is for an application that {server} does not know.',
  'error.untaken_client.title': 'Unknown application',
  'error.untaken_client.message':
    'The link that brought you here is for an application that {server} does not accept.',
  'error.unread_client.title': 'Unknown application',
  'error.unread_client.message':
    'The application that brought you here identifies itself as {host}, but {server} could not ' +
    'read its description there. Nothing was shared.',
  'error.client_against_rules.title': 'This application cannot get access now',
  'error.client_against_rules.message':
    '{client} does not currently meet the rules of {server}. Nothing was shared.',
  'error.unverified_client_against_rules.title': 'This application cannot get access now',
  'error.unverified_client_against_rules.message':
    'The application that brought you here does not currently meet the rules of {server}. ' +
    'Nothing was shared.',
  'error.unregistered_address.title': 'Unregistered return address',
  'error.unregistered_address.message':
    '{client} asked to send you back to an address that is not registered for it, so you were ' +
    'not sent there.',
  'error.unverified_unregistered_address.title': 'Unregistered return address',
  'error.unverified_unregistered_address.message':
    'An unverified application asked to send you back to an address that is not registered for ' +
    'it, so you were not sent there.',
  'error.link_used.title': 'This link can no longer be used',
  'error.link_used.message':
    'This link works only once and only for a short time. Go back to the application and ' +
    'start again.',
  'error.too_many_waiting.title': 'Too many requests are waiting',
  'error.too_many_waiting.message':
    'This site cannot accept another long request right now. Go back to the application and ' +
    'try again in a minute, or sign in here first.',

  'error.not_answerable.title': 'This request can no longer be answered',
  'error.not_answerable.message':
    'It was already answered, has expired, or belongs to another browser or another person. ' +
    'Your answer was not accepted. Go back to the application and start again.',
  'error.allowed_before.title': 'You already answered this request',
  'error.allowed_before.message':
    'You allowed it. Your applications page ({path}) shows which applications have access to ' +
    'your account. You can remove access there.',
  'error.denied_before.title': 'You already answered this request',
  'error.denied_before.message':
    'You denied it, and nothing was shared. Your applications page ({path}) shows which ' +
    'applications have access to your account. You can remove access there.',
  'error.answer_not_accepted.title': 'This answer was not accepted',
  'error.answer_not_accepted.message':
    'It did not come from the page that asked you, or another person has signed in since then. ' +
    'Go back to the application and start again.',
  'error.not_signed_in.title': 'You are not signed in',
  'error.not_signed_in.message':
    'Your answer was not accepted. Go back to the application and start again.',
  'error.not_clear.title': 'This request is not clear',
  'error.not_clear.message':
    'It contains both a request for access and an answer. Go back to the application and ' +
    'start again.',
  'error.sign_out_first.title': 'Sign out of {server} first',
  'error.sign_out_first.message':
    'This request has ended, and nothing was shared. Sign out in another tab. Then continue ' +
    'here and sign in with your own account.',
  'error.sign_out_first.link': 'Continue as another person',
  'error.nothing_shared.title': 'Nothing was shared',
  'error.nothing_shared.message':
    'The application that brought you here did not get access to your account. It asked to ' +
    'send you back to {host}, which {server} has not verified. Go there only if you started ' +
    'there.',
  'error.nothing_shared.link': 'Go back to {host}',

  'error.removal_not_accepted.title': 'The request was not accepted',
  'error.removal_not_accepted.message':
    'It did not come from your applications page, or another person has signed in since then. ' +
    'Nothing was changed. Open the page again.',
} as const;
