/** Several pages tell users which client requests access and where the response goes. */
export const WHO_ASKS = {
  'client.on_this_computer': 'a program on this computer',
  'client.on_this_device': 'an application on this device',
  'client.not_verified': '{client} (not verified)',
  'person.unnamed': 'this account',
  'scope.openid.label': 'Confirm who you are',
  'scope.profile.label': 'See your profile, such as your name',
  'scope.email.label': 'See your email address',
  'scopes.identity': 'Who you are',
  'scopes.read': 'See',
  'scopes.change': 'Change',
} as const;
