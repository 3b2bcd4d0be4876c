import type { SqlConnection } from '@portico/sql';

/**
 * What a client may use: a grant type (from RFC 6749 or a feature), or the introspection endpoint.
 */
export type Grant =
  | 'authorization_code'
  | 'refresh_token'
  | 'client_credentials'
  | 'introspection'
  | (string & Record<never, never>);

/** The signing algorithms for ID tokens (RFC 7518 section 3.1). Features can add names. */
export interface SigningAlgorithmNames {
  RS256: true;
}

/** A signing algorithm for ID tokens. */
export type SigningAlgorithm = keyof SigningAlgorithmNames;

/**
 * The kind of application (RFC 8252, RFC 7591 section 2): `web` runs on a web server, `native` on a
 * device.
 */
export type ApplicationType = 'web' | 'native';

/**
 * Who registered a client:
 *
 * - `operator`: an operator of this server.
 * - `registration`: the client itself, at the registration endpoint (RFC 7591).
 * - `document`: the client itself, through its client document. The URL of the document is the
 *   client id.
 *
 * Do not trust the data of a client unless an operator has registered the client.
 */
export type RegisteredBy = 'operator' | 'registration' | 'document';

/** The client data that a registration contains (RFC 7591 section 2). */
export interface ClientMetadata {
  /** The display name. */
  readonly name: string;
  /**
   * The redirect URIs. The URI in a request must be equal to one of them (exception: see
   * `applicationType`). Empty for a client without the authorization code grant.
   */
  readonly redirectUris: readonly string[];
  /** The scopes that the client may request. */
  readonly scopes: readonly string[];
  /** The grants that the client may use. */
  readonly grants: readonly Grant[];
  /** The algorithm that signs the client's ID tokens. */
  readonly idTokenSignedResponseAlg: SigningAlgorithm;
  /**
   * True for a public client. It cannot keep a secret. It sends its client id, but cannot prove
   * that the id is its own.
   */
  readonly public: boolean;
  /**
   * The kind of application. On loopback, a native application's redirect URIs match on any port.
   */
  readonly applicationType: ApplicationType;
  /**
   * The client's own keys or its workload. A client with keys cannot authenticate in any other way.
   * Null for a client with a secret and for a public client.
   */
  readonly keys: ClientKeys | null;
  /** True if the client must push its authorization requests (RFC 9126 section 6). */
  readonly pushesRequests: boolean;
  /**
   * True if the client's tokens must be bound to a key. The client must prove this key (RFC 9449
   * section 5.2).
   */
  readonly dpopBoundAccessTokens: boolean;
  /**
   * The profile that the client must follow, for example `fapi2`. Null if only the server's profile
   * applies.
   */
  readonly profile: string | null;
}

/** The website and logo that users see next to a client's name. */
export interface ClientLook {
  /**
   * The client's website (`client_uri` of RFC 7591). Only an operator can set it. Missing if none
   * is set.
   */
  readonly siteUri?: string;
  /** The SHA-256 hash of the logo that an operator set. Missing if the client has no logo. */
  readonly logoHash?: string;
}

/** A registered application. All times in this file are milliseconds since 1970. */
export interface Client extends ClientMetadata, ClientLook {
  /** The client's id. It never changes. */
  readonly id: string;
  /** Who registered the client. */
  readonly registeredBy: RegisteredBy;
  /**
   * The secret's hash, from the host's password hasher. Null for a public client, and for a client
   * with keys.
   */
  readonly secretHash: string | null;
  /** When the secret expires, in milliseconds since 1970. Null if it never expires. */
  readonly secretExpiresAt: number | null;
  /**
   * The hash of the secret before the last rotation. The server accepts that secret until
   * `previousSecretExpiresAt`.
   */
  readonly previousSecretHash: string | null;
  /** When the previous secret stops working, in milliseconds since 1970. */
  readonly previousSecretExpiresAt: number | null;
  /** When the client was registered, in milliseconds since 1970. */
  readonly createdAt: number;
  /**
   * The last day on which a user allowed the client or the client received tokens, in milliseconds
   * since 1970. Null if neither has happened, or if an operator registered the client.
   */
  readonly usedAt: number | null;
  /**
   * When the client and its tokens were revoked, in milliseconds since 1970. Null if the client is
   * not revoked.
   */
  readonly revokedAt: number | null;
}

/** Writes a client's additional data, in the same transaction as the client. */
export type ClientAddition = (connection: SqlConnection) => Promise<void>;

/** A client's logo, set by an operator. Portico has checked that the bytes are an image. */
export interface ClientLogo {
  /** The SHA-256 hash of the image, in base64url. */
  readonly hash: string;
  /** The media type, for example `image/png`. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/**
 * The keys or the workload of a client that authenticates with assertions. Either the client has
 * its own public keys (OpenID Connect Core section 9), or a trusted issuer vouches for its
 * workload.
 */
export interface ClientKeys {
  /**
   * The key set (RFC 7517) as JSON. Null for a workload, and if the client publishes the set at a
   * URL.
   */
  readonly jwks: string | null;
  /**
   * The URL where the client publishes its keys. Null for a workload, and if this server stores the
   * keys.
   */
  readonly jwksUri: string | null;
  /**
   * The only algorithm that the client signs with (`token_endpoint_auth_signing_alg`). Null if it
   * may use any algorithm.
   */
  readonly algorithm: string | null;
  /** The workload. Missing for a client with its own keys. */
  readonly workload?: Workload;
}

/**
 * A program that is identified by a signed token from its platform, for example a Kubernetes pod.
 */
export interface Workload {
  /** The trusted issuer of the workload's tokens, as in `oauth_server:trusted_issuers`. */
  readonly issuer: string;
  /** The `sub` of the workload's tokens. It can be a pattern whose last segment is `*`. */
  readonly subject: string;
}

/** A token that an operator created to let clients register themselves (RFC 7591 section 1.2). */
export interface InitialAccessToken {
  /** The token's id, for operators. It cannot be used to register. */
  readonly id: string;
  /** The operator's note about the token. */
  readonly note: string;
  /** How many clients can register with the token in total. */
  readonly uses: number;
  /** How many more clients can register with the token. */
  readonly usesLeft: number;
  /** When the token was created, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When the token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}
