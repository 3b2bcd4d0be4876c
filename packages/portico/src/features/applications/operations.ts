import {
  formBody,
  pageAnswer,
  pageErrorAnswer,
  redirectAnswer,
  TEXT,
  type Operations,
} from '../../endpoints/operation.ts';

export const applicationsOperations: Operations = {
  get: {
    summary: 'See which applications have access. A browser opens this URL.',
    responses: {
      200: pageAnswer('The page.'),
      302: redirectAnswer('Leads to the sign-in page.'),
      401: pageErrorAnswer(
        'The request has an `Authorization` header, which browsers do not send.',
      ),
    },
  },
};

export const removeApplicationOperations: Operations = {
  post: {
    summary: 'End the access of an application.',
    requestBody: formBody({ csrf_token: TEXT, client_id: TEXT }),
    responses: {
      303: redirectAnswer('Leads back to the page, or to the sign-in page.'),
      400: pageErrorAnswer('The request is not valid.'),
      401: pageErrorAnswer(
        'The request has an `Authorization` header, which browsers do not send.',
      ),
      403: pageErrorAnswer('The form was not sent from this page.'),
      413: pageErrorAnswer('The body is too large.'),
    },
  },
};
