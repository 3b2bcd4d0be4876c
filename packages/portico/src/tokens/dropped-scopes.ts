import { isYes } from '../host/accounts.ts';
import type { Client } from '../store/client.ts';
import type { Resources } from './resource-indicators.ts';
import { IDENTITY_SCOPES, type ScopeCatalog } from './scopes.ts';

export interface UngrantableScope {
  /** As the client sent it. */
  readonly name: string;
  readonly client: Client;
  /** The scopes of the server. */
  readonly catalog: ScopeCatalog;
  /** The scopes of `catalog` that clients can request for this resource. */
  readonly grantable: ScopeCatalog;
  /** True if the client requests a token for itself. */
  readonly forItself: boolean;
}

/**
 * Returns true to drop this scope. The server refuses the request if no rule drops it, or if all
 * scopes are dropped.
 */
export type DropsScope = (scope: UngrantableScope) => boolean;

interface OfferedScopes {
  readonly scopes: ScopeCatalog;
  readonly resources: Resources;
  readonly admitsUnverified: boolean;
}

/** Combines the server's own rule and the rules of features. */
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

  of(client: Client, audience: string | null, forItself = false): (name: string) => boolean {
    const grantable = this.#resources.scopesOf(audience);
    const asked = { client, catalog: this.#catalog, grantable, forItself };
    return (name) => this.#rules.some((drops) => isYes(drops({ ...asked, name })));
  }
}

/**
 * Returns true if an unverified client requests a scope that the server offers only to other
 * clients, for other resources, or for users.
 *
 * Many such clients request every scope that the metadata lists now or listed earlier. One of these
 * is `openid`: the metadata omits it while the server has no key.
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
