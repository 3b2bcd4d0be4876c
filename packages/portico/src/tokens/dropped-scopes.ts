import { isYes } from '../contracts/answers.ts';
import type { Client } from '../store/client.ts';
import { IDENTITY_SCOPES, type ScopeCatalog } from './scopes.ts';

/** A requested scope that cannot be granted. */
export interface UngrantableScope {
  /** Its name, as it was sent. */
  readonly name: string;
  /** Who asks for it. */
  readonly client: Client;
  /** The scopes of the server. */
  readonly catalog: ScopeCatalog;
  /** Whether the client asks for itself, without a person. */
  readonly forItself: boolean;
}

/**
 * Whether such a scope is dropped from the request instead of refusing it, as long as another
 * remains.
 */
export type DropsScope = (scope: UngrantableScope) => boolean;

/** Which scopes are dropped from requests: by the rule of the server, and those of its features. */
export class DroppedScopes {
  readonly #catalog: ScopeCatalog;
  readonly #rules: readonly DropsScope[];

  /** `admitsUnverified` is whether there can be clients that no operator registered. */
  constructor(catalog: ScopeCatalog, admitsUnverified: boolean, rules: readonly DropsScope[]) {
    this.#catalog = catalog;
    this.#rules = admitsUnverified ? [isOfferedToOthers, ...rules] : rules;
  }

  /** Whether a scope is dropped from a request of this client. */
  of(client: Client, forItself = false): (name: string) => boolean {
    const asked = { client, catalog: this.#catalog, forItself };
    return (name) => this.#rules.some((drops) => isYes(drops({ ...asked, name })));
  }
}

/**
 * An offered scope that this client cannot have, if no operator registered it. Such clients request
 * everything that metadata names, or named a minute ago. This includes `openid`, which was not
 * named while there was no key.
 */
function isOfferedToOthers({ name, client, catalog, forItself }: UngrantableScope): boolean {
  if (client.registeredBy === 'operator' || !catalog.has(name)) return false;
  return (
    name === 'openid' || !client.scopes.includes(name) || (forItself && Object.hasOwn(IDENTITY_SCOPES, name))
  );
}
