import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { claimsOf, headerOf, signed, withAssertion } from '../assertions.ts';
import { CHALLENGE, VERIFIER } from '../portal.ts';
import { boundHeaders, proofFor } from '../proofs.ts';
import { ISSUER, type Node } from './installation.ts';
import {
  clientNamed,
  get,
  KEYS,
  nodeOf,
  subjectNamed,
  type Known,
  type KnownClient,
} from './known.ts';
import { altered, offered } from './offered.ts';
import type { LookUp, Revocation } from './other-rules.ts';
import {
  givenBy,
  type Answer,
  type Proved,
  type SecretSent,
  type TokenRequest,
} from './token-rules.ts';

/** The requests and responses of applications and resource servers, in the terms of the model. */

export { CHALLENGE };
export const NONCE = 'the-nonce';
type Form = Readonly<Record<string, string>>;

/** Returns the parameters with which a client authenticates. */
function credentials(
  known: Known,
  client: KnownClient,
  sent: SecretSent,
): { headers: Form; form: Form } {
  const { id, kind, secrets } = client;
  if (kind === 'keyed') {
    const claims = claimsOf(id, ISSUER, known.installation.now() * 1000);
    return {
      headers: {},
      form: withAssertion(signed(KEYS.assertions, headerOf(KEYS.assertions), claims)),
    };
  }
  if (secrets.length === 0) return { headers: {}, form: { client_id: id } };
  const secret =
    { current: secrets.at(-1), previous: secrets.at(-2), wrong: undefined }[sent] ?? 'another one';
  const basic = Buffer.from(`${id}:${secret}`).toString('base64');
  return { headers: { Authorization: `Basic ${basic}` }, form: {} };
}

async function post(
  known: Known,
  node: Node,
  path: string,
  {
    as,
    secret,
    proof,
  }: { readonly as: string; readonly secret: SecretSent; readonly proof?: Proved },
  form: Form,
): Promise<Response> {
  const client = get(known.clients, as);
  const shown = credentials(known, client, secret);
  const headers: Record<string, string> = { ...shown.headers };
  if (client.kind === 'bound' && proof !== undefined && proof !== 'none') {
    const iat = known.installation.now();
    headers['DPoP'] = proofFor(KEYS[proof], 'POST', `${ISSUER}${path}`, null, { iat });
  }
  const body = new URLSearchParams({ ...shown.form, ...form });
  return answerOf(node, new Request(`${ISSUER}${path}`, { method: 'POST', headers, body }));
}

export async function answerOf(node: Node, request: Request, context?: unknown): Promise<Response> {
  const response = await node.handle(request, context);
  if (response === null) throw new Error(`Nothing answers ${request.url}`);
  if (!response.headers.has('x-request-id'))
    throw new Error(`${request.url} is answered without an id`);
  return response;
}

/** AS-6.14, AS-6.16, AS-15.11. */
async function refusal(response: Response): Promise<Answer> {
  const { error } = (await response.json()) as { error: string };
  const { status, headers } = response;
  if (status === 503 && !headers.has('retry-after')) throw new Error('503 without Retry-After');
  if (status === 401 && !headers.has('www-authenticate'))
    throw new Error('401 without a challenge');
  requireNotStored(response);
  return { is: 'refused', status, error };
}

function requireNotStored({ headers }: Response): void {
  if (headers.get('cache-control') !== 'no-store')
    throw new Error('An answer that caches may keep');
}

interface Body {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly scope: string;
}

export async function requestTokens(
  known: Known,
  request: TokenRequest,
  at: number,
): Promise<Answer> {
  const node = nodeOf(known, at);
  const response = await post(known, node, '/oauth/token', from(request), formOf(known, request));
  if (response.status !== 200) return refusal(response);
  requireNotStored(response);
  const body = (await response.json()) as Body;
  const family = request.kind === 'credentials' ? null : request.family;
  const client = request.as;
  const name = hold(known, givenBy(request), { body, family, client });
  const identifies = body.id_token !== undefined;
  if (identifies && family !== null) await verifyIdToken(known, node, body, request);
  return {
    is: 'tokens',
    name,
    scope: body.scope,
    expiresIn: body.expires_in,
    type: body.token_type,
    refreshes: body.refresh_token !== undefined,
    identifies,
  };
}

const from = (request: TokenRequest) =>
  request.kind === 'credentials' ? { ...request, proof: 'own' as const } : request;

function formOf(known: Known, request: TokenRequest): Form {
  if (request.kind === 'credentials')
    return { grant_type: 'client_credentials', ...scopeOf(request.scope) };
  if (request.kind === 'refresh') {
    const refresh = offeredInstead(known, request, 'the token endpoint');
    return { grant_type: 'refresh_token', refresh_token: refresh, ...scopeOf(request.scope) };
  }
  const { family, wrong } = request;
  const code = get(known.codes, family);
  const { redirectUri } = get(known.clients, get(known.authorizations, family).client);
  return {
    grant_type: 'authorization_code',
    code: wrong === 'unknown' ? altered(code) : code,
    redirect_uri: wrong === 'redirect' ? `${redirectUri}/` : redirectUri,
    code_verifier: { verifier: altered(VERIFIER), missing: '' }[wrong as string] ?? VERIFIER,
  };
}

const scopeOf = (scope: readonly string[] | null): Form =>
  scope === null ? {} : { scope: scope.join(' ') };

function offeredInstead(
  known: Known,
  { family, token, wrong, variant }: Pick<Revocation, 'family' | 'token' | 'wrong' | 'variant'>,
  at: Parameters<typeof offered>[4],
): string {
  const { refresh, access } = get(known.tokens, token);
  const others = [...known.tokens.values()].filter(
    (each) => each.refresh !== '' && each.family !== family,
  );
  const other = others.at(-1)?.refresh ?? 'another.'.repeat(4);
  return offered(
    refresh,
    wrong,
    variant,
    { other, code: get(known.codes, family), accessToken: access },
    at,
  );
}

/**
 * Returns the name of these tokens. The same response has the same name each time. A different
 * response to the same use has another name.
 */
function hold(
  { tokens }: Known,
  gives: string,
  held: { readonly body: Body; readonly client: string; readonly family: string | null },
): string {
  const { body, client, family } = held;
  const { access_token: access, refresh_token: refresh = '' } = body;
  const before = [...tokens].find(([, each]) => each.access === access);
  if (before !== undefined)
    return before[1].refresh === refresh ? before[0] : `half of ${before[0]}`;
  if (tokens.has(gives)) return `a second answer to what gave ${gives}`;
  tokens.set(gives, { access, refresh, client, family });
  return gives;
}

/**
 * Checks an ID token (AS-11.1): its subject, its audience, and its signature by a published key.
 */
async function verifyIdToken(
  known: Known,
  node: Node,
  body: Body,
  request: TokenRequest,
): Promise<void> {
  const { family } = request as Extract<TokenRequest, { readonly family: string }>;
  const { client, subject } = get(known.authorizations, family);
  const { id, kind } = get(known.clients, client);
  const published = await answerOf(node, new Request(`${ISSUER}/.well-known/jwks.json`));
  const keys = createLocalJWKSet((await published.json()) as JSONWebKeySet);
  const { payload } = await jwtVerify(body.id_token ?? '', keys, {
    issuer: ISSUER,
    audience: id,
    algorithms: [kind === 'keyed' ? 'ES256' : 'RS256'],
    currentDate: new Date(known.installation.now() * 1000),
  });
  const who = subjectNamed(known, payload.sub, subject);
  if (who !== subject) throw new Error(`The ID token of ${subject} is about ${who}`);
  const nonce = request.kind === 'exchange' ? NONCE : undefined;
  if (payload['nonce'] !== nonce)
    throw new Error(`The nonce of an ID token is ${String(payload['nonce'])}`);
}

export async function revoke(known: Known, request: Revocation, at: number): Promise<Answer> {
  const token = {
    refresh: () => offeredInstead(known, request, 'the revocation endpoint'),
    access: () => get(known.tokens, request.token).access,
    own: () => get(known.tokens, request.token).access,
    code: () => get(known.codes, request.family),
  }[request.what]();
  const response = await post(known, nodeOf(known, at), '/oauth/revoke', request, { token });
  if (response.status !== 200) return refusal(response);
  requireNotStored(response);
  return { is: 'done' };
}

/** The name of the resource server, which introspects tokens. */
export const INSPECTOR = 'inspector';

export async function look(known: Known, request: LookUp, at: number): Promise<Answer> {
  const { kind, token, as } = request;
  const { access, family } = get(known.tokens, token);
  const node = nodeOf(known, at);
  if (kind === 'introspect') {
    const by = { as: as ?? INSPECTOR, secret: 'current' } as const;
    const response = await post(known, node, '/oauth/introspect', by, { token: access });
    if (response.status !== 200) return refusal(response);
    requireNotStored(response);
    return introspected(known, (await response.json()) as Introspection, family);
  }
  const path = kind === 'api' ? '/api/notes' : '/oauth/userinfo';
  const asked = new Request(`${ISSUER}${path}`, { headers: presented(known, request, path) });
  const response = kind === 'api' ? await callApi(node, asked) : await answerOf(node, asked);
  if (response.status !== 200) return bearerRefusal(response);
  if (kind === 'api') return { is: 'done' };
  const { sub, ...claims } = (await response.json()) as Readonly<Record<string, unknown>>;
  const subject = subjectOf(known, family);
  return {
    is: 'claims',
    subject: subject === null ? 'unknown' : subjectNamed(known, sub, subject),
    claims: Object.keys(claims).toSorted(),
  };
}

function presented(known: Known, { token, asBearer }: LookUp, path: string): Form {
  const { access, client } = get(known.tokens, token);
  if (get(known.clients, client).kind !== 'bound' || asBearer)
    return { Authorization: `Bearer ${access}` };
  const iat = known.installation.now();
  return boundHeaders(KEYS.own, 'GET', `${ISSUER}${path}`, access, { iat });
}

/** Calls an API of the host that `token()` protects. */
async function callApi({ server }: Node, request: Request): Promise<Response> {
  const { token } = await import('portico');
  return server.withToken(request, async () => {
    token().requireScope('notes:read');
    return Response.json({ data: [] });
  });
}

function bearerRefusal({ status, headers }: Response): Answer {
  if (status === 503) return { is: 'refused', status, error: 'temporarily_unavailable' };
  const challenge = headers.get('www-authenticate') ?? '';
  const [, error = 'none'] = /error="([^"]+)"/.exec(challenge) ?? [];
  return { is: 'refused', status, error };
}

interface Introspection {
  readonly active: boolean;
  readonly scope: string;
  readonly client_id: string;
  readonly token_type: string;
  readonly exp: number;
  readonly iat: number;
  readonly iss: string;
  readonly sub?: string;
}

function introspected(known: Known, told: Introspection, family: string | null): Answer {
  const { active, scope, client_id: id, token_type: type, exp, iat, iss, sub } = told;
  if (!active)
    return { is: 'introspected', active, ...(Object.keys(told).length === 1 ? {} : { told }) };
  if (iss !== ISSUER) throw new Error(`Introspection says that ${iss} has issued it`);
  const subject = subjectOf(known, family);
  const { start } = known.installation;
  return {
    is: 'introspected',
    active,
    scope,
    client: clientNamed(known, id),
    type,
    expires: exp - start,
    issued: iat - start,
    subject: subject === null ? (sub ?? null) : subjectNamed(known, sub, subject),
  };
}

/** Returns the owner of an authorization. Returns null for a client's own token. */
function subjectOf(known: Known, family: string | null): string | null {
  return family === null ? null : get(known.authorizations, family).subject;
}
