import {
  CLIENT_AUTHENTICATION,
  CLIENT_ERRORS,
  CLIENT_PARAMETERS,
  formBody,
  jsonAnswer,
  objectOf,
  pageAnswer,
  pageErrorAnswer,
  redirectAnswer,
  SECONDS,
  TEXT,
  URL_TEXT,
  type Operations,
} from '../../endpoints/operation.ts';

const ANSWER = {
  device_code: TEXT,
  user_code: TEXT,
  verification_uri: URL_TEXT,
  verification_uri_complete: URL_TEXT,
  expires_in: SECONDS,
  interval: SECONDS,
} as const;

export const deviceAuthorizationOperations: Operations = {
  post: {
    summary: 'Get codes for a device without a browser.',
    security: CLIENT_AUTHENTICATION,
    requestBody: formBody({ ...CLIENT_PARAMETERS, scope: TEXT, resource: URL_TEXT }),
    responses: {
      200: jsonAnswer('The codes (RFC 8628 section 3.2).', objectOf(ANSWER, Object.keys(ANSWER))),
      ...CLIENT_ERRORS,
    },
  },
};

const PAGE = {
  200: pageAnswer('The page.'),
  400: pageErrorAnswer('The code or the request is not valid.'),
  401: pageErrorAnswer('The request has an `Authorization` header, which browsers do not send.'),
} as const;

export const devicePageOperations: Operations = {
  get: {
    summary: 'Enter the code of a device. A browser opens this URL.',
    parameters: [{ name: 'user_code', in: 'query', schema: TEXT }],
    responses: { ...PAGE, 302: redirectAnswer('Leads to the sign-in page.') },
  },
};

export const answerDeviceOperations: Operations = {
  post: {
    summary: 'Send the code of a device, or answer its request.',
    requestBody: formBody({ csrf_token: TEXT, user_code: TEXT, scope: TEXT, decision: TEXT }),
    responses: {
      ...PAGE,
      303: redirectAnswer('Leads to the sign-in page.'),
      403: pageErrorAnswer('The form was not sent from this page.'),
      413: pageErrorAnswer('The body is too large.'),
      429: pageAnswer('The person sent too many wrong codes.'),
    },
  },
};
