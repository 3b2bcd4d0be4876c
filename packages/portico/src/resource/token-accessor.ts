import { AsyncLocalStorage } from 'node:async_hooks';
import type { UserInterface } from '../person.ts';
import type { BearerTokens, NoToken, TokenOwner, UsableToken } from './bearer.ts';
import type { BearerErrorCode } from '../errors.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';

/** Methods that features add to `token()`. Each feature declares its methods in this interface. */
export interface TokenMembers {}

/**
 * The access token of the current request. The server looks the token up before your handler runs,
 * so no method is asynchronous, and the values do not change during the request. Sessions and
 * cookies are never used.
 */
export interface TokenAccessor extends TokenMembers {
  /**
   * Requires a usable token with any scope. Otherwise, throws a BearerError that becomes a 401
   * response.
   */
  requireUsable(): void;
  /**
   * Requires a usable token with this scope. If the token was issued for a user, the user must
   * still have the scope's permission.
   *
   * If there is no usable token, throws a BearerError that becomes a 401 response. If the token is
   * not sufficient, throws a BearerError that becomes a 403 response. Throws another Error if the
   * server does not offer the scope, because this is a mistake in your code.
   */
  requireScope(scope: string): void;
  /**
   * Returns whether the token has this scope and its user still has the permission. Throws an Error
   * if the server does not offer the scope.
   */
  can(scope: string): boolean;
  /**
   * Returns the account of the user that the token was issued for. Returns null if there is no
   * usable token, and for a client-credentials token.
   */
  user(): UserInterface | null;
  /** Returns the id of the client that uses the token, or null if there is no usable token. */
  clientId(): string | null;
  /**
   * Returns the id of the token's authorization. It stays the same when the client refreshes its
   * token. Returns null if there is no usable token, and for a client-credentials token.
   */
  authorizationId(): string | null;
}

const requests = new AsyncLocalStorage<TokenAccessor>();

/**
 * Returns the access token of the current request. Throws outside a request that the server's
 * middleware handles.
 *
 * @example
 * token().requireScope('orders:read');
 * const user = token().user();
 */
export function token(): TokenAccessor {
  const accessor = requests.getStore();
  if (accessor === undefined) {
    throw new Error(
      'token() was called outside a request, or the handler is not wrapped by the ' +
        'authorization server. ' +
        'With the kit, add the oauthServer() plugin. Otherwise, mount bearer(server) before the ' +
        'handler, or wrap the handler in server.withToken(request, next). If you already do ' +
        'this, run npm ls portico: the application must have only one copy of portico',
    );
  }
  return accessor;
}

/** Inside `work`, `token()` returns this accessor, even after an await. */
export function runWithAccessor<T>(accessor: TokenAccessor, work: () => T): T {
  return requests.run(accessor, work);
}

export interface TokenRefusal {
  readonly code: BearerErrorCode;
  /** Null if any usable token is sufficient. */
  readonly scope: string | null;
  /** Only for the log. */
  readonly detail: string;
  /** Missing if unknown. */
  readonly of?: TokenOwner;
  /**
   * True if the token has the scope, but the user no longer has its permission. Another token would
   * not help.
   */
  readonly isUnheld?: boolean;
  /** Additional parameters of the challenge. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly message?: string;
  readonly proof?: NonNullable<NoToken['proof']>;
}

/** Throws an error that refuses the current request. */
export type Refuse = (refusal: TokenRefusal) => never;

/**
 * Looks up the token with its account and the permissions for its scopes. `asked` returns the
 * request.
 */
export type TokenLookUp = (
  authorization: string | null,
  asked: (() => Request) | undefined,
  refuse: Refuse,
) => Promise<TokenAccessor>;

export interface AskableScopes {
  readonly scopes: ScopeCatalog;
  /**
   * The resource of these scopes. Null if they are not the scopes of a resource. Missing if no
   * resources are configured.
   */
  readonly resource?: string | null;
}

export type MemberRefusal = Pick<TokenRefusal, 'code' | 'detail' | 'message' | 'parameters'>;

/**
 * Creates a feature's methods of `token()` for one request. `token` is null without a usable token.
 * `refuse` then ignores its argument and sends the reason for that.
 */
export type MakesTokenMembers = (
  token: UsableToken | null,
  refuse: (refusal: MemberRefusal) => never,
) => Partial<TokenMembers>;

export function tokenLookUp(
  bearerTokens: BearerTokens,
  askable: AskableScopes,
  features: readonly MakesTokenMembers[] = [],
): TokenLookUp {
  return async (authorization, asked, refuse) => {
    const found = await bearerTokens.fromHeader(authorization, asked);
    if ('code' in found) {
      const members = makeMembers(features, null, () => refuse({ ...found, scope: null }));
      return { ...members, ...accessorWithout(askable, (scope) => refuse({ ...found, scope })) };
    }
    const honoured = new Set(await bearerTokens.honouredScopes(found));
    const about = aboutToken(found);
    const members = makeMembers(features, found, (refusal) =>
      refuse({ ...refusal, ...about, scope: null }),
    );
    return {
      ...members,
      ...accessorFor(askable, found, honoured, (refusal) => refuse({ ...refusal, ...about })),
    };
  };
}

function makeMembers(
  features: readonly MakesTokenMembers[],
  ...parts: Parameters<MakesTokenMembers>
): TokenMembers {
  return Object.assign({}, ...features.map((make) => make(...parts))) as TokenMembers;
}

function aboutToken({ clientId, authorization, thumbprint }: UsableToken) {
  const proof = thumbprint === null ? {} : { proof: { answer: null } };
  return { of: { clientId, authorization }, ...proof };
}

function accessorFor(
  offered: AskableScopes,
  { clientId, authorization, user, scopes }: UsableToken,
  honoured: ReadonlySet<string>,
  refuse: Refuse,
): Omit<TokenAccessor, keyof TokenMembers> {
  return {
    requireUsable() {},
    requireScope(scope) {
      requireOffered(offered, scope);
      if (honoured.has(scope)) return;
      const isUnheld = scopes.includes(scope);
      const detail = isUnheld
        ? `the person does not have the permission that the scope ${scope} requires`
        : `the access token does not have the scope ${scope}`;
      refuse({ code: 'insufficient_scope', scope, detail, isUnheld });
    },
    can(scope) {
      requireOffered(offered, scope);
      return honoured.has(scope);
    },
    user: () => user,
    clientId: () => clientId,
    authorizationId: () => authorization,
  };
}

function accessorWithout(
  offered: AskableScopes,
  refuse: (scope: string | null) => never,
): Omit<TokenAccessor, keyof TokenMembers> {
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
    authorizationId: () => null,
  };
}

/** Throws if the server does not offer this scope. This is a mistake in the handler's code. */
function requireOffered({ scopes, resource }: AskableScopes, scope: string): void {
  if (scopes.has(scope)) return;
  if (resource === undefined)
    throw new Error(
      `token() requires the scope '${scope}', which is not in oauth_server:scopes. Add it there`,
    );
  if (resource === null)
    throw new Error(
      `token() requires the scope '${scope}', which belongs to a resource. Use ` +
        'server.resource(url)',
    );
  throw new Error(`token() requires the scope '${scope}', which is not a scope of ${resource}`);
}
