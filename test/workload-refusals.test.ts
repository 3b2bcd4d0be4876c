// @engines sqlite: refusals are the same on every engine
import { createHmac, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey, signatureOf, signed, type ClientKey } from './support/assertions.ts';
import { registerClient, startPortal, type RunningPortal } from './support/portal.ts';
import {
  accepting,
  ACCOUNT,
  accountClaims,
  accountToken,
  CLUSTER,
  JWT_SVID_TYPE,
  jwtSvid,
  present,
  registerWorkload,
  SPIFFE_ID,
  startPlatform,
  TRUST_DOMAIN,
  type Platform,
} from './support/workloads.ts';

/** Tokens that must authenticate no client: each differs from a valid one in one thing. */

type Members = Readonly<Record<string, unknown>>;

const OTHER_CLUSTER = 'https://other-cluster.example';
const PEOPLE_IDP = 'https://idp.example';
const TENANTS = 'https://tenants.example';
const OTHER_DOMAIN = 'spiffe://example.com';

let cluster: Platform;
let other: Platform;
let domain: Platform;
let otherDomain: Platform;
let portal: RunningPortal;
/** The client of the account, of every account in its namespace, and of the SPIFFE ID. */
let client: string;
let wide: string;
let spiffe: string;
/** Clients that are another workload, of another issuer, with a secret, and with own keys. */
let another: string;
let foreign: string;
let withSecret: { readonly id: string; readonly secret: string };
let keyed: string;
const ownKey = newKey('ES256');
const rsaKey = newKey('RS256');
const strangerKey = newKey('ES256');

beforeAll(async () => {
  [cluster, other] = [await startPlatform(), await startPlatform()];
  [domain, otherDomain] = [await startPlatform('jwt-svid'), await startPlatform('jwt-svid')];
  await cluster.publish([cluster.key, rsaKey]);
  const onlyEs256 = { ...cluster.settings, algorithms: ['ES256'] };
  portal = await startPortal({
    random: () => 0.999,
    config: accepting(
      {
        [CLUSTER]: onlyEs256,
        [OTHER_CLUSTER]: other.settings,
        [PEOPLE_IDP]: { ...onlyEs256, asserts: ['people'] },
        [TENANTS]: { ...onlyEs256, tenant: 'acme' },
        [TRUST_DOMAIN]: domain.settings,
        [OTHER_DOMAIN]: otherDomain.settings,
      },
      { private_key_jwt: true },
    ),
  });
  client = await registerWorkload(portal);
  wide = await registerWorkload(portal, {
    issuer: CLUSTER,
    subject: 'system:serviceaccount:prod:*',
  });
  spiffe = await registerWorkload(portal, { issuer: TRUST_DOMAIN, subject: SPIFFE_ID });
  another = await registerWorkload(portal, {
    issuer: CLUSTER,
    subject: 'system:serviceaccount:prod:billing',
  });
  foreign = await registerWorkload(portal, { issuer: OTHER_CLUSTER, subject: ACCOUNT });
  withSecret = await registerClient(portal, {
    redirectUris: [],
    scopes: ['notes:read'],
    grants: ['client_credentials'],
  });
  const registered = await portal.server.clients.create({
    name: 'Keyed',
    scopes: ['notes:read'],
    grants: ['client_credentials'],
    jwks: { keys: [ownKey.jwk] },
  });
  keyed = registered.client.id;
});
afterAll(async () => {
  await portal.close();
  await Promise.all([cluster, other, domain, otherDomain].map((platform) => platform.close()));
});

const now = () => Math.floor(Date.now() / 1000);
const encode = (text: string) => Buffer.from(text).toString('base64url');

interface Sent {
  readonly token: string;
  readonly as?: string | null;
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}
type Refusal = readonly [what: string, send: () => string | Sent];

const withClaims = (changes: Members, key: ClientKey = cluster.key) =>
  accountToken(portal, key, changes);
const withHeader = (header: Members, key: ClientKey = cluster.key) =>
  accountToken(portal, key, {}, header);
const withPayload = (text: string) =>
  signed(cluster.key, { alg: 'ES256', kid: cluster.key.kid }, text);
const asSvid = (token: string, as: string | null = spiffe): Sent => ({
  token,
  as,
  form: { client_assertion_type: JWT_SVID_TYPE },
});

/** Writes the claims with this member a second time, with this value. */
function doubled(name: string, value: unknown): string {
  const text = JSON.stringify(accountClaims(portal));
  return withPayload(`${text.slice(0, -1)},"${name}":${JSON.stringify(value)}}`);
}

const WRONG_TYPES: readonly unknown[] = [null, true, 0, '', [], {}, [[]], [null]];
const WRONG_TIMES: readonly unknown[] = [null, true, '', 'now', String(2e9), [], {}, -1, [2e9]];

const CLAIMS: readonly Refusal[] = [
  ...['iss', 'sub', 'aud', 'exp'].map((name): Refusal => [
    `no ${name}`,
    () => withClaims({ [name]: undefined }),
  ]),
  ...['iss', 'sub', 'aud'].flatMap((name) =>
    WRONG_TYPES.map((value): Refusal => [
      `${name} is ${JSON.stringify(value)}`,
      () => withClaims({ [name]: value }),
    ]),
  ),
  ...['iat', 'exp', 'nbf'].flatMap((name) =>
    WRONG_TIMES.map((value): Refusal => [
      `${name} is ${JSON.stringify(value)}`,
      () => withClaims({ [name]: value }),
    ]),
  ),
  ...['iss', 'sub', 'aud', 'exp', 'iat'].map((name): Refusal => [
    `${name} twice, with the same value`,
    () => doubled(name, accountClaims(portal)[name]),
  ]),
  ['sub twice', () => doubled('sub', 'system:serviceaccount:prod:billing')],
  ['aud twice', () => doubled('aud', 'https://elsewhere.example')],
  ['bound to a key', () => withClaims({ cnf: { jkt: 'x' } })],
  ['bound to nothing', () => withClaims({ cnf: null })],
  ...(
    [
      ['scope', 'openid profile'],
      ['scope', ''],
      ['scp', ['notes:read']],
      ['nonce', 'n-0S6'],
      ['at_hash', 'MTIz'],
      ['c_hash', 'MTIz'],
      ['auth_time', 1_700_000_000],
      ['auth_time', null],
      ['events', { 'http://schemas.openid.net/event/backchannel-logout': {} }],
    ] as const
  ).map(([name, value]): Refusal => [
    `another kind of token: ${name} is ${JSON.stringify(value)}`,
    () => withClaims({ [name]: value }),
  ]),
  ['of a tenant, where none is configured', () => withClaims({ tenant: 'acme' })],
  ['of an issuer with a tenant, without it', () => withClaims({ iss: TENANTS })],
];

const TIMES: readonly Refusal[] = [
  ['expired', () => withClaims({ iat: now() - 1000, nbf: now() - 1000, exp: now() - 31 })],
  ['expired long ago', () => withClaims({ exp: 1 })],
  ['expired before it was issued', () => withClaims({ iat: now() + 20, exp: now() + 10 })],
  ['valid for more than a day', () => withClaims({ exp: now() + 86_500 })],
  ['valid for ever', () => withClaims({ exp: Number.MAX_SAFE_INTEGER })],
  ['issued in the future', () => withClaims({ iat: now() + 60 })],
  ['too old', () => withClaims({ iat: now() - 3640, nbf: now() - 3640, exp: now() + 60 })],
  ['not valid yet', () => withClaims({ nbf: now() + 60 })],
  ['without iat, for longer than it may be old', () => longWithoutIat()],
  ['milliseconds', () => withClaims({ iat: Date.now(), exp: Date.now() + 1e5 })],
];

function longWithoutIat(): string {
  return withClaims({ iat: undefined, exp: now() + 3700 });
}

const AUDIENCES: readonly Refusal[] = [
  (issuer: string) => `${issuer}/`,
  (issuer: string) => `${issuer}/oauth/token`,
  (issuer: string) => [`${issuer}/oauth/token`],
  (issuer: string) => issuer.toUpperCase(),
  (issuer: string) => ` ${issuer}`,
  (issuer: string) => [issuer, issuer],
  (issuer: string) => [issuer, 'https://kubernetes.default.svc'],
  (issuer: string) => ['https://kubernetes.default.svc', issuer],
  (issuer: string) => [[issuer]],
  (issuer: string) => ({ 0: issuer }),
  () => 'https://kubernetes.default.svc',
  () => [CLUSTER],
  () => client,
  () => '*',
].map((audience, index): Refusal => [
  `another audience (${index})`,
  () => withClaims({ aud: audience(portal.server.issuer) }),
]);

const CLIENTS: readonly Refusal[] = [
  ['of a different account', () => withClaims({ sub: 'system:serviceaccount:prod:billing' })],
  [
    'of the account in a different namespace',
    () => withClaims({ sub: 'system:serviceaccount:x:reports' }),
  ],
  ['of an account with a longer name', () => withClaims({ sub: `${ACCOUNT}2` })],
  ['of the account in capitals', () => withClaims({ sub: ACCOUNT.toUpperCase() })],
  ['of a node', () => withClaims({ sub: 'system:node:reports' })],
  ['for a different client', () => ({ token: withClaims({}), as: another })],
  ['for a client of a different issuer', () => ({ token: withClaims({}), as: foreign })],
  ['for a client with a secret', () => ({ token: withClaims({}), as: withSecret.id })],
  ['for a client with keys', () => ({ token: withClaims({}), as: keyed })],
  ['for an unknown client', () => ({ token: withClaims({}), as: 'unknown' })],
  ['for an empty client ID', () => ({ token: withClaims({}), as: '' })],
  ['without a client ID', () => ({ token: withClaims({}), as: null })],
  ['for a client that is only in sub', () => ({ token: withClaims({ sub: client }), as: null })],
  ...[
    'system:serviceaccount:prod:',
    'system:serviceaccount:prod:a:b',
    'system:serviceaccount:prod:a/b',
    'system:serviceaccount:prod:*',
    'system:serviceaccount:prod:..',
    'system:serviceaccount:prod:a b',
    'system:serviceaccount:prod-evil:a',
    'system:serviceaccount:prod',
    'evil:system:serviceaccount:prod:a',
  ].map((sub): Refusal => [
    `of ${JSON.stringify(sub)}, for the client of the namespace`,
    () => ({ token: withClaims({ sub }), as: wide }),
  ]),
];

const ISSUERS: readonly Refusal[] = [
  ...[
    `${CLUSTER}/`,
    CLUSTER.toUpperCase(),
    CLUSTER.replace('https', 'http'),
    `${CLUSTER}:443`,
    `${CLUSTER}.evil.example`,
    'https://evil.example',
    TRUST_DOMAIN,
    '__proto__',
    'constructor',
  ].map((iss): Refusal => [`of the issuer ${JSON.stringify(iss)}`, () => withClaims({ iss })]),
  ['of the server itself', () => withClaims({ iss: portal.server.issuer })],
  ['of the client', () => withClaims({ iss: client })],
  [
    'of a different issuer, with its signature',
    () => withClaims({ iss: OTHER_CLUSTER }, other.key),
  ],
  ['with the key of a different issuer', () => withClaims({}, other.key)],
  ['of an issuer for people, for a client of that issuer', () => withClaims({ iss: PEOPLE_IDP })],
  [
    'with a different issuer in iss, for the client of that issuer',
    () => ({ token: withClaims({ iss: OTHER_CLUSTER }), as: foreign }),
  ],
];

/** Signs with the public key as an HMAC secret. */
function hmac(algorithm: string, digest: string, secret: string | Buffer): string {
  const header = JSON.stringify({ alg: algorithm, kid: cluster.key.kid });
  const input = `${encode(header)}.${encode(JSON.stringify(accountClaims(portal)))}`;
  return `${input}.${createHmac(digest, secret).update(input).digest('base64url')}`;
}

const ALGORITHMS: readonly Refusal[] = [
  ...['none', 'NONE', '', 'ES384', 'HS256', 'RS256', 'PS256', 'EdDSA', 'es256', null, 7].map(
    (alg): Refusal => [`alg is ${JSON.stringify(alg)}`, () => withHeader({ alg })],
  ),
  ['no alg', () => withHeader({ alg: undefined })],
  ['no signature', () => `${withClaims({}).split('.').slice(0, 2).join('.')}.`],
  [
    'none without a signature',
    () => `${withHeader({ alg: 'none' }).split('.').slice(0, 2).join('.')}.`,
  ],
  ['RS256, which the issuer does not use', () => withClaims({}, rsaKey)],
  ['HS256 with the key set', () => hmac('HS256', 'sha256', JSON.stringify(cluster.key.jwk))],
  [
    'HS256 with the public key as PEM',
    () =>
      hmac(
        'HS256',
        'sha256',
        createPublicKey(cluster.key.privateKey).export({ type: 'spki', format: 'pem' }),
      ),
  ],
  ['HS256 with an empty secret', () => hmac('HS256', 'sha256', '')],
];

const HEADERS: readonly Refusal[] = [
  ['signed with an unknown key', () => withClaims({}, strangerKey)],
  [
    'signed with an unknown key and the kid of the issuer',
    () => withHeader({ kid: cluster.key.kid }, strangerKey),
  ],
  ['signed with the key of a different client', () => withClaims({}, ownKey)],
  ['with an unknown kid', () => withHeader({ kid: 'unknown' })],
  ['with kid null', () => withHeader({ kid: null })],
  ['with a number as kid', () => withHeader({ kid: 7 })],
  ...(['jwk', 'jku', 'x5u', 'x5c'] as const).flatMap((name): readonly Refusal[] => {
    const value = {
      jwk: strangerKey.jwk,
      jku: 'https://evil.example',
      x5u: 'https://evil.example',
      x5c: ['MIIB'],
    }[name];
    return [
      [
        `${name} in the header, signed by that key`,
        () => withHeader({ [name]: value }, strangerKey),
      ],
      [`${name} in the header, signed by the issuer`, () => withHeader({ [name]: value })],
    ];
  }),
  ...['oauth-id-jag+jwt', 'at+jwt', 'dpop+jwt', 'logout+jwt', 'wit+jwt', '', null, 7, ['JWT']].map(
    (typ): Refusal => [`typ is ${JSON.stringify(typ)}`, () => withHeader({ typ })],
  ),
  ['crit', () => withHeader({ crit: ['exp'] })],
  ['b64', () => withHeader({ b64: false, crit: ['b64'] })],
];

const MALFORMED: readonly Refusal[] = [
  ['empty', () => ''],
  ['a word', () => 'token'],
  ['NUL', () => '\0'],
  ['four parts', () => `${withClaims({})}.a`],
  ['an encrypted token', () => `${withClaims({})}.a.b`],
  ['padding', () => `${withClaims({})}==`],
  ['very long', () => 'a'.repeat(20_000)],
  ['a long payload', () => withClaims({ more: 'a'.repeat(9000) })],
  ['a list as payload', () => withPayload('[]')],
  ['a changed signature', () => `${withClaims({}).slice(0, -4)}AAAA`],
  ['the signature of a different text', () => signatureOfAnother()],
  [
    'with an unknown type',
    () => ({ token: withClaims({}), form: { client_assertion_type: 'urn:x' } }),
  ],
  ['with an empty type', () => ({ token: withClaims({}), form: { client_assertion_type: '' } })],
  ['sent as a JWT-SVID', () => asSvid(withClaims({}), client)],
  [
    'and the secret of the client',
    () => ({ token: withClaims({}), form: { client_secret: 'anything' } }),
  ],
  [
    'and the secret of a client in the header',
    () => ({
      token: withClaims({}),
      headers: {
        authorization: `Basic ${Buffer.from(`${withSecret.id}:${withSecret.secret}`).toString('base64')}`,
      },
    }),
  ],
];

function signatureOfAnother(): string {
  const [header = '', payload = ''] = withClaims({}).split('.');
  return `${header}.${payload}.${signatureOf(cluster.key, 'another')}`;
}

const SVIDS: readonly Refusal[] = [
  ...[
    'spiffe://example.org/ns/prod/sa/billing',
    'spiffe://example.org/ns/prod/sa/reports/x',
    'spiffe://example.org/ns/prod/sa/reports/',
    'spiffe://example.org',
    'spiffe://example.com/ns/prod/sa/reports',
    'SPIFFE://example.org/ns/prod/sa/reports',
    'spiffe://example.org:443/ns/prod/sa/reports',
    'spiffe://example.org/ns/prod/../prod/sa/reports',
    'reports',
    ACCOUNT,
    7,
    null,
    undefined,
  ].map((sub): Refusal => [
    `a JWT-SVID of ${JSON.stringify(sub)}`,
    () => asSvid(jwtSvid(portal, domain.key, { sub })),
  ]),
  ['a JWT-SVID without aud', () => asSvid(jwtSvid(portal, domain.key, { aud: undefined }))],
  ['a JWT-SVID without exp', () => asSvid(jwtSvid(portal, domain.key, { exp: undefined }))],
  [
    'a JWT-SVID for two audiences',
    () => asSvid(jwtSvid(portal, domain.key, { aud: [portal.server.issuer, 'reports'] })),
  ],
  ['a JWT-SVID of a different trust domain', () => asSvid(jwtSvid(portal, otherDomain.key))],
  [
    'a JWT-SVID of a different trust domain with the right iss',
    () => asSvid(jwtSvid(portal, otherDomain.key, { iss: TRUST_DOMAIN })),
  ],
  ['a JWT-SVID for the client of a cluster', () => asSvid(jwtSvid(portal, domain.key), client)],
  [
    'a JWT-SVID as an ordinary assertion',
    () => ({ token: jwtSvid(portal, domain.key), as: spiffe }),
  ],
  [
    'a JWT-SVID as an ordinary assertion, with the trust domain as iss',
    () => ({ token: jwtSvid(portal, domain.key, { iss: TRUST_DOMAIN }), as: spiffe }),
  ],
  ['a JWT-SVID that is an ID token', () => asSvid(jwtSvid(portal, domain.key, { nonce: 'n-0S6' }))],
  ['a JWT-SVID without a client ID', () => asSvid(jwtSvid(portal, domain.key), null)],
];

const REFUSED: readonly Refusal[] = [
  ...CLAIMS,
  ...TIMES,
  ...AUDIENCES,
  ...CLIENTS,
  ...ISSUERS,
  ...ALGORITHMS,
  ...HEADERS,
  ...MALFORMED,
  ...SVIDS,
];

async function send({ token, as = client, form = {}, headers = {} }: Sent): Promise<Response> {
  if (Object.keys(headers).length === 0) return present(portal, as, token, form);
  return fetch(`${portal.url}/oauth/token`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: token,
    }),
  });
}

// @shows AS-54.2
test('the table has at least 200 tokens, and unchanged tokens are accepted', async () => {
  expect(REFUSED.length).toBeGreaterThanOrEqual(200);
  expect(new Set(REFUSED.map(([what]) => what)).size).toBe(REFUSED.length);
  const accepted = [
    { token: withClaims({}) },
    { token: withClaims({}), as: wide },
    { token: withClaims({ iss: OTHER_CLUSTER }, other.key), as: foreign },
    asSvid(jwtSvid(portal, domain.key)),
  ];
  for (const each of accepted) expect((await send(each)).status).toBe(200);
});

// @shows AS-54.2, AS-54.3
test.each(REFUSED)('a platform token is refused: %s', async (_, make) => {
  // Many failures of one client would be slowed down.
  client = await registerWorkload(portal);
  const made = make();
  const response = await send(typeof made === 'string' ? { token: made } : made);
  expect([400, 401]).toContain(response.status);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const { error } = (await response.json()) as { readonly error: string };
  expect(['invalid_client', 'invalid_request']).toContain(error);
});

// @shows AS-54.2
test('two tokens in one request are invalid_request', async () => {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: client });
  body.append('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  for (let copy = 0; copy < 2; copy += 1) body.append('client_assertion', withClaims({}));
  const response = await fetch(`${portal.url}/oauth/token`, { method: 'POST', body });
  expect(response.status).toBe(400);
});
