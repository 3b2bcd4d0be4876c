// The bare limit. It uses node:http, and the statements that Portico runs for each request, on
// Portico's schema and data. It does not report errors, check rules or compute slow hashes. Each
// request that writes has its own transaction and commit. A server that is faster than this does
// less work.
import {
  createHash,
  createPrivateKey,
  randomBytes,
  sign,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Algorithm } from '../signatures.ts';
import { listenOn, REDIRECT_URI, runTarget, type Place } from '../target.ts';
import { insertOf, openStore, type Pair, type Store, type Value } from './bare-store.ts';
import { seed } from './portico-application.ts';

const HOUR = 3_600_000;
const DAYS = 720 * HOUR;
const PERSON = 'accounts';

type Row = Readonly<Record<string, Value>>;
type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | void;

const CLIENT = `SELECT client_id, name, redirect_uris, scope, grants, is_public, secret_hash, previous_secret_hash,
  previous_secret_expires_at, created_at, revoked_at, id_token_alg FROM oauth_clients WHERE client_id = ?`;
const ACCESS_TOKEN = `SELECT t.secret_hash, t.client_id, t.family_id, t.scope, t.audience AS token_audience, t.issued_at,
    t.expires_at, c.scope AS living_client_scope, f.id AS living_family_id, f.user_provider, f.user_id, f.subject,
    f.audience
  FROM oauth_access_tokens t
  LEFT JOIN oauth_clients c ON c.client_id = t.client_id AND c.revoked_at IS NULL
  LEFT JOIN oauth_families f ON f.id = t.family_id AND f.revoked_at IS NULL
  WHERE t.id = ?`;
const FAMILY = `SELECT f.id, f.client_id, f.user_provider, f.user_id, f.subject, f.scope, f.audience, f.expires_at,
    f.code_hash, f.code_parameters, f.code_expires_at, f.code_spent_at, f.refresh_mark_hash, f.refresh_hash,
    f.refresh_generation, f.refresh_expires_at
  FROM oauth_families f WHERE f.id = ?`;
const ACCOUNT = `SELECT id, email, email_verified, name, password_hash, active FROM host_accounts
  WHERE provider = ? AND id = ?`;
const PERMISSION = `SELECT permission FROM host_account_permissions
  WHERE provider = ? AND account_id = ? AND permission = ?`;
const SESSION = `SELECT * FROM host_sessions WHERE id_hash = ? AND expires_at > ?`;
const SUBJECT = `SELECT user_provider, user_id, subject FROM oauth_subjects WHERE user_provider = ? AND user_id = ?`;
const CONSENT_REQUEST = `SELECT id_hash, browser_hash, client_id, parameters, audience, user_provider, user_id,
  asked_scope, outcome, expires_at FROM oauth_consent_requests WHERE id_hash = ?`;
const KEEP_REQUEST = `INSERT INTO oauth_consent_requests (id_hash, browser_hash, client_id, parameters, audience,
  user_provider, user_id, asked_scope, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const ALLOW: Pair = {
  claim: `UPDATE oauth_consent_requests SET outcome = 'allowed'
    WHERE id_hash = ? AND user_provider = ? AND user_id = ? AND expires_at > ? AND outcome IS NULL`,
  table: 'oauth_families',
  columns: [
    'id',
    'client_id',
    'user_provider',
    'user_id',
    'subject',
    'scope',
    'audience',
    'code_hash',
    'code_parameters',
  ],
  times: ['created_at', 'expires_at', 'prune_after', 'code_expires_at'],
};
const ACCESS_TOKENS = {
  table: 'oauth_access_tokens',
  columns: ['id', 'secret_hash', 'client_id', 'family_id', 'scope', 'audience'],
  times: ['issued_at', 'expires_at'],
};
const ADD_ACCESS_TOKEN = insertOf(ACCESS_TOKENS);
const REFRESH_STATE = `refresh_hash = ?, refresh_mark_hash = ?, refresh_generation = ?, refresh_expires_at = ?,
  expires_at = CASE WHEN expires_at > ? THEN expires_at ELSE ? END,
  prune_after = CASE WHEN prune_after >= ? THEN prune_after ELSE ? END`;
const USE_REFRESH_TOKEN: Pair = {
  ...ACCESS_TOKENS,
  claim: `UPDATE oauth_families SET ${REFRESH_STATE} WHERE id = ? AND refresh_hash = ? AND revoked_at IS NULL`,
};
const SPEND_CODE: Pair = {
  ...ACCESS_TOKENS,
  claim: `UPDATE oauth_families SET code_spent_at = ?, code_parameters = NULL, ${REFRESH_STATE}
    WHERE id = ? AND code_hash = ? AND code_spent_at IS NULL AND revoked_at IS NULL`,
};

type Keys = Readonly<Record<Algorithm, KeyObject>>;

const signOnPool = promisify(sign);

function answers(store: Store, keys: Keys, issuer: string): Readonly<Record<string, Answer>> {
  const first = async (sql: string, parameters: readonly Value[]): Promise<Row> =>
    (await store.all(sql, parameters))[0] ?? {};

  /** Reads the current state of the account and its permission. */
  async function person(id: Value): Promise<Row> {
    const account = await first(ACCOUNT, [PERSON, id ?? '']);
    await first(PERMISSION, [PERSON, id ?? '', 'notes:read']);
    return account;
  }

  function accessToken(token: string): Promise<Row> {
    return first(ACCESS_TOKEN, [idIn(token)]);
  }

  /**
   * Uses up the code or refresh token of an authorization. `before` are the parameters in front of
   * those of the new refresh token.
   */
  async function exchange(
    found: Row,
    use: Pair,
    offered: string,
    before: readonly Value[],
    algorithm: Algorithm,
  ) {
    const { id: family = '', client_id: client = '', user_id: user = '', subject = '' } = found;
    const scope = String(found['scope']);
    if (scope.includes('openid')) await person(user);
    else await first(ACCOUNT, [PERSON, user]);
    const now = Date.now();
    const [access, mark] = [`${orderedId(now)}.${randomToken()}`, randomToken()];
    const generation = Number(found['refresh_generation'] ?? 0) + 1;
    const refresh = `${family}.${mark}.${generation}.${randomToken()}`;
    const idToken = scope.includes('openid')
      ? await idTokenOf(keys[algorithm], algorithm, {
          iss: issuer,
          sub: subject,
          aud: client,
          iat: now,
          exp: now + HOUR,
        })
      : null;
    const expiresAt = now + DAYS;
    const state = [
      hashOf(refresh),
      hashOf(mark),
      generation,
      expiresAt,
      expiresAt,
      expiresAt,
      expiresAt,
      expiresAt + DAYS / 60,
    ];
    await store.claimAndInsert(
      use,
      [...before, ...state, family, hashOf(offered)],
      [idIn(access), hashOf(access), client, family, scope, null, now, now + HOUR],
    );
    const tokens = {
      access_token: access,
      token_type: 'Bearer',
      expires_in: 3600,
      scope,
      refresh_token: refresh,
    };
    return idToken === null ? tokens : { ...tokens, id_token: idToken };
  }

  const token: Answer = async (incoming, outgoing) => {
    const form = await formOf(incoming);
    const client = await first(CLIENT, [clientOf(incoming)]);
    const algorithm = client['id_token_alg'] === 'ES256' ? 'ES256' : 'RS256';
    const grant = form.get('grant_type');
    if (grant === 'client_credentials') {
      const now = Date.now();
      const value = `${orderedId(now)}.${randomToken()}`;
      const scope = 'notes:read';
      const row = [
        idIn(value),
        hashOf(value),
        client['client_id'] ?? '',
        null,
        scope,
        null,
        now,
        now + HOUR,
      ];
      await store.write(ADD_ACCESS_TOKEN, row);
      send(outgoing, { access_token: value, token_type: 'Bearer', expires_in: 3600, scope });
    } else {
      const isRefresh = grant === 'refresh_token';
      const offered = form.get(isRefresh ? 'refresh_token' : 'code') ?? '';
      const found = await first(FAMILY, [idIn(offered)]);
      const [use, before] = isRefresh ? [USE_REFRESH_TOKEN, []] : [SPEND_CODE, [Date.now()]];
      send(outgoing, await exchange(found, use, offered, before, algorithm));
    }
  };

  /**
   * Does the same as Portico: reads who is signed in and what the request asks for, and then sends
   * the page.
   */
  const authorize: Answer = async (incoming, outgoing) => {
    const query = new URLSearchParams((incoming.url ?? '').split('?', 2)[1]);
    const client = await first(CLIENT, [query.get('client_id') ?? '']);
    await first(SESSION, [hashOf(incoming.headers.cookie ?? ''), Date.now()]);
    const account = (await store.all('SELECT id FROM host_accounts LIMIT 1', []))[0] ?? {};
    const scope = query.get('scope') ?? '';
    await person(account['id'] ?? '');
    const id = randomToken();
    const parameters = JSON.stringify(Object.fromEntries(query));
    const asked = [PERSON, account['id'] ?? '', scope];
    const row = [hashOf(id), hashOf(id), client['client_id'] ?? '', parameters, null, ...asked];
    await store.write(KEEP_REQUEST, [...row, Date.now() + HOUR]);
    const html = `<!doctype html><form method="post" action="/oauth/authorize"><input type="hidden" name="request_id" value="${id}"><button name="decision" value="allow">Allow</button></form>`;
    outgoing
      .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Length': html.length })
      .end(html);
  };

  const allow: Answer = async (incoming, outgoing) => {
    const form = await formOf(incoming);
    const hash = hashOf(form.get('request_id') ?? '');
    const now = Date.now();
    await first(SESSION, [hashOf(incoming.headers.cookie ?? ''), now]);
    const asked = await first(CONSENT_REQUEST, [hash]);
    const {
      client_id: client = '',
      user_id: user = '',
      parameters = '{}',
      asked_scope: scope = '',
    } = asked;
    await first(CLIENT, [client]);
    await person(user);
    const { subject = randomToken() } = await first(SUBJECT, [PERSON, user]);
    const family = orderedId(now);
    const code = `${family}.${randomToken()}`;
    const expiresAt = now + 60_000;
    await store.claimAndInsert(
      ALLOW,
      [hash, PERSON, user, now],
      [
        family,
        client,
        PERSON,
        user,
        subject,
        scope,
        null,
        hashOf(code),
        parameters,
        now,
        expiresAt,
        expiresAt,
        expiresAt,
      ],
    );
    const { state = '' } = JSON.parse(String(parameters)) as { readonly state?: string };
    outgoing
      .writeHead(303, { Location: `${REDIRECT_URI}?code=${code}&state=${state}&iss=${issuer}` })
      .end();
  };

  const document = JSON.stringify({ issuer, keys: [], filler: 'x'.repeat(1000) });
  const fixed: Answer = (_, outgoing) => {
    outgoing
      .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': document.length })
      .end(document);
  };

  return {
    'POST /oauth/token': token,
    'POST /oauth/introspect': async (incoming, outgoing) => {
      const form = await formOf(incoming);
      await first(CLIENT, [clientOf(incoming)]);
      const found = await accessToken(form.get('token') ?? '');
      await person(found['user_id'] ?? '');
      const { scope, client_id, expires_at: exp, issued_at: iat, subject: sub } = found;
      send(outgoing, {
        active: true,
        scope,
        client_id,
        token_type: 'Bearer',
        exp,
        iat,
        iss: issuer,
        sub,
      });
    },
    'GET /oauth/userinfo': async (incoming, outgoing) => {
      const { user_id = '', subject: sub } = await accessToken(bearerOf(incoming));
      const { name, email, email_verified } = await person(user_id);
      send(outgoing, { name, email, email_verified: email_verified === 1, sub });
    },
    'GET /protected': async (incoming, outgoing) => {
      const { user_id = '' } = await accessToken(bearerOf(incoming));
      const { id } = await person(user_id);
      send(outgoing, { user: id });
    },
    'GET /oauth/authorize': authorize,
    'POST /oauth/authorize': allow,
    'GET /.well-known/openid-configuration': fixed,
    'GET /.well-known/jwks.json': fixed,
  };
}

function bearerOf(incoming: IncomingMessage): string {
  return (incoming.headers.authorization ?? '').slice('Bearer '.length);
}

function clientOf(incoming: IncomingMessage): string {
  const credentials = (incoming.headers.authorization ?? '').slice('Basic '.length);
  return decodeURIComponent(Buffer.from(credentials, 'base64').toString().split(':', 1)[0] ?? '');
}

async function formOf(incoming: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

function send(outgoing: ServerResponse, body: object): void {
  const text = JSON.stringify(body);
  outgoing
    .writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    })
    .end(text);
}

async function idTokenOf(key: KeyObject, alg: Algorithm, payload: object): Promise<string> {
  const text = [{ alg }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${(await signOnPool('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })).toString('base64url')}`;
}

/** Returns an id that grows with time, as Portico's ids do. */
function orderedId(now: number): string {
  return now.toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
}

/** Returns the part of the token before the first dot. */
function idIn(token: string): string {
  return token.slice(0, token.indexOf('.'));
}

function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

async function serve({ directory, database, port, url }: Place): Promise<unknown> {
  const keys = Object.fromEntries(
    globSync('storage/oauth/keys/*.json', { cwd: directory }).map((file) => {
      const jwk = JSON.parse(readFileSync(path.join(directory, file), 'utf8')) as JsonWebKey;
      return [jwk.alg, createPrivateKey({ key: jwk, format: 'jwk' })];
    }),
  ) as Keys;
  const table = answers(await openStore(database), keys, url);
  const server = createServer((incoming, outgoing) => {
    const answer = table[`${incoming.method} ${(incoming.url ?? '').split('?', 1)[0]}`];
    if (answer === undefined) outgoing.writeHead(404).end();
    else void answer(incoming, outgoing);
  });
  return listenOn(server, port);
}

await runTarget({ seed, serve });
