import {
  errorAnswer,
  jsonAnswer,
  objectOf,
  SECONDS,
  TEXT,
  TEXTS,
  URL_TEXT,
  type Operation,
  type Operations,
} from '../../endpoints/operation.ts';

const SECURITY = [{ registration_access_token: [] }] as const;

/** The metadata that a client can send (RFC 7591 section 2). */
const METADATA = {
  client_name: TEXT,
  application_type: { enum: ['web', 'native'] },
  redirect_uris: TEXTS,
  grant_types: TEXTS,
  response_types: TEXTS,
  token_endpoint_auth_method: TEXT,
  scope: TEXT,
  jwks: { type: 'object' },
  jwks_uri: URL_TEXT,
} as const;

/** The response with the registered client (RFC 7591 section 3.2.1). */
const CLIENT = jsonAnswer(
  'The registered client.',
  objectOf(
    {
      ...METADATA,
      client_id: TEXT,
      client_id_issued_at: SECONDS,
      client_secret: TEXT,
      client_secret_expires_at: SECONDS,
      registration_access_token: TEXT,
      registration_client_uri: URL_TEXT,
    },
    [
      'client_id',
      'client_id_issued_at',
      'registration_access_token',
      'registration_client_uri',
      'redirect_uris',
      'grant_types',
      'token_endpoint_auth_method',
    ],
  ),
);

const BODY: NonNullable<Operation['requestBody']> = {
  required: true,
  content: { 'application/json': { schema: objectOf(METADATA) } },
};

const ERRORS = {
  400: errorAnswer('The request or the metadata are not valid.'),
  401: errorAnswer('The token is missing or not valid.'),
  413: errorAnswer('The body is too large.'),
  429: errorAnswer('Too many clients were registered. Try again after `Retry-After`.'),
} as const;

const OF_CLIENT = [{ name: 'client_id', in: 'query', required: true, schema: TEXT }] as const;

export const registrationOperations: Operations = {
  post: {
    summary: 'Register a client (RFC 7591).',
    security: [...SECURITY, {}],
    requestBody: BODY,
    responses: { 201: CLIENT, ...ERRORS },
  },
  get: {
    summary: 'Read a registration (RFC 7592 section 2.1).',
    security: SECURITY,
    parameters: OF_CLIENT,
    responses: { 200: CLIENT, ...ERRORS },
  },
  put: {
    summary: 'Replace a registration (RFC 7592 section 2.2).',
    security: SECURITY,
    parameters: OF_CLIENT,
    requestBody: BODY,
    responses: { 200: CLIENT, ...ERRORS },
  },
  delete: {
    summary: 'Delete a registration (RFC 7592 section 2.3).',
    security: SECURITY,
    parameters: OF_CLIENT,
    responses: {
      204: { description: 'The client is deleted, and its access has ended.' },
      ...ERRORS,
    },
  },
};
