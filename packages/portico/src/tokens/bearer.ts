import type { UserInterface } from '../contracts/person.ts';
import { parseBearer, parseScheme } from '../http/bearer.ts';
import type { Accounts } from '../accounts.ts';
import type { BearerErrorCode } from '../errors.ts';
import type { CompleteHost } from '../host.ts';
import type { KeyBinding } from './key-binding.ts';
import { scopesHeldBy, scopesInForce, type ScopeCatalog } from './scopes.ts';
import type { Death } from '../store/grant.ts';
import type { AccessTokenRecords } from '../store/sql/access-tokens.ts';
import { quotedAudience } from './resource-indicators.ts';
import { parseToken } from './token-formats.ts';

/**
 * Looks up access tokens. Never throws for a token that is missing or not usable: the caller
 * decides whether to refuse.
 */
export interface BearerTokens {
  /**
   * The token of an `Authorization` header (RFC 6750 section 2.1). `asked` returns the request that
   * it came with, to check the proof of the token's key.
   */
  fromHeader(
    authorization: string | null,
    asked: (() => Request) | undefined,
  ): Promise<UsableToken | NoToken>;
  /** The token with this value. */
  lookUp(value: string, offered: Offered): Promise<UsableToken | NoToken>;
  /**
   * The token's scopes that are valid now. For a person's token, only those whose permission the
   * person has.
   */
  honouredScopes(token: UsableToken): Promise<readonly string[]>;
}

/**
 * How a token was presented. A bound token is invalid as Bearer, and an unbound one is invalid in
 * the scheme of bound tokens (RFC 9449 section 7.2). Introspection reports the key and needs no
 * proof, because its caller does not use the token.
 */
export type Offered = 'Bearer' | 'as bound' | 'to introspection';

/** An access token that can be used here and now. */
export interface UsableToken {
  readonly clientId: string;
  /** Its authorization. Null for a client-credentials token. */
  readonly authorization: string | null;
  /** The client's own profile, or null. */
  readonly clientProfile: string | null;
  /**
   * The token's scopes that the client and the server still have, whether or not the person may
   * still use them. Without a bound token, scopes that require one are left out.
   */
  readonly scopes: readonly string[];
  /** Null for a client-credentials token. */
  readonly user: UserInterface | null;
  /** The person's public identifier. Null for a client-credentials token. */
  readonly subject: string | null;
  /** The audience it was granted for. Null when none is configured. */
  readonly audience: string | null;
  /** Milliseconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The key that it is bound to and that the caller has proved, or null. */
  readonly thumbprint: string | null;
}

/** Whose token it is or was. */
export interface TokenOwner {
  readonly clientId: string | null;
  /** Its authorization. Null for none, and if unknown. */
  readonly authorization: string | null;
}

/** Why there is no usable token. */
export interface NoToken {
  /**
   * `invalid_token` when one was presented: unknown, expired, revoked, for another audience, or of
   * a person who may not sign in.
   */
  readonly code: BearerErrorCode;
  /** Only for the log. */
  readonly detail: string;
  /** The message of the answer; the default of this code unless given. */
  readonly message?: string;
  /** Whose token was presented, if known. Only for the log. */
  readonly of?: TokenOwner;
  /**
   * What the answer says about the next proof, for a token in the scheme of bound tokens. Absent
   * for other schemes.
   */
  readonly proof?: { readonly answer: string | null };
}

export interface BearerTokensOptions {
  readonly store: AccessTokenRecords;
  readonly accounts: Pick<Accounts, 'active'>;
  readonly host: Pick<CompleteHost, 'holdsPermission'>;
  readonly scopes: ScopeCatalog;
  /** The audience that tokens must have been granted for. Null when none is configured. */
  readonly audience: string | null;
  /** Null when tokens are not bound to keys. */
  readonly binding: KeyBinding | null;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

export function createBearerTokens(options: BearerTokensOptions): BearerTokens {
  const { store, accounts, host, scopes: catalog, audience, binding, clock } = options;
  const required = binding?.offer.required === true;
  const boundScopes = binding?.scopes ?? NO_SCOPES;

  function bindingProblem(thumbprint: string | null, offered: Offered): NoToken | null {
    if (thumbprint === null) return required || offered === 'as bound' ? UNBOUND : null;
    return binding === null || offered === 'Bearer' ? BOUND : null;
  }

  async function lookUp(value: string, offered: Offered): Promise<UsableToken | NoToken> {
    const token = await store.findAccessToken(parseToken(value), clock());
    const of = { clientId: token.clientId, authorization: token.familyId };
    if ('dead' in token) return { ...DEAD_TOKENS[token.dead], of };
    if (token.audience !== audience) {
      const [granted, here] = [quotedAudience(token.audience), quotedAudience(audience)];
      return { ...invalid(`the token was granted for ${granted}, oauth_server:audience is ${here}`), of };
    }
    const misused = bindingProblem(token.thumbprint, offered);
    if (misused !== null) return { ...misused, of };
    const user = token.person === null ? null : await accounts.active(token.person);
    if (token.person !== null && user === null) return { ...INACTIVE_ACCOUNT, of };
    const {
      clientId,
      familyId: authorization,
      clientProfile,
      subject,
      issuedAt,
      expiresAt,
      thumbprint,
    } = token;
    const inForce = scopesInForce(token.scopes, token.clientScopes, catalog);
    const scopes =
      thumbprint !== null || boundScopes.size === 0
        ? inForce
        : inForce.filter((name) => !boundScopes.has(name));
    return {
      clientId,
      authorization,
      clientProfile,
      scopes,
      user,
      subject,
      audience,
      issuedAt,
      expiresAt,
      thumbprint,
    };
  }

  /**
   * Checks the key last, so that a caller without a usable token costs no signature check and uses
   * up no proof.
   */
  async function proved(
    checks: KeyBinding,
    authorization: string,
    asked: (() => Request) | undefined,
  ): Promise<UsableToken | NoToken> {
    const credentials = parseScheme(checks.offer.scheme, authorization);
    if (credentials === null) return OTHER_SCHEME;
    const { token: value } = credentials;
    const found = value === null ? ILL_FORMED : await lookUp(value, 'as bound');
    if (value === null || 'code' in found) return { ...found, proof: NO_ANSWER };
    const refused = await checks.refusal(asked, value, found);
    if (refused === null) return found;
    const { answer, ...reason } = refused;
    const of = { clientId: found.clientId, authorization: found.authorization };
    return { ...reason, of, proof: { answer } };
  }

  return {
    lookUp,
    async fromHeader(authorization, asked) {
      if (authorization === null) return NO_HEADER;
      const credentials = parseBearer(authorization);
      if (credentials === null)
        return binding === null ? OTHER_SCHEME : proved(binding, authorization, asked);
      return credentials.token === null ? ILL_FORMED : lookUp(credentials.token, 'Bearer');
    },
    async honouredScopes({ scopes, user }) {
      return user === null ? scopes : scopesHeldBy(host, catalog, scopes, user.reference);
    },
  };
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
const OTHER_SCHEME = missing('the Authorization header is not of the scheme Bearer');
const ILL_FORMED = invalid('the bearer token is not well formed');
const BOUND = invalid('the token is bound to a key, and none is proved in the scheme Bearer');
const UNBOUND = invalid('the token is bound to no key');
const INACTIVE_ACCOUNT = invalid('the account is gone, or may no longer sign in');

const DEAD_TOKENS: Readonly<Record<Death, NoToken>> = {
  unknown: invalid('the token is unknown: never issued here, revoked, or expired long ago'),
  expired: invalid('the token has expired'),
  'client revoked': invalid('the client of the token was revoked'),
  'authorization revoked': invalid('the authorization of the token was revoked'),
  'grant removed': invalid('the client of the token is no longer registered for the grant that gave it'),
};
