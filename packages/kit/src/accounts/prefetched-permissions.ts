import { readsTogether } from '@portico/sql';

/** What was read along, of whom. */
interface Prefetched {
  readonly by: PrefetchedPermissions;
  readonly id: string;
  readonly names: readonly string[];
  readonly held: readonly (string | null)[];
}

/** Names that are read along at most: those of the scopes, in the order in which somebody first asked. */
const MOST_NAMES = 16;

/**
 * The permissions that are read along with an account, since they are asked for next: what a token is good for is one question, and
 * its reads go together. Nothing outlives that question: the next one reads anew.
 */
export class PrefetchedPermissions {
  #asked: readonly string[] = [];

  /** The names to read along; null when nothing is read together, or nothing was asked for yet. */
  names(): readonly string[] | null {
    return this.#asked.length === 0 || readsTogether() === null ? null : this.#asked;
  }

  /** Of those names the account holds these. */
  keep(id: string, names: readonly string[], held: readonly (string | null)[]): void {
    const together = readsTogether();
    if (together !== null) together.beside = { by: this, id, names, held } satisfies Prefetched;
  }

  /** Whether the account holds it; null when that was not read along. */
  answer(id: string, permission: string): boolean | null {
    const together = readsTogether();
    if (together === null) return null;
    const kept = together.beside as Prefetched | null;
    if (kept?.by === this && kept.id === id && kept.names.includes(permission))
      return kept.held.includes(permission);
    if (this.#asked.length < MOST_NAMES && !this.#asked.includes(permission))
      this.#asked = [...this.#asked, permission];
    return null;
  }

  /** For what changes an account or its permissions. */
  forget(): void {
    const together = readsTogether();
    if (together !== null) together.beside = null;
  }
}
