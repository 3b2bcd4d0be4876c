import type { ClientRegistration } from '../../clients/registration.ts';
import { MARKED, type FurtherValues, type MetadataField } from '../../store/further-metadata.ts';
import { askedDemands, type ClientDemand } from '../../store/client-demands.ts';
import { PRIVATE_KEY_JWT } from '../../clients/credentials.ts';
import type { GrantTypes } from '../../store/grant-types.ts';
import {
  applicationTypeFor,
  grantsNamed,
  saysNothing,
  scopesNamed,
} from '../../clients/metadata.ts';
import { redirectUriProblem } from '../../clients/redirect-uris.ts';
import { OAuthError } from '../../errors.ts';
import type { SigningAlgorithms } from '../../keys/algorithms.ts';
import { quoted, quotedUri } from '../../quoting.ts';
import type { ApplicationType } from '../../store/client.ts';
import { SERVICE_SCOPES, type ScopeCatalog } from '../../tokens/scopes.ts';

/**
 * Reads the metadata of a client that registers itself (RFC 7591 section 2), and decides what to
 * register.
 */

export type SentMetadata = Readonly<Record<string, unknown>>;

export interface MetadataRules {
  readonly catalog: ScopeCatalog;
  readonly grantTypes: GrantTypes;
  /** The algorithms that can sign ID tokens. */
  readonly algorithms: SigningAlgorithms;
  /**
   * True if the client sent an initial access token, or has the rights of one. An operator gives
   * such tokens to trusted clients. Such a client can get tokens without a user.
   */
  readonly cameWithToken: boolean;
  /**
   * True if the client has ever used an initial access token. Some metadata fields require one.
   * Defaults to `cameWithToken`.
   */
  readonly wasVouchedFor?: boolean;
  /** True if the client can have a secret. */
  readonly mayHaveSecret: boolean;
  /** True if clients can have their own keys (`oauth_server:private_key_jwt`). */
  readonly takesKeys: boolean;
  /** The protections that a client can require. The server ignores those that it does not offer. */
  readonly demands: readonly ClientDemand[];
  readonly further?: readonly MetadataField[];
}

const MOST_REDIRECT_URIS = 20;
/**
 * The maximum total length of the redirect URIs, and of each list that a feature adds, in
 * characters. Anyone can make the server store these values, so the limit is low.
 */
const MOST_CHARACTERS = 4000;
const UNNAMED = 'An application without a name';

/**
 * Decides what to register for this metadata. Replaces or omits an unsupported value if the client
 * then has fewer rights (RFC 7591 section 2). The response shows what was registered.
 *
 * Ignores unknown fields and software statements (section 3.1.1). Throws `invalid_redirect_uri` or
 * `invalid_client_metadata` for other invalid metadata.
 */
export function readRegistration(sent: SentMetadata, rules: MetadataRules): ClientRegistration {
  const method = readMethod(sent, rules);
  // A client without an initial access token can be anyone. Its keys or secret prove only that
  // later requests come from the same client.
  const isStranger = method === 'none' || !rules.cameWithToken;
  const grants = readGrants(sent, isStranger, rules.grantTypes);
  const { redirectUris, applicationType } = grants.includes('authorization_code')
    ? readRedirectUris(sent)
    : { redirectUris: [], applicationType: readApplicationType(sent) ?? 'web' };
  requireResponseTypes(sent, grants);
  requirePublicSubjects(sent);
  const algorithm = readAlgorithm(sent, rules.algorithms);
  return {
    name: readName(sent),
    redirectUris,
    scopes: readScopes(sent, grants, isStranger, rules),
    grants,
    public: method === 'none',
    applicationType,
    ...(method === PRIVATE_KEY_JWT ? readKeys(sent, rules) : {}),
    ...(algorithm === undefined ? {} : { idTokenSignedResponseAlg: algorithm }),
    ...readFurther(sent, rules),
    ...askedDemands(rules.demands, ({ isMet, metadata }) => isMet && readFlag(sent, metadata)),
  };
}

/**
 * Returns the values of the fields that features add, except fields that clients can never set. The
 * list of a field is empty if the client does not send it, or if the field needs an initial access
 * token that the client has not used.
 */
function readFurther(
  sent: SentMetadata,
  { further = [], cameWithToken, wasVouchedFor = cameWithToken }: MetadataRules,
): { readonly metadata?: FurtherValues } {
  if (further.length === 0) return {};
  const offered = further.filter(({ selfRegistered }) => selfRegistered !== 'never');
  const read = offered.map((field) => {
    const values = readField(sent, field);
    return [
      field.name,
      wasVouchedFor || field.selfRegistered !== 'with-token' ? values : [],
    ] as const;
  });
  return { metadata: Object.fromEntries(read) };
}

function readField(
  sent: SentMetadata,
  { name, shape = 'texts' }: MetadataField,
): readonly string[] {
  if (shape === 'texts') {
    const texts = readTexts(sent, name) ?? [];
    if (texts.join('').length <= MOST_CHARACTERS) return texts;
    throw invalidMetadata(`The values of ${name} may have ${MOST_CHARACTERS} characters together.`);
  }
  if (shape === 'flag') return readFlag(sent, name) ? [MARKED] : [];
  const text = readText(sent, name);
  return text === undefined ? [] : [text];
}

export function invalidMetadata(description: string, detail: string | null = null): OAuthError {
  return new OAuthError('invalid_client_metadata', description, detail);
}

/** Returns undefined if the field is missing or empty. */
export function findSent(sent: SentMetadata, name: string): unknown {
  const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
  return saysNothing(value) ? undefined : value;
}

/** Returns undefined if the field is missing or empty. Throws for another type. */
function readText(sent: SentMetadata, name: string): string | undefined {
  const value = findSent(sent, name);
  if (value === undefined || typeof value === 'string') return value;
  throw invalidMetadata(`The field ${name} must be a text.`);
}

function readTexts(sent: SentMetadata, name: string): readonly string[] | undefined {
  const value = findSent(sent, name);
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((each): each is string => typeof each === 'string'))
    return value;
  throw invalidMetadata(`The field ${name} must be a list of texts.`);
}

/** Returns false if the field is missing. Throws for another type. */
function readFlag(sent: SentMetadata, name: string): boolean {
  const value = findSent(sent, name);
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw invalidMetadata(`The field ${name} must be true or false.`);
}

function readAlgorithm(sent: SentMetadata, known: SigningAlgorithms): string | undefined {
  const algorithm = readText(sent, 'id_token_signed_response_alg');
  if (algorithm === undefined || known.has(algorithm)) return algorithm;
  throw invalidMetadata(
    `The id_token_signed_response_alg must be one of ${known.names.join(', ')}.`,
    `the id_token_signed_response_alg is ${quoted(algorithm)}`,
  );
}

function readName(sent: SentMetadata): string {
  const name = readText(sent, 'client_name') ?? '';
  // Databases cannot store unpaired surrogates, and pages cannot show them.
  if (!name.isWellFormed())
    throw invalidMetadata('The field client_name is not well-formed Unicode.');
  return name.trim() === '' ? UNNAMED : name;
}

/**
 * Returns the authentication method to register. Without a method, a client requests a secret (RFC
 * 7591 section 2). A client that cannot have one becomes a public client, which PKCE protects. The
 * response shows this.
 */
function readMethod(
  sent: SentMetadata,
  { mayHaveSecret, takesKeys }: MetadataRules,
): 'none' | 'client_secret_basic' | typeof PRIVATE_KEY_JWT {
  const method = readText(sent, 'token_endpoint_auth_method') ?? 'client_secret_basic';
  if (method === 'none') return method;
  if (method === 'client_secret_basic' || method === 'client_secret_post') {
    return mayHaveSecret ? 'client_secret_basic' : 'none';
  }
  if (method === PRIVATE_KEY_JWT && takesKeys) return method;
  throw invalidMetadata(
    'The token_endpoint_auth_method must be none, ' +
      `client_secret_basic${takesKeys ? ', client_secret_post or private_key_jwt' : ' or client_secret_post'}.`,
    `the token_endpoint_auth_method is ${quoted(method)}`,
  );
}

/**
 * Returns the keys of a client that authenticates with keys. A URL for keys needs an initial access
 * token. Otherwise, anyone could make this server send requests to any other server.
 */
function readKeys(
  sent: SentMetadata,
  { cameWithToken }: MetadataRules,
): Pick<ClientRegistration, 'jwks' | 'jwksUri' | 'tokenEndpointAuthSigningAlg'> {
  const jwksUri = readText(sent, 'jwks_uri');
  if (jwksUri !== undefined && !cameWithToken) {
    throw invalidMetadata(
      'The jwks_uri needs an initial access token; send the keys themselves, as jwks.',
    );
  }
  const algorithm = readText(sent, 'token_endpoint_auth_signing_alg');
  const jwks = findSent(sent, 'jwks');
  if (jwks === undefined && jwksUri === undefined) {
    throw invalidMetadata('The client needs its public keys: jwks or jwks_uri.');
  }
  return {
    ...(jwks === undefined ? {} : { jwks }),
    ...(jwksUri === undefined ? {} : { jwksUri }),
    ...(algorithm === undefined ? {} : { tokenEndpointAuthSigningAlg: algorithm }),
  };
}

function readGrants(
  sent: SentMetadata,
  isStranger: boolean,
  grantTypes: GrantTypes,
): readonly string[] {
  const offered = grantTypes.registrable(isStranger);
  const grants = grantsNamed(readTexts(sent, 'grant_types'), offered);
  if (grantTypes.begin(grants)) return grants;
  const beginnings = offered.filter((each) => grantTypes.begin([each]));
  throw invalidMetadata(`The grant_types must include ${beginnings.join(' or ')}.`);
}

function requireResponseTypes(sent: SentMetadata, grants: readonly string[]): void {
  const asked = readTexts(sent, 'response_types') ?? [];
  if (asked.length > 0 && grants.includes('authorization_code') && !asked.includes('code')) {
    throw invalidMetadata(
      'The response_types must include code, which the grant authorization_code needs.',
    );
  }
}

/**
 * Throws if the client requests pairwise subjects. This server gives all clients the same subject
 * for a user, so clients can recognize each other's users.
 */
function requirePublicSubjects(sent: SentMetadata): void {
  const type = readText(sent, 'subject_type');
  if (type !== undefined && type !== 'public')
    throw invalidMetadata('The subject_type must be public.', `it is ${quoted(type)}`);
}

function readApplicationType(sent: SentMetadata): ApplicationType | undefined {
  const type = readText(sent, 'application_type');
  if (type === undefined || type === 'web' || type === 'native') return type;
  throw invalidMetadata('The application_type must be web or native.', `it is ${quoted(type)}`);
}

/**
 * Returns the redirect URIs and the application type. If a native application also sends other
 * URIs, skips those whose private-use scheme contains no dot. Any application could claim such a
 * scheme (RFC 8252 section 8.4). Assistants that send such a URI also send others.
 */
function readRedirectUris(sent: SentMetadata): {
  readonly redirectUris: readonly string[];
  readonly applicationType: ApplicationType;
} {
  const asked = readTexts(sent, 'redirect_uris') ?? [];
  if (asked.length === 0) throw invalidRedirectUri('The redirect_uris are missing.');
  if (asked.length > MOST_REDIRECT_URIS || asked.join('').length > MOST_CHARACTERS) {
    throw invalidRedirectUri(
      `There may be ${MOST_REDIRECT_URIS} redirect_uris, of ${MOST_CHARACTERS} characters ` +
        'together.',
    );
  }
  const applicationType = applicationTypeFor(readApplicationType(sent), asked);
  const kept = asked.filter((uri) => !AMBIGUOUS_SCHEME.test(uri));
  const redirectUris = applicationType === 'native' && kept.length > 0 ? kept : asked;
  for (const uri of redirectUris) {
    const problem = redirectUriProblem(uri, applicationType);
    if (problem !== null)
      throw invalidRedirectUri(`A redirect URI ${problem}.`, `it is ${quotedUri(uri)}`);
  }
  return { redirectUris, applicationType };
}

const AMBIGUOUS_SCHEME = /^(?!https?:)[a-z][a-z0-9+-]*:\/\//i;

function invalidRedirectUri(description: string, detail: string | null = null): OAuthError {
  return new OAuthError('invalid_redirect_uri', description, detail);
}

/**
 * Returns the scopes to register: the requested scopes that the server offers, or all offered ones
 * if the client requests none.
 *
 * Unverified clients always get all offered scopes except `mcp:service`. Assistants register only
 * with the scopes that they need first, and otherwise could not request more later. Users can still
 * grant only scopes that their permissions allow.
 */
function readScopes(
  sent: SentMetadata,
  grants: readonly string[],
  isStranger: boolean,
  { catalog, grantTypes }: MetadataRules,
): readonly string[] {
  const isForPeople = grantTypes.begin(grants, 'person');
  const offered = [...catalog.values()]
    .filter(
      ({ name, permission }) =>
        !(isStranger && SERVICE_SCOPES.has(name)) && (isForPeople || permission !== null),
    )
    .map(({ name }) => name);
  const scopes = scopesNamed(readText(sent, 'scope'), offered);
  if (scopes.length === 0) throw invalidMetadata('None of the scopes is offered.');
  return isStranger ? offered : scopes;
}
