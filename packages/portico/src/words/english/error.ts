/** The error pages. Each has a title and a message. */
export const ERROR = {
  'error.back':
    'If you followed a link to get here, go back to the application it came from and try again. If this happens every time, tell the people who make that application.',
  'error.request_id': 'Request id: {id}',

  'error.not_found.title': 'There is no such page',
  'error.not_found.message':
    'The address leads nowhere. It may have been mistyped, or the page may have moved.',
  'error.too_large.title': 'That was too much',
  'error.too_large.message': 'What was sent is larger than this site takes.',
  'error.unavailable.title': 'Please try again in a moment',
  'error.unavailable.message': 'This site cannot answer now. Wait a little, then do the same again.',
  'error.refused.title': 'This was refused',
  'error.refused.message': 'It cannot be done like this. Go back, reload the page, and try again.',
  'error.failed.title': 'Something went wrong here',
  'error.failed.message':
    'The fault is ours, and it was written down. If it happens again, tell us the request id below.',
  'error.fault.title': 'Something went wrong here',
  'error.fault.message':
    'The fault is ours, and it was written down. Go back to the application and start again.',

  'error.unknown_client.title': 'Unknown application',
  'error.unknown_client.message': 'The link that brought you here names no application that {server} knows.',
  'error.untaken_client.title': 'Unknown application',
  'error.untaken_client.message': 'The link that brought you here names no application that {server} takes.',
  'error.unread_client.title': 'Unknown application',
  'error.unread_client.message':
    'What brought you here says that it is {host}, and {server} could not read there what it is. Nothing was shared.',
  'error.client_against_rules.title': 'This application is given nothing now',
  'error.client_against_rules.message':
    '{server} holds {client} to rules that it does not meet now. Nothing was shared.',
  'error.unverified_client_against_rules.title': 'This application is given nothing now',
  'error.unverified_client_against_rules.message':
    '{server} holds the application that brought you here to rules that it does not meet now. Nothing was shared.',
  'error.unregistered_address.title': 'Unregistered return address',
  'error.unregistered_address.message':
    '{client} asked to be answered at an address that it is not registered with, so you are not sent there.',
  'error.unverified_unregistered_address.title': 'Unregistered return address',
  'error.unverified_unregistered_address.message':
    'An application that nobody has verified asked to be answered at an address that it is not registered with, so you are not sent there.',
  'error.link_used.title': 'This link can no longer be used',
  'error.link_used.message':
    'It was good for a short time and for one answer. Go back to the application and start again.',
  'error.too_many_waiting.title': 'Too many requests are waiting',
  'error.too_many_waiting.message':
    'This one is long, and there is no room for it now. Go back to the application and start again in a minute, or sign in here first.',

  'error.not_answerable.title': 'This request can no longer be answered',
  'error.not_answerable.message':
    'It was answered before, took too long, or belongs to another browser or another person. No answer was taken now. Go back to the application and start again.',
  'error.allowed_before.title': 'You have answered this request',
  'error.allowed_before.message':
    'You allowed it. Your page of applications ({path}) shows which applications have access to your account, and takes it back.',
  'error.denied_before.title': 'You have answered this request',
  'error.denied_before.message':
    'You did not allow it, and nothing was shared. Your page of applications ({path}) shows which applications have access to your account, and takes it back.',
  'error.answer_not_accepted.title': 'This answer was not accepted',
  'error.answer_not_accepted.message':
    'It did not come from the page that asked, or another person has signed in since. No answer was taken now. Go back to the application and start again.',
  'error.not_signed_in.title': 'You are not signed in',
  'error.not_signed_in.message': 'The answer was not taken. Go back to the application and start again.',
  'error.not_clear.title': 'This request is not clear',
  'error.not_clear.message':
    'It is a question and an answer at once. Go back to the application and start again.',
  'error.sign_out_first.title': 'Sign out of {server} first',
  'error.sign_out_first.message':
    'That question has ended, and nothing was shared. Sign out in another tab, then go on here and sign in as yourself.',
  'error.sign_out_first.link': 'Go on as somebody else',
  'error.nothing_shared.title': 'Nothing was shared',
  'error.nothing_shared.message':
    'The application that brought you here was not given access to your account. It asked to be answered at {host}, which {server} has not verified: go there only if that is where you came from.',
  'error.nothing_shared.link': 'Go back to {host}',

  'error.removal_not_accepted.title': 'This was not accepted',
  'error.removal_not_accepted.message':
    'It did not come from your page of applications, or somebody else has signed in since. Nothing was changed. Open the page again.',
} as const;
