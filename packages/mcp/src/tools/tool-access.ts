import { type AuthorizationServer, type ProtectedApi, token } from 'portico';
import type { McpConfig } from '../config.ts';

/**
 * The scope for services. A service with this scope can list all tools and call the public ones.
 */
export const SERVICE_SCOPE = 'mcp:service';

/**
 * Whether the token of the request gives access to the endpoint. It needs `mcp:service` or one of
 * `scopes_supported`, and the server must still offer this scope.
 */
export function reachesResource(api: ProtectedApi, config: McpConfig): boolean {
  return [SERVICE_SCOPE, ...config.oauth.scopes_supported].some(
    (scope) => api.offers(scope) && token().can(scope),
  );
}

/**
 * Returns the scopes that the resource's metadata and challenges list. Omits the service scope if
 * the server accepts clients that no operator has registered. Such clients cannot get it, but many
 * of them request every listed scope.
 */
export function listedScopes(
  { admitsUnverified }: AuthorizationServer,
  scopes: readonly string[],
): readonly string[] {
  if (!admitsUnverified) return scopes;
  return scopes.filter((name) => name !== SERVICE_SCOPE);
}

/** A tool or resource, and who may use it. */
export interface Guarded {
  /**
   * Whether the tool or resource needs a linked account. If false, it is public: every token for
   * this endpoint can use it.
   */
  readonly personal: boolean;
  /** The scope of the tool or resource, or null if it has none. */
  readonly scope: string | null;
}

/** The error messages for the statuses 401 and 403. */
export type RefusalMessages = Readonly<Record<401 | 403, string>>;

const OF_TOOLS: RefusalMessages = {
  401: 'This tool acts for an account: link one first.',
  403: 'The linked account or its token does not reach this tool.',
};

/**
 * Why the token of a request does not allow a call. Status 401: the token has no linked account.
 * Status 403: the token does not have the scope, or the user lacks the permission for it.
 */
export interface CallRefusal {
  readonly status: 401 | 403;
  readonly message: string;
}

/**
 * Returns the scope that a tool or resource needs. Returns null if it is public, or if the server
 * offers none of the endpoint's scopes.
 */
export function getScope(
  { personal, scope }: Guarded,
  api: ProtectedApi,
  supported: readonly string[],
): string | null {
  if (!personal) return null;
  return scope === null || !api.offers(scope) ? (supported[0] ?? null) : scope;
}

/**
 * Returns why the token of the request does not allow this tool or resource, or null if the token
 * allows it.
 */
export function callRefusal(
  { oauth }: McpConfig,
  used: Guarded,
  says: RefusalMessages = OF_TOOLS,
): CallRefusal | null {
  if (!used.personal) return null;
  if (token().user() === null) return { status: 401, message: says[401] };
  if (token().can(used.scope ?? oauth.scopes_supported[0] ?? '')) return null;
  return { status: 403, message: says[403] };
}
