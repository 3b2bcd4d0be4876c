import type { Grant } from './client.ts';
import type { Beginning, Holder } from './grant.ts';

/** Which clients may use a grant type, and how access starts with it. */
export interface GrantRules {
  /** A name, or a URI for an extension (RFC 6749 section 4.5). */
  readonly name: Grant;
  /**
   * Who starts access with this grant.
   *
   * - `organization`: an organization grants access to a person's account (`GivenAccess`). Only
   *   clients of an operator may use such a grant.
   * - null: the grant only continues access, for example `refresh_token`.
   */
  readonly begins: Beginning | null;
  /**
   * Which clients may use the grant.
   *
   * - `any`: all clients, including public and unverified ones.
   * - `confidential`: only clients that authenticate. A client needs an initial access token to
   *   register itself for such a grant.
   */
  readonly clients: 'any' | 'confidential';
  /**
   * True if no client that registers itself can have the grant, even though a person allows the
   * access.
   */
  readonly isForOperators?: true;
}

/**
 * The right to use the introspection endpoint, for clients that authenticate. It is not a grant
 * type.
 */
export const INTROSPECTION = 'introspection';

export class GrantTypes {
  readonly #rules: ReadonlyMap<string, GrantRules>;

  /** The server lists the grant types in the order of `rules`. */
  constructor(rules: readonly GrantRules[]) {
    this.#rules = new Map(rules.map((each) => [each.name, each]));
  }

  get names(): readonly Grant[] {
    return [...this.#rules.keys()];
  }

  /** What an operator can give to a client: the grant types, and introspection. */
  get rights(): readonly Grant[] {
    return [...this.names, INTROSPECTION];
  }

  /**
   * Returns the grants for a client that registers itself. `isStranger` is true for a public or
   * unverified client.
   */
  registrable(isStranger: boolean): readonly Grant[] {
    return this.names.filter(
      (name) => !this.isForOperators(name) && (!isStranger || !this.isConfidential(name)),
    );
  }

  /**
   * Returns true if only clients of an operator may have this grant. This includes access that an
   * organization gives: there is no consent page, and the organization identifies the client only
   * by its id.
   */
  isForOperators(name: string): boolean {
    const rules = this.#rules.get(name);
    return rules?.begins === 'organization' || rules?.isForOperators === true;
  }

  /** Returns true if only clients that authenticate may have this right. */
  isConfidential(name: string): boolean {
    return name === INTROSPECTION || this.#rules.get(name)?.clients === 'confidential';
  }

  /** Returns the grants that start access for a person, or for the client itself. */
  beginning(holder: Holder): readonly Grant[] {
    return this.names.filter((name) => this.begin([name], holder));
  }

  /** Returns the grants whose access a person, the client itself or an organization starts. */
  beginningAs(beginning: Beginning): readonly Grant[] {
    return this.names.filter((name) => this.#rules.get(name)?.begins === beginning);
  }

  /**
   * Returns true if a person can allow access with one of these grants. Only such access includes
   * refresh tokens.
   */
  canBeAllowed(grants: readonly string[]): boolean {
    return grants.some((name) => this.#rules.get(name)?.begins === 'person');
  }

  /** Returns true if one of these grants starts access, for this kind of holder if it is set. */
  begin(grants: readonly string[], holder?: Holder): boolean {
    return grants.some((name) => {
      const begins = this.#rules.get(name)?.begins ?? null;
      if (begins === null) return false;
      return holder === undefined || holder === (begins === 'organization' ? 'person' : begins);
    });
  }
}
