import type { Database, SqlParameter } from '@portico/sql';
import { equalInConstantTime } from '../../http/constant-time.ts';
import type {
  AccessToken,
  DeadToken,
  Death,
  Details,
  FurtherGrants,
  NewAccessToken,
  OfferedToken,
} from '../grant.ts';
import { givenBy } from '../given-access.ts';
import type { Admits } from './clients.ts';
import { readDetails } from './family-rows.ts';
import { blockingRow } from './lost-insert.ts';
import { confirmRemoval, insertInto, words } from './statements.ts';

/**
 * Reads and writes access tokens (`oauth_access_tokens`). Ids increase with time, so new rows go to
 * the end of the table. Rows expire in nearly the same order. The table therefore needs no index on
 * the expiry time.
 */
export class AccessTokenRecords {
  readonly #database: Database;
  readonly #admits: Admits;
  readonly #further: FurtherGrants;

  constructor(database: Database, admits: Admits, further: FurtherGrants) {
    this.#database = database;
    this.#admits = admits;
    this.#further = further;
  }

  /**
   * Returns the token, or why it is not valid. It must not have expired, and its authorization and
   * its client must not be revoked. The client must still have a grant that starts this kind of
   * access.
   */
  async findAccessToken(token: OfferedToken, now: number): Promise<AccessToken | DeadToken> {
    const { rows } = await this.#database.execute<AccessTokenRow>(FIND, [token.id]);
    const [row] = rows;
    const isKnown = row !== undefined && equalInConstantTime(row.secret_hash, token.hash);
    return isKnown ? this.#toAccessToken(row, now) : UNKNOWN;
  }

  /**
   * Revokes only this access token of the client. Returns the token, or null if it was invalid or
   * another call revoked it. That other revocation is durable when the promise resolves.
   */
  async revokeAccessToken(
    token: OfferedToken,
    clientId: string,
    now: number,
  ): Promise<AccessToken | null> {
    // Read the token before the DELETE: MySQL cannot return deleted rows. A token's client never
    // changes, so the data cannot be outdated.
    const before = await this.findAccessToken(token, now);
    // Run the DELETE even if no token was found. An outdated read-only server may have answered the
    // read. It refuses the DELETE.
    const { affected } = await this.#database.execute(DELETE, [token.id, clientId, token.hash]);
    // A malformed token (an empty id) never had a row.
    if (affected === 0 && token.id !== '')
      await confirmRemoval(this.#database, 'oauth_access_tokens');
    return affected === 1 && !('dead' in before) ? before : null;
  }

  async issueClientToken(
    clientId: string,
    audience: string | null,
    token: NewAccessToken,
    now: number,
  ): Promise<void> {
    const owner = { clientId, familyId: null, audience };
    await this.#database.execute(INSERT, accessTokenValues(owner, token, now));
  }

  /**
   * Returns the token, or why it is not valid:
   *
   * - It has expired.
   * - Its client or its authorization is revoked, or has no row any more.
   * - The server currently does not accept its client (`Admits`).
   * - Its client no longer has a grant that starts this kind of access.
   */
  #toAccessToken(row: AccessTokenRow, now: number): AccessToken | DeadToken {
    const owner = { clientId: row.client_id, familyId: row.family_id };
    const none = (dead: Death): DeadToken => ({ dead, ...owner });
    if (row.expires_at <= now) return none('expired');
    if (row.living_client_scope === null || !this.#admits(row.client_id))
      return none('client revoked');
    // The authorization was revoked or removed. Check this before the grants: its details decide
    // which grants can have started the access.
    if (row.family_id !== null && row.living_family_id === null)
      return none('authorization revoked');
    const details = readDetails(row.details);
    const has = words(row.client_grants ?? '');
    if (!this.#beginnings(row, details.details).some((grant) => has.includes(grant)))
      return none('grant removed');
    const token = {
      ...owner,
      scopes: words(row.scope),
      clientScopes: words(row.living_client_scope),
      clientProfile: row.client_profile,
      issuedAt: row.issued_at,
      expiresAt: row.expires_at,
      thumbprint: row.thumbprint,
    };
    if (row.family_id === null)
      return { ...token, audience: row.token_audience, person: null, subject: null };
    if (row.user_provider === null || row.user_id === null) return none('authorization revoked');
    return {
      ...token,
      audience: row.audience,
      person: { provider: row.user_provider, id: row.user_id },
      subject: row.subject,
      ...details,
    };
  }

  #beginnings({ family_id: family }: AccessTokenRow, details?: Details): readonly string[] {
    if (family === null) return ['client_credentials', ...this.#further('client')];
    if (givenBy(details) !== null) return this.#further('organization');
    return ['authorization_code', ...this.#further('person')];
  }
}

/** `accessTokenValues` returns the values. */
export const ACCESS_TOKEN_COLUMNS =
  'id, secret_hash, client_id, family_id, scope, audience, issued_at, expires_at, thumbprint';

const INSERT = insertInto('oauth_access_tokens', ACCESS_TOKEN_COLUMNS);

/**
 * A row that only reserves an id. A lost INSERT can then not add a token with this id later. Its
 * hash and client id are empty, and it has expired.
 */
export const ACCESS_TOKEN_BLOCKER = blockingRow(
  'oauth_access_tokens',
  'id, secret_hash, client_id, scope, issued_at, expires_at',
  'secret_hash',
);

/**
 * A client or an authorization. `audience` is null for an authorization's token: the
 * authorization's row contains it.
 */
export interface TokenOwner {
  readonly clientId: string;
  readonly familyId: string | null;
  readonly audience: string | null;
}

export function accessTokenValues(
  { clientId, familyId, audience }: TokenOwner,
  { id, hash, scopes, expiresAt, thumbprint }: NewAccessToken,
  now: number,
): readonly SqlParameter[] {
  return [id, hash, clientId, familyId, scopes.join(' '), audience, now, expiresAt, thumbprint];
}

const DELETE = 'DELETE FROM oauth_access_tokens WHERE id = ? AND client_id = ? AND secret_hash = ?';

const FIND = `SELECT t.secret_hash, t.client_id, t.family_id, t.scope, t.audience AS token_audience, t.issued_at,
    t.expires_at, t.thumbprint, c.scope AS living_client_scope, c.grants AS client_grants, c.profile AS client_profile,
    f.id AS living_family_id, f.user_provider, f.user_id, f.subject, f.audience, f.details
  FROM oauth_access_tokens t
  LEFT JOIN oauth_clients c ON c.client_id = t.client_id AND c.revoked_at IS NULL
  LEFT JOIN oauth_families f ON f.id = t.family_id AND f.revoked_at IS NULL
  WHERE t.id = ?`;

interface AccessTokenRow {
  readonly secret_hash: string;
  readonly client_id: string;
  readonly family_id: string | null;
  readonly scope: string;
  readonly token_audience: string | null;
  readonly issued_at: number;
  readonly expires_at: number;
  readonly thumbprint: string | null;
  readonly living_client_scope: string | null;
  readonly client_grants: string | null;
  readonly client_profile: string | null;
  readonly living_family_id: string | null;
  readonly user_provider: string | null;
  readonly user_id: string | null;
  readonly subject: string | null;
  readonly audience: string | null;
  readonly details: string | null;
}

const UNKNOWN: DeadToken = { dead: 'unknown', clientId: null, familyId: null };
