import { insertIfNone, type Database } from '@portico/sql';
import { tokenHash } from '../../crypto.ts';
import type { PersonReference } from '../../person.ts';
import { NewAuthorizations, type NewAuthorization } from '../../store/sql/new-authorizations.ts';
import { removeWhere } from '../../store/sql/statements.ts';

/** A person's account, and a client to which an organization gave access to it. */
export interface Pair {
  readonly person: PersonReference;
  readonly clientId: string;
}

/** Reads and writes the access that organizations gave (`oauth_given_access`). */
export class Pairs {
  readonly #database: Database;
  readonly #beginning: NewAuthorizations;

  constructor(database: Database) {
    this.#database = database;
    this.#beginning = new NewAuthorizations(database, USE);
  }

  /** Begins an authorization. Returns false if the access was ended. */
  async begin(pair: Pair, begun: NewAuthorization, now: number): Promise<boolean> {
    const { person, clientId } = pair;
    const hash = pairHash(pair);
    const values = [hash, person.provider, person.id, clientId, now, 0];
    await insertIfNone(this.#database, ROW, '(pair_hash)', values);
    return this.#beginning.begin([now, hash], begun, now);
  }

  /** Whether an access token that was issued at this time may still be used. */
  async isValid(pair: Pair, issuedAt: number): Promise<boolean> {
    const { rows } = await this.#database.execute(IS_VALID, [pairHash(pair), issuedAt]);
    return rows.length > 0;
  }

  /** Whether the person or an operator has ended the access. */
  async hasEnded(pair: Pair): Promise<boolean> {
    const { rows } = await this.#database.execute(HAS_ENDED, [pairHash(pair)]);
    return rows.length > 0;
  }

  /** Ends the access of one client to the person's account, or of all clients (null). */
  async end(person: PersonReference, clientId: string | null, now: number): Promise<void> {
    if (clientId !== null) {
      await this.#database.execute(`${END} pair_hash = ?`, [now, pairHash({ person, clientId })]);
      return;
    }
    const { id, provider } = person;
    await this.#database.execute(`${END} user_id = ? AND user_provider = ?`, [now, id, provider]);
  }

  /** Allows ended access again, for tokens that are issued from now on. */
  async allow(pair: Pair, now: number): Promise<boolean> {
    return (await this.#database.execute(ALLOW, [now, pairHash(pair)])).affected === 1;
  }

  async removeOfPerson({ provider, id }: PersonReference): Promise<void> {
    const ofPerson = 'user_id = ? AND user_provider = ?';
    await this.#database.execute(`DELETE FROM oauth_given_access WHERE ${ofPerson}`, [
      id,
      provider,
    ]);
  }

  /** Removes at most `limit` rows of access that was not ended, and not used since this time. */
  removeUnused(since: number, limit: number): Promise<number> {
    const from = ['oauth_given_access', 'pair_hash'] as const;
    const unused = ['used_at', '< ? AND ended_at IS NULL', [since]] as const;
    return removeWhere(this.#database, from, unused, limit);
  }
}

const ROW = `oauth_given_access (pair_hash, user_provider, user_id, client_id, used_at, allowed_at)
  VALUES (?, ?, ?, ?, ?, ?)`;

const USE = 'UPDATE oauth_given_access SET used_at = ? WHERE pair_hash = ? AND ended_at IS NULL';

const IS_VALID =
  'SELECT 1 FROM oauth_given_access WHERE pair_hash = ? AND ended_at IS NULL AND allowed_at <= ?';

const HAS_ENDED = 'SELECT 1 FROM oauth_given_access WHERE pair_hash = ? AND ended_at IS NOT NULL';

const END = 'UPDATE oauth_given_access SET ended_at = ? WHERE ended_at IS NULL AND';

const ALLOW = `UPDATE oauth_given_access SET ended_at = NULL, allowed_at = ?
  WHERE pair_hash = ? AND ended_at IS NOT NULL`;

function pairHash({ person, clientId }: Pair): string {
  return tokenHash(JSON.stringify([person.provider, person.id, clientId]));
}
