import { AsyncLocalStorage } from 'node:async_hooks';
import type { UserInterface } from '../contracts/person.ts';
import type { BearerTokens, NoToken, TokenOwner, UsableToken } from './bearer.ts';
import type { BearerErrorCode } from '../errors.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';

/**
 * The access token of the current request. Everything was looked up before the handler ran: no call
 * is asynchronous, and the values are those at the start of the request. It never uses a session or
 * a cookie.
 */
export interface TokenAccessor {
  /** Requires a usable token, with any scope. Otherwise throws an error that is answered 401. */
  requireUsable(): void;
  /**
   * Requires a token with this scope, whose person still has the scope's permission. Otherwise
   * throws an error that is answered 401 without a usable token, and 403 with one that does not
   * reach.
   */
  requireScope(scope: string): void;
  /** Whether `requireScope` would succeed. */
  can(scope: string): boolean;
  /**
   * The account that the token was issued for. Null for a client-credentials token, and without a
   * usable token.
   */
  user(): UserInterface | null;
  /** The client id of the token's application. Null without a usable token. */
  clientId(): string | null;
}

const requests = new AsyncLocalStorage<TokenAccessor>();

/**
 * The access token of the current request. Throws outside a request that the server's middleware
 * wraps.
 */
export function token(): TokenAccessor {
  const accessor = requests.getStore();
  if (accessor === undefined) {
    throw new Error(
      'token() was called outside of a request, or the handler is not wrapped by the authorization server: ' +
        'add the oauthServer() plugin, or wrap the handler in server.withToken(request, next)',
    );
  }
  return accessor;
}

/** Runs work in which `token()` works, including everything it awaits. */
export function runWithAccessor<T>(accessor: TokenAccessor, work: () => T): T {
  return requests.run(accessor, work);
}

/** Why `token()` refuses. */
export interface TokenRefusal {
  readonly code: BearerErrorCode;
  /** The scope that is needed. Null if any usable token would do. */
  readonly scope: string | null;
  /** Only for the log. */
  readonly detail: string;
  /** Whose token was presented. Absent if unknown. */
  readonly of?: TokenOwner;
  /**
   * The token has the scope, but its person no longer has the permission. No other token would
   * help.
   */
  readonly isUnheld?: boolean;
  /** As in `NoToken`. */
  readonly message?: string;
  readonly proof?: NonNullable<NoToken['proof']>;
}

/** Throws the refusal of the current request. */
export type Refuse = (refusal: TokenRefusal) => never;

/**
 * Looks up the token of an `Authorization` header, its account and the permissions of its scopes.
 * `asked` returns the request.
 */
export type TokenLookUp = (
  authorization: string | null,
  asked: (() => Request) | undefined,
  refuse: Refuse,
) => Promise<TokenAccessor>;

/** Looks up tokens for `token()`. */
export function tokenLookUp(bearerTokens: BearerTokens, scopes: ScopeCatalog): TokenLookUp {
  return async (authorization, asked, refuse) => {
    const found = await bearerTokens.fromHeader(authorization, asked);
    if ('code' in found) {
      return accessorWithout(scopes, (scope) => refuse({ ...found, scope }));
    }
    return accessorFor(scopes, found, new Set(await bearerTokens.honouredScopes(found)), refuse);
  };
}

function accessorFor(
  offered: ScopeCatalog,
  { clientId, authorization, user, scopes, thumbprint }: UsableToken,
  honoured: ReadonlySet<string>,
  refuse: Refuse,
): TokenAccessor {
  return {
    requireUsable() {},
    requireScope(scope) {
      requireOffered(offered, scope);
      if (honoured.has(scope)) return;
      const isUnheld = scopes.includes(scope);
      const detail = isUnheld
        ? `the person holds no permission for the scope ${scope}`
        : `the token has no scope ${scope}`;
      const proof = thumbprint === null ? {} : { proof: { answer: null } };
      const of = { clientId, authorization };
      refuse({ code: 'insufficient_scope', scope, detail, of, isUnheld, ...proof });
    },
    can(scope) {
      requireOffered(offered, scope);
      return honoured.has(scope);
    },
    user: () => user,
    clientId: () => clientId,
  };
}

function accessorWithout(offered: ScopeCatalog, refuse: (scope: string | null) => never): TokenAccessor {
  return {
    requireUsable: () => refuse(null),
    requireScope(scope) {
      requireOffered(offered, scope);
      refuse(scope);
    },
    can(scope) {
      requireOffered(offered, scope);
      return false;
    },
    user: () => null,
    clientId: () => null,
  };
}

/** A scope that no token can have is a mistake of the handler's author, not of the caller. */
function requireOffered(offered: ScopeCatalog, scope: string): void {
  if (!offered.has(scope)) {
    throw new Error(`The scope '${scope}' is asked of token(), but is not in oauth_server:scopes`);
  }
}
