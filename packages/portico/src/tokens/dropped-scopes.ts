import { isYes } from '../accounts.ts';
import type { Client } from '../store/client.ts';
import type { Resources } from './resource-indicators.ts';
import { IDENTITY_SCOPES, type ScopeCatalog } from './scopes.ts';

/** A requested scope that the server cannot grant. */
export interface UngrantableScope {
  /** The scope's name, as the client sent it. */
  readonly name: string;
  /** The client that asks for the scope. */
  readonly client: Client;
  /** The scopes that the server offers. */
  readonly catalog: ScopeCatalog;
  /** Those scopes of `catalog` that can be granted for the requested resource. */
  readonly grantable: ScopeCatalog;
  /** Whether the client asks for a token for itself, and not for a person. */
  readonly forItself: boolean;
}

/**
 * Returns whether the server drops this scope from the request. If it returns false, the server
 * refuses the request. If no scope would remain, the server always refuses the request.
 */
export type DropsScope = (scope: UngrantableScope) => boolean;

/** The scopes of one server. */
interface OfferedScopes {
  readonly scopes: ScopeCatalog;
  readonly resources: Resources;
  /** Whether the server accepts clients that no operator registered. */
  readonly admitsUnverified: boolean;
}

/**
 * Decides which scopes are dropped from requests. Applies the server's own rule and the features'
 * rules.
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
   * Returns a function that decides whether a scope is dropped from this client's request for this
   * audience.
   */
  of(client: Client, audience: string | null, forItself = false): (name: string) => boolean {
    const grantable = this.#resources.scopesOf(audience);
    const asked = { client, catalog: this.#catalog, grantable, forItself };
    return (name) => this.#rules.some((drops) => isYes(drops({ ...asked, name })));
  }
}

/**
 * Whether the server offers the scope to other clients or for other resources, but not to this
 * client, which no operator registered. Such clients request every scope that the metadata lists or
 * has recently listed. This includes `openid`, which the metadata leaves out while the server has
 * no key.
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
