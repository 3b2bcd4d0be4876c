import { flag, list, parsed, text, type Fields } from './record-fields.ts';
import { RegistrationError, type ClientRegistration, type Server } from 'portico';
import {
  CLIENT_AUTHENTICATION_METHODS,
  applicationTypeFor,
  askedDemands,
  quoted,
  quotedList,
  type ClientDemand,
} from 'portico/extension';

/**
 * A client from another server, as read from its record. It contains only what this server
 * supports.
 */
export interface ClientRecord {
  readonly clientId: string;
  readonly registration: ClientRegistration;
  readonly secret: string | null;
  readonly secretHash: string | null;
  /**
   * The time when the other server registered the client, in milliseconds since 1970. Null if the
   * record does not contain a valid time.
   */
  readonly createdAt: number | null;
  /**
   * How the imported client differs from its record. This includes fields that the import omits.
   */
  readonly changes: readonly string[];
}

/** What this server supports: the metadata fields that features add, client demands, and grants. */
export interface Offered {
  readonly furtherFields: readonly FurtherField[];
  readonly demands: readonly ClientDemand[];
  readonly rights: readonly string[];
}

type FurtherField = Server['furtherMetadata']['fields'][number];

/**
 * Fields that the import omits and reports, unless a feature of this server supports them. They
 * only describe the client to users, or the client works without them.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'backchannel_logout_session_required',
  'backchannel_logout_uri',
  'client_uri',
  'contacts',
  'frontchannel_logout_session_required',
  'frontchannel_logout_uri',
  'initiate_login_uri',
  'logo_uri',
  'policy_uri',
  'post_logout_redirect_uris',
  'software_id',
  'software_version',
  'tos_uri',
]);

const READ: ReadonlySet<string> = new Set([
  'application_type',
  'client_id',
  'client_id_issued_at',
  'client_name',
  'client_secret',
  'client_secret_expires_at',
  'client_secret_hash',
  'grant_types',
  'id_token_signed_response_alg',
  'jwks',
  'jwks_uri',
  'redirect_uris',
  'response_types',
  'scope',
  'subject_type',
  'token_endpoint_auth_method',
  'token_endpoint_auth_signing_alg',
]);

/** Matches an id without spaces, so that you can see where the id ends in the output. */
const CLIENT_ID = /^[\x21-\x7E]{1,255}$/;

/** Returns the id in a record, or null if the id is not valid. */
export function readClientId(record: unknown): string | null {
  if (typeof record !== 'object' || record === null) return null;
  const { client_id: id } = record as { readonly client_id?: unknown };
  return typeof id === 'string' && CLIENT_ID.test(id) ? id : null;
}

/** Reads a client's record. Throws a RegistrationError if a field is malformed or not supported. */
export function readClientRecord(
  record: unknown,
  now: number,
  { furtherFields, demands, rights }: Offered,
): ClientRecord {
  const fields = readFields(record);
  const clientId = text(fields, 'client_id') ?? '';
  if (!CLIENT_ID.test(clientId)) {
    throw new RegistrationError('client_id must have 1 to 255 printable ASCII characters');
  }
  const further = furtherFields.filter(({ selfRegistered }) => selfRegistered !== 'never');
  const isSupported = (name: string) =>
    further.some((field) => field.name === name) ||
    demands.some(({ metadata }) => metadata === name);
  const changes = leftOut(fields, isSupported);
  requireExpected(fields, isSupported);
  const redirects = list(fields, 'redirect_uris') ?? [];
  const method = readMethod(fields);
  const grants = readGrants(fields, rights, changes);
  const named = text(fields, 'application_type');
  const applicationType = named ?? applicationTypeFor(undefined, redirects);
  if (named === null && applicationType === 'native') {
    changes.push(
      'imported as a native application, because it has a redirect URI on loopback or with a ' +
        'private-use scheme',
    );
  }
  if (redirects.length > 0 && !grants.includes('authorization_code')) {
    changes.push('redirect_uris are not imported, because none of the grants uses them');
  }
  const hasKeys = method === 'private_key_jwt';
  const [secret, secretHash] = [text(fields, 'client_secret'), text(fields, 'client_secret_hash')];
  const takesSecret = method !== 'none' && !hasKeys;
  if (!takesSecret && (secret !== null || secretHash !== null)) {
    changes.push(`the secret is not imported, because token_endpoint_auth_method is ${method}`);
  }
  if (!hasKeys && (fields.has('jwks') || fields.has('jwks_uri'))) {
    changes.push(`the keys are not imported, because token_endpoint_auth_method is ${method}`);
  }
  if (takesSecret) requireLastingSecret(fields, now, changes);
  const issuedAt = fields.get('client_id_issued_at');
  return {
    clientId,
    registration: {
      name: text(fields, 'client_name') ?? '',
      redirectUris: grants.includes('authorization_code') ? redirects : [],
      scopes: list(fields, 'scope') ?? [],
      grants,
      public: method === 'none',
      applicationType,
      ...askedDemands(demands, ({ metadata }) => flag(fields, metadata)),
      ...(hasKeys ? readKeys(fields) : {}),
      ...readAlgorithm(fields, grants),
      metadata: readFurther(fields, further),
    },
    secret: takesSecret ? secret : null,
    secretHash: takesSecret ? secretHash : null,
    createdAt:
      typeof issuedAt === 'number' && issuedAt > 0 && issuedAt * 1000 <= now
        ? Math.floor(issuedAt * 1000)
        : null,
    changes,
  };
}

/**
 * Reads the fields. Treats an empty value as missing, because other servers also write fields that
 * have no value. An empty `grant_types` remains, so that the record is rejected.
 */
function readFields(record: unknown): Fields {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new RegistrationError('the record is not a JSON object');
  }
  const isEmpty = (value: unknown) =>
    value === null ||
    value === '' ||
    value === false ||
    value === 0 ||
    (Array.isArray(value) && value.length === 0);
  return new Map(
    Object.entries(record).filter(([name, value]) => name === 'grant_types' || !isEmpty(value)),
  );
}

function leftOut(fields: Fields, isSupported: (name: string) => boolean): string[] {
  const known = [...fields.keys()].filter((name) => LEFT_OUT.has(name) && !isSupported(name));
  return known.length === 0
    ? []
    : [
        'not imported (use oauth:client:update to add values that Portico supports): ' +
          known.join(', '),
      ];
}

function requireExpected(fields: Fields, isSupported: (name: string) => boolean): void {
  const isKnown = (name: string) => READ.has(name) || LEFT_OUT.has(name) || isSupported(name);
  const unknown = [...fields.keys()].filter((name) => !isKnown(name));
  if (unknown.length > 0) {
    throw new RegistrationError(
      `unknown fields: ${quotedList(unknown)}; if the client does not need them, remove them ` +
        'from the record',
    );
  }
  const subjects = fields.get('subject_type');
  if (subjects !== undefined && subjects !== 'public') {
    throw new RegistrationError(
      'subject_type must be public, because every client gets the same sub for a person',
    );
  }
  if (!fields.has('client_name'))
    throw new RegistrationError(
      'client_name is missing; add the name that the consent screen shows',
    );
}

function readMethod(fields: Fields): string {
  const method = text(fields, 'token_endpoint_auth_method') ?? 'client_secret_basic';
  const offered: readonly string[] = [...CLIENT_AUTHENTICATION_METHODS, 'private_key_jwt'];
  if (offered.includes(method)) return method;
  throw new RegistrationError(
    `token_endpoint_auth_method is ${quoted(method)}; it must be one of ${offered.join(', ')}`,
  );
}

/**
 * Returns the record's grants that this server offers. Adds the omitted grants and response types
 * to `changes`. Throws a RegistrationError if no grant remains.
 */
function readGrants(
  fields: Fields,
  rights: readonly string[],
  changes: string[],
): readonly string[] {
  const named = fields.has('grant_types')
    ? (list(fields, 'grant_types') ?? [])
    : ['authorization_code'];
  const offered = named.filter((grant) => rights.includes(grant));
  const missing = named.filter((grant) => !offered.includes(grant));
  if (offered.length === 0) {
    throw new RegistrationError(
      missing.length === 0
        ? 'grant_types is empty'
        : `this server does not support any of its grant_types: ${quotedList(missing)}`,
    );
  }
  if (missing.length > 0)
    changes.push(
      `grant_types not imported, because this server does not offer them: ${quotedList(missing)}`,
    );
  const answers = list(fields, 'response_types') ?? [];
  const others = answers.filter((type) => type !== 'code');
  if (others.length > 0)
    changes.push(
      `response_types not imported, because this server does not offer them: ${quotedList(others)}`,
    );
  return offered;
}

function requireLastingSecret(fields: Fields, now: number, changes: string[]): void {
  const until = fields.get('client_secret_expires_at');
  if (until === undefined) return;
  if (typeof until !== 'number')
    throw new RegistrationError('client_secret_expires_at must be a number of seconds');
  if (until * 1000 <= now)
    throw new RegistrationError(
      'its secret has expired; remove the secret and client_secret_expires_at, and use ' +
        '--new-secrets',
    );
  changes.push('client_secret_expires_at is not imported, because imported secrets do not expire');
}

/** Reads the metadata fields that features add, for example `post_logout_redirect_uris`. */
function readFurther(
  fields: Fields,
  further: readonly FurtherField[],
): NonNullable<ClientRegistration['metadata']> {
  const read = further
    .filter(({ name }) => fields.has(name))
    .map(({ name, shape = 'texts' }) => [name, readTexts(fields, name, shape)] as const);
  return Object.fromEntries(read);
}

function readTexts(
  fields: Fields,
  name: string,
  shape: NonNullable<FurtherField['shape']>,
): readonly string[] {
  if (shape === 'texts') return list(fields, name) ?? [];
  if (shape === 'flag') return flag(fields, name) ? ['true'] : [];
  return [text(fields, name) ?? ''];
}

function readKeys(fields: Fields): Partial<ClientRegistration> {
  const [jwksUri, algorithm] = [
    text(fields, 'jwks_uri'),
    text(fields, 'token_endpoint_auth_signing_alg'),
  ];
  const given = fields.get('jwks');
  const jwks = typeof given === 'string' ? parsed(given) : given;
  return {
    ...(jwks === undefined ? {} : { jwks }),
    ...(jwksUri === null ? {} : { jwksUri }),
    ...(algorithm === null ? {} : { tokenEndpointAuthSigningAlg: algorithm }),
    // If the record has no keys, pass `jwks: undefined`. The registration then reports that the
    // keys are missing.
    ...(jwks === undefined && jwksUri === null
      ? { jwks: undefined, tokenEndpointAuthSigningAlg: algorithm ?? 'ES256' }
      : {}),
  };
}

/**
 * Reads the signing algorithm for ID tokens. Ignores RS256, because other servers write it for
 * every client. Ignores every algorithm of a client without the grant `authorization_code`.
 */
function readAlgorithm(fields: Fields, grants: readonly string[]): Partial<ClientRegistration> {
  const algorithm = text(fields, 'id_token_signed_response_alg');
  if (algorithm === null || algorithm === 'RS256' || !grants.includes('authorization_code'))
    return {};
  return { idTokenSignedResponseAlg: algorithm };
}
