import type { Grant } from './client.ts';
import type { Beginning, Holder } from './grant.ts';

/** The rules for a grant type: which clients may use it, and how access begins with it. */
export interface GrantRules {
  /** The value of `grant_type`: a name, or a URI for an extension (RFC 6749 section 4.5). */
  readonly name: Grant;
  /**
   * How access begins with this grant. `organization` means that an organization gives access to a
   * person's account (`GivenAccess`), and only to clients that an operator registered. Null if the
   * grant only continues existing access.
   */
  readonly begins: Beginning | null;
  /**
   * `any` means all clients, including public and unverified ones. `confidential` means only
   * clients that authenticate. If such a client registers itself, it needs an initial access token.
   */
  readonly clients: 'any' | 'confidential';
}

/** A right that is not a grant type: an authenticated client may use the introspection endpoint. */
export const INTROSPECTION = 'introspection';

/** The grant types that a server offers. */
export class GrantTypes {
  readonly #rules: ReadonlyMap<string, GrantRules>;

  /** The server lists the grant types in the order of `rules`. */
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
   * Returns the grants that a client may have if it registers itself. `isStranger` is true for a
   * public or unverified client.
   */
  registrable(isStranger: boolean): readonly Grant[] {
    return this.names.filter(
      (name) => !this.isForOperators(name) && (!isStranger || !this.isConfidential(name)),
    );
  }

  /**
   * Whether only clients that an operator registered may have this grant: an organization gives
   * access to them by their id, and no person is asked.
   */
  isForOperators(name: string): boolean {
    return this.#rules.get(name)?.begins === 'organization';
  }

  /** Whether only clients that authenticate may have this right. */
  isConfidential(name: string): boolean {
    return name === INTROSPECTION || this.#rules.get(name)?.clients === 'confidential';
  }

  /** Returns the grants with which access of this kind of holder begins. */
  beginning(holder: Holder): readonly Grant[] {
    return this.names.filter((name) => this.begin([name], holder));
  }

  /** Returns the grants with which access begins in exactly this way. */
  beginningAs(beginning: Beginning): readonly Grant[] {
    return this.names.filter((name) => this.#rules.get(name)?.begins === beginning);
  }

  /**
   * Whether access can begin with one of these grants. With `holder`, only access of this kind of
   * holder counts.
   */
  begin(grants: readonly string[], holder?: Holder): boolean {
    return grants.some((name) => {
      const begins = this.#rules.get(name)?.begins ?? null;
      if (begins === null) return false;
      return holder === undefined || holder === (begins === 'organization' ? 'person' : begins);
    });
  }
}
