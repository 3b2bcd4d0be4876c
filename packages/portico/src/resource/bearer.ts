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
 * How the client sent the token. Bound tokens need their own scheme, and all others need Bearer
 * (RFC 9449 section 7.2). Introspection needs no proof: its caller does not use the token, and the
 * response names the key.
 */
export type Offered = 'Bearer' | 'as bound' | 'to introspection';

/** An access token that is valid for this request. */
export interface UsableToken {
  readonly clientId: string;
  /** Null for a client-credentials token. */
  readonly authorization: string | null;
  /** Null if the client has no profile. */
  readonly clientProfile: string | null;
  /**
   * The scopes that the client and the resource still have. The user's permissions are not checked
   * yet. Leaves out scopes that need a bound token if this one is not bound.
   */
  readonly scopes: readonly string[];
  /** Null for a client-credentials token. */
  readonly user: UserInterface | null;
  /** The user's public identifier. Null for a client-credentials token. */
  readonly subject: string | null;
  /** Null if the token has no audience. */
  readonly audience: string | null;
  /** In milliseconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Null if the token is not bound to a key. */
  readonly thumbprint: string | null;
  readonly details?: Details | undefined;
}

/** The client and authorization of a token, even of an invalid one. */
export interface TokenOwner {
  readonly clientId: string | null;
  /** Null if the token has no authorization, or if it is unknown. */
  readonly authorization: string | null;
}

/** Why a request has no usable token. */
export interface NoToken {
  /**
   * `invalid_token`: the token is unknown, expired, revoked or for another audience. Or its user
   * may no longer sign in.
   */
  readonly code: BearerErrorCode;
  /** Only for the log. */
  readonly detail: string;
  /** Defaults to the message for this code. */
  readonly message?: string;
  /** Only for the log. */
  readonly of?: TokenOwner;
  /**
   * The value for the client's next proof, for example a nonce. Set only if the request used the
   * scheme for bound tokens.
   */
  readonly proof?: { readonly answer: string | null };
}

/**
 * Looks up access tokens. Does not throw for a missing or unusable token: the caller decides
 * whether to refuse the request.
 */
export class BearerTokens {
  readonly #server: Server;
  readonly #binding: KeyBinding | null;
  readonly #isBindingRequired: boolean;
  readonly #boundScopes: ReadonlySet<string>;
  readonly #refusal: (audience: string | null) => string | null;

  /**
   * `binding` is null if tokens are not bound to keys.
   *
   * `refusal` returns why this resource does not accept an audience, or null. By default, the
   * resource accepts all of the server's audiences.
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
   * request, to check the proof of a bound token.
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

  /** Returns the scopes that are valid now. A user must hold the permission for each scope. */
  async honouredScopes({ scopes, user }: UsableToken): Promise<readonly string[]> {
    const { host, scopes: catalog } = this.#server;
    return user === null ? scopes : scopesHeldBy(host, catalog, scopes, user.reference);
  }

  /** Returns why an organization's access is no longer valid, or null. */
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
   * Looks up a bound token. Checks its proof only if the token is usable. For any other token, the
   * server verifies no signature and does not record the proof as used.
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
