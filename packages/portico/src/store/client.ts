/**
 * What a client may use: grant types of RFC 6749 and of features, and the introspection endpoint.
 */
export type Grant =
  | 'authorization_code'
  | 'refresh_token'
  | 'client_credentials'
  | 'introspection'
  | (string & Record<never, never>);

/** The names of signing algorithms for ID tokens (RFC 7518 section 3.1). A feature adds its own. */
export interface SigningAlgorithmNames {
  RS256: true;
}

/** A signing algorithm for ID tokens. */
export type SigningAlgorithm = keyof SigningAlgorithmNames;

/**
 * The kind of application (RFC 8252, RFC 7591 section 2): on a web server, or a program on a
 * device.
 */
export type ApplicationType = 'web' | 'native';

/**
 * Who registered a client: an operator, the client itself at the registration endpoint (RFC 7591),
 * or the document whose URL is its id. Trust only what an operator registered.
 */
export type RegisteredBy = 'operator' | 'registration' | 'document';

/** What its registration determines of a client (RFC 7591 section 2). */
export interface ClientMetadata {
  /** The display name. */
  readonly name: string;
  /** Compared character by character. Empty for a client without the authorization code grant. */
  readonly redirectUris: readonly string[];
  /** The scopes that it may request. */
  readonly scopes: readonly string[];
  /** The grants that it may use. */
  readonly grants: readonly Grant[];
  /** The signing algorithm of its ID tokens. */
  readonly idTokenSignedResponseAlg: SigningAlgorithm;
  /** Whether the application cannot keep a secret. It is then identified but not authenticated. */
  readonly public: boolean;
  /** A native application's loopback redirect URIs may have any port. */
  readonly applicationType: ApplicationType;
  /**
   * The keys of its only authentication method, `private_key_jwt`. Null for a client with a secret,
   * and for a public one.
   */
  readonly keys: ClientKeys | null;
  /** Whether it must push its authorization requests (RFC 9126 section 6). */
  readonly pushesRequests: boolean;
  /** Whether it requires its tokens to be bound to a key that it proves (RFC 9449 section 5.2). */
  readonly dpopBoundAccessTokens: boolean;
  /**
   * The profile that the client must follow, such as `fapi2`. Null if only the server's profile
   * applies.
   */
  readonly profile: string | null;
}

/** What people are shown of a client beside its name. */
export interface ClientLook {
  /**
   * Its web site (`client_uri` of RFC 7591), as set by an operator. Absent for none, and for
   * clients that no operator registered.
   */
  readonly siteUri?: string;
  /** The SHA-256 of the logo that an operator gave it. Absent for none. */
  readonly logoHash?: string;
}

/** A registered application. All times in this file are milliseconds since 1970. */
export interface Client extends ClientMetadata, ClientLook {
  /** Never changes. */
  readonly id: string;
  /** Who registered it. */
  readonly registeredBy: RegisteredBy;
  /** Hashed by the host's password hasher. Null for a public client, and for one with keys. */
  readonly secretHash: string | null;
  /** The secret before the last rotation. It is accepted until the end of its overlap window. */
  readonly previousSecretHash: string | null;
  /** Milliseconds since 1970. */
  readonly previousSecretExpiresAt: number | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /**
   * The day of its last use, in milliseconds since 1970: a person allowed it, or tokens were
   * issued. Null if never used, and for a client that an operator registered.
   */
  readonly usedAt: number | null;
  /** Null while the client is active. Its tokens end with it. */
  readonly revokedAt: number | null;
}

/** A client's logo: an image that an operator chose, checked by its bytes. */
export interface ClientLogo {
  /** SHA-256, base64url. */
  readonly hash: string;
  /** Such as `image/png`. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A client's public keys. One of them signs its assertions (OpenID Connect Core section 9). */
export interface ClientKeys {
  /** The key set (RFC 7517) as JSON. Null when the client publishes it. */
  readonly jwks: string | null;
  /** The URL where the client publishes its keys. Null when they are stored here. */
  readonly jwksUri: string | null;
  /**
   * The only algorithm that it signs with (`token_endpoint_auth_signing_alg`). Null if any will do.
   */
  readonly algorithm: string | null;
}

/** A client as its document described it when it was last stored. */
export interface DocumentClient {
  readonly client: Client;
  /** Milliseconds since 1970. */
  readonly freshUntil: number;
}

/** A client that registers itself (RFC 7591). */
export interface NewRegistration {
  readonly client: Client;
  /** The SHA-256 of the registration access token, which identifies it later. */
  readonly tokenHash: string;
  /** The network that it came from. Empty if unknown. */
  readonly network: string;
  /** The SHA-256 of the initial access token that was used, or null. */
  readonly initialTokenHash: string | null;
}

/** How many clients may register themselves. */
export interface RegistrationLimits {
  /**
   * Per network within `period`. Clients with an initial access token are exempt from both limits.
   */
  readonly ofOneNetwork: number;
  /**
   * How many clients that were never used are kept. At the limit, the oldest one is removed if it
   * is older than `period`.
   */
  readonly unused: number;
  /** In milliseconds. */
  readonly period: number;
}

/**
 * Why a client was not registered: the initial access token cannot be used, or too many clients
 * have registered.
 */
export type RegistrationRefusal =
  | { readonly reason: 'token' }
  /** The next one may register at `until`, in milliseconds since 1970. */
  | { readonly reason: 'network' | 'all'; readonly until: number };

/** A token that an operator created for clients to register themselves (RFC 7591 section 1.2). */
export interface InitialAccessToken {
  /** Identifies it to the operator. */
  readonly id: string;
  /** The operator's note about it. */
  readonly note: string;
  /** How many clients may register with it in total. */
  readonly uses: number;
  /** How many more may register. */
  readonly usesLeft: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}
