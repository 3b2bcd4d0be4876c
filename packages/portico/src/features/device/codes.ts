import type { Database, SqlParameter } from '@portico/sql';
import { NewAuthorizations, type NewAuthorization } from '../../store/sql/new-authorizations.ts';
import { insertInto, removeWhere, voidOpen, words } from '../../store/sql/statements.ts';

/** The user's answer. `void`: an operator ended the request. */
export type Outcome = 'allowed' | 'denied' | 'void';

/** A request for access from a device. Times are in milliseconds since 1970. */
export interface DeviceRequest {
  readonly deviceHash: string;
  readonly userHash: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly audience: string | null;
  /** The IP address of the request. Null if unknown. */
  readonly address: string | null;
  /** The network of the address. Empty if unknown. */
  readonly network: string;
  readonly begunAt: number;
  readonly expiresAt: number;
  /** The user's answer. Null while the request waits for it. */
  readonly outcome: Outcome | null;
  /**
   * The id of the authorization and the hash of its code. Null unless the user allowed the request.
   */
  readonly granted: { readonly familyId: string; readonly hash: string } | null;
}

/** How many requests of public clients can wait for an answer. */
export interface DeviceBudget {
  readonly ofOneNetwork: number;
  readonly total: number;
}

/** Reads and writes device requests (`oauth_device_codes`). */
export class DeviceCodes {
  readonly #database: Database;
  readonly #allowing: NewAuthorizations;

  constructor(database: Database) {
    this.#database = database;
    this.#allowing = new NewAuthorizations(database, ALLOW);
  }

  /** Returns false if another request has the same user code. */
  async insert(request: DeviceRequest, interval: number): Promise<boolean> {
    const { deviceHash, userHash, begunAt } = request;
    const insert = this.#database.execute(INSERT, [
      deviceHash,
      userHash,
      request.clientId,
      request.scopes.join(' '),
      request.audience,
      request.address,
      request.network,
      begunAt,
      request.expiresAt,
      begunAt,
      interval,
    ]);
    try {
      await insert;
      return true;
    } catch (error) {
      const stored = await this.findByUser(userHash);
      if (stored === null) throw error;
      // An earlier attempt may have inserted this row before its response was lost.
      return stored.deviceHash === deviceHash;
    }
  }

  /**
   * Returns true if the limits allow this many more requests. Counts only the waiting requests of
   * public clients.
   */
  async hasRoom(
    network: string,
    budget: DeviceBudget,
    now: number,
    more: number,
  ): Promise<boolean> {
    const own = await this.#countWaiting('d.network = ? AND d.expires_at > ?', [network, now]);
    if (own + more > budget.ofOneNetwork) return false;
    return (await this.#countWaiting('d.expires_at > ?', [now])) + more <= budget.total;
  }

  /** Removes a request whose code no user has seen. */
  async remove(deviceHash: string): Promise<void> {
    await this.#database.execute('DELETE FROM oauth_device_codes WHERE device_hash = ?', [
      deviceHash,
    ]);
  }

  /** Returns the request, even if it was answered or has expired. */
  findByDevice(deviceHash: string): Promise<DeviceRequest | null> {
    return this.#find('device_hash', deviceHash);
  }

  /** Returns the request, even if it was answered or has expired. */
  findByUser(userHash: string): Promise<DeviceRequest | null> {
    return this.#find('user_hash', userHash);
  }

  /**
   * Records that a device polls for the answer.
   *
   * - `early`: the device did not wait long enough. Its interval grows by `growth` milliseconds.
   * - `waits`: there is no answer yet.
   * - `answered`: the request has an outcome or was removed.
   */
  async poll(
    deviceHash: string,
    now: number,
    { slack, growth }: { readonly slack: number; readonly growth: number },
  ): Promise<'waits' | 'early' | 'answered'> {
    const waits = await this.#database.execute(POLL, [now, deviceHash, now + slack]);
    if (waits.affected === 1) return 'waits';
    const early = await this.#database.execute(SLOW_DOWN, [now, growth, growth, deviceHash]);
    return early.affected === 1 ? 'early' : 'answered';
  }

  /**
   * Allows the request and begins the authorization, or does neither. `question` is the hash of the
   * consent request's id. Returns false if either request was answered or has ended, or if the
   * device request has expired.
   */
  allow(
    userHash: string,
    question: string,
    allowed: NewAuthorization,
    now: number,
  ): Promise<boolean> {
    const { family, code } = allowed;
    const claim = [family.id, code.hash, userHash, now];
    return this.#allowing.begin(claim, allowed, now, { question });
  }

  /** Returns false if the request has another outcome or has expired. */
  async deny(userHash: string, now: number): Promise<boolean> {
    return (await this.#database.execute(DENY, [userHash, now])).affected === 1;
  }

  /** Removes at most `limit` requests that expired before this time. Returns their number. */
  removeExpired(before: number, limit: number): Promise<number> {
    const from = ['oauth_device_codes', 'device_hash'] as const;
    return removeWhere(this.#database, from, ['expires_at', '<= ?', [before]], limit);
  }

  /**
   * Reads the first `limit` requests after the key `after`, and ends those without an answer.
   * `last` is the last key, or null if there are no more requests.
   */
  endWaiting(
    after: string,
    limit: number,
  ): Promise<{ readonly ended: number; readonly last: string | null }> {
    return voidOpen(this.#database, ['oauth_device_codes', 'device_hash'], after, limit);
  }

  async #countWaiting(which: string, values: readonly SqlParameter[]): Promise<number> {
    const count = `SELECT COUNT(*) AS n
      FROM oauth_device_codes d JOIN oauth_clients c ON c.client_id = d.client_id
      WHERE ${which} AND d.outcome IS NULL AND c.is_public = 1`;
    const { rows } = await this.#database.execute<{ n: number | string }>(count, values);
    return Number(rows[0]?.n ?? 0);
  }

  async #find(column: 'device_hash' | 'user_hash', hash: string): Promise<DeviceRequest | null> {
    const { rows } = await this.#database.execute<Row>(
      `SELECT ${COLUMNS} FROM oauth_device_codes WHERE ${column} = ?`,
      [hash],
    );
    return rows[0] === undefined ? null : toRequest(rows[0]);
  }
}

const INSERT = insertInto(
  'oauth_device_codes',
  `device_hash, user_hash, client_id, scope, audience, address, network, begun_at, expires_at, poll_after,
  poll_interval`,
);

const COLUMNS = `device_hash, user_hash, client_id, scope, audience, address, network, begun_at, expires_at,
  outcome, family_id, grant_hash`;

const POLL = `UPDATE oauth_device_codes SET poll_after = ? + poll_interval
  WHERE device_hash = ? AND outcome IS NULL AND poll_after <= ?`;

// Assign the interval last. In MySQL, later assignments would use its new value.
const SLOW_DOWN = `UPDATE oauth_device_codes SET poll_after = ? + poll_interval + ?, poll_interval = poll_interval + ?
  WHERE device_hash = ? AND outcome IS NULL`;

const OPEN = 'user_hash = ? AND expires_at > ?';

const ALLOW = `UPDATE oauth_device_codes SET outcome = 'allowed', family_id = ?, grant_hash = ?
  WHERE ${OPEN} AND outcome IS NULL`;

/** This statement can run again if its result is lost. */
const DENY = `UPDATE oauth_device_codes SET outcome = 'denied'
  WHERE ${OPEN} AND (outcome IS NULL OR outcome = 'denied')`;

interface Row {
  readonly device_hash: string;
  readonly user_hash: string;
  readonly client_id: string;
  readonly scope: string;
  readonly audience: string | null;
  readonly address: string | null;
  readonly network: string;
  readonly begun_at: number;
  readonly expires_at: number;
  readonly outcome: string | null;
  readonly family_id: string | null;
  readonly grant_hash: string | null;
}

function toRequest(row: Row): DeviceRequest {
  const { family_id: familyId, grant_hash: hash } = row;
  return {
    deviceHash: row.device_hash,
    userHash: row.user_hash,
    clientId: row.client_id,
    scopes: words(row.scope),
    audience: row.audience,
    address: row.address,
    network: row.network,
    begunAt: row.begun_at,
    expiresAt: row.expires_at,
    outcome: row.outcome as Outcome | null,
    granted: familyId === null || hash === null ? null : { familyId, hash },
  };
}
