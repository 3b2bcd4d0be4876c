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
  Workload,
} from '../store/client.ts';
import { DEFAULT_ALGORITHM, missingKey } from '../keys/algorithms.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { subjectProblem } from '../assertions/workloads.ts';
import { quoted, quotedPublic } from '../quoting.ts';
import { getDemands } from '../store/client-demands.ts';
import { checkClientKeys } from './key-sets.ts';
import type { FurtherValues } from '../further-metadata/further-metadata.ts';
import type { GrantTypes } from '../store/grant-types.ts';
import type { Server } from '../server.ts';
import { hasScheme, redirectUriProblem, schemeProblem } from './redirect-uris.ts';

/** An application to register. */
export interface ClientRegistration {
  /** The name on the consent screen, 1 to 100 characters. */
  readonly name: string;
  /**
   * The redirect URIs. A request's URI must match exactly, except for the port of a native
   * application's loopback address.
   */
  readonly redirectUris?: readonly string[];
  /**
   * The scopes that the client may request. Each is built in or listed in `oauth_server:scopes`.
   */
  readonly scopes?: readonly string[];
  /**
   * The client's grant types. If you list no grant type, a client with a redirect URI may use
   * `authorization_code` and `refresh_token`. You can also list the right `introspection`, which
   * does not change this default.
   */
  readonly grants?: readonly string[];
  /** Whether the client is public: it cannot keep a secret. */
  readonly public?: boolean;
  /**
   * `web` (the default), or `native` for a program on a device (RFC 8252). The loopback redirect
   * URIs of a native application (`http://127.0.0.1/…`, `http://[::1]/…`, `http://localhost/…`)
   * match on any port. A native application may use private-use schemes with a dot, such as
   * `com.example.app:/callback`.
   */
  readonly applicationType?: string;
  /**
   * Private-use schemes without a dot that a native application's redirect URIs may use, such as
   * `cursor` for `cursor://…`. You must name each of these schemes, because any program on a device
   * can claim one and receive this client's responses.
   */
  readonly allowedSchemes?: readonly string[];
  /**
   * The client's public keys as a key set (RFC 7517). The client then authenticates only with these
   * keys (`private_key_jwt`). Requires `oauth_server:private_key_jwt`.
   */
  readonly jwks?: unknown;
  /** The `https` URL where the client publishes its key set. Use it instead of `jwks`. */
  readonly jwksUri?: string;
  /**
   * The only algorithm that the client may sign assertions with: `RS256`, `PS256`, `ES256`, `EdDSA`
   * or `Ed25519`. By default, it may use any of these.
   */
  readonly tokenEndpointAuthSigningAlg?: string;
  /**
   * Instead of a secret or keys: the workload that the client is. Its platform signs a token for
   * it, such as a Kubernetes service account token or a SPIFFE JWT-SVID. Requires that
   * `oauth_server:workload_identity` is on, and that the issuer is in
   * `oauth_server:trusted_issuers` with `asserts: ['clients']`.
   */
  readonly workload?: Workload;
  /**
   * Whether the client must push its authorization requests (RFC 9126 section 6). Requires that
   * `oauth_server:pushed_authorization_requests` is not off.
   */
  readonly requirePushedAuthorizationRequests?: boolean;
  /**
   * Whether the client gets only tokens that are bound to a key. The client proves this key with
   * every request (DPoP, RFC 9449). Requires that `oauth_server:dpop` is not off.
   */
  readonly dpopBoundAccessTokens?: boolean;
  /**
   * The algorithm that signs the client's ID tokens: `RS256` (the default), `ES256` or `EdDSA`
   * (Ed25519). The server must have a key for it (`oauth:keys:generate --alg`), and the client must
   * have the scope `openid`.
   */
  readonly idTokenSignedResponseAlg?: string;
  /**
   * The client's website (`client_uri` in RFC 7591), an `https` URL. The consent screen shows it.
   */
  readonly siteUri?: string;
  /**
   * The client's logo, at most 64 KB and 512 × 512 pixels. Its bytes must be a PNG, JPEG, GIF or
   * WebP picture. The server stores the logo and serves it on the consent and applications pages.
   * Requires that `oauth_server:client_logos` is on.
   */
  readonly logo?: Uint8Array;
  /**
   * The `https` URL of the logo. Use it instead of `logo`. The server fetches the logo once, at
   * registration.
   */
  readonly logoUri?: string;
  /**
   * The security profile that the client must meet. `fapi2` is the FAPI 2.0 Security Profile. It
   * requires that ID tokens are signed with ES256 or EdDSA. You must also turn on
   * `private_key_jwt`, DPoP and pushed authorization requests.
   */
  readonly profile?: string;
  /**
   * Metadata that features add, by their names in RFC 7591, such as `post_logout_redirect_uris`.
   */
  readonly metadata?: FurtherValues;
}

/** The default grants for a client with a redirect URI. */
const CODE_GRANTS: readonly Grant[] = ['authorization_code', 'refresh_token'];

/** The properties of a new client that are not metadata. */
interface Beginning {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
  readonly secretHash: string | null;
  /** Milliseconds since 1970. If absent or null, the secret never expires. */
  readonly secretExpiresAt?: number | null;
  readonly createdAt: number;
}

/** A client's metadata before its ID token algorithm is chosen. */
type Described = Omit<ClientMetadata, 'idTokenSignedResponseAlg'>;

/** Returns a new client: not revoked, never used, with at most one secret. */
export function newClient(described: ClientMetadata, begun: Beginning): Client {
  const later = {
    previousSecretHash: null,
    previousSecretExpiresAt: null,
    usedAt: null,
    revokedAt: null,
  };
  return { ...described, secretExpiresAt: null, ...begun, ...later };
}

/** Whether the client authenticates with a secret. */
export function hasSecret({ public: isPublic, keys }: ClientMetadata): boolean {
  return !isPublic && keys === null;
}

/**
 * Checks a registration and completes it. Throws a RegistrationError that explains the problem. For
 * an update, `before` is the client to change: its existing URLs are not checked again.
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
  server.furtherMetadata.check(registration.metadata ?? {}, applicationType);
  const redirectUris = checkRedirectUris(registration, applicationType, before?.redirectUris);
  const scopes = checkScopes(registration.scopes ?? [], catalog);
  const isPublic = registration.public ?? false;
  const clientKeys =
    checkWorkload(registration, isPublic, server, before) ??
    checkKeys(registration, isPublic, fetching.anyPort ?? false, before);
  const grants = checkGrants(registration.grants ?? [], redirectUris, isPublic, grantTypes);
  requireScopes(scopes, grants, grantTypes);
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
    // If the client has its own profile, also store the profile's demands in the client's row.
    ...getDemands(registration, profile !== null),
    profile,
  };
  const preferred = profiles.of(described)?.idTokenAlgorithms ?? null;
  // Report disabled features and the profile's restrictions before a missing key. Otherwise an
  // operator might create a key that does not solve the problem.
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

/** A client that gets tokens has scopes, and those about a person only if it acts for people. */
function requireScopes(
  scopes: readonly string[],
  grants: readonly string[],
  grantTypes: GrantTypes,
): void {
  const named = grants.filter((grant) => grant !== 'introspection');
  if (named.length > 0 && scopes.length === 0) {
    throw new RegistrationError('The client has no scope; add at least one with --scope');
  }
  if (named.length > 0 && !grantTypes.begin(named, 'person')) {
    const personal = scopes.find((scope) => Object.hasOwn(IDENTITY_SCOPES, scope));
    if (personal !== undefined) {
      throw new RegistrationError(
        `The scope ${personal} is about a person; remove it, because client_credentials ` +
          'tokens belong to no person',
      );
    }
  }
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
    throw new RegistrationError(
      'A client with keys authenticates with them, so it cannot be public',
    );
  const isKept = jwksUri !== undefined && jwksUri === before?.keys?.jwksUri;
  return checkClientKeys({ jwks, jwksUri, algorithm }, anyPort || isKept);
}

/** Returns the workload in the form of keys. Null if the registration names none. */
function checkWorkload(
  { workload, jwks, jwksUri, tokenEndpointAuthSigningAlg: algorithm }: ClientRegistration,
  isPublic: boolean,
  { trustedIssuers }: Server,
  before: Client | null,
): ClientKeys | null {
  if (workload === undefined) return null;
  const { issuer, subject } = workload;
  if (isPublic)
    throw new RegistrationError('A workload authenticates with its token, so it cannot be public');
  if (jwks !== undefined || jwksUri !== undefined || algorithm !== undefined)
    throw new RegistrationError(
      'The client has both a workload and keys; leave one out, because it authenticates in one way',
    );
  const keys = { jwks: null, jwksUri: null, algorithm: null, workload: { issuer, subject } };
  // The issuer may have been removed since. That does not block other changes.
  const known = before?.keys?.workload;
  if (known?.issuer === issuer && known.subject === subject) return keys;
  if (!trustedIssuers.trusts(issuer, 'clients'))
    throw new RegistrationError(
      `The issuer ${quotedPublic(issuer)} is not in oauth_server:trusted_issuers with asserts: ` +
        "['clients']; add it first",
    );
  const problem = subjectProblem(issuer, subject);
  if (problem !== null)
    throw new RegistrationError(`The subject ${quotedPublic(subject)} ${problem}`);
  return keys;
}

export function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '')
    throw new RegistrationError('The client needs a name; use one that people recognise');
  if (trimmed.length > 100) throw new RegistrationError('The name is longer than 100 characters');
  // Control and bidirectional characters could make one name look like another on the consent
  // screen.
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(trimmed)) {
    throw new RegistrationError('The name contains control or invisible characters; remove them');
  }
  // Databases cannot store an unpaired surrogate, and pages cannot show it.
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
    if (problem !== null)
      throw new RegistrationError(`The redirect URI ${JSON.stringify(uri)} ${problem}`);
  }
  return [...new Set(uris)];
}

/** Throws if an allowed scheme belongs to no redirect URI. */
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
      throw new RegistrationError(
        `The scheme ${named} is only for native applications; add --native`,
      );
    }
    if (!uris.some((uri) => hasScheme(uri, scheme))) {
      throw new RegistrationError(
        `No redirect URI has the scheme ${named}; add one, or remove the option`,
      );
    }
  }
}

function checkScopes(requested: readonly string[], catalog: ScopeCatalog): readonly string[] {
  // Every client may send this scope, and the scope grants nothing. So accept it, but do not store
  // it.
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
      'The client has no grant; add --redirect or --grant=client_credentials',
    );
  }
  for (const grant of rights) {
    if (isPublic && named.has(grant) && grantTypes.isConfidential(grant)) {
      throw new RegistrationError(
        `A public client cannot have the grant ${grant}, because it has no secret`,
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
      'A --redirect needs the grant authorization_code; add that grant, or remove the redirect',
    );
  }
  return rights.filter((grant) => named.has(grant));
}

/**
 * Returns the first of these algorithms for which the server has a key. Returns null if there is
 * none.
 */
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
      `The server has no signing key for ${preferred.join(' or ')}; run npx portico ` +
        `${command} first`,
    );
  }
  if (!keys.algorithms.has(requested)) {
    throw new RegistrationError(
      // A client that registers itself can send any text, and the log contains this message.
      `The ID token algorithm ${quoted(requested)} is unknown; it is one ` +
        `of ${keys.algorithms.names.join(', ')}`,
    );
  }
  if (!scopes.includes('openid') || !isForPeople) {
    throw new RegistrationError(
      'An ID token needs the scope openid and a --redirect; add both, or remove --id-token-alg',
    );
  }
  if (!(await keys.all()).some((key) => key.algorithm === requested)) {
    const { key, command } = missingKey(requested);
    throw new RegistrationError(`The server has ${key}; run npx portico ${command} first`);
  }
  return requested;
}
