import type { AuthorizationServer } from '../../authorization-server.ts';
import {
  CLIENT_AUTHENTICATION,
  CLIENT_ERRORS,
  CLIENT_PARAMETERS,
  errorAnswer,
  formBody,
  jsonAnswer,
  objectOf,
  pageAnswer,
  pageErrorAnswer,
  redirectAnswer,
  SECONDS,
  TEXT,
  TEXTS,
  URL_TEXT,
  type Operation,
  type Operations,
  type Schema,
} from '../../endpoints/operation.ts';

/** Returns undefined for an endpoint that only some servers have. */
export function endpointOperations(
  { grantTypes }: AuthorizationServer,
  name: string,
): Operations | undefined {
  const plain = name.replace(/_in_front$|_\d+$/, '');
  return plain === 'oauth_server_token' ? tokenOperations(grantTypes.names) : OPERATIONS[plain];
}

const PAGE_ERROR = pageErrorAnswer('The request is not valid, so the browser is not sent back.');

/** The parameters of an authorization request (RFC 6749 section 4.1.1). */
const AUTHORIZATION_PARAMETERS: readonly (readonly [name: string, schema: Schema, text: string])[] =
  [
    ['response_type', { const: 'code' }, 'RFC 6749 section 4.1.1'],
    ['client_id', TEXT, 'RFC 6749 section 4.1.1'],
    ['redirect_uri', URL_TEXT, 'RFC 6749 section 4.1.1'],
    ['scope', TEXT, 'Scopes, separated by spaces'],
    ['state', TEXT, 'RFC 6749 section 4.1.1'],
    ['code_challenge', TEXT, 'RFC 7636 section 4.3'],
    ['code_challenge_method', { const: 'S256' }, 'RFC 7636 section 4.3'],
    ['nonce', TEXT, 'OpenID Connect Core section 3.1.2.1'],
    ['prompt', TEXT, 'OpenID Connect Core section 3.1.2.1'],
    ['resource', URL_TEXT, 'RFC 8707 section 2.1'],
  ];

const AUTHORIZATION: Operations = {
  get: {
    summary: 'Ask a person for access. A browser opens this URL.',
    parameters: AUTHORIZATION_PARAMETERS.map(([name, schema, description]) => ({
      name,
      in: 'query' as const,
      description,
      schema,
    })),
    responses: {
      200: pageAnswer('The consent page, or a form that posts the response to the client.'),
      302: redirectAnswer('Leads to the sign-in page, or to the client with `code` or `error`.'),
      303: redirectAnswer('Leads to the sign-in page, or to the client with `code` or `error`.'),
      400: PAGE_ERROR,
      401: pageErrorAnswer(
        'The request has an `Authorization` header, which browsers do not send.',
      ),
      403: pageErrorAnswer('The server does not let the person continue.'),
      429: pageErrorAnswer('Too many requests wait for an answer.'),
    },
  },
};

const CONSENT: Operations = {
  post: {
    summary: 'Answer the consent page, or send an authorization request as a form.',
    requestBody: formBody({
      request_id: TEXT,
      decision: TEXT,
      ...Object.fromEntries(AUTHORIZATION_PARAMETERS.map(([name, schema]) => [name, schema])),
    }),
    responses: {
      200: pageAnswer('The consent page, or a form that posts the response to the client.'),
      302: redirectAnswer('Leads to the sign-in page, or to the client with `code` or `error`.'),
      303: redirectAnswer('Leads to the sign-in page, or to the client with `code` or `error`.'),
      400: PAGE_ERROR,
      401: pageErrorAnswer(
        'The request has an `Authorization` header, which browsers do not send.',
      ),
      403: pageErrorAnswer(
        'The form was not sent from this page, or the server does not let the person continue.',
      ),
      413: pageErrorAnswer('The body is too large.'),
      429: pageErrorAnswer('Too many requests wait for an answer.'),
    },
  },
};

function tokenOperations(grantTypes: readonly string[]): Operations {
  return {
    post: {
      summary: 'Get tokens.',
      security: CLIENT_AUTHENTICATION,
      requestBody: formBody(
        {
          grant_type: { enum: grantTypes },
          ...CLIENT_PARAMETERS,
          code: TEXT,
          redirect_uri: URL_TEXT,
          code_verifier: TEXT,
          refresh_token: TEXT,
          scope: TEXT,
          resource: URL_TEXT,
        },
        ['grant_type'],
      ),
      responses: {
        200: jsonAnswer(
          'The tokens (RFC 6749 section 5.1).',
          objectOf(
            {
              access_token: TEXT,
              token_type: { enum: ['Bearer', 'DPoP'] },
              expires_in: SECONDS,
              scope: TEXT,
              refresh_token: TEXT,
              id_token: TEXT,
            },
            ['access_token', 'token_type', 'expires_in', 'scope'],
          ),
        ),
        ...CLIENT_ERRORS,
      },
    },
  };
}

const REVOCATION: Operations = {
  post: {
    summary: 'Revoke a token.',
    security: CLIENT_AUTHENTICATION,
    requestBody: formBody({ ...CLIENT_PARAMETERS, token: TEXT, token_type_hint: TEXT }, ['token']),
    responses: {
      200: { description: 'The token is not valid any more, or never was (RFC 7009 section 2.2).' },
      ...CLIENT_ERRORS,
    },
  },
};

const INTROSPECTION: Operations = {
  post: {
    summary: 'Ask whether an access token is valid.',
    security: CLIENT_AUTHENTICATION,
    requestBody: formBody({ ...CLIENT_PARAMETERS, token: TEXT, token_type_hint: TEXT }, ['token']),
    responses: {
      200: jsonAnswer('What the server knows about the token (RFC 7662 section 2.2).', {
        oneOf: [
          { ...objectOf({ active: { const: false } }, ['active']), additionalProperties: false },
          objectOf(
            {
              active: { const: true },
              scope: TEXT,
              client_id: TEXT,
              token_type: { enum: ['Bearer', 'DPoP'] },
              exp: SECONDS,
              iat: SECONDS,
              iss: URL_TEXT,
              sub: TEXT,
              aud: TEXT,
              auth_time: SECONDS,
              acr: TEXT,
              cnf: objectOf({ jkt: TEXT }),
            },
            ['active', 'scope', 'client_id', 'token_type', 'exp', 'iat', 'iss'],
          ),
        ],
      }),
      ...CLIENT_ERRORS,
    },
  },
};

const CLAIMS: Operation = {
  summary: 'Get the claims about the person (OpenID Connect Core section 5.3).',
  security: [{ access_token: [] }],
  responses: {
    200: jsonAnswer(
      'The claims that the scopes of the token release.',
      objectOf({ sub: TEXT }, ['sub']),
    ),
    400: errorAnswer('The request is not valid.'),
    401: errorAnswer('The token is missing or not valid.'),
    403: errorAnswer('The token does not have the scope `openid`.'),
    413: errorAnswer('The body is too large.'),
  },
};

const USERINFO: Operations = {
  get: CLAIMS,
  post: {
    ...CLAIMS,
    requestBody: { ...formBody({ access_token: TEXT }), required: false },
  },
};

function documentOperations(summary: string, schema: Schema): Operations {
  return {
    get: {
      summary,
      responses: {
        200: jsonAnswer('The document.', schema),
        304: { description: 'The document has not changed.' },
      },
    },
  };
}

/** The members that every server publishes (RFC 8414 section 2). */
const METADATA = {
  issuer: URL_TEXT,
  authorization_endpoint: URL_TEXT,
  token_endpoint: URL_TEXT,
  revocation_endpoint: URL_TEXT,
  introspection_endpoint: URL_TEXT,
  jwks_uri: URL_TEXT,
  scopes_supported: TEXTS,
  response_types_supported: TEXTS,
  response_modes_supported: TEXTS,
  grant_types_supported: TEXTS,
  token_endpoint_auth_methods_supported: TEXTS,
  code_challenge_methods_supported: TEXTS,
} as const;

/** The members that OpenID Connect adds (OpenID Connect Discovery 1.0 section 3). */
const PROVIDER_METADATA = {
  ...METADATA,
  userinfo_endpoint: URL_TEXT,
  subject_types_supported: TEXTS,
  id_token_signing_alg_values_supported: TEXTS,
  claims_supported: TEXTS,
} as const;

const OPERATIONS: Readonly<Record<string, Operations>> = {
  oauth_server_authorize: AUTHORIZATION,
  oauth_server_consent: CONSENT,
  oauth_server_revoke: REVOCATION,
  oauth_server_introspect: INTROSPECTION,
  oauth_server_userinfo: USERINFO,
  oauth_server_openid_configuration: documentOperations(
    'Discover the OpenID provider.',
    objectOf(PROVIDER_METADATA, Object.keys(PROVIDER_METADATA)),
  ),
  oauth_server_metadata: documentOperations(
    'Discover the authorization server (RFC 8414).',
    objectOf(METADATA, Object.keys(METADATA)),
  ),
  oauth_server_jwks: documentOperations(
    'Get the public signing keys (RFC 7517).',
    objectOf(
      { keys: { type: 'array', items: objectOf({ kty: TEXT, kid: TEXT }, ['kty', 'kid']) } },
      ['keys'],
    ),
  ),
  oauth_server_resource_metadata: documentOperations(
    'Discover the authorization server of an API (RFC 9728).',
    objectOf({ resource: URL_TEXT, authorization_servers: TEXTS, scopes_supported: TEXTS }, [
      'resource',
      'authorization_servers',
    ]),
  ),
};
