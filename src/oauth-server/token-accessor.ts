import { AsyncLocalStorage } from 'node:async_hooks';
import type { UserInterface } from '../contracts/person.ts';
import { presentedToken, scopesThatReach, type UsableToken } from './bearer.ts';
import { BearerError } from './errors.ts';
import type { ServerContext } from './server-context.ts';

/**
 * The access token of the request being answered. Everything it says was settled before the handler ran, so nothing
 * here is awaited, and it is right for the moment the request began. No call ever looks at a session or a cookie.
 */
export interface TokenAccessor {
  /** Lets the request through only with a usable token, whatever its scope; otherwise throws, answered 401. */
  requireUsable(): void;
  /**
   * Lets the request through only when the token carries the scope and its person still holds the permission behind it.
   * Throws otherwise: answered 401 without a usable token, 403 with one that does not reach.
   */
  requireScope(scope: string): void;
  /** Whether `requireScope` would let the request through. */
  can(scope: string): boolean;
  /** The account the token was issued for; null for a client-credentials token, and without a usable token. */
  user(): UserInterface | null;
  /** The application that holds the token; null without a usable token. */
  clientId(): string | null;
}

const requests = new AsyncLocalStorage<TokenAccessor>();

/** The access token of this request. Throws outside of a request that the server's middleware wraps. */
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

/** Runs the work with `token()` at hand, in everything it awaits too. */
export function runWithAccessor<T>(accessor: TokenAccessor, work: () => T): T {
  return requests.run(accessor, work);
}

/** Throws the refusal of the request at hand, and tells the log of it. */
export type Refuse = (refusal: BearerError, clientId: string | null) => never;

/** Looks up the token of an `Authorization` header, its account and the permissions behind its scopes. */
export async function settleToken(
  context: ServerContext,
  authorization: string | null,
  refuse: Refuse,
): Promise<TokenAccessor> {
  try {
    const usable = await presentedToken(context, authorization);
    return accessorFor(context, usable, new Set(await scopesThatReach(context, usable)), refuse);
  } catch (error) {
    if (!(error instanceof BearerError)) throw error;
    return accessorWithout(context, () => refuse(error, null));
  }
}

function accessorFor(
  context: ServerContext,
  usable: UsableToken,
  reaching: ReadonlySet<string>,
  refuse: Refuse,
): TokenAccessor {
  return {
    requireUsable() {},
    requireScope(scope) {
      requireKnown(context, scope);
      if (reaching.has(scope)) return;
      const detail = usable.scopes.includes(scope)
        ? `the person holds no permission for the scope ${scope}`
        : `the token has no scope ${scope}`;
      refuse(new BearerError('insufficient_scope', scope, { detail }), usable.clientId);
    },
    can(scope) {
      requireKnown(context, scope);
      return reaching.has(scope);
    },
    user: () => usable.user,
    clientId: () => usable.clientId,
  };
}

function accessorWithout(context: ServerContext, refuse: () => never): TokenAccessor {
  return {
    requireUsable: refuse,
    requireScope(scope) {
      requireKnown(context, scope);
      refuse();
    },
    can(scope) {
      requireKnown(context, scope);
      return false;
    },
    user: () => null,
    clientId: () => null,
  };
}

/** A scope that nobody can hold is a slip of the handler's author, not of the caller. */
function requireKnown(context: ServerContext, scope: string): void {
  if (!context.scopes.has(scope)) {
    throw new Error(`The scope '${scope}' is asked of token(), but is not in oauth_server:scopes`);
  }
}
