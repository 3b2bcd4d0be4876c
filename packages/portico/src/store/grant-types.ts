import type { Grant } from './client.ts';
import type { Holder } from './grant.ts';

/** A grant type, and which clients may have it. */
export interface GrantRules {
  /** The value of `grant_type`: a name, or a URI for an extension (RFC 6749 section 4.5). */
  readonly name: Grant;
  /** Whose access begins with it. Null if it continues what another grant began. */
  readonly begins: Holder | null;
  /**
   * `any`: also public clients, and those that no one verified. `confidential`: clients that prove
   * themselves; one that registers itself needs an initial access token.
   */
  readonly clients: 'any' | 'confidential';
}

/** Not a grant type, but also a right of a client that proves itself: to use that endpoint. */
const INTROSPECTION = 'introspection';

/** The grant types that a server offers. */
export class GrantTypes {
  readonly #rules: ReadonlyMap<string, GrantRules>;

  /** In the order in which they are listed. */
  constructor(rules: readonly GrantRules[]) {
    this.#rules = new Map(rules.map((each) => [each.name, each]));
  }

  /** The values of `grant_type`. */
  get names(): readonly Grant[] {
    return [...this.#rules.keys()];
  }

  /** What an operator can give to a client: these, and the right to introspect. */
  get rights(): readonly Grant[] {
    return [...this.names, INTROSPECTION];
  }

  /** What a client that registers itself may have. A stranger is public, or no one verified it. */
  registrable(isStranger: boolean): readonly Grant[] {
    return this.names.filter((name) => !isStranger || !this.isConfidential(name));
  }

  /** Whether only clients that prove themselves may have it. */
  isConfidential(name: string): boolean {
    return name === INTROSPECTION || this.#rules.get(name)?.clients === 'confidential';
  }

  /** Those with which access of this kind begins. */
  beginning(holder: Holder): readonly Grant[] {
    return this.names.filter((name) => this.#rules.get(name)?.begins === holder);
  }

  /** Whether access of this kind, or of any kind, can begin with one of these grants. */
  begin(grants: readonly string[], holder?: Holder): boolean {
    return grants.some((name) => {
      const begun = this.#rules.get(name)?.begins ?? null;
      return begun !== null && (holder === undefined || begun === holder);
    });
  }
}
