import type { Database, SqlParameter } from '@portico/sql';
import { NewAuthorizations, type NewAuthorization } from '../../store/sql/new-authorizations.ts';
import { insertInto, removeWhere, voidOpen, words } from '../../store/sql/statements.ts';

/** The user's answer to a device request, or `void` if an operator ended the request. */
export type Outcome = 'allowed' | 'denied' | 'void';

/** A request for access from a device. Times are in milliseconds since 1970. */
export interface DeviceRequest {
  readonly deviceHash: string;
  readonly userHash: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly audience: string | null;
  /** The IP address that the request came from. Null if it is unknown. */
  readonly address: string | null;
  /** The network that the address is in. Empty if it is unknown. */
  readonly network: string;
  readonly begunAt: number;
  readonly expiresAt: number;
  /**
   * The user's answer, or `void` if the request can no longer be answered. Null while the request
   * waits for the user.
   */
  readonly outcome: Outcome | null;
  /**
   * The id of the authorization, and the hash of its code. Null unless the user has allowed the
   * request.
   */
  readonly granted: { readonly familyId: string; readonly hash: string } | null;
}

/**
 * The maximum number of public clients' requests that can wait for an answer: from one network, and
 * in total.
 */
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

  /** Inserts the request. Returns false if another request has the same user code. */
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
      // If an earlier attempt inserted this row but its response was lost, the request is stored.
      return stored.deviceHash === deviceHash;
    }
  }

  /**
   * Whether the limits allow this many more requests from this network. Counts only the requests of
   * public clients that are waiting for an answer.
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

  /** Removes a request whose code has not been shown to a user. */
  async remove(deviceHash: string): Promise<void> {
    await this.#database.execute('DELETE FROM oauth_device_codes WHERE device_hash = ?', [
      deviceHash,
    ]);
  }

  /** Returns the request with this device code, even if it has been answered or has expired. */
  findByDevice(deviceHash: string): Promise<DeviceRequest | null> {
    return this.#find('device_hash', deviceHash);
  }

  /** Returns the request with this user code, even if it has been answered or has expired. */
  findByUser(userHash: string): Promise<DeviceRequest | null> {
    return this.#find('user_hash', userHash);
  }

  /**
   * Records that a device polls for the user's answer. Returns `early` if the device did not wait
   * long enough since its last poll. In that case, the interval between polls grows by `growth`
   * milliseconds. Returns `waits` if the device waited long enough, but there is no answer yet.
   * Returns `answered` if the request no longer waits for an answer: it has an outcome or was
   * removed.
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
   * Allows the device request and begins the authorization, or does neither. `question` is the hash
   * of the consent request's id. Returns false if the device request or the consent request has
   * already been answered or has ended, or if the device request has expired.
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

  /** Denies the request. Returns false if the request has another outcome or has expired. */
  async deny(userHash: string, now: number): Promise<boolean> {
    return (await this.#database.execute(DENY, [userHash, now])).affected === 1;
  }

  /**
   * Removes at most `limit` requests that expired before this time. Returns how many requests it
   * has removed.
   */
  removeExpired(before: number, limit: number): Promise<number> {
    const from = ['oauth_device_codes', 'device_hash'] as const;
    return removeWhere(this.#database, from, ['expires_at', '<= ?', [before]], limit);
  }

  /**
   * Reads the first `limit` requests after the key `after`, and ends those that have not been
   * answered. Returns how many requests it has ended, and the last key that it has read. This key
   * is null if there are no more requests.
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

// Assign the interval last, because in MySQL, later assignments would use its new value.
const SLOW_DOWN = `UPDATE oauth_device_codes SET poll_after = ? + poll_interval + ?, poll_interval = poll_interval + ?
  WHERE device_hash = ? AND outcome IS NULL`;

const OPEN = 'user_hash = ? AND expires_at > ?';

const ALLOW = `UPDATE oauth_device_codes SET outcome = 'allowed', family_id = ?, grant_hash = ?
  WHERE ${OPEN} AND outcome IS NULL`;

/** Denies a request. If the result of this statement is lost, the statement can run again. */
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
