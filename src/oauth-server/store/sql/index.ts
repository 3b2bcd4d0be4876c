import type { Database, SqlConnection } from '../../../sql/contract.ts';
import { equalInConstantTime } from '../../../http/constant-time.ts';
import type {
  AccessToken,
  AuthorizationCode,
  ConsentOutcome,
  DeadToken,
  Family,
  GrantOutcome,
  GrantRefusal,
  NewAccessToken,
  NewCode,
  NewRefreshToken,
  NewToken,
  NewTokens,
  PrunedRows,
  Store,
  StoredGrant,
} from '../store.ts';
import { clientsTable } from './clients.ts';
import { consentRequestsTable } from './consent-requests.ts';
import { cookieKeysTable } from './cookie-keys.ts';
import { exists, expiredKeys, placeholders, removeExpired, words } from './statements.ts';
import { subjectsTable } from './subjects.ts';
import { waitingRequestsTable } from './waiting-requests.ts';

/**
 * The store on a relational database. Every transaction begins with the write that claims what it decides on: a read
 * before it would fix a snapshot on MySQL, and could miss a revocation or deadlock on the others. Issuing updates the
 * family's row and revoking updates the same row, so neither passes the other.
 */
export function createSqlStore(database: Database): Store {
  /** The one way from a code or refresh token to tokens: claim the family, use it up, issue. */
  function issueOnce(
    useUp: (connection: SqlConnection) => Promise<boolean>,
    used: StoredGrant,
    tokens: NewTokens,
    now: number,
  ): Promise<GrantOutcome> {
    return database.transaction<GrantOutcome>(
      async (connection) => {
        if (!(await claimFamily(connection, used.family.id, tokens, now))) return refused('revoked');
        if (!(await useUp(connection))) {
          await revokeFamily(connection, used.family.id, now);
          return refused('used');
        }
        const owner = { clientId: used.family.clientId, familyId: used.family.id, audience: null };
        await insertAccessToken(connection, owner, tokens.accessToken, now);
        return { issued: true };
      },
      // Nothing may be spent without an answer: the tokens are there, or the use did not happen.
      async (connection, { issued }) =>
        issued && exists(connection, 'oauth_access_tokens', 'token_hash', tokens.accessToken.hash),
    );
  }

  return {
    ...clientsTable(database),
    ...subjectsTable(database),
    ...consentRequestsTable(database),
    ...waitingRequestsTable(database),
    ...cookieKeysTable(database),

    answerConsent({ idHash, person }, allowed, now) {
      const outcome: ConsentOutcome = allowed === null ? 'denied' : 'allowed';
      const answer = async (connection: SqlConnection) => {
        const { affected } = await connection.execute(
          `UPDATE oauth_consent_requests SET outcome = ?
          WHERE id_hash = ? AND user_provider = ? AND user_id = ? AND expires_at > ? AND outcome IS NULL`,
          [outcome, idHash, person.provider, person.id, now],
        );
        if (affected !== 1) return false;
        if (allowed === null) return true;
        await insertFamily(connection, allowed.family, allowed.code, now);
        await insertCode(connection, allowed.family.id, allowed.code);
        return true;
      };
      return database.transaction(
        answer,
        async (connection, taken) =>
          taken &&
          (allowed === null
            ? isDenied(connection, idHash)
            : exists(connection, 'oauth_authorization_codes', 'code_hash', allowed.code.hash)),
      );
    },

    async findCode(codeHash) {
      const { rows } = await database.execute<CodeRow & FamilyColumns>(FIND_CODE, [codeHash]);
      return rows[0] === undefined ? null : toCode(rows[0]);
    },

    spendCode: (code, tokens, now) =>
      issueOnce(
        async (connection) => {
          if (!(await spend(connection, SPEND_CODE, code, now))) return false;
          await insertRefreshToken(connection, code.family.id, tokens.refreshToken, now);
          return true;
        },
        code,
        tokens,
        now,
      ),

    burnCode(code, offeredBy, now) {
      return database.transaction(async (connection) => {
        // Waits for an exchange in flight, so that the code is spent either before or after it.
        await connection.execute('UPDATE oauth_families SET expires_at = expires_at WHERE id = ?', [
          code.family.id,
        ]);
        const { affected } = await connection.execute(SPEND_CODE, [now, code.hash]);
        if (affected === 1 || offeredBy !== code.family.clientId) return false;
        return revokeFamily(connection, code.family.id, now);
      });
    },

    async findRefreshToken({ hash, mark }) {
      const { rows } = await database.execute<RefreshTokenRow & FamilyColumns>(FIND_REFRESH_TOKEN, [hash]);
      const [row] = rows;
      if (row !== undefined) {
        return { ...storedGrant(row), hash, used: row.used_at !== null, marked: hasMark(row, mark?.hash) };
      }
      if (mark === null) return null;
      const { rows: families } = await database.execute<MarkedFamilyRow & FamilyColumns>(FIND_FAMILY, [
        mark.familyId,
      ]);
      const [family] = families;
      if (family === undefined || !hasMark(family, mark.hash)) return null;
      return { ...storedGrant(family), hash, used: true, marked: true };
    },

    rotateRefreshToken(token, tokens, now) {
      const successor = tokens.refreshToken;
      const useUp = async (connection: SqlConnection) => {
        if (!token.marked || successor === null) {
          if (!(await spend(connection, USE_REFRESH_TOKEN, token, now))) return false;
          await insertRefreshToken(connection, token.family.id, successor, now);
          return true;
        }
        const { affected } = await connection.execute(REPLACE_REFRESH_TOKEN, [
          successor.hash,
          now,
          successor.expiresAt,
          token.hash,
        ]);
        return affected === 1;
      };
      return issueOnce(useUp, token, tokens, now);
    },

    async revokeReplayed(used, now) {
      const { affected } = await database.execute(
        `UPDATE oauth_families SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL AND NOT EXISTS
          (SELECT 1 FROM oauth_refresh_tokens WHERE token_hash = ? AND used_at IS NULL)`,
        [now, used.family.id, used.hash],
      );
      return affected === 1;
    },

    revokeFamily: (familyId, now) => revokeFamily(database, familyId, now),

    async listAuthorizations(person, now) {
      const { rows } = await database.execute<FamilyColumns & AuthorizationRow>(
        `SELECT f.id AS family_id, f.created_at, c.name AS client_name, c.scope AS client_scope, ${FAMILY_COLUMNS}
        FROM oauth_families f
        JOIN oauth_clients c ON c.client_id = f.client_id AND c.revoked_at IS NULL
        WHERE f.user_provider = ? AND f.user_id = ? AND f.revoked_at IS NULL AND f.expires_at > ?
        ORDER BY f.created_at, f.id`,
        [person.provider, person.id, now],
      );
      return rows.map((row) => ({
        family: toFamily(row),
        clientName: row.client_name,
        clientScopes: words(row.client_scope),
        createdAt: row.created_at,
      }));
    },

    async revokeAccessToken(hash, clientId) {
      await database.execute('DELETE FROM oauth_access_tokens WHERE token_hash = ? AND client_id = ?', [
        hash,
        clientId,
      ]);
    },

    async issueClientToken(clientId, audience, token, now) {
      await insertAccessToken(database, { clientId, familyId: null, audience }, token, now);
    },

    async prune(expiredBefore, limit) {
      const remove = (table: string, key: string) =>
        removeExpired(database, table, key, expiredBefore, limit);
      return {
        ...(await removeFamilies(database, expiredBefore, limit)),
        accessTokens: await remove('oauth_access_tokens', 'token_hash'),
        consentRequests:
          (await remove('oauth_consent_requests', 'id_hash')) +
          (await remove('oauth_waiting_requests', 'secret_hash')),
      };
    },

    async findAccessToken(hash, now) {
      const { rows } = await database.execute<AccessTokenRow>(FIND_ACCESS_TOKEN, [hash]);
      return rows[0] === undefined ? 'unknown' : toAccessToken(rows[0], now);
    },
  };
}

// --- statements -----------------------------------------------------------------------------------------------

const FIND_ACCESS_TOKEN = `SELECT t.client_id, t.family_id, t.scope, t.audience AS token_audience, t.issued_at,
    t.expires_at, c.scope AS living_client_scope, f.id AS living_family_id, f.user_provider, f.user_id, f.subject, f.audience
  FROM oauth_access_tokens t
  LEFT JOIN oauth_clients c ON c.client_id = t.client_id AND c.revoked_at IS NULL
  LEFT JOIN oauth_families f ON f.id = t.family_id AND f.revoked_at IS NULL
  WHERE t.token_hash = ?`;

const FAMILY_COLUMNS = 'f.client_id, f.user_provider, f.user_id, f.subject, f.scope, f.audience';

const JOIN_FAMILY = 'JOIN oauth_families f ON f.id = t.family_id';

const FIND_CODE = `SELECT t.code_hash, t.family_id, t.parameters, t.expires_at, t.spent_at, ${FAMILY_COLUMNS}
  FROM oauth_authorization_codes t ${JOIN_FAMILY} WHERE t.code_hash = ?`;

const FIND_REFRESH_TOKEN = `SELECT t.family_id, t.expires_at, t.used_at, f.refresh_mark_hash, ${FAMILY_COLUMNS}
  FROM oauth_refresh_tokens t ${JOIN_FAMILY} WHERE t.token_hash = ?`;

const FIND_FAMILY = `SELECT f.id AS family_id, f.expires_at, f.refresh_mark_hash, ${FAMILY_COLUMNS}
  FROM oauth_families f WHERE f.id = ?`;

const SPEND_CODE = `UPDATE oauth_authorization_codes SET spent_at = ? WHERE code_hash = ? AND spent_at IS NULL`;

const USE_REFRESH_TOKEN = `UPDATE oauth_refresh_tokens SET used_at = ? WHERE token_hash = ? AND used_at IS NULL`;

const REPLACE_REFRESH_TOKEN = `UPDATE oauth_refresh_tokens SET token_hash = ?, issued_at = ?, expires_at = ?
  WHERE token_hash = ? AND used_at IS NULL`;

/** Marks the code or token as used; false when it was before. */
async function spend(
  connection: SqlConnection,
  statement: string,
  { hash }: StoredGrant,
  now: number,
): Promise<boolean> {
  const { affected } = await connection.execute(statement, [now, hash]);
  return affected === 1;
}

async function isDenied(connection: SqlConnection, idHash: string): Promise<boolean> {
  const { rows } = await connection.execute(
    "SELECT 1 FROM oauth_consent_requests WHERE id_hash = ? AND outcome = 'denied'",
    [idHash],
  );
  return rows.length > 0;
}

/** Locks the living family's row until the end of the transaction; false when it is revoked. */
async function claimFamily(
  connection: SqlConnection,
  familyId: string,
  tokens: NewTokens,
  now: number,
): Promise<boolean> {
  const expiresAt = Math.max(now, tokens.accessToken.expiresAt, tokens.refreshToken?.expiresAt ?? 0);
  const { affected } = await connection.execute(
    `UPDATE oauth_families SET expires_at = CASE WHEN expires_at > ? THEN expires_at ELSE ? END,
      refresh_mark_hash = COALESCE(?, refresh_mark_hash)
    WHERE id = ? AND revoked_at IS NULL`,
    [expiresAt, expiresAt, tokens.refreshToken?.markHash ?? null, familyId],
  );
  return affected === 1;
}

async function revokeFamily(connection: SqlConnection, familyId: string, now: number): Promise<boolean> {
  const { affected } = await connection.execute(
    'UPDATE oauth_families SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
    [now, familyId],
  );
  return affected === 1;
}

/**
 * A family whose last token has expired goes last: first its codes and refresh tokens, so that a crash in between leaves
 * nothing that no family names. Families with more refresh tokens than one batch takes wait for the next.
 */
async function removeFamilies(
  connection: SqlConnection,
  expiredBefore: number,
  limit: number,
): Promise<Pick<PrunedRows, 'families' | 'refreshTokens'>> {
  const ids = await expiredKeys(connection, 'oauth_families', 'id', expiredBefore, limit);
  if (ids.length === 0) return { families: 0, refreshTokens: 0 };
  const { rows } = await connection.execute<{ token_hash: string }>(
    `SELECT token_hash FROM oauth_refresh_tokens WHERE family_id IN (${placeholders(ids)}) LIMIT ${limit}`,
    ids,
  );
  const hashes = rows.map((row) => row.token_hash);
  if (hashes.length > 0) {
    await connection.execute(
      `DELETE FROM oauth_refresh_tokens WHERE token_hash IN (${placeholders(hashes)})`,
      hashes,
    );
  }
  if (hashes.length === limit) return { families: 0, refreshTokens: hashes.length };
  await connection.execute(
    `DELETE FROM oauth_authorization_codes WHERE family_id IN (${placeholders(ids)})`,
    ids,
  );
  const { affected } = await connection.execute(
    `DELETE FROM oauth_families WHERE id IN (${placeholders(ids)}) AND expires_at < ?`,
    [...ids, expiredBefore],
  );
  return { families: affected, refreshTokens: hashes.length };
}

async function insertFamily(
  connection: SqlConnection,
  family: Family,
  code: NewToken,
  now: number,
): Promise<void> {
  await connection.execute(
    `INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, audience, created_at,
      expires_at, revoked_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)`,
    [
      family.id,
      family.clientId,
      family.person.provider,
      family.person.id,
      family.subject,
      family.scopes.join(' '),
      family.audience,
      now,
      code.expiresAt,
    ],
  );
}

async function insertCode(connection: SqlConnection, familyId: string, code: NewCode): Promise<void> {
  const { redirectUri, codeChallenge, nonce } = code;
  await connection.execute(
    `INSERT INTO oauth_authorization_codes (code_hash, family_id, parameters, expires_at, spent_at)
    VALUES (?, ?, ?, ?, NULL)`,
    [
      code.hash,
      familyId,
      JSON.stringify({ redirectUri, codeChallenge, nonce } satisfies CodeParameters),
      code.expiresAt,
    ],
  );
}

async function insertRefreshToken(
  connection: SqlConnection,
  familyId: string,
  token: NewRefreshToken | null,
  now: number,
): Promise<void> {
  if (token === null) return;
  await connection.execute(
    `INSERT INTO oauth_refresh_tokens (token_hash, family_id, issued_at, expires_at, used_at)
    VALUES (?, ?, ?, ?, NULL)`,
    [token.hash, familyId, now, token.expiresAt],
  );
}

async function insertAccessToken(
  connection: SqlConnection,
  owner: { readonly clientId: string; readonly familyId: string | null; readonly audience: string | null },
  token: NewAccessToken,
  now: number,
): Promise<void> {
  await connection.execute(
    `INSERT INTO oauth_access_tokens (token_hash, client_id, family_id, scope, audience, issued_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [
      token.hash,
      owner.clientId,
      owner.familyId,
      token.scopes.join(' '),
      owner.audience,
      now,
      token.expiresAt,
    ],
  );
}

// --- rows and what they mean ----------------------------------------------------------------------------------

type CodeParameters = Pick<NewCode, 'redirectUri' | 'codeChallenge' | 'nonce'>;

interface FamilyColumns {
  readonly client_id: string;
  readonly user_provider: string;
  readonly user_id: string;
  readonly subject: string;
  readonly scope: string;
  readonly audience: string | null;
}

interface CodeRow {
  readonly code_hash: string;
  readonly family_id: string;
  readonly parameters: string;
  readonly expires_at: number;
  readonly spent_at: number | null;
}

function toCode(row: CodeRow & FamilyColumns): AuthorizationCode {
  return {
    ...(JSON.parse(row.parameters) as CodeParameters),
    ...storedGrant(row),
    hash: row.code_hash,
    used: row.spent_at !== null,
  };
}

interface MarkedFamilyRow {
  readonly family_id: string;
  readonly expires_at: number;
  readonly refresh_mark_hash: string | null;
}

interface RefreshTokenRow extends MarkedFamilyRow {
  readonly used_at: number | null;
}

/** Whether the mark is the family's: whoever has it holds, or held, a refresh token of it. */
function hasMark(family: Pick<MarkedFamilyRow, 'refresh_mark_hash'>, markHash: string | undefined): boolean {
  const { refresh_mark_hash: known } = family;
  return known !== null && markHash !== undefined && equalInConstantTime(known, markHash);
}

function storedGrant(
  row: FamilyColumns & { readonly family_id: string; readonly expires_at: number },
): Pick<StoredGrant, 'family' | 'expiresAt'> {
  return { family: toFamily(row), expiresAt: row.expires_at };
}

function toFamily(row: FamilyColumns & { readonly family_id: string }): Family {
  return {
    id: row.family_id,
    clientId: row.client_id,
    person: { provider: row.user_provider, id: row.user_id },
    subject: row.subject,
    scopes: words(row.scope),
    audience: row.audience,
  };
}

interface AuthorizationRow {
  readonly family_id: string;
  readonly client_name: string;
  readonly client_scope: string;
  readonly created_at: number;
}

interface AccessTokenRow {
  readonly client_id: string;
  readonly family_id: string | null;
  readonly scope: string;
  readonly token_audience: string | null;
  readonly issued_at: number;
  readonly expires_at: number;
  readonly living_client_scope: string | null;
  readonly living_family_id: string | null;
  readonly user_provider: string | null;
  readonly user_id: string | null;
  readonly subject: string | null;
  readonly audience: string | null;
}

/** A token whose client's or family's row is revoked, or gone, is dead. */
function toAccessToken(row: AccessTokenRow, now: number): AccessToken | DeadToken {
  if (row.expires_at <= now) return 'expired';
  if (row.living_client_scope === null) return 'client revoked';
  const token = {
    clientId: row.client_id,
    scopes: words(row.scope),
    clientScopes: words(row.living_client_scope),
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
  };
  if (row.family_id === null) return { ...token, audience: row.token_audience, person: null, subject: null };
  if (row.living_family_id === null || row.user_provider === null || row.user_id === null) {
    return 'authorization revoked';
  }
  return {
    ...token,
    audience: row.audience,
    person: { provider: row.user_provider, id: row.user_id },
    subject: row.subject,
  };
}

function refused(refusal: GrantRefusal): GrantOutcome {
  return { issued: false, refusal };
}
