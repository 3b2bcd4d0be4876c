import { readsTogether } from '@portico/sql';

/** The permissions that were read along, and their account. */
interface Prefetched {
  readonly by: PrefetchedPermissions;
  readonly id: string;
  readonly names: readonly string[];
  readonly held: readonly (string | null)[];
}

/**
 * How many permission names are read along: those of the scopes, in the order in which they were
 * first asked for.
 */
const MOST_NAMES = 16;

/**
 * Permissions that are read along with an account because they are asked for next: whether a token
 * is valid is one question, and its reads belong together. Nothing is kept after that question; the
 * next one reads again.
 */
export class PrefetchedPermissions {
  #asked: readonly string[] = [];

  /** The names to read along. Null outside a group of reads, or before any was asked for. */
  names(): readonly string[] | null {
    return this.#asked.length === 0 || readsTogether() === null ? null : this.#asked;
  }

  /** Keeps which of these names the account has. */
  keep(id: string, names: readonly string[], held: readonly (string | null)[]): void {
    const together = readsTogether();
    if (together !== null) together.beside = { by: this, id, names, held } satisfies Prefetched;
  }

  /** Whether the account has the permission. Null if it was not read along. */
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

  /** Call this when an account or its permissions change. */
  forget(): void {
    const together = readsTogether();
    if (together !== null) together.beside = null;
  }
}
