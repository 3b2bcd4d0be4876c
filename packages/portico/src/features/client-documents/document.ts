import { z } from 'zod';
import { demandsSet, type ClientDemand } from '../../store/client-demands.ts';
import { PRIVATE_KEY_JWT } from '../../clients/credentials.ts';
import type { GrantTypes } from '../../store/grant-types.ts';
import { checkClientKeys, showsPrivateKeys } from '../../clients/key-sets.ts';
import { checkName } from '../../clients/registration.ts';
import {
  applicationTypeFor,
  grantsNamed,
  saysNothing,
  scopesNamed,
} from '../../clients/metadata.ts';
import { redirectUriProblem } from '../../clients/redirect-uris.ts';
import { RegistrationError } from '../../errors.ts';
import type { SigningAlgorithms } from '../../keys/algorithms.ts';
import { quoted } from '../../quoting.ts';
import type {
  ApplicationType,
  ClientKeys,
  ClientMetadata,
  Grant,
  SigningAlgorithm,
} from '../../store/client.ts';
import { SERVICE_SCOPES, type ScopeCatalog } from '../../tokens/scopes.ts';

/** What this server reads about a client from its document. */
export type DescribedClient = Omit<ClientMetadata, 'public' | 'profile'>;

export interface DocumentRules extends KeyRules {
  readonly catalog: ScopeCatalog;
  /** True if clients can have their own keys (`oauth_server:private_key_jwt`). */
  readonly takesKeys: boolean;
  readonly grantTypes: GrantTypes;
  /** The requirements that a client can set in its document. */
  readonly demands: readonly ClientDemand[];
  /** The ID token algorithm for documents that name none. */
  readonly unnamedAlgorithm: SigningAlgorithm;
  /** The algorithms that can sign ID tokens. */
  readonly algorithms: SigningAlgorithms;
}

/** The rules for the URLs at which clients publish their keys. */
export interface KeyRules {
  /** Returns why Portico cannot fetch keys from this URL, or null. */
  readonly keysRefusal: (url: string) => string | null;
  /** Allows any port, only for development. Defaults to false. */
  readonly anyPort?: boolean | undefined;
}

/** Thrown if a document does not describe a usable client. The message says why, for the log. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

const texts = z.array(z.string());

/**
 * The fields that describe the client (RFC 7591 section 2, OpenID Connect Dynamic Client
 * Registration section 2). Of the other fields, Portico reads only secrets and requirements.
 */
const members = z.looseObject({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uris: texts.min(1),
  application_type: z.enum(['web', 'native']).optional(),
  grant_types: texts.optional(),
  response_types: texts.optional(),
  scope: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
  token_endpoint_auth_methods_supported: texts.optional(),
  token_endpoint_auth_signing_alg: z.string().optional(),
  id_token_signed_response_alg: z.string().optional(),
  jwks: z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) }).optional(),
  jwks_uri: z.string().optional(),
});

/** These fields must not be empty. An empty value of any other field counts as missing. */
const REQUIRED: readonly string[] = ['client_id', 'client_name', 'redirect_uris'];

type Members = z.output<typeof members>;

const keyMembers = members.pick({
  client_id: true,
  token_endpoint_auth_method: true,
  token_endpoint_auth_methods_supported: true,
  token_endpoint_auth_signing_alg: true,
  jwks: true,
  jwks_uri: true,
});

type KeyMembers = z.output<typeof keyMembers>;

/** Anyone can read a document, so it must not contain secrets (section 4.1 of the draft). */
const SECRETS = ['client_secret', 'client_secret_expires_at'] as const;
/** Requirements that this server can never meet. */
const NEVER_MET: readonly string[] = [
  'tls_client_certificate_bound_access_tokens',
  'require_signed_request_object',
];

/** Reads and checks a document from `url`. Throws a DocumentError with the reason. */
export function readDocument(value: unknown, url: string, rules: DocumentRules): DescribedClient {
  const parsed = members.safeParse(withoutEmpty(value));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new DocumentError(
      `its ${issue?.path.join('.') || 'content'} is missing or has the wrong type`,
    );
  }
  const document = parsed.data;
  if (document.client_id !== url)
    throw new DocumentError('its client_id is not the URL that it was fetched from');
  refuseSecrets(document);
  refuseDemands(document, rules);
  const keys = readKeys(document, rules);
  if (document.response_types !== undefined && !document.response_types.includes('code')) {
    throw new DocumentError('its response_types do not include code');
  }
  const applicationType = applicationTypeFor(document.application_type, document.redirect_uris);
  return {
    name: readName(document),
    applicationType,
    redirectUris: readRedirectUris(document, applicationType),
    grants: readGrants(document, rules.grantTypes),
    scopes: readScopes(document, rules.catalog),
    idTokenSignedResponseAlg: readAlgorithm(document, rules),
    keys,
    ...demandsSet(rules.demands, ({ metadata }) => document[metadata] === true),
  };
}

function withoutEmpty(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name, each]) => REQUIRED.includes(name) || !saysNothing(each)),
  );
}

/**
 * Reads the client's keys and ignores most other fields. Throws a DocumentError if the document
 * does not describe a client with keys.
 */
export function readDocumentKeys(value: unknown, url: string, rules: KeyRules): ClientKeys {
  const parsed = keyMembers.safeParse(withoutEmpty(value));
  if (!parsed.success) throw new DocumentError('its jwks or jwks_uri has the wrong type');
  if (parsed.data.client_id !== url)
    throw new DocumentError('its client_id is not the URL that it was fetched from');
  refuseSecrets(parsed.data);
  const keys = readKeys(parsed.data, { ...rules, takesKeys: true });
  if (keys === null)
    throw new DocumentError('its method is now none, so it has no keys to authenticate with');
  return keys;
}

function refuseSecrets(document: KeyMembers): void {
  const secret = SECRETS.find((name) => Object.hasOwn(document, name));
  if (secret !== undefined)
    throw new DocumentError(`it has a ${secret}, but everyone can read the document`);
  if (showsPrivateKeys(document.jwks))
    throw new DocumentError(
      'its jwks has a private or symmetric key, but everyone can read the document',
    );
}

function refuseDemands(document: Members, { demands }: DocumentRules): void {
  const unmet = demands.filter(({ isMet }) => !isMet).map(({ metadata }) => metadata);
  const unwanted = [...unmet, ...NEVER_MET].find((name) => document[name] === true);
  if (unwanted !== undefined)
    throw new DocumentError(`it requires ${unwanted}, which this server does not offer`);
  for (const { metadata, isMet, isStrict } of demands) {
    if (
      isMet &&
      isStrict &&
      ![undefined, true, false].some((value) => value === document[metadata])
    )
      throw new DocumentError(`its ${metadata} must be true or false`);
  }
}

/**
 * Returns the keys that the client authenticates with, or null for a public client. A client uses
 * its keys if its document says so and this server accepts keys.
 *
 * A client is public if its document names the method `none` or no method. It is also public if the
 * server accepts no keys and the list of methods contains `none` (OpenID Connect Relying Party
 * Metadata Choices).
 *
 * The server rejects all other clients. It could accept them only with weaker authentication than
 * their documents require.
 */
function readKeys(
  document: KeyMembers,
  { takesKeys, keysRefusal, anyPort = false }: KeyRules & { readonly takesKeys: boolean },
): ClientKeys | null {
  const {
    token_endpoint_auth_method: method = 'none',
    token_endpoint_auth_methods_supported: others = [],
  } = document;
  const { jwks, jwks_uri: jwksUri, token_endpoint_auth_signing_alg: algorithm } = document;
  if (jwks !== undefined && jwksUri !== undefined)
    throw new DocumentError('it has both jwks and jwks_uri');
  if (method === 'none') return null;
  if (method !== PRIVATE_KEY_JWT) {
    throw new DocumentError(
      `its token_endpoint_auth_method is ${quoted(method)}; here it must be none or ` +
        'private_key_jwt',
    );
  }
  if (jwks === undefined && jwksUri === undefined) {
    throw new DocumentError(
      'it authenticates by private_key_jwt, and has neither jwks nor jwks_uri',
    );
  }
  if (!takesKeys) {
    if (others.includes('none')) return null;
    throw new DocumentError(
      'it authenticates only by private_key_jwt; set oauth_server:private_key_jwt to true to ' +
        'allow that',
    );
  }
  const keys = checked(() => checkClientKeys({ jwks, jwksUri, algorithm }, anyPort), 'of its keys');
  const refusal = keys.jwksUri === null ? null : keysRefusal(keys.jwksUri);
  if (refusal !== null) throw new DocumentError(`its jwks_uri cannot be used: ${refusal}`);
  return keys;
}

function checked<T>(check: () => T, of: string): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof RegistrationError) throw new DocumentError(`${of}: ${error.message}`);
    throw error;
  }
}

function readName(document: Members): string {
  return checked(() => checkName(document.client_name), 'of its client_name');
}

/**
 * Returns the redirect URIs that this server can use. Skips others, which the client may use with
 * other servers.
 */
function readRedirectUris(document: Members, applicationType: ApplicationType): readonly string[] {
  const uris = document.redirect_uris.filter(
    (uri) => redirectUriProblem(uri, applicationType) === null,
  );
  if (uris.length > 0) return [...new Set(uris)];
  const [first = ''] = document.redirect_uris;
  throw new DocumentError(
    'none of its redirect_uris can be used: the ' +
      `first ${redirectUriProblem(first, applicationType) ?? ''}`,
  );
}

function readGrants(document: Members, grantTypes: GrantTypes): readonly Grant[] {
  const grants = grantsNamed(document.grant_types, grantTypes.registrable(true));
  if (grants.includes('authorization_code')) return grants;
  throw new DocumentError('its grant_types do not include authorization_code');
}

/**
 * Returns the document's scopes that the server offers, or all offered scopes if the document has
 * none. Throws a DocumentError if none remains. Document clients cannot get `mcp:service`. The
 * user's permissions limit the scopes further.
 */
function readScopes({ scope }: Members, catalog: ScopeCatalog): readonly string[] {
  const offered = [...catalog.keys()].filter((name) => !SERVICE_SCOPES.has(name));
  const scopes = scopesNamed(scope, offered);
  if (scopes.length === 0) throw new DocumentError('this server offers none of its scopes');
  return scopes;
}

function readAlgorithm(
  { id_token_signed_response_alg: named }: Members,
  { unnamedAlgorithm, algorithms }: DocumentRules,
): SigningAlgorithm {
  if (named === undefined) return unnamedAlgorithm;
  if (!algorithms.has(named))
    throw new DocumentError('this server does not offer its id_token_signed_response_alg');
  return named;
}
