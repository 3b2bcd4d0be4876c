import { isYes } from '../host/accounts.ts';
import type { Client } from '../store/client.ts';
import type { Resources } from './resource-indicators.ts';
import { IDENTITY_SCOPES, type ScopeCatalog } from './scopes.ts';

/** A requested scope that the server cannot grant. */
export interface UngrantableScope {
  /** The scope's name, as the client sent it. */
  readonly name: string;
  /** The client that requests the scope. */
  readonly client: Client;
  /** The scopes that the server offers. */
  readonly catalog: ScopeCatalog;
  /** The scopes of `catalog` that clients can request for the resource in this request. */
  readonly grantable: ScopeCatalog;
  /** Whether the client requests a token for itself and not for a user. */
  readonly forItself: boolean;
}

/**
 * Returns whether to drop this scope from the request. The server refuses the request if no rule
 * drops the scope, or if all scopes are dropped.
 */
export type DropsScope = (scope: UngrantableScope) => boolean;

interface OfferedScopes {
  readonly scopes: ScopeCatalog;
  readonly resources: Resources;
  /** Whether the server accepts clients that no operator registered. */
  readonly admitsUnverified: boolean;
}

/**
 * Decides which scopes are dropped from requests. Uses the server's own rule and the rules of
 * features.
 */
export class DroppedScopes {
  readonly #catalog: ScopeCatalog;
  readonly #resources: Resources;
  readonly #rules: readonly DropsScope[];

  constructor(
    { scopes, resources, admitsUnverified }: OfferedScopes,
    rules: readonly DropsScope[],
  ) {
    this.#catalog = scopes;
    this.#resources = resources;
    this.#rules = admitsUnverified ? [isOfferedToOthers, ...rules] : rules;
  }

  /**
   * Returns a function that decides whether to drop a scope from this client's request for this
   * audience.
   */
  of(client: Client, audience: string | null, forItself = false): (name: string) => boolean {
    const grantable = this.#resources.scopesOf(audience);
    const asked = { client, catalog: this.#catalog, grantable, forItself };
    return (name) => this.#rules.some((drops) => isYes(drops({ ...asked, name })));
  }
}

/**
 * Returns whether a client that no operator registered requests a scope that the server offers only
 * to other clients, for other resources, or for users. Many such clients request every scope that
 * the metadata lists now or listed earlier. One of these scopes is `openid`, which the metadata
 * omits while the server has no key.
 */
function isOfferedToOthers({
  name,
  client,
  catalog,
  grantable,
  forItself,
}: UngrantableScope): boolean {
  if (client.registeredBy === 'operator' || !catalog.has(name)) return false;
  return (
    name === 'openid' ||
    !client.scopes.includes(name) ||
    !grantable.has(name) ||
    (forItself && Object.hasOwn(IDENTITY_SCOPES, name))
  );
}
