import { createHash, createPrivateKey, randomBytes, sign } from 'node:crypto';
import { Browser } from './browser.ts';
import type { Answer, Connection, Sent } from './connection.ts';
import type { Prepare } from './measure.ts';
import { newProver } from './proofs.ts';
import type { Algorithm } from './signatures.ts';
import { REDIRECT_URI, type Credentials, type Seeded } from './target.ts';

/** A kind of work that is measured on a target. */
export interface Work {
  readonly name: string;
  /** Whether the target supports this work. */
  readonly applies: (target: Seeded) => boolean;
  readonly prepare: (target: Seeded, connection: Connection) => ReturnType<Prepare>;
  /**
   * The algorithm that signs the ID token in each response. Null if there is no ID token, or if the
   * work does more than sign it.
   */
  readonly algorithm: Algorithm | null;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
}

const ALGORITHMS: readonly Algorithm[] = ['RS256', 'ES256'];

export const WORKS: readonly Work[] = [
  {
    name: 'client-credentials token',
    applies: () => true,
    algorithm: null,
    async prepare({ service, scopes, paths }, connection) {
      const asked = { grant_type: 'client_credentials', scope: scopes.service };
      const send = sending(paths.token, service, asked);
      return async () => tokensIn(await connection.request(send()));
    },
  },
  {
    name: 'client-credentials token, DPoP',
    applies: ({ provesTo }) => provesTo !== undefined,
    algorithm: null,
    async prepare({ service, scopes, paths, provesTo = '' }, connection) {
      const prove = newProver();
      const sent = form(paths.token, service, {
        grant_type: 'client_credentials',
        scope: scopes.service,
      });
      return async () => {
        const headers = { ...sent.headers, DPoP: prove('POST', `${provesTo}${paths.token}`, null) };
        const answer = await connection.request({ ...sent, headers });
        if (!answer.body.includes('"token_type":"DPoP"')) throw unexpected(answer);
      };
    },
  },
  {
    name: 'introspection',
    applies: ({ paths }) => paths.introspect !== null,
    algorithm: null,
    async prepare(target, connection) {
      const { access_token: token } = await authorize(target, connection, target.scopes.openid);
      const sent = form(target.paths.introspect ?? '', target.inspector, { token });
      return async () => {
        const answer = await connection.request(sent);
        if (!/"active": *true/.test(answer.body)) throw unexpected(answer);
      };
    },
  },
  refresh(
    'refresh, no ID token',
    ({ scopes }) => scopes.plain,
    () => true,
  ),
  refresh(
    'refresh with ID token, RS256',
    ({ scopes }) => scopes.openid,
    ({ scopes }) => scopes.openid !== scopes.plain,
  ),
  refresh(
    'refresh with ID token, ES256',
    ({ scopes }) => scopes.openid,
    ({ webES256 }) => webES256 !== null,
    ({ webES256, web }) => webES256 ?? web,
  ),
  {
    name: 'whole authorization',
    applies: () => true,
    algorithm: null,
    async prepare(target, connection) {
      const browser = new Browser(connection, target.password);
      const once = () => authorize(target, connection, target.scopes.openid, browser);
      // The first call signs the person in.
      await once();
      return once;
    },
  },
  get('UserInfo', ({ paths }) => paths.userinfo, /"email"/),
  get('protected endpoint', ({ paths }) => paths.protected, /"(?:user|of)"/),
  {
    name: 'protected endpoint, DPoP',
    applies: ({ provesTo, paths }) => provesTo !== undefined && paths.protected !== null,
    algorithm: null,
    async prepare(target, connection) {
      const { provesTo = '', paths, scopes } = target;
      const prove = newProver();
      const bound = { ...target, prove: () => prove('POST', `${provesTo}${paths.token}`, null) };
      const { access_token: token } = await authorize(bound, connection, scopes.openid);
      const path = paths.protected ?? '';
      return async () => {
        const headers = {
          Authorization: `DPoP ${token}`,
          DPoP: prove('GET', `${provesTo}${path}`, token),
        };
        const answer = await connection.request({ method: 'GET', path, headers });
        if (answer.status !== 200 || !answer.body.includes('"user"')) throw unexpected(answer);
      };
    },
  },
  get('discovery', ({ paths }) => paths.discovery, /"issuer"/, false),
  get('key set', ({ paths }) => paths.keys, /"keys"/, false),
];

/** Works that are not measured, but that a server must handle for as long as it runs. */
export const OTHER_WORKS: readonly Work[] = [
  {
    name: 'a token revoked',
    applies: ({ paths }) => paths.revoke !== undefined,
    algorithm: null,
    async prepare({ service, scopes, paths }, connection) {
      const issue = form(paths.token, service, {
        grant_type: 'client_credentials',
        scope: scopes.service,
      });
      return async () => {
        const { access_token: token } = tokensIn(await connection.request(issue));
        const answer = await connection.request(form(paths.revoke ?? '', service, { token }));
        if (answer.status !== 200) throw unexpected(answer);
      };
    },
  },
  {
    name: 'consent denied',
    applies: () => true,
    algorithm: null,
    async prepare(target, connection) {
      const browser = new Browser(connection, target.password);
      await authorize(target, connection, target.scopes.openid, browser);
      return async () => {
        const { url } = authorizationRequest(target, target.scopes.openid);
        const callback = await browser.authorize(url, 'deny');
        if (callback.searchParams.get('error') !== 'access_denied')
          throw new Error(String(callback));
      };
    },
  },
  {
    name: 'a token refused',
    applies: ({ paths }) => paths.userinfo !== null,
    algorithm: null,
    async prepare({ paths }, connection) {
      const headers = { Authorization: `Bearer ${randomBytes(32).toString('base64url')}` };
      return async () => {
        const answer = await connection.request({
          method: 'GET',
          path: paths.userinfo ?? '',
          headers,
        });
        if (answer.status !== 401) throw unexpected(answer);
      };
    },
  },
  {
    name: 'MCP call',
    applies: ({ paths }) => typeof paths.mcp === 'string',
    algorithm: null,
    async prepare({ service, paths }, connection) {
      const issue = form(paths.token, service, {
        grant_type: 'client_credentials',
        scope: 'mcp:tools',
      });
      const { access_token: token } = tokensIn(await connection.request(issue));
      const sent: Sent = {
        method: 'POST',
        path: paths.mcp ?? '',
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          'MCP-Protocol-Version': '2025-11-25',
        },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"my_name","arguments":{}}}',
      };
      return async () => {
        const answer = await connection.request(sent);
        if (answer.status !== 200 || !answer.body.includes('"structuredContent"'))
          throw unexpected(answer);
      };
    },
  },
  {
    name: 'page of applications',
    applies: ({ paths }) => paths.applications !== undefined,
    algorithm: null,
    async prepare(target, connection) {
      const browser = new Browser(connection, target.password);
      await authorize(target, connection, target.scopes.openid, browser);
      return async () => {
        const answer = await browser.open(target.paths.applications ?? '');
        if (answer.status !== 200 || !answer.body.includes('Bench')) throw unexpected(answer);
      };
    },
  },
];

function refresh(
  name: string,
  scopeOf: (target: Seeded) => string,
  applies: Work['applies'],
  clientOf: (target: Seeded) => Credentials = ({ web }) => web,
): Work {
  const algorithm = ALGORITHMS.find((each) => name.endsWith(each)) ?? null;
  return {
    name,
    applies,
    algorithm,
    async prepare(target, connection) {
      const { paths } = target;
      const web = clientOf(target);
      const scope = scopeOf(target);
      const wantsIdToken = scope.includes('openid');
      let tokens = await authorize({ ...target, web }, connection, scope);
      requireAlgorithm(tokens, algorithm);
      return async () => {
        const { refresh_token = '' } = tokens;
        const sent = form(paths.token, web, { grant_type: 'refresh_token', refresh_token });
        tokens = tokensIn(await connection.request(sent));
        if (tokens.refresh_token === undefined || tokens.refresh_token === refresh_token)
          throw new Error('The refresh token was not replaced');
        if ((tokens.id_token !== undefined) !== wantsIdToken)
          throw new Error('An ID token is missing, or too many');
      };
    },
  };
}

/** Checks that the ID token has the algorithm in the name of the work. */
function requireAlgorithm({ id_token: token }: Tokens, algorithm: Algorithm | null): void {
  if (token === undefined || algorithm === null) return;
  const header = JSON.parse(Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString()) as {
    readonly alg?: string;
  };
  if (header.alg !== algorithm)
    throw new Error(`The ID token is signed with ${header.alg}, not ${algorithm}`);
}

function get(
  name: string,
  pathOf: (target: Seeded) => string | null,
  expected: RegExp,
  bearer = true,
): Work {
  return {
    name,
    applies: (target) => pathOf(target) !== null,
    algorithm: null,
    async prepare(target, connection) {
      const headers = bearer
        ? {
            Authorization: `Bearer ${(await authorize(target, connection, target.scopes.openid)).access_token}`,
          }
        : {};
      const sent: Sent = { method: 'GET', path: pathOf(target) ?? '', headers };
      return async () => {
        const answer = await connection.request(sent);
        if (answer.status !== 200 || !expected.test(answer.body)) throw unexpected(answer);
      };
    },
  };
}

/**
 * Runs a whole authorization, from the authorization request to the tokens, as the application and
 * as the browser.
 */
export async function authorize(
  target: Seeded & { readonly prove?: () => string },
  connection: Connection,
  scope: string,
  browser = new Browser(connection, target.password),
): Promise<Tokens> {
  const { web, paths } = target;
  const { url, verifier } = authorizationRequest(target, scope);
  const callback = await browser.authorize(url);
  const code = callback.searchParams.get('code');
  if (code === null) throw new Error(`No code came back: ${callback.search}`);
  const sent = form(paths.token, web, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: verifier,
  });
  const proof = target.prove?.();
  const proved: Sent =
    proof === undefined ? sent : { ...sent, headers: { ...sent.headers, DPoP: proof } };
  return tokensIn(await connection.request(proved));
}

function authorizationRequest(
  { web, paths }: Seeded,
  scope: string,
): { readonly url: string; readonly verifier: string } {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: web.id,
    redirect_uri: REDIRECT_URI,
    scope,
    state: randomBytes(8).toString('base64url'),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    prompt: 'consent',
  });
  return { url: `${paths.authorize}?${query}`, verifier };
}

export function form(
  path: string,
  { id, secret }: Credentials,
  fields: Readonly<Record<string, string>>,
): Sent {
  const credentials = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
  return {
    method: 'POST',
    path,
    headers: {
      Authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: String(new URLSearchParams(fields)),
  };
}

/**
 * Sends a request many times. With a secret, each request is the same. With a key, each request has
 * a new assertion.
 */
function sending(
  path: string,
  client: Credentials,
  fields: Readonly<Record<string, string>>,
): () => Sent {
  const { signs } = client;
  if (signs === undefined) {
    const sent = form(path, client, fields);
    return () => sent;
  }
  const key = createPrivateKey(signs.pem);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = part({ alg: 'ES256' });
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return () => {
    const [now, jti] = [Math.floor(Date.now() / 1000), randomBytes(16).toString('base64url')];
    const claims = {
      iss: client.id,
      sub: client.id,
      aud: signs.audience,
      iat: now,
      exp: now + 60,
      jti,
    };
    const input = `${header}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
    const authenticated = {
      ...fields,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: `${input}.${signature.toString('base64url')}`,
    };
    return { method: 'POST', path, headers, body: String(new URLSearchParams(authenticated)) };
  };
}

export function tokensIn(answer: Answer): Tokens {
  if (answer.status !== 200) throw unexpected(answer);
  const tokens = JSON.parse(answer.body) as Partial<Tokens>;
  if (tokens.access_token === undefined) throw unexpected(answer);
  return tokens as Tokens;
}

export function unexpected({ status, body }: Answer): Error {
  return new Error(`Answered ${status}: ${body.slice(0, 300)}`);
}
