import { readsTogether } from '@portico/sql';

/** The permissions that were read together with an account. */
interface Prefetched {
  readonly by: PrefetchedPermissions;
  readonly id: string;
  readonly names: readonly string[];
  readonly held: readonly (string | null)[];
}

/**
 * The maximum number of permissions to read together with an account. These are the first ones that
 * the server has looked up.
 */
const MOST_NAMES = 16;

/**
 * Reads permissions together with an account, because a token check needs them next. Keeps them
 * only until the end of the check, so that the next check reads them from the database again.
 */
export class PrefetchedPermissions {
  #asked: readonly string[] = [];

  /**
   * Returns the names of the permissions to read together with an account. Returns null outside a
   * group of reads, such as a token check, or if the server has not looked up any permission yet.
   */
  names(): readonly string[] | null {
    return this.#asked.length === 0 || readsTogether() === null ? null : this.#asked;
  }

  /**
   * Keeps the account's permissions until the end of the check. `names` lists all permissions that
   * were read, and `held` lists those that the account has.
   */
  keep(id: string, names: readonly string[], held: readonly (string | null)[]): void {
    const together = readsTogether();
    if (together !== null) together.beside = { by: this, id, names, held } satisfies Prefetched;
  }

  /**
   * Whether the account has the permission. Returns null if the permission was not read together
   * with the account.
   */
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

  /**
   * Forgets the permissions that were kept for the current check. Call this method when the
   * permissions of an account change.
   */
  forget(): void {
    const together = readsTogether();
    if (together !== null) together.beside = null;
  }
}
