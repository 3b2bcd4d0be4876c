import type { Grant } from './client.ts';
import type { Beginning, Holder } from './grant.ts';

/** A grant type, and which clients may use it. */
export interface GrantRules {
  /** The value of `grant_type`: a name, or a URI for an extension (RFC 6749 section 4.5). */
  readonly name: Grant;
  /**
   * Whose access begins with this grant. `organization`: access to a person's account that an
   * organization gave (`GivenAccess`). Null if the grant only continues an access.
   */
  readonly begins: Beginning | null;
  /**
   * `any`: all clients, including public and unverified ones. `confidential`: only clients that
   * authenticate. A self-registering client then needs an initial access token.
   */
  readonly clients: 'any' | 'confidential';
}

/**
 * Not a grant type, but also a right: an authenticated client may use the introspection endpoint.
 */
export const INTROSPECTION = 'introspection';

/** The grant types that a server offers. */
export class GrantTypes {
  readonly #rules: ReadonlyMap<string, GrantRules>;

  /** `rules` are in the order in which the server lists the grant types. */
  constructor(rules: readonly GrantRules[]) {
    this.#rules = new Map(rules.map((each) => [each.name, each]));
  }

  /** The values of `grant_type`. */
  get names(): readonly Grant[] {
    return [...this.#rules.keys()];
  }

  /**
   * The rights that an operator can give to a client: the grant types, and the right to introspect.
   */
  get rights(): readonly Grant[] {
    return [...this.names, INTROSPECTION];
  }

  /**
   * Returns the grants that a self-registering client may have. A stranger is a public or
   * unverified client.
   */
  registrable(isStranger: boolean): readonly Grant[] {
    return this.names.filter((name) => !isStranger || !this.isConfidential(name));
  }

  /** Whether only clients that authenticate may have this right. */
  isConfidential(name: string): boolean {
    return name === INTROSPECTION || this.#rules.get(name)?.clients === 'confidential';
  }

  /** Returns the grants with which access of this holder begins. */
  beginning(holder: Holder): readonly Grant[] {
    return this.names.filter((name) => this.begin([name], holder));
  }

  /** Returns the grants with which access begins in exactly this way. */
  beginningAs(beginning: Beginning): readonly Grant[] {
    return this.names.filter((name) => this.#rules.get(name)?.begins === beginning);
  }

  /** Whether access of this holder, or of any holder, can begin with one of these grants. */
  begin(grants: readonly string[], holder?: Holder): boolean {
    return grants.some((name) => {
      const begins = this.#rules.get(name)?.begins ?? null;
      if (begins === null) return false;
      return holder === undefined || holder === (begins === 'organization' ? 'person' : begins);
    });
  }
}
