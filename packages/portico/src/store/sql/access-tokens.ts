import type { Database, SqlParameter } from '@portico/sql';
import { equalInConstantTime } from '../../http/constant-time.ts';
import type { AccessToken, DeadToken, Death, FurtherGrants, NewAccessToken, OfferedToken } from '../grant.ts';
import type { Admits } from './clients.ts';
import { blockingRow } from './lost-insert.ts';
import { insertInto, words } from './statements.ts';

/**
 * Access tokens: `oauth_access_tokens`. The key grows with time, so rows are added at the end of
 * the table and expire nearly in that order. An index on the expiry would only cost writes.
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
   * The token, if it has not expired, neither its family nor its client is revoked, and the client
   * still has its grant. Otherwise why it is invalid.
   */
  async findAccessToken(token: OfferedToken, now: number): Promise<AccessToken | DeadToken> {
    const { rows } = await this.#database.execute<AccessTokenRow>(FIND, [token.id]);
    const [row] = rows;
    const isKnown = row !== undefined && equalInConstantTime(row.secret_hash, token.hash);
    return isKnown ? this.#toAccessToken(row, now) : UNKNOWN;
  }

  /**
   * Ends this client's access token and nothing else. Returns the token if this call ended it;
   * otherwise null.
   */
  async revokeAccessToken(token: OfferedToken, clientId: string, now: number): Promise<AccessToken | null> {
    // Read the owner first: it cannot change, and it is unknown once the row is gone. MySQL has no
    // DELETE that returns what it removes.
    const before = await this.findAccessToken(token, now);
    // Runs even if nothing was found: a read-only server may be behind, and refuses this.
    const { affected } = await this.#database.execute(DELETE, [token.id, clientId, token.hash]);
    return affected === 1 && !('dead' in before) ? before : null;
  }

  /** Issues a token for the application itself, without an authorization. */
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
   * A token is dead when its client's or family's row is revoked or gone, when its client is not
   * admitted, or when its client has lost every grant with which
   * such a token begins.
   */
  #toAccessToken(row: AccessTokenRow, now: number): AccessToken | DeadToken {
    const owner = { clientId: row.client_id, familyId: row.family_id };
    const none = (dead: Death): DeadToken => ({ dead, ...owner });
    if (row.expires_at <= now) return none('expired');
    if (row.living_client_scope === null || !this.#admits(row.client_id)) return none('client revoked');
    const has = words(row.client_grants ?? '');
    const beginnings =
      row.family_id === null
        ? ['client_credentials', ...this.#further('client')]
        : ['authorization_code', ...this.#further('person')];
    if (!beginnings.some((grant) => has.includes(grant))) return none('grant removed');
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
    if (row.living_family_id === null || row.user_provider === null || row.user_id === null) {
      return none('authorization revoked');
    }
    return {
      ...token,
      audience: row.audience,
      person: { provider: row.user_provider, id: row.user_id },
      subject: row.subject,
    };
  }
}

/** The columns of a new row, for `accessTokenValues`. */
export const ACCESS_TOKEN_COLUMNS =
  'id, secret_hash, client_id, family_id, scope, audience, issued_at, expires_at, thumbprint';

const INSERT = insertInto('oauth_access_tokens', ACCESS_TOKEN_COLUMNS);

/** A row that is not a token: no hash is empty, no client has this id, and it has expired. */
export const ACCESS_TOKEN_BLOCKER = blockingRow(
  'oauth_access_tokens',
  'id, secret_hash, client_id, scope, issued_at, expires_at',
  'secret_hash',
);

/** The owner of a token. A token of a family has the family's audience. */
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
    f.id AS living_family_id, f.user_provider, f.user_id, f.subject, f.audience
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
}

const UNKNOWN: DeadToken = { dead: 'unknown', clientId: null, familyId: null };
