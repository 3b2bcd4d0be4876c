import type { Database, SqlConnection, SqlParameter } from '@portico/sql';
import { equalInConstantTime } from '../../http/constant-time.ts';
import type { RegisteredBy } from '../client.ts';
import type {
  Authorization,
  AuthorizationCode,
  CodeParameters,
  Details,
  Family,
  NewCode,
  NewTokens,
  OfferedRefreshToken,
  OfferedToken,
  RefreshToken,
} from '../grant.ts';
import { getLook } from './client-rows.ts';
import { blockingRow } from './lost-insert.ts';
import { words } from './statements.ts';

const FAMILY_COLUMNS =
  'f.id, f.client_id, f.user_provider, f.user_id, f.subject, f.scope, f.audience, ' +
  'f.thumbprint, f.details';

/** Of a row `f` of `oauth_families`, for a GrantRow. */
export const GRANT_COLUMNS = `${FAMILY_COLUMNS}, f.expires_at, f.code_hash, f.code_parameters, f.code_expires_at, f.code_spent_at,
  f.refresh_mark_hash, f.refresh_hash, f.refresh_generation, f.refresh_expires_at`;

/** Of a row `f` of `oauth_families` and its client `c`, for an AuthorizationRow. */
export const AUTHORIZATION_COLUMNS = `${FAMILY_COLUMNS}, f.created_at, f.used_at, f.refresh_generation,
  c.name AS client_name, c.scope AS client_scope, c.registered_by, c.redirect_uris, c.client_uri, c.logo_hash`;

/** `familyValues` returns the values. */
export const NEW_FAMILY_COLUMNS = `id, client_id, user_provider, user_id, subject, scope, audience, thumbprint, created_at, expires_at, prune_after,
    code_expires_at, code_hash, code_parameters, details`;

export function familyValues(family: Family, code: NewCode, now: number): readonly SqlParameter[] {
  return [
    family.id,
    family.clientId,
    family.person.provider,
    family.person.id,
    family.subject,
    family.scopes.join(' '),
    family.audience,
    family.thumbprint,
    now,
    code.expiresAt,
    code.expiresAt,
    code.expiresAt,
    code.hash,
    JSON.stringify(code.parameters),
    family.details === undefined ? null : JSON.stringify(family.details),
  ];
}

/**
 * A row that only reserves an id. A lost INSERT can then not add an authorization with this id
 * later. It is revoked, and contains no code and no mark.
 */
export const FAMILY_BLOCKER = blockingRow(
  'oauth_families',
  'id, client_id, user_provider, user_id, subject, scope, created_at, expires_at, ' +
    'revoked_at, prune_after',
  'code_hash',
);

export interface FamilyRow {
  readonly id: string;
  readonly client_id: string;
  readonly user_provider: string;
  readonly user_id: string;
  readonly subject: string;
  readonly scope: string;
  readonly audience: string | null;
  readonly thumbprint: string | null;
  /** JSON, or null. */
  readonly details: string | null;
}

export interface GrantRow extends FamilyRow {
  readonly expires_at: number;
  readonly code_hash: string | null;
  /**
   * JSON: a text column refuses some characters that clients may send, for example NUL. Null if the
   * code was used.
   */
  readonly code_parameters: string | null;
  readonly code_expires_at: number | null;
  readonly code_spent_at: number | null;
  readonly refresh_mark_hash: string | null;
  readonly refresh_hash: string | null;
  /** How many times tokens were issued, or null. */
  readonly refresh_generation: number | null;
  readonly refresh_expires_at: number | null;
}

/** The caller must check that the code or token matches the row. */
export async function findGrantRow(
  database: Database,
  { id }: OfferedToken,
): Promise<GrantRow | undefined> {
  const { rows } = await database.execute<GrantRow>(FIND_GRANT, [id]);
  return rows[0];
}

const FIND_GRANT = `SELECT ${GRANT_COLUMNS} FROM oauth_families f WHERE f.id = ?`;

export interface AuthorizationRow extends FamilyRow {
  readonly created_at: number;
  readonly used_at: number | null;
  readonly refresh_generation: number | null;
  readonly client_name: string;
  readonly client_scope: string;
  readonly registered_by: RegisteredBy | null;
  readonly redirect_uris: string;
  readonly client_uri: string | null;
  readonly logo_hash: string | null;
}

/**
 * The prefix of a thumbprint if the authorization had refresh tokens without a key before it was
 * bound to this key. A thumbprint never starts with this character.
 */
const LATE = '+';

function getBinding(refreshToken: NewTokens['refreshToken']): string | null {
  const { thumbprint = null, isBoundLate = false } = refreshToken ?? {};
  return thumbprint !== null && isBoundLate ? `${LATE}${thumbprint}` : thumbprint;
}

function toFamily(row: FamilyRow): Family {
  const isBoundLate = row.thumbprint?.startsWith(LATE) === true;
  return {
    id: row.id,
    clientId: row.client_id,
    person: { provider: row.user_provider, id: row.user_id },
    subject: row.subject,
    scopes: words(row.scope),
    audience: row.audience,
    thumbprint: isBoundLate ? row.thumbprint.slice(LATE.length) : row.thumbprint,
    isBoundLate,
    ...readDetails(row.details),
  };
}

export function readDetails(stored: string | null): { readonly details?: Details } {
  return stored === null ? {} : { details: JSON.parse(stored) as Details };
}

/**
 * Changes the details in the caller's transaction. The first statement locks the row, so that no
 * simultaneous change is lost.
 */
export async function changeDetails(
  connection: SqlConnection,
  id: string,
  change: (details: Details) => Details,
): Promise<void> {
  await connection.execute('UPDATE oauth_families SET revoked_at = revoked_at WHERE id = ?', [id]);
  const { rows } = await connection.execute<{ details: string | null }>(
    'SELECT details FROM oauth_families WHERE id = ?',
    [id],
  );
  const [row] = rows;
  if (row === undefined) return;
  const changed = change(readDetails(row.details).details ?? {});
  const stored = Object.keys(changed).length === 0 ? null : JSON.stringify(changed);
  if (stored === row.details) return;
  await connection.execute('UPDATE oauth_families SET details = ? WHERE id = ?', [stored, id]);
}

export function toCode(row: GrantRow, { hash }: OfferedToken): AuthorizationCode {
  const parameters = row.code_hash === hash ? row.code_parameters : null;
  return {
    hash,
    family: toFamily(row),
    used: parameters === null,
    expiresAt: row.code_expires_at ?? row.expires_at,
    parameters: parameters === null ? null : (JSON.parse(parameters) as CodeParameters),
  };
}

export function toRefreshToken(row: GrantRow, { hash }: OfferedToken): RefreshToken {
  return {
    hash,
    family: toFamily(row),
    used: !equalInConstantTime(row.refresh_hash ?? '', hash),
    expiresAt: row.refresh_expires_at ?? row.expires_at,
    generation: row.refresh_generation ?? 0,
  };
}

export function toAuthorization(row: AuthorizationRow): Authorization {
  return {
    family: toFamily(row),
    clientName: row.client_name,
    clientScopes: words(row.client_scope),
    clientRegisteredBy: row.registered_by ?? 'operator',
    clientRedirectUris: JSON.parse(row.redirect_uris) as string[],
    clientLook: getLook(row),
    redeemed: row.refresh_generation !== null,
    usedAt: row.used_at,
    createdAt: row.created_at,
  };
}

/**
 * Returns true if the token contains the authorization's mark. All of its refresh tokens do, even
 * used ones.
 */
export function hasMark(row: GrantRow, { markHash }: OfferedRefreshToken): boolean {
  const { refresh_mark_hash: known } = row;
  return known !== null && markHash !== null && equalInConstantTime(known, markHash);
}

/** Sets the columns for `refreshState`. */
export const SET_REFRESH_STATE = `refresh_hash = ?, refresh_mark_hash = ?, refresh_expires_at = ?, thumbprint = ?, used_at = ?,
  refresh_generation = COALESCE(refresh_generation, 0) + 1,
  expires_at = CASE WHEN expires_at > ? THEN expires_at ELSE ? END,
  prune_after = CASE WHEN prune_after >= ? THEN prune_after ELSE ? END`;

/**
 * `prune_after` may be later than the tokens' expiry, by at most the remaining lifetime divided by
 * this number. An exact time would change with every refresh, and each change would update an
 * index.
 */
const PRUNING_SLACK = 60;

export function refreshState(
  { accessToken, refreshToken }: NewTokens,
  now: number,
): readonly SqlParameter[] {
  const expiresAt = Math.max(now, accessToken.expiresAt, refreshToken?.expiresAt ?? 0);
  const pruneAfter = expiresAt + Math.ceil((expiresAt - now) / PRUNING_SLACK);
  return [
    refreshToken?.hash ?? null,
    refreshToken?.markHash ?? null,
    refreshToken?.expiresAt ?? null,
    getBinding(refreshToken),
    now,
    expiresAt,
    expiresAt,
    expiresAt,
    pruneAfter,
  ];
}
