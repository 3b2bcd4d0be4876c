import { RegistrationError } from '../errors.ts';
import { OFFLINE_ACCESS, type ScopeCatalog } from '../tokens/scopes.ts';
import type { ApplicationType, Client, ClientMetadata, Workload } from '../store/client.ts';
import { DEFAULT_ALGORITHM } from '../keys/algorithms.ts';
import { getDemands } from '../store/client-demands.ts';
import type { FurtherValues } from '../store/further-metadata.ts';
import type { Server } from '../server.ts';
import { checkAlgorithm } from './id-token-algorithms.ts';
import { checkRedirectUris } from './redirect-uris.ts';
import { checkGrants, requireScopes } from './registered-grants.ts';
import { checkKeys } from './registered-keys.ts';

/** An application to register. */
export interface ClientRegistration {
  /** The name that the consent page shows, 1 to 100 characters long. */
  readonly name: string;
  /**
   * The redirect URIs. The redirect URI in a request must match one of them exactly. The only
   * exception is the port of a native application's loopback URI, which may differ.
   */
  readonly redirectUris?: readonly string[];
  /**
   * The scopes that the client may request. Each scope must be built in or listed in
   * `oauth_server:scopes`.
   */
  readonly scopes?: readonly string[];
  /**
   * The client's grant types. Add `introspection` to let the client use the introspection endpoint.
   * If a client with a redirect URI has no grant type, or only `introspection`, it also gets
   * `authorization_code` and `refresh_token`.
   */
  readonly grants?: readonly string[];
  /** True for a public client, which cannot keep a secret. Default: false. */
  readonly public?: boolean;
  /**
   * `web` (the default), or `native` for a program on a device (RFC 8252). The loopback redirect
   * URIs of a native application (`http://127.0.0.1/…`, `http://[::1]/…`, `http://localhost/…`)
   * match on any port. A native application may also use private-use schemes with a dot, for
   * example `com.example.app:/callback`.
   */
  readonly applicationType?: string;
  /**
   * Private-use schemes without a dot that the redirect URIs of a native application may use, for
   * example `cursor` for `cursor://…`. Any program on the device can claim such a scheme and
   * receive this client's responses. So you must list each scheme that you allow.
   */
  readonly allowedSchemes?: readonly string[];
  /**
   * The client's public keys as a key set (RFC 7517). If set, the client authenticates only with
   * these keys (`private_key_jwt`). Requires `oauth_server:private_key_jwt`.
   */
  readonly jwks?: unknown;
  /** The `https` URL where the client publishes its key set. Use it instead of `jwks`. */
  readonly jwksUri?: string;
  /**
   * The only algorithm that the client may use to sign assertions: `RS256`, `PS256`, `ES256`,
   * `EdDSA` or `Ed25519`. By default, the client may use any of them.
   */
  readonly tokenEndpointAuthSigningAlg?: string;
  /**
   * The client's workload, for a client that needs no secret or keys. The platform on which the
   * client runs signs a token for it, for example a Kubernetes service account token or a SPIFFE
   * JWT-SVID. Requires `oauth_server:workload_identity`. The issuer of these tokens must be in
   * `oauth_server:trusted_issuers` with `asserts: ['clients']`.
   */
  readonly workload?: Workload;
  /**
   * True if the client must push its authorization requests (RFC 9126 section 6). Then
   * `oauth_server:pushed_authorization_requests` must not be off.
   */
  readonly requirePushedAuthorizationRequests?: boolean;
  /**
   * True if all tokens of the client are bound to a key. The client must prove this key when it
   * gets tokens and when it uses them (DPoP, RFC 9449). `oauth_server:dpop` must not be off.
   */
  readonly dpopBoundAccessTokens?: boolean;
  /**
   * The algorithm that signs the client's ID tokens: `RS256`, `ES256` or `EdDSA` (Ed25519). The
   * server must have a key for this algorithm (`oauth:keys:generate --alg`), and the client must
   * have the scope `openid` and a grant type for people. Default: `RS256`, or the first algorithm
   * of the profile for which the server has a key.
   */
  readonly idTokenSignedResponseAlg?: string;
  /**
   * The `https` URL of the client's website (`client_uri` in RFC 7591). The consent page shows it.
   */
  readonly siteUri?: string;
  /**
   * The client's logo: a PNG, JPEG, GIF or WebP picture of at most 64 KB and 512 × 512 pixels. The
   * server stores the logo and shows it on the consent and applications pages. Requires that
   * `oauth_server:client_logos` is on.
   */
  readonly logo?: Uint8Array;
  /**
   * The `https` URL of the client's logo. Use it instead of `logo`. The server fetches the logo
   * once, at registration.
   */
  readonly logoUri?: string;
  /**
   * The security profile that the client must follow. `fapi2` is the FAPI 2.0 Security Profile. It
   * requires that ID tokens are signed with ES256 or EdDSA. You must also turn on
   * `private_key_jwt`, DPoP and pushed authorization requests.
   */
  readonly profile?: string;
  /**
   * Values for metadata fields that features add, by field name, for example
   * `post_logout_redirect_uris`.
   */
  readonly metadata?: FurtherValues;
}

type Described = Omit<ClientMetadata, 'idTokenSignedResponseAlg'>;

/** The existing client for an update, or null for a new client. */
interface Before {
  readonly client: Client | null;
  /** Whether the update keeps all scopes and grants of the client. */
  readonly keepsRights: boolean;
}

const NEW: Before = { client: null, keepsRights: false };

/**
 * Checks a registration and adds its defaults. Throws a RegistrationError if the registration is
 * not valid. For an update, the redirect URIs of the existing client, its workload and the port of
 * its `jwks_uri` are not checked again. Nor are its scopes and grants if the update keeps them.
 */
export async function checkRegistration(
  registration: ClientRegistration,
  server: Server,
  { client: before, keepsRights }: Before = NEW,
): Promise<ClientMetadata> {
  const { scopes: catalog, keys, profiles } = server;
  const grantTypes = server.grantTypes();
  const name = checkName(registration.name);
  const applicationType = checkApplicationType(registration.applicationType ?? 'web');
  server.furtherMetadata.check(registration.metadata ?? {}, applicationType);
  const redirectUris = checkRedirectUris(
    registration.redirectUris ?? [],
    registration.allowedSchemes ?? [],
    applicationType,
    before?.redirectUris,
  );
  const scopes = checkScopes(registration.scopes ?? [], catalog);
  const isPublic = registration.public ?? false;
  const clientKeys = checkKeys(registration, isPublic, server, before);
  const grants = keepsRights
    ? (registration.grants ?? [])
    : checkGrants(registration.grants ?? [], redirectUris, isPublic, grantTypes);
  if (!keepsRights) requireScopes(scopes, grants, grantTypes);
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
    // A profile demands all of these, even if the registration does not list them.
    ...getDemands(registration, profile !== null),
    profile,
  };
  const preferred = profiles.of(described)?.idTokenAlgorithms ?? null;
  // Check the features and the profile before the signing key. Otherwise, an operator might create
  // a key first and then learn of another problem.
  const { idTokenSignedResponseAlg: asked } = registration;
  const [likely = DEFAULT_ALGORITHM] = preferred ?? [];
  profiles.requireRegistrable({
    ...described,
    idTokenSignedResponseAlg: keys.algorithms.has(asked) ? asked : likely,
  });
  const idTokenSignedResponseAlg = await checkAlgorithm(
    asked,
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
  const named = known.length === 0 ? '' : `; use ${known.join(' or ')}`;
  throw new RegistrationError(`The profile ${JSON.stringify(requested)} is unknown${named}`);
}

export function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '')
    throw new RegistrationError('The client needs a name; use one that people recognise');
  if (trimmed.length > 100) throw new RegistrationError('The name is longer than 100 characters');
  // Such characters could make a name look like another name on the consent page.
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
    `The application type ${JSON.stringify(requested)} is unknown; use web or native`,
  );
}

function checkScopes(requested: readonly string[], catalog: ScopeCatalog): readonly string[] {
  // Every client may request `offline_access`, and it grants nothing. Do not store it.
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
