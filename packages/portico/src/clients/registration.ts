import { RegistrationError } from '../errors.ts';
import { IDENTITY_SCOPES, OFFLINE_ACCESS, type ScopeCatalog } from '../tokens/scopes.ts';
import type {
  ApplicationType,
  Client,
  ClientKeys,
  ClientMetadata,
  Grant,
  RegisteredBy,
  SigningAlgorithm,
} from '../store/client.ts';
import { DEFAULT_ALGORITHM, missingKey } from '../keys/algorithms.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { quoted } from '../quoting.ts';
import { getDemands } from '../store/client-demands.ts';
import { checkClientKeys } from './key-sets.ts';
import type { GrantTypes } from '../store/grant-types.ts';
import type { Server } from '../server.ts';
import { hasScheme, redirectUriProblem, schemeProblem } from './redirect-uris.ts';

/** An application to register. */
export interface ClientRegistration {
  /** Shown to people on the consent screen; 1 to 100 characters. */
  readonly name: string;
  /**
   * Matched character by character, but for the port of a native application's loopback address.
   */
  readonly redirectUris?: readonly string[];
  /** What the client may ask for; each is built in or one of `oauth_server:scopes`. */
  readonly scopes?: readonly string[];
  /**
   * Without a grant type here, a client with a redirect URI may use `authorization_code` and
   * `refresh_token`. The right `introspection` stands beside the grant types and takes none away.
   */
  readonly grants?: readonly string[];
  /** For an application that cannot keep a secret. */
  readonly public?: boolean;
  /**
   * `native` for a program on a device (RFC 8252): its loopback redirect URIs
   * (`http://127.0.0.1/…`, `http://[::1]/…`, `http://localhost/…`) match on any port, and it may
   * have private-use schemes with a dot, such as `com.example.app:/callback`. `web` unless given.
   */
  readonly applicationType?: string;
  /**
   * Private-use schemes without a dot that redirect URIs of a native application may have, such as
   * `cursor` for `cursor://…`. Any program on a device can claim such a scheme and take the answer
   * in place of this client, so each has to be named here.
   */
  readonly allowedSchemes?: readonly string[];
  /**
   * The public keys that the client authenticates by, and by nothing else (`private_key_jwt`): a
   * key set (RFC 7517). Requires that `oauth_server:private_key_jwt` is on.
   */
  readonly jwks?: unknown;
  /** Instead of `jwks`: the `https` URL where the client publishes it. */
  readonly jwksUri?: string;
  /**
   * The only algorithm that its assertions may be signed with: `RS256`, `PS256`, `ES256`, `EdDSA`
   * or `Ed25519`. Any of these unless given.
   */
  readonly tokenEndpointAuthSigningAlg?: string;
  /**
   * Whether it may start an authorization only with a request that it pushes (RFC 9126 section 6).
   * Requires that `oauth_server:pushed_authorization_requests` is not off.
   */
  readonly requirePushedAuthorizationRequests?: boolean;
  /**
   * Whether it gets only tokens that are bound to a key, which it proves with every request (DPoP,
   * RFC 9449). Requires that `oauth_server:dpop` is not off.
   */
  readonly dpopBoundAccessTokens?: boolean;
  /**
   * `RS256`, `ES256` or `EdDSA` (Ed25519): what its ID tokens are signed with, RS256 unless given.
   * The server must have a key for it (`oauth:keys:generate --alg`), and the client the scope
   * `openid`.
   */
  readonly idTokenSignedResponseAlg?: string;
  /** Its website (`client_uri` of RFC 7591), an `https` URL. The consent screen shows it. */
  readonly siteUri?: string;
  /**
   * A picture, of at most 64 KB and 512 × 512 pixels: PNG, JPEG, GIF or WebP by its bytes. It is
   * kept, and served by this server alone, on the pages of consent and applications. Where
   * `oauth_server:client_logos` is on.
   */
  readonly logo?: Uint8Array;
  /** Instead of `logo`: the `https` URL of the picture. It is fetched once, at registration. */
  readonly logoUri?: string;
  /**
   * The security profile that the client is held to. `fapi2` is the FAPI 2.0 Security Profile: its
   * ID tokens are signed with ES256 or EdDSA, and `private_key_jwt`, DPoP and pushed authorization
   * requests have to be switched on.
   */
  readonly profile?: string;
}

/** The default grants of a client with a redirect URI. */
const CODE_GRANTS: readonly Grant[] = ['authorization_code', 'refresh_token'];

/** What a new client has in addition to its metadata. */
interface Beginning {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
  readonly secretHash: string | null;
  readonly createdAt: number;
}

/** The metadata of a client before its ID token algorithm is chosen. */
type Described = Omit<ClientMetadata, 'idTokenSignedResponseAlg'>;

/** A new client: never used, not revoked, with one secret or none. */
export function newClient(described: ClientMetadata, begun: Beginning): Client {
  const later = { previousSecretHash: null, previousSecretExpiresAt: null, usedAt: null, revokedAt: null };
  return { ...described, ...begun, ...later };
}

/** Whether the client authenticates with a secret. */
export function hasSecret({ public: isPublic, keys }: ClientMetadata): boolean {
  return !isPublic && keys === null;
}

/**
 * Checks a registration, and completes it; throws a RegistrationError that says what is wrong.
 * `before` is the client that it changes: URLs that it has are not judged again.
 */
export async function checkRegistration(
  registration: ClientRegistration,
  server: Server,
  before: Client | null = null,
): Promise<ClientMetadata> {
  const { scopes: catalog, keys, profiles, fetching } = server;
  const grantTypes = server.grantTypes();
  const name = checkName(registration.name);
  const applicationType = checkApplicationType(registration.applicationType ?? 'web');
  const redirectUris = checkRedirectUris(registration, applicationType, before?.redirectUris);
  const scopes = checkScopes(registration.scopes ?? [], catalog);
  const isPublic = registration.public ?? false;
  const clientKeys = checkKeys(registration, isPublic, fetching.anyPort ?? false, before);
  const grants = checkGrants(registration.grants ?? [], redirectUris, isPublic, grantTypes);
  const named = grants.filter((grant) => grant !== 'introspection');
  if (named.length > 0 && scopes.length === 0) {
    throw new RegistrationError('The client has no scope; name at least one with --scope');
  }
  if (named.length > 0 && !grantTypes.begin(named, 'person')) {
    const personal = scopes.find((scope) => Object.hasOwn(IDENTITY_SCOPES, scope));
    if (personal !== undefined) {
      throw new RegistrationError(
        `The scope ${personal} is about a person; a client-credentials token has none`,
      );
    }
  }
  const isForPeople = grantTypes.begin(grants, 'person');
  const profile = checkProfile(registration.profile, profiles.names);
  const described: Described = {
    name,
    redirectUris,
    scopes,
    grants,
    public: isPublic,
    applicationType,
    keys: clientKeys,
    // A profile of this one client is also stored in its row.
    ...getDemands(registration, profile !== null),
    profile,
  };
  const preferred = profiles.of(described)?.idTokenAlgorithms ?? null;
  // Report what is switched off, and what the profile does not allow, before a missing key: so no
  // one makes a key in vain.
  const { idTokenSignedResponseAlg: asked } = registration;
  const [likely = DEFAULT_ALGORITHM] = preferred ?? [];
  profiles.requireRegistrable({
    ...described,
    idTokenSignedResponseAlg: keys.algorithms.has(asked) ? asked : likely,
  });
  const idTokenSignedResponseAlg = await checkAlgorithm(
    registration,
    { scopes, isForPeople },
    keys,
    preferred,
  );
  const checked = { ...described, idTokenSignedResponseAlg };
  profiles.requireRegistrable(checked);
  return checked;
}

function checkProfile(requested: string | undefined, known: readonly string[]): string | null {
  if (requested === undefined || known.includes(requested)) return requested ?? null;
  const named = known.length === 0 ? '' : `; it is ${known.join(' or ')}`;
  throw new RegistrationError(`The profile ${JSON.stringify(requested)} is unknown${named}`);
}

function checkKeys(
  registration: ClientRegistration,
  isPublic: boolean,
  anyPort: boolean,
  before: Client | null,
): ClientKeys | null {
  const { jwks, jwksUri, tokenEndpointAuthSigningAlg: algorithm } = registration;
  if (jwks === undefined && jwksUri === undefined && algorithm === undefined) return null;
  if (isPublic)
    throw new RegistrationError('A client with keys authenticates with them, so it cannot be public');
  const isKept = jwksUri !== undefined && jwksUri === before?.keys?.jwksUri;
  return checkClientKeys({ jwks, jwksUri, algorithm }, anyPort || isKept);
}

export function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw new RegistrationError('The client needs a name that people will recognise');
  if (trimmed.length > 100) throw new RegistrationError('The name is longer than 100 characters');
  // Control and bidirectional characters could make one name look like another on the consent
  // screen.
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(trimmed)) {
    throw new RegistrationError('The name contains control or invisible characters');
  }
  // Databases and pages cannot store half a character.
  if (!trimmed.isWellFormed()) throw new RegistrationError('The name is not well-formed Unicode');
  return trimmed;
}

function checkApplicationType(requested: string): ApplicationType {
  if (requested === 'web' || requested === 'native') return requested;
  throw new RegistrationError(
    `The application type ${JSON.stringify(requested)} is unknown; it is web or native`,
  );
}

function checkRedirectUris(
  { redirectUris: uris = [], allowedSchemes = [] }: ClientRegistration,
  applicationType: ApplicationType,
  before: readonly string[] = [],
): readonly string[] {
  requireSchemes(allowedSchemes, uris, applicationType);
  for (const uri of uris) {
    if (before.includes(uri)) continue;
    const problem = redirectUriProblem(uri, applicationType, allowedSchemes);
    if (problem !== null) throw new RegistrationError(`The redirect URI ${JSON.stringify(uri)} ${problem}`);
  }
  return [...new Set(uris)];
}

/** A scheme that an operator allows must belong to one of the redirect URIs. */
function requireSchemes(
  schemes: readonly string[],
  uris: readonly string[],
  applicationType: ApplicationType,
): void {
  for (const scheme of schemes) {
    const named = JSON.stringify(scheme);
    const problem = schemeProblem(scheme);
    if (problem !== null) throw new RegistrationError(`The scheme ${named} ${problem}`);
    if (applicationType !== 'native') {
      throw new RegistrationError(`The scheme ${named} needs a native application; add --native`);
    }
    if (!uris.some((uri) => hasScheme(uri, scheme))) {
      throw new RegistrationError(`No redirect URI has the scheme ${named}; add one, or do not allow it`);
    }
  }
}

function checkScopes(requested: readonly string[], catalog: ScopeCatalog): readonly string[] {
  // Every client may send this scope, and it grants nothing: it is accepted here and not stored.
  const names = requested.filter((name) => name !== OFFLINE_ACCESS);
  const unknown = names.find((name) => !catalog.has(name));
  if (unknown !== undefined) {
    const offered = [...catalog.keys()].join(', ');
    throw new RegistrationError(
      `The scope ${JSON.stringify(unknown)} is unknown; this server offers ${offered}`,
    );
  }
  return [...new Set(names)];
}

function checkGrants(
  requested: readonly string[],
  redirectUris: readonly string[],
  isPublic: boolean,
  grantTypes: GrantTypes,
): readonly Grant[] {
  const { rights } = grantTypes;
  const unknown = requested.find((grant) => !rights.includes(grant));
  if (unknown !== undefined) {
    throw new RegistrationError(
      `The grant ${JSON.stringify(unknown)} is unknown; it is one of ${rights.join(', ')}`,
    );
  }
  const named = new Set<Grant>(requested);
  const choosesTypes = [...named].some((grant) => grant !== 'introspection');
  if (!choosesTypes && redirectUris.length > 0) for (const grant of CODE_GRANTS) named.add(grant);

  if (named.size === 0) {
    throw new RegistrationError(
      'The client has no grant; give it a --redirect, or --grant=client_credentials',
    );
  }
  for (const grant of rights) {
    if (isPublic && named.has(grant) && grantTypes.isConfidential(grant)) {
      throw new RegistrationError(
        `A public client cannot have the grant ${grant}: it has no secret to authenticate with`,
      );
    }
  }
  if (named.has('refresh_token') && !grantTypes.begin([...named], 'person')) {
    const beginnings = grantTypes.beginning('person').join(' or ');
    throw new RegistrationError(`The grant refresh_token also needs ${beginnings}`);
  }
  if (named.has('authorization_code') && redirectUris.length === 0) {
    throw new RegistrationError('The grant authorization_code needs a --redirect');
  }
  if (!named.has('authorization_code') && redirectUris.length > 0) {
    throw new RegistrationError(
      'A --redirect works only with the grant authorization_code; add that grant, or leave the redirect out',
    );
  }
  return rights.filter((grant) => named.has(grant));
}

/** The first of these with a key. Null if none has one. */
export async function firstWithKey(
  algorithms: readonly SigningAlgorithm[],
  keys: KeyRing,
): Promise<SigningAlgorithm | null> {
  const known = await keys.all();
  return algorithms.find((each) => known.some((key) => key.algorithm === each)) ?? null;
}

async function checkAlgorithm(
  { idTokenSignedResponseAlg: requested }: ClientRegistration,
  { scopes, isForPeople }: { readonly scopes: readonly string[]; readonly isForPeople: boolean },
  keys: KeyRing,
  preferred: readonly SigningAlgorithm[] | null,
): Promise<SigningAlgorithm> {
  if (requested === undefined) {
    if (preferred === null || !scopes.includes('openid')) return DEFAULT_ALGORITHM;
    const offered = await firstWithKey(preferred, keys);
    if (offered !== null) return offered;
    const { command } = missingKey(preferred[0] ?? DEFAULT_ALGORITHM);
    throw new RegistrationError(
      `The server has no signing key for ${preferred.join(' or ')}; run npx portico ${command} first`,
    );
  }
  if (!keys.algorithms.has(requested)) {
    throw new RegistrationError(
      // A client that registers itself can send any text, and the message is in the log.
      `The ID token algorithm ${quoted(requested)} is unknown; it is one of ${keys.algorithms.names.join(', ')}`,
    );
  }
  if (!scopes.includes('openid') || !isForPeople) {
    throw new RegistrationError(
      'An ID token needs the scope openid and a --redirect; give the client both, or leave --id-token-alg out',
    );
  }
  if (!(await keys.all()).some((key) => key.algorithm === requested)) {
    const { key, command } = missingKey(requested);
    throw new RegistrationError(`The server has ${key}; run npx portico ${command} first`);
  }
  return requested;
}
