/** The texts of the page where users connect a device (RFC 8628). */
export const DEVICE = {
  'device.page': 'Connect a device',
  'device.title': 'Connect a device to your {server} account',
  'device.enter': 'Enter the code that your device shows.',
  'device.compare':
    'Does your device show this code now? Continue only if it does. If someone sent you the ' +
    'link, close this page.',
  'device.code': 'Code on the device',
  'device.continue': 'Continue',
  'device.mistyped': 'This is not a valid code. Check each letter.',
  'device.unknown': 'This code is unknown or has expired. Start again on your device.',
  'device.slowed': 'Too many wrong codes. Wait a moment, then try again.',
  'device.only_yours': 'Continue only if you started this on your own device.',
  'device.never_from_others':
    'If someone sent you the code or the link, choose Deny. If you allow it, that person gets ' +
    'access to your account.',
  'device.began': 'This request was started {when} from the IP address {address}.',
  'device.began_somewhere': 'This request was started {when}.',
  'device.shows': 'Check that your device shows the code {code}.',
  'device.allowed.title': 'Your device is connected',
  'device.allowed.message': 'Return to your device. You can close this page.',
  'device.denied.title': 'Access denied',
  'device.denied.message': 'The device did not get access. You can close this page.',
  'device.nothing.title': 'There is nothing to allow',
  'device.nothing.message':
    'Your account does not have any of the permissions that {client} asks for.',
} as const;
