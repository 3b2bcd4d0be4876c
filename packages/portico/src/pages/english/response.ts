/** This page sends the authorization response to an application through a form. */
export const RESPONSE = {
  'response.title': 'Continue to {host}',
  'response.message': 'You are being sent there now. If nothing happens, press the button.',
  'response.continue': 'Continue',
} as const;
