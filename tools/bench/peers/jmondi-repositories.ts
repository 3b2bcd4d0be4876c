import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import {
  guardAgainstInvalidClientScopes,
  OAuthException,
  type GrantIdentifier,
  type OAuthAuthCode,
  type OAuthAuthCodeRepository,
  type OAuthClient,
  type OAuthClientRepository,
  type OAuthScope,
  type OAuthScopeRepository,
  type OAuthToken,
  type OAuthTokenRepository,
  type OAuthUser,
  type OAuthUserRepository,
} from '@jmondi/oauth2-server';
import { preparedOnce } from '../statements.ts';

const DAY = 24 * 3600 * 1000;
const REFRESH_TOKEN_TTL = 30 * DAY;
const SESSION_TTL = 14 * DAY;

export interface NewClient {
  readonly id: string;
  readonly grants: readonly GrantIdentifier[];
  readonly scopes: readonly string[];
  readonly redirectUris: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

const SCHEMA = `
  CREATE TABLE users (
    id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, password_hash TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE sessions (
    id_hash TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users, expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE scopes (name TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE clients (
    id TEXT PRIMARY KEY, secret_hash TEXT NOT NULL,
    grants TEXT NOT NULL, scopes TEXT NOT NULL, redirect_uris TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE codes (
    code TEXT PRIMARY KEY, client_id TEXT NOT NULL REFERENCES clients, user_id TEXT REFERENCES users,
    scopes TEXT NOT NULL, redirect_uri TEXT, challenge TEXT, challenge_method TEXT,
    expires_at INTEGER NOT NULL, revoked INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE TABLE tokens (
    access_token TEXT PRIMARY KEY, access_expires_at INTEGER NOT NULL,
    refresh_token TEXT, refresh_expires_at INTEGER,
    client_id TEXT NOT NULL REFERENCES clients, user_id TEXT REFERENCES users,
    scopes TEXT NOT NULL, code TEXT
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX tokens_refresh_token ON tokens (refresh_token) WHERE refresh_token IS NOT NULL;
  CREATE INDEX tokens_code ON tokens (code) WHERE code IS NOT NULL;`;

/** Selects a token or code together with its client and its user, as one row. */
const OWNERS = `clients.secret_hash, clients.grants, clients.scopes AS client_scopes, clients.redirect_uris,
  users.email, users.name`;
const CODE = `SELECT codes.*, codes.redirect_uri AS code_redirect_uri, ${OWNERS}
  FROM codes JOIN clients ON clients.id = client_id LEFT JOIN users ON users.id = user_id`;
const TOKEN = `SELECT tokens.*, ${OWNERS}
  FROM tokens JOIN clients ON clients.id = client_id LEFT JOIN users ON users.id = user_id`;

/** Stores everything that the server needs in one SQLite database. */
export class Repositories {
  readonly #database: DatabaseSync;
  readonly #prepared: (sql: string) => StatementSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    this.#prepared = preparedOnce(this.#database);
  }

  createTables(): void {
    this.#database.exec(SCHEMA);
  }

  addUser(id: string, email: string, name: string, password: string): void {
    this.#run('INSERT INTO users VALUES (?, ?, ?, ?)', id, email, name, hashOf(password));
  }

  addScope(name: string): void {
    this.#run('INSERT INTO scopes VALUES (?)', name);
  }

  /** Adds a client and returns its secret. */
  addClient({ id, grants, scopes, redirectUris }: NewClient): string {
    const secret = identifier();
    this.#run(
      'INSERT INTO clients VALUES (?, ?, ?, ?, ?)',
      id,
      hashOf(secret),
      JSON.stringify(grants),
      JSON.stringify(scopes),
      JSON.stringify(redirectUris),
    );
    return secret;
  }

  /** Signs the person in. Returns the id of the session, or null if the password is wrong. */
  signIn(email: string, password: string): string | null {
    const user = this.#get('SELECT id, password_hash FROM users WHERE email = ?', email);
    if (user === undefined || !sameText(hashOf(password), String(user['password_hash'])))
      return null;
    const session = identifier();
    const expiresAt = Date.now() + SESSION_TTL;
    this.#run(
      'INSERT INTO sessions VALUES (?, ?, ?)',
      hashOf(session),
      String(user['id']),
      expiresAt,
    );
    return session;
  }

  userOf(session: string): OAuthUser | null {
    const row = this.#get(
      `SELECT user_id, email, name FROM sessions JOIN users ON users.id = user_id
        WHERE id_hash = ? AND expires_at > ?`,
      hashOf(session),
      Date.now(),
    );
    return row === undefined ? null : userIn(row);
  }

  readonly clients: OAuthClientRepository = {
    getByIdentifier: async (id) => {
      const row = this.#get(
        'SELECT *, id AS client_id, scopes AS client_scopes FROM clients WHERE id = ?',
        id,
      );
      if (row === undefined) throw OAuthException.invalidClient();
      return clientIn(row);
    },
    async isClientValid(grant, client, secret = '') {
      return client.allowedGrants.includes(grant) && sameText(hashOf(secret), client.secret ?? '');
    },
  };

  readonly scopes: OAuthScopeRepository = {
    getAllByIdentifiers: async (names) =>
      this.#all(
        'SELECT name FROM scopes WHERE name IN (SELECT value FROM json_each(?))',
        JSON.stringify(names),
      ).map((row) => ({ name: String(row['name']) })),
    async finalize(scopes, _grant, client) {
      guardAgainstInvalidClientScopes(client, scopes);
      return scopes;
    },
  };

  readonly users: OAuthUserRepository = {
    getUserByCredentials: async (id) => {
      const row = this.#get(
        'SELECT id AS user_id, email, name FROM users WHERE id = ?',
        String(id),
      );
      return row === undefined ? undefined : userIn(row);
    },
  };

  readonly codes: OAuthAuthCodeRepository = {
    getByIdentifier: async (code) => {
      const row = this.#get(`${CODE} WHERE code = ?`, code);
      if (row === undefined) throw OAuthException.invalidGrant('Unknown code');
      return codeIn(row);
    },
    issueAuthCode: (client, user, scopes) => ({
      code: identifier(),
      expiresAt: new Date(),
      client,
      user: user ?? null,
      scopes,
    }),
    persist: async ({
      code,
      client,
      user,
      scopes,
      redirectUri,
      codeChallenge,
      codeChallengeMethod,
      expiresAt,
    }) =>
      this.#run(
        'INSERT INTO codes VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)',
        code,
        client.id,
        user === undefined || user === null ? null : String(user.id),
        namesOf(scopes),
        redirectUri ?? null,
        codeChallenge ?? null,
        codeChallengeMethod ?? null,
        expiresAt.getTime(),
      ),
    isRevoked: async (code) =>
      this.#get('SELECT revoked FROM codes WHERE code = ?', code)?.['revoked'] !== 0,
    revoke: async (code) => this.#run('UPDATE codes SET revoked = 1 WHERE code = ?', code),
  };

  readonly tokens: OAuthTokenRepository = {
    issueToken: async (client, scopes, user) => ({
      accessToken: identifier(),
      accessTokenExpiresAt: new Date(),
      client,
      user: user ?? null,
      scopes,
    }),
    persist: async ({
      accessToken,
      accessTokenExpiresAt,
      client,
      user,
      scopes,
      originatingAuthCodeId,
    }) =>
      this.#run(
        `INSERT INTO tokens (access_token, access_expires_at, client_id, user_id, scopes, code)
          VALUES (?, ?, ?, ?, ?, ?)`,
        accessToken,
        accessTokenExpiresAt.getTime(),
        client.id,
        user === undefined || user === null ? null : String(user.id),
        namesOf(scopes),
        originatingAuthCodeId ?? null,
      ),
    issueRefreshToken: async (token) => {
      const refreshToken = identifier();
      const expiresAt = Date.now() + REFRESH_TOKEN_TTL;
      this.#run(
        'UPDATE tokens SET refresh_token = ?, refresh_expires_at = ? WHERE access_token = ?',
        refreshToken,
        expiresAt,
        token.accessToken,
      );
      return { ...token, refreshToken, refreshTokenExpiresAt: new Date(expiresAt) };
    },
    revoke: async ({ accessToken }) =>
      this.#run(
        'UPDATE tokens SET access_expires_at = 0, refresh_expires_at = 0 WHERE access_token = ?',
        accessToken,
      ),
    revokeDescendantsOf: async (code) =>
      this.#run(
        'UPDATE tokens SET access_expires_at = 0, refresh_expires_at = 0 WHERE code = ?',
        code,
      ),
    isRefreshTokenRevoked: async ({ refreshTokenExpiresAt }) =>
      refreshTokenExpiresAt === undefined ||
      refreshTokenExpiresAt === null ||
      refreshTokenExpiresAt.getTime() <= Date.now(),
    getByRefreshToken: async (token) => this.#token('refresh_token', token),
    getByAccessToken: async (token) => this.#token('access_token', token),
  };

  #token(column: 'access_token' | 'refresh_token', value: string): OAuthToken {
    const row = this.#get(`${TOKEN} WHERE ${column} = ?`, value);
    if (row === undefined) throw OAuthException.invalidGrant('Unknown token');
    return tokenIn(row);
  }

  #get(sql: string, ...values: readonly (string | number | null)[]): Row | undefined {
    return this.#prepared(sql).get(...values);
  }

  #all(sql: string, ...values: readonly (string | number | null)[]): readonly Row[] {
    return this.#prepared(sql).all(...values);
  }

  #run(sql: string, ...values: readonly (string | number | null)[]): void {
    this.#prepared(sql).run(...values);
  }
}

function identifier(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function sameText(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function namesOf(scopes: readonly OAuthScope[]): string {
  return JSON.stringify(scopes.map(({ name }) => name));
}

function listIn<T extends string>(row: Row, column: string): T[] {
  return JSON.parse(String(row[column])) as T[];
}

function scopesIn(row: Row, column: string): OAuthScope[] {
  return listIn(row, column).map((name) => ({ name }));
}

function textIn(row: Row, column: string): string | null {
  const value = row[column];
  return typeof value === 'string' ? value : null;
}

function clientIn(row: Row): OAuthClient {
  const id = String(row['client_id']);
  return {
    id,
    name: id,
    secret: String(row['secret_hash']),
    redirectUris: listIn(row, 'redirect_uris'),
    allowedGrants: listIn(row, 'grants'),
    scopes: scopesIn(row, 'client_scopes'),
  };
}

function userIn(row: Row): OAuthUser {
  return { id: String(row['user_id']), email: row['email'], name: row['name'] };
}

function codeIn(row: Row): OAuthAuthCode {
  return {
    code: String(row['code']),
    redirectUri: textIn(row, 'code_redirect_uri'),
    codeChallenge: textIn(row, 'challenge'),
    codeChallengeMethod: row['challenge_method'] === 'S256' ? 'S256' : null,
    expiresAt: new Date(Number(row['expires_at'])),
    user: row['user_id'] === null ? null : userIn(row),
    client: clientIn(row),
    scopes: scopesIn(row, 'scopes'),
  };
}

function tokenIn(row: Row): OAuthToken {
  const code = textIn(row, 'code');
  const refreshExpiresAt = row['refresh_expires_at'];
  return {
    accessToken: String(row['access_token']),
    accessTokenExpiresAt: new Date(Number(row['access_expires_at'])),
    refreshToken: textIn(row, 'refresh_token'),
    refreshTokenExpiresAt: typeof refreshExpiresAt === 'number' ? new Date(refreshExpiresAt) : null,
    client: clientIn(row),
    user: row['user_id'] === null ? null : userIn(row),
    scopes: scopesIn(row, 'scopes'),
    ...(code === null ? {} : { originatingAuthCodeId: code }),
  };
}
