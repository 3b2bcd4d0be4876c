import {
  formBody,
  pageAnswer,
  pageErrorAnswer,
  redirectAnswer,
  TEXT,
  URL_TEXT,
  type Operations,
} from '../../endpoints/operation.ts';

/** The parameters of a sign-out request (OpenID Connect RP-Initiated Logout 1.0 section 2). */
const PARAMETERS = {
  id_token_hint: TEXT,
  logout_hint: TEXT,
  client_id: TEXT,
  post_logout_redirect_uri: URL_TEXT,
  state: TEXT,
  ui_locales: TEXT,
} as const;

const ANSWERS = {
  200: pageAnswer('Asks whether to sign out, or says that the person is signed out.'),
  400: pageErrorAnswer('The request is not valid.'),
} as const;

export const logoutOperations: Operations = {
  get: {
    summary: 'Sign a person out. A browser opens this URL.',
    parameters: Object.entries(PARAMETERS).map(([name, schema]) => ({
      name,
      in: 'query' as const,
      schema,
    })),
    responses: { ...ANSWERS, 302: redirectAnswer('Leads to the client, or to the application.') },
  },
};

export const answerLogoutOperations: Operations = {
  post: {
    summary: 'Sign a person out by a form, or answer the page.',
    requestBody: formBody({ ...PARAMETERS, request: TEXT, csrf_token: TEXT, decision: TEXT }),
    responses: {
      ...ANSWERS,
      303: redirectAnswer('Leads to the client, or to the application.'),
      403: pageErrorAnswer('The form was not sent from this page.'),
      413: pageErrorAnswer('The body is too large.'),
    },
  },
};
