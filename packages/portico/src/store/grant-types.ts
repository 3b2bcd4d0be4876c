import type { Grant } from './client.ts';
import type { Beginning, Holder } from './grant.ts';

/** The rules for a grant type: which clients may use it and how access starts. */
export interface GrantRules {
  /** The value of `grant_type`: a name, or a URI for an extension (RFC 6749 section 4.5). */
  readonly name: Grant;
  /**
   * Who starts access with this grant. `organization`: an organization grants access to a person's
   * account (`GivenAccess`). Only clients that an operator registered may use such a grant. Null:
   * the grant only continues existing access, for example `refresh_token`.
   */
  readonly begins: Beginning | null;
  /**
   * Which clients may use the grant. `any`: all clients, including public and unverified clients.
   * `confidential`: only clients that authenticate. A client that registers itself for such a grant
   * needs an initial access token.
   */
  readonly clients: 'any' | 'confidential';
  /**
   * Whether a client that registers itself can never have the grant, even though a person allows
   * the access. Defaults to false.
   */
  readonly isForOperators?: true;
}

/**
 * The right to use the introspection endpoint, for clients that authenticate. It is not a grant
 * type.
 */
export const INTROSPECTION = 'introspection';

/** The grant types that this server offers. */
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

  /** The rights that an operator can give to a client: the grant types, and introspection. */
  get rights(): readonly Grant[] {
    return [...this.names, INTROSPECTION];
  }

  /**
   * Returns the grants that a client can have if it registers itself. `isStranger` is true for a
   * public or unverified client.
   */
  registrable(isStranger: boolean): readonly Grant[] {
    return this.names.filter(
      (name) => !this.isForOperators(name) && (!isStranger || !this.isConfidential(name)),
    );
  }

  /**
   * Returns whether only clients that an operator registered may have this grant. This is always so
   * if an organization gives a client access, because there is no consent page, and the
   * organization identifies the client only by its id.
   */
  isForOperators(name: string): boolean {
    const rules = this.#rules.get(name);
    return rules?.begins === 'organization' || rules?.isForOperators === true;
  }

  /** Returns whether only clients that authenticate may have this right. */
  isConfidential(name: string): boolean {
    return name === INTROSPECTION || this.#rules.get(name)?.clients === 'confidential';
  }

  /** Returns the grants that start access for a person, or for the client itself. */
  beginning(holder: Holder): readonly Grant[] {
    return this.names.filter((name) => this.begin([name], holder));
  }

  /**
   * Returns the grants whose access is started by a person, by the client itself, or by an
   * organization, depending on `beginning`.
   */
  beginningAs(beginning: Beginning): readonly Grant[] {
    return this.names.filter((name) => this.#rules.get(name)?.begins === beginning);
  }

  /**
   * Whether a person can allow access with one of these grants. Only access that a person allowed
   * includes refresh tokens.
   */
  canBeAllowed(grants: readonly string[]): boolean {
    return grants.some((name) => this.#rules.get(name)?.begins === 'person');
  }

  /**
   * Whether access can start with one of these grants. If `holder` is set, only grants that start
   * access for this kind of holder are considered.
   */
  begin(grants: readonly string[], holder?: Holder): boolean {
    return grants.some((name) => {
      const begins = this.#rules.get(name)?.begins ?? null;
      if (begins === null) return false;
      return holder === undefined || holder === (begins === 'organization' ? 'person' : begins);
    });
  }
}
