import { createHash, randomUUID } from 'node:crypto';
import type { ClientRegistration } from 'portico';
import { claimsOf, headerOf, newKey, signed, withAssertion, type ClientKey } from './assertions.ts';
import { CHALLENGE, REDIRECT_URI, VERIFIER, type RunningPortal, type Tokens } from './portal.ts';
import { locationOf, type Visitor } from './visitor.ts';

/**
 * A client of the FAPI 2.0 Security Profile. It uses no library, so that each step can deviate from
 * the profile.
 */
export interface Banker {
  readonly id: string;
  /** The key for its authentication. */
  readonly key: ClientKey;
  /** The key to which its tokens are bound. */
  readonly proofKey: ClientKey;
}

type Form = Readonly<Record<string, string>>;
type Claims = Readonly<Record<string, unknown>>;

export async function registerBanker(
  portal: RunningPortal,
  registration: Partial<ClientRegistration> = {},
  key = newKey('ES256'),
): Promise<Banker> {
  const { client } = await portal.server.clients.create({
    name: 'A bank’s application',
    redirectUris: [REDIRECT_URI],
    scopes: ['openid', 'profile', 'notes:read'],
    jwks: { keys: [key.jwk] },
    ...registration,
  });
  return { id: client.id, key, proofKey: newKey('ES256') };
}

/** How a request deviates from the profile. */
export interface Otherwise {
  /** Changes to the claims of the assertion. */
  readonly assertion?: Claims;
  readonly header?: Claims;
  readonly key?: ClientKey;
  /** Changes to the form. Undefined removes a parameter. */
  readonly form?: Readonly<Record<string, string | undefined>>;
  /** The key that signs the proof. Null means that there is no proof. */
  readonly proofKey?: ClientKey | null;
  readonly proof?: Claims;
  /** Another authentication, which replaces the assertion. */
  readonly authentication?: { readonly headers?: Form; readonly form?: Form };
}

export interface At {
  readonly portal: RunningPortal;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

export function assertionOf(
  { portal, now }: At,
  banker: Banker,
  otherwise: Otherwise = {},
): string {
  const { key = banker.key, header = {}, assertion = {} } = otherwise;
  return signed(
    key,
    { ...headerOf(key), ...header },
    { ...claimsOf(banker.id, portal.server.issuer, now()), ...assertion },
  );
}

/** Creates a proof of possession (RFC 9449 section 4.2). */
export function proofOf(
  { now }: Pick<At, 'now'>,
  key: ClientKey,
  request: { readonly method: string; readonly url: string; readonly accessToken?: string },
  changes: Claims = {},
): string {
  const { kid: _, ...jwk } = key.jwk as Claims;
  const ath =
    request.accessToken === undefined
      ? {}
      : { ath: createHash('sha256').update(request.accessToken).digest('base64url') };
  return signed(
    key,
    { typ: 'dpop+jwt', alg: key.algorithm, jwk },
    {
      htm: request.method,
      htu: request.url,
      iat: Math.floor(now() / 1000),
      jti: randomUUID(),
      ...ath,
      ...changes,
    },
  );
}

/** Posts a form. The client authenticates as the profile requires. */
export function post(
  at: At,
  path: string,
  banker: Banker,
  form: Form,
  otherwise: Otherwise = {},
): Promise<Response> {
  const { authentication, proofKey = path === '/oauth/token' ? banker.proofKey : null } = otherwise;
  const url = `${at.portal.url}${path}`;
  const headers = new Headers(authentication?.headers);
  if (proofKey !== null) {
    headers.set('DPoP', proofOf(at, proofKey, { method: 'POST', url }, otherwise.proof));
  }
  const body = new URLSearchParams();
  const credentials = authentication?.form ?? withAssertion(assertionOf(at, banker, otherwise));
  const sent = {
    ...form,
    ...(authentication === undefined ? credentials : authentication.form),
    ...otherwise.form,
  };
  for (const [name, value] of Object.entries(sent))
    if (value !== undefined) body.append(name, value);
  return fetch(url, { method: 'POST', headers, body });
}

export const REQUEST = {
  response_type: 'code',
  redirect_uri: REDIRECT_URI,
  scope: 'openid profile notes:read',
  state: 'the-state',
  nonce: 'the-nonce',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
} as const;

export const push = (at: At, banker: Banker, otherwise: Otherwise = {}) =>
  post(at, '/oauth/par', banker, { client_id: banker.id, ...REQUEST }, otherwise);

/** Pushes an authorization request, and returns the URL for the browser. */
export async function pushedUrl(
  at: At,
  banker: Banker,
  otherwise: Otherwise = {},
): Promise<string> {
  const response = await push(at, banker, otherwise);
  if (response.status !== 201)
    throw new Error(`Not pushed: ${response.status} ${await response.text()}`);
  const { request_uri: requestUri } = (await response.json()) as { readonly request_uri: string };
  const query = new URLSearchParams({ client_id: banker.id, request_uri: requestUri });
  return `${at.portal.url}/oauth/authorize?${query}`;
}

/** Lets the person allow the request. Returns the URL that contains the response. */
export async function allow(visitor: Visitor, url: string): Promise<URL> {
  const page = await visitor.visit(url);
  if (page.status !== 200) throw new Error(`No question: ${page.status} ${await page.text()}`);
  return locationOf(await visitor.submit(page, { decision: 'allow' }));
}

export async function obtainCode(
  at: At,
  banker: Banker,
  visitor: Visitor,
  otherwise: Otherwise = {},
) {
  const code = (await allow(visitor, await pushedUrl(at, banker, otherwise))).searchParams.get(
    'code',
  );
  if (code === null) throw new Error('No code');
  return code;
}

export const exchange = (at: At, banker: Banker, code: string, otherwise: Otherwise = {}) =>
  post(
    at,
    '/oauth/token',
    banker,
    { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER },
    otherwise,
  );

export const refresh = (at: At, banker: Banker, refreshToken: string, otherwise: Otherwise = {}) =>
  post(
    at,
    '/oauth/token',
    banker,
    { grant_type: 'refresh_token', refresh_token: refreshToken },
    otherwise,
  );

export async function tokensOf(answer: Promise<Response>): Promise<Tokens> {
  const response = await answer;
  if (response.status !== 200)
    throw new Error(`No tokens: ${response.status} ${await response.text()}`);
  return (await response.json()) as Tokens;
}

/** Sends a request with this access token, and with a proof by this key. */
export function call(at: At, path: string, key: ClientKey, accessToken: string): Promise<Response> {
  const url = `${at.portal.url}${path}`;
  const proof = proofOf(at, key, { method: 'GET', url, accessToken });
  return fetch(url, { headers: { Authorization: `DPoP ${accessToken}`, DPoP: proof } });
}
