import type { UserInterface } from '../person.ts';
import { parseBearer, parseScheme } from '../http/bearer.ts';
import type { BearerErrorCode } from '../errors.ts';
import type { Server } from '../server.ts';
import { givenBy } from '../store/given-access.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import { scopesHeldBy, scopesInForce } from '../tokens/scopes.ts';
import type { AccessToken, Death, Details } from '../store/grant.ts';
import { parseToken } from '../tokens/token-formats.ts';

/**
 * How the client sent the token. The scheme Bearer is only for tokens that are not bound to a key.
 * The scheme for bound tokens is only for bound tokens (RFC 9449 section 7.2). Introspection needs
 * no proof: its caller does not use the token, and receives the key in the response.
 */
export type Offered = 'Bearer' | 'as bound' | 'to introspection';

/** An access token that is valid for this request. */
export interface UsableToken {
  readonly clientId: string;
  /** The id of the token's authorization. Null for a client-credentials token. */
  readonly authorization: string | null;
  /** The client's own profile. Null if it has none. */
  readonly clientProfile: string | null;
  /**
   * The token's scopes that the client is still registered for and the resource still offers. The
   * user's permissions have not been checked yet. If the token is not bound, scopes that only bound
   * tokens can have are left out.
   */
  readonly scopes: readonly string[];
  /** The user's account. Null for a client-credentials token. */
  readonly user: UserInterface | null;
  /** The user's public identifier. Null for a client-credentials token. */
  readonly subject: string | null;
  /** The audience that the token is for. Null if the token has no audience. */
  readonly audience: string | null;
  /** When the token was issued, in milliseconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The thumbprint of the key that the token is bound to. Null if it is not bound. */
  readonly thumbprint: string | null;
  /** The details of the token's authorization. Missing if there are none. */
  readonly details?: Details | undefined;
}

/** The client and authorization of a token that may no longer be valid. */
export interface TokenOwner {
  readonly clientId: string | null;
  /** The authorization's id. Null if the token has none, or if it is unknown. */
  readonly authorization: string | null;
}

/** The reason why a request has no usable token. */
export interface NoToken {
  /**
   * `invalid_token`: the token is unknown, expired, revoked or for another audience, or its user
   * may no longer sign in.
   */
  readonly code: BearerErrorCode;
  /** The exact reason, for the log only. */
  readonly detail: string;
  /** The message in the response. Defaults to the message for this code. */
  readonly message?: string;
  /** The client and authorization of the token, if known. For the log only. */
  readonly of?: TokenOwner;
  /**
   * The value for the client's next proof, for example a nonce. Set only if the request used the
   * scheme for bound tokens.
   */
  readonly proof?: { readonly answer: string | null };
}

/**
 * Looks up access tokens. Does not throw if a token is missing or unusable. The caller decides
 * whether to refuse the request.
 */
export class BearerTokens {
  readonly #server: Server;
  readonly #binding: KeyBinding | null;
  readonly #isBindingRequired: boolean;
  readonly #boundScopes: ReadonlySet<string>;
  readonly #refusal: (audience: string | null) => string | null;

  /**
   * `binding` is null if tokens are not bound to keys. `refusal` returns the reason why this
   * resource does not accept a token for an audience, or null if it accepts the token. By default,
   * the resource accepts tokens for all of the server's audiences.
   */
  constructor(
    server: Server,
    binding: KeyBinding | null,
    refusal = (audience: string | null) => server.resources.tokenRefusal(audience),
  ) {
    this.#server = server;
    this.#refusal = refusal;
    this.#binding = binding;
    this.#isBindingRequired = binding?.offer.required === true;
    this.#boundScopes = binding?.scopes ?? NO_SCOPES;
  }

  /**
   * Looks up the token in an `Authorization` header (RFC 6750 section 2.1). `asked` returns the
   * request, which is needed to check the proof of a bound token.
   */
  async fromHeader(
    authorization: string | null,
    asked: (() => Request) | undefined,
  ): Promise<UsableToken | NoToken> {
    if (authorization === null) return NO_HEADER;
    const credentials = parseBearer(authorization);
    if (credentials === null)
      return this.#binding === null
        ? OTHER_SCHEME
        : this.#proved(this.#binding, authorization, asked);
    return credentials.token === null ? ILL_FORMED : this.lookUp(credentials.token, 'Bearer');
  }

  /** Looks up the token with this value. */
  async lookUp(value: string, offered: Offered): Promise<UsableToken | NoToken> {
    const { store, accounts, clock } = this.#server;
    const token = await store.accessTokens.findAccessToken(parseToken(value), clock());
    const of = { clientId: token.clientId, authorization: token.familyId };
    if ('dead' in token) return { ...DEAD_TOKENS[token.dead], of };
    const elsewhere = this.#refusal(token.audience);
    if (elsewhere !== null) return { ...invalid(elsewhere), of };
    const misused = this.#bindingProblem(token.thumbprint, offered);
    if (misused !== null) return { ...misused, of };
    const user = token.person === null ? null : await accounts.active(token.person);
    if (token.person !== null && user === null) return { ...INACTIVE_ACCOUNT, of };
    const withdrawn = await this.#givenProblem(token);
    if (withdrawn !== null) return { ...invalid(withdrawn), of };
    const { clientId, familyId, clientProfile, subject, issuedAt, expiresAt, thumbprint, details } =
      token;
    return {
      clientId,
      authorization: familyId,
      clientProfile,
      scopes: this.#usableScopes(token),
      user,
      subject,
      audience: token.audience,
      issuedAt,
      expiresAt,
      thumbprint,
      details,
    };
  }

  /**
   * Returns the token's scopes that are valid now. If the token was issued for a user, the user
   * must have the permission for each scope.
   */
  async honouredScopes({ scopes, user }: UsableToken): Promise<readonly string[]> {
    const { host, scopes: catalog } = this.#server;
    return user === null ? scopes : scopesHeldBy(host, catalog, scopes, user.reference);
  }

  /**
   * Returns the reason why access granted by an organization is no longer valid, or null if it is
   * still valid.
   */
  async #givenProblem(token: AccessToken): Promise<string | null> {
    const { person, clientId, issuedAt, details } = token;
    if (person === null || details === undefined || givenBy(details) === null) return null;
    const given = this.#server.givenAccess();
    if (given === null)
      return 'an organization gave the access, but no feature of this server can confirm it';
    return given.refusal({ person, clientId, issuedAt, details });
  }

  #usableScopes({ scopes, clientScopes, audience, thumbprint }: AccessToken): readonly string[] {
    const inForce = scopesInForce(scopes, clientScopes, this.#server.resources.scopesOf(audience));
    const bound = this.#boundScopes;
    return thumbprint !== null || bound.size === 0
      ? inForce
      : inForce.filter((name) => !bound.has(name));
  }

  #bindingProblem(thumbprint: string | null, offered: Offered): NoToken | null {
    if (thumbprint === null)
      return this.#isBindingRequired || offered === 'as bound' ? UNBOUND : null;
    return this.#binding === null || offered === 'Bearer' ? BOUND : null;
  }

  /**
   * Looks up a bound token, and checks its proof only if the token is usable. For an unusable
   * token, the server verifies no signature and does not record the proof as used.
   */
  async #proved(
    checks: KeyBinding,
    authorization: string,
    asked: (() => Request) | undefined,
  ): Promise<UsableToken | NoToken> {
    const credentials = parseScheme(checks.offer.scheme, authorization);
    if (credentials === null) return OTHER_SCHEME;
    const { token: value } = credentials;
    const found = value === null ? ILL_FORMED : await this.lookUp(value, 'as bound');
    if (value === null || 'code' in found) return { ...found, proof: NO_ANSWER };
    const refused = await checks.refusal(asked, value, found);
    if (refused === null) return found;
    const { answer, ...reason } = refused;
    const of = { clientId: found.clientId, authorization: found.authorization };
    return { ...reason, of, proof: { answer } };
  }
}

function missing(detail: string): NoToken {
  return { code: 'missing_token', detail };
}

function invalid(detail: string): NoToken {
  return { code: 'invalid_token', detail };
}

const NO_SCOPES: ReadonlySet<string> = new Set();
const NO_ANSWER = { answer: null } as const;
const NO_HEADER = missing('there is no Authorization header');
const OTHER_SCHEME = missing('the Authorization header does not use the scheme Bearer');
const ILL_FORMED = invalid('the bearer token is not well formed');
const BOUND = invalid('the token is bound to a key, but was sent with the scheme Bearer');
const UNBOUND = invalid('the token is not bound to a key');
const INACTIVE_ACCOUNT = invalid(
  'the account no longer exists, or is no longer allowed to sign in',
);

const DEAD_TOKENS: Readonly<Record<Death, NoToken>> = {
  unknown: invalid('the token is unknown: never issued here, revoked, or expired long ago'),
  expired: invalid('the token has expired'),
  'client revoked': invalid('the client of the token was revoked'),
  'authorization revoked': invalid('the authorization of the token was revoked'),
  'grant removed': invalid(
    'the client of the token is no longer registered for the grant that the token was issued with',
  ),
};
