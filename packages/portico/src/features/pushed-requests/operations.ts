import {
  CLIENT_AUTHENTICATION,
  CLIENT_ERRORS,
  CLIENT_PARAMETERS,
  formBody,
  jsonAnswer,
  objectOf,
  SECONDS,
  TEXT,
  URL_TEXT,
  type Operations,
} from '../../endpoints/operation.ts';

export const parOperations: Operations = {
  post: {
    summary: 'Push an authorization request.',
    security: CLIENT_AUTHENTICATION,
    requestBody: formBody({
      ...CLIENT_PARAMETERS,
      response_type: TEXT,
      redirect_uri: URL_TEXT,
      scope: TEXT,
      state: TEXT,
      code_challenge: TEXT,
      code_challenge_method: TEXT,
      nonce: TEXT,
      resource: URL_TEXT,
    }),
    responses: {
      201: jsonAnswer(
        'The `request_uri` to send through the browser (RFC 9126 section 2.2).',
        objectOf({ request_uri: TEXT, expires_in: SECONDS }, ['request_uri', 'expires_in']),
      ),
      ...CLIENT_ERRORS,
    },
  },
};
