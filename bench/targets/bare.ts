// The bare limit: node:http, and the statements that Portico runs for each request, on the schema and the data that
// Portico made. No errors are told, no rule is checked, nothing is hashed slowly; each writing request has a transaction
// and a commit for itself. What is quicker than this does less.
import { createHash, createPrivateKey, randomBytes, sign, type KeyObject } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { listenOn, REDIRECT_URI, runTarget, type Place } from '../target.ts';
import { openStore, type Store, type Value } from './bare-store.ts';
import { seed } from './portico-application.ts';

const HOUR = 3_600_000;
const DAYS = 720 * HOUR;
const PERSON = 'accounts';

type Row = Readonly<Record<string, Value>>;
type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | void;

const CLIENT = `SELECT client_id, name, redirect_uris, scope, grants, is_public, secret_hash, previous_secret_hash,
  previous_secret_expires_at, created_at, revoked_at FROM oauth_clients WHERE client_id = ?`;
const ACCESS_TOKEN = `SELECT t.client_id, t.family_id, t.scope, t.audience AS token_audience, t.issued_at, t.expires_at,
    c.scope AS client_scope, f.id AS living_family_id, f.user_provider, f.user_id, f.subject, f.audience
  FROM oauth_access_tokens t
  JOIN oauth_clients c ON c.client_id = t.client_id AND c.revoked_at IS NULL
  LEFT JOIN oauth_families f ON f.id = t.family_id AND f.revoked_at IS NULL
  WHERE t.token_hash = ? AND t.expires_at > ?`;
const OF_FAMILY = `f.client_id, f.user_provider, f.user_id, f.subject, f.scope, f.audience, c.scope AS client_scope`;
const REFRESH_TOKEN = `SELECT t.family_id, t.expires_at, t.used_at, f.refresh_mark_hash, ${OF_FAMILY}
  FROM oauth_refresh_tokens t JOIN oauth_families f ON f.id = t.family_id
  JOIN oauth_clients c ON c.client_id = f.client_id WHERE t.token_hash = ?`;
const CODE = `SELECT t.code_hash, t.family_id, t.parameters, t.expires_at, t.spent_at, ${OF_FAMILY}
  FROM oauth_authorization_codes t JOIN oauth_families f ON f.id = t.family_id
  JOIN oauth_clients c ON c.client_id = f.client_id WHERE t.code_hash = ?`;
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
const END_REQUEST = `UPDATE oauth_consent_requests SET outcome = 'allowed'
  WHERE id_hash = ? AND user_provider = ? AND user_id = ? AND expires_at > ? AND outcome IS NULL`;
const ADD_FAMILY = `INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, audience,
  created_at, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)`;
const ADD_CODE = `INSERT INTO oauth_authorization_codes (code_hash, family_id, parameters, expires_at, spent_at)
  VALUES (?, ?, ?, ?, NULL)`;
const ADD_ACCESS_TOKEN = `INSERT INTO oauth_access_tokens (token_hash, client_id, family_id, scope, audience, issued_at,
  expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)`;
const ADD_REFRESH_TOKEN = `INSERT INTO oauth_refresh_tokens (token_hash, family_id, issued_at, expires_at, used_at)
  VALUES (?, ?, ?, ?, NULL)`;
const CLAIM_FAMILY = `UPDATE oauth_families SET expires_at = CASE WHEN expires_at > ? THEN expires_at ELSE ? END,
    refresh_mark_hash = COALESCE(?, refresh_mark_hash)
  WHERE id = ? AND revoked_at IS NULL`;
const REPLACE_REFRESH_TOKEN = `UPDATE oauth_refresh_tokens SET token_hash = ?, issued_at = ?, expires_at = ?
  WHERE token_hash = ? AND used_at IS NULL`;
const SPEND_CODE = `UPDATE oauth_authorization_codes SET spent_at = ? WHERE code_hash = ? AND spent_at IS NULL`;

/** The statements that use up what was offered, and keep the refresh token that comes of it. */
type UseUp = (
  successor: string,
  family: Value,
  now: number,
) => readonly (readonly [string, readonly Value[]])[];

const signOnPool = promisify(sign);

function answers(store: Store, key: KeyObject, issuer: string): Readonly<Record<string, Answer>> {
  const first = async (sql: string, parameters: readonly Value[]): Promise<Row> =>
    (await store.all(sql, parameters))[0] ?? {};

  /** The account and its permission, as they are now. */
  async function person(id: Value): Promise<Row> {
    const account = await first(ACCOUNT, [PERSON, id ?? '']);
    await first(PERMISSION, [PERSON, id ?? '', 'notes:read']);
    return account;
  }

  async function accessToken(incoming: IncomingMessage): Promise<Row> {
    const token = (incoming.headers.authorization ?? '').slice('Bearer '.length);
    return first(ACCESS_TOKEN, [hashOf(token), Date.now()]);
  }

  async function exchange(found: Row, useUp: UseUp, scope: string) {
    const { family_id: family = '', client_id: client = '', user_id: user = '', subject = '' } = found;
    if (scope.includes('openid')) await person(user);
    else await first(ACCOUNT, [PERSON, user]);
    const [access, refresh] = [randomToken(), randomToken()];
    const now = Date.now();
    const idToken = scope.includes('openid')
      ? await idTokenOf(key, { iss: issuer, sub: subject, aud: client, iat: now, exp: now + HOUR })
      : null;
    await store.transaction([
      [CLAIM_FAMILY, [now + DAYS, now + DAYS, hashOf(String(family)), family]],
      ...useUp(hashOf(refresh), family, now),
      [ADD_ACCESS_TOKEN, [hashOf(access), client, family, scope, null, now, now + HOUR]],
    ]);
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
    const grant = form.get('grant_type');
    if (grant === 'client_credentials') {
      const value = randomToken();
      const now = Date.now();
      const scope = 'notes:read';
      const row = [hashOf(value), client['client_id'] ?? '', null, scope, null, now, now + HOUR];
      await store.transaction([[ADD_ACCESS_TOKEN, row]]);
      send(outgoing, { access_token: value, token_type: 'Bearer', expires_in: 3600, scope });
    } else if (grant === 'refresh_token') {
      const hash = hashOf(form.get('refresh_token') ?? '');
      const found = await first(REFRESH_TOKEN, [hash]);
      const useUp: UseUp = (successor, _, now) => [
        [REPLACE_REFRESH_TOKEN, [successor, now, now + DAYS, hash]],
      ];
      send(outgoing, await exchange(found, useUp, String(found['scope'])));
    } else {
      const hash = hashOf(form.get('code') ?? '');
      const found = await first(CODE, [hash]);
      const useUp: UseUp = (successor, family, now) => [
        [SPEND_CODE, [now, hash]],
        [ADD_REFRESH_TOKEN, [successor, family, now, now + DAYS]],
      ];
      send(outgoing, await exchange(found, useUp, String(found['scope'])));
    }
  };

  /** As Portico: who is signed in, and what is asked; then the page. */
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
    await store.transaction([[KEEP_REQUEST, [...row, Date.now() + HOUR]]]);
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
    const { client_id: client = '', user_id: user = '', parameters = '{}', asked_scope: scope = '' } = asked;
    await first(CLIENT, [client]);
    await person(user);
    const { subject = randomToken() } = await first(SUBJECT, [PERSON, user]);
    const [code, family] = [randomToken(), randomBytes(16).toString('hex')];
    await store.transaction([
      [END_REQUEST, [hash, PERSON, user, now]],
      [ADD_FAMILY, [family, client, PERSON, user, subject, scope, null, now, now + 60_000]],
      [ADD_CODE, [hashOf(code), family, parameters, now + 60_000]],
    ]);
    const { state = '' } = JSON.parse(String(parameters)) as { readonly state?: string };
    outgoing.writeHead(303, { Location: `${REDIRECT_URI}?code=${code}&state=${state}&iss=${issuer}` }).end();
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
      const found = await first(ACCESS_TOKEN, [hashOf(form.get('token') ?? ''), Date.now()]);
      await person(found['user_id'] ?? '');
      const { scope, client_id, expires_at: exp, issued_at: iat, subject: sub } = found;
      send(outgoing, { active: true, scope, client_id, token_type: 'Bearer', exp, iat, iss: issuer, sub });
    },
    'GET /oauth/userinfo': async (incoming, outgoing) => {
      const { user_id = '', subject: sub } = await accessToken(incoming);
      const { name, email, email_verified } = await person(user_id);
      send(outgoing, { name, email, email_verified: email_verified === 1, sub });
    },
    'GET /protected': async (incoming, outgoing) => {
      const { user_id = '' } = await accessToken(incoming);
      const { id } = await person(user_id);
      send(outgoing, { user: id });
    },
    'GET /oauth/authorize': authorize,
    'POST /oauth/authorize': allow,
    'GET /.well-known/openid-configuration': fixed,
    'GET /.well-known/jwks.json': fixed,
  };
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
    .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    .end(text);
}

async function idTokenOf(key: KeyObject, payload: object): Promise<string> {
  const text = [{ alg: 'RS256' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${(await signOnPool('sha256', Buffer.from(text), key)).toString('base64url')}`;
}

function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

async function serve({ directory, database, port, url }: Place): Promise<unknown> {
  const [keyFile = ''] = globSync('storage/oauth/keys/*.json', { cwd: directory });
  const jwk = JSON.parse(readFileSync(path.join(directory, keyFile), 'utf8')) as JsonWebKey;
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  const table = answers(await openStore(database), key, url);
  const server = createServer((incoming, outgoing) => {
    const answer = table[`${incoming.method} ${(incoming.url ?? '').split('?', 1)[0]}`];
    if (answer === undefined) outgoing.writeHead(404).end();
    else void answer(incoming, outgoing);
  });
  return listenOn(server, port);
}

await runTarget({ seed, serve });
