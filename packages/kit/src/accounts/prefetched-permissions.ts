import { readsTogether } from '@portico/sql';

/** The permissions of an account that were read together with the account. */
interface Prefetched {
  readonly by: PrefetchedPermissions;
  readonly id: string;
  readonly names: readonly string[];
  readonly held: readonly (string | null)[];
}

/**
 * The maximum number of permissions to read together with an account. These are the permissions
 * that the server looked up first.
 */
const MOST_NAMES = 16;

/**
 * Reads permissions together with an account, because a token check looks up the permissions next.
 * Keeps the permissions only until the check ends. The next check reads the permissions again.
 */
export class PrefetchedPermissions {
  #asked: readonly string[] = [];

  /**
   * Returns the permissions to read together with an account. Returns null outside a group of
   * reads, or if the server has not looked up a permission yet.
   */
  names(): readonly string[] | null {
    return this.#asked.length === 0 || readsTogether() === null ? null : this.#asked;
  }

  /**
   * Stores the permissions that the account has, until the end of the check. `names` contains all
   * permissions that were read.
   */
  keep(id: string, names: readonly string[], held: readonly (string | null)[]): void {
    const together = readsTogether();
    if (together !== null) together.beside = { by: this, id, names, held } satisfies Prefetched;
  }

  /**
   * Whether the account has the permission. Returns null if the permission was not read with the
   * account.
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

  /** Forgets the stored permissions. Call this method when an account or its permissions change. */
  forget(): void {
    const together = readsTogether();
    if (together !== null) together.beside = null;
  }
}
