/** What a client may be granted: grant types of RFC 6749, and the right to ask the introspection endpoint. */
export type Grant = 'authorization_code' | 'refresh_token' | 'client_credentials' | 'introspection';

/** What an ID token may be signed with (RFC 7518 section 3.1, RFC 8037 section 3.1; EdDSA with Ed25519). */
export type SigningAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

/** Where the answer of an application's person goes (RFC 8252, RFC 7591 section 2): a web server, or a program on a device. */
export type ApplicationType = 'web' | 'native';

/**
 * Who said what a client is: an operator, the client itself at the registration endpoint (RFC 7591), or the document that its id
 * is the URL of. Whoever is not registered by an operator may be anybody.
 */
export type RegisteredBy = 'operator' | 'registration' | 'document';

/** A registered application. Times are milliseconds since 1970 in all of this file. */
export interface Client {
  /** Never changes. */
  readonly id: string;
  /** What people are shown. */
  readonly name: string;
  /** Compared character by character; empty for a client without the authorization code grant. */
  readonly redirectUris: readonly string[];
  /** What it may ask for. */
  readonly scopes: readonly string[];
  /** How it may ask. */
  readonly grants: readonly Grant[];
  /** What its ID tokens are signed with. */
  readonly idTokenSignedResponseAlg: SigningAlgorithm;
  /** An application that cannot keep a secret: identified, not authenticated. */
  readonly public: boolean;
  /** Of a native application's loopback redirect URIs the port may be any. */
  readonly applicationType: ApplicationType;
  /** Who said all this. */
  readonly registeredBy: RegisteredBy;
  /** What it authenticates by, and by nothing else (`private_key_jwt`); null for a client with a secret, and for a public one. */
  readonly keys: ClientKeys | null;
  /** Whether it asks for nothing but by requests that it pushed (RFC 9126 section 6). */
  readonly pushesRequests: boolean;
  /** Whether it demands that its tokens are bound to a key that it proves (RFC 9449 section 5.2). */
  readonly dpopBoundAccessTokens: boolean;
  /** The profile that it is held to, such as `fapi2`; null when it is held to none but the server's. */
  readonly profile: string | null;
  /** By the host's password hasher; null for a public client, and for one with keys. */
  readonly secretHash: string | null;
  /** The secret before the last rotation, accepted until the end of its overlap window. */
  readonly previousSecretHash: string | null;
  /** Milliseconds since 1970. */
  readonly previousSecretExpiresAt: number | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /**
   * When it was last used, to the day, milliseconds since 1970: somebody allowed it, or tokens were issued. Null when it never was, and
   * for a client that an operator registered.
   */
  readonly usedAt: number | null;
  /** Null while the client lives. Its tokens live no longer than it does. */
  readonly revokedAt: number | null;
  /** Its web site (`client_uri` of RFC 7591), as an operator named it; absent for none, and for what strangers say. */
  readonly siteUri?: string;
  /** SHA-256 of the logo that an operator gave it; absent for none. */
  readonly logoHash?: string;
}

/** The logo of a client: a picture that an operator chose, looked at by its bytes. */
export interface ClientLogo {
  /** SHA-256, base64url. */
  readonly hash: string;
  /** Such as `image/png`. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** The public keys of a client, of which one signs its assertions (OpenID Connect Core section 9). */
export interface ClientKeys {
  /** The key set (RFC 7517), as JSON; null when the client publishes it. */
  readonly jwks: string | null;
  /** Where the client publishes it; null when it is known here. */
  readonly jwksUri: string | null;
  /** What alone it signs with (`token_endpoint_auth_signing_alg`); null when any will do. */
  readonly algorithm: string | null;
}

/** A client as its document described it when it was last kept. */
export interface DocumentClient {
  readonly client: Client;
  /** Milliseconds since 1970. */
  readonly freshUntil: number;
}

/** A client that registers itself (RFC 7591). */
export interface NewRegistration {
  readonly client: Client;
  /** SHA-256 of the registration access token, by which it is known later. */
  readonly tokenHash: string;
  /** Where it came from; empty when that is not known. */
  readonly network: string;
  /** SHA-256 of the initial access token of which this is a use; null without one. */
  readonly initialTokenHash: string | null;
}

/** How many clients may register themselves. */
export interface RegistrationLimits {
  /** From one network within `period`. Neither limit is held against those with an initial access token. */
  readonly ofOneNetwork: number;
  /** How many that nobody has used yet are kept. When there are so many, the oldest goes if it is older than `period`. */
  readonly unused: number;
  /** Milliseconds. */
  readonly period: number;
}

/** Why a client was not registered: the initial access token is not usable (any more), or too many have registered. */
export type RegistrationRefusal =
  | { readonly reason: 'token' }
  /** The next one may register at `until`, milliseconds since 1970. */
  | { readonly reason: 'network' | 'all'; readonly until: number };

/** What an operator made for clients to register themselves with (RFC 7591 section 1.2). */
export interface InitialAccessToken {
  /** Names it to the operator. */
  readonly id: string;
  /** What the operator wrote down about it. */
  readonly note: string;
  /** How many clients may register with it, in all. */
  readonly uses: number;
  /** How many still may. */
  readonly usesLeft: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}
