// @engines sqlite: the database makes no difference
import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey, signatureOf, signed, type ClientKey } from './support/assertions.ts';
import {
  IDP,
  jagClaims,
  jagHeader,
  JWT_BEARER,
  link,
  present,
  registerAssistant,
  startOrganization,
  SUBJECT,
  type IdentityProvider,
  type Organization,
} from './support/identity-provider.ts';
import { ADA, requestToken, type RunningPortal, type TestClient } from './support/portal.ts';

/** Assertions that must not get a token. Each one differs from a valid assertion in one detail. */

type Members = Readonly<Record<string, unknown>>;

const OTHER_IDP = 'https://other-idp.example';
const TENANTS_IDP = 'https://tenants-idp.example';

let organization: Organization;
let idp: IdentityProvider;
let portal: RunningPortal;
let assistant: TestClient;
let other: TestClient;
const otherKey = newKey('ES256');
const rsaKey = newKey('RS256');

beforeAll(async () => {
  organization = await startOrganization(({ file }) => {
    const settings = { jwks_file: file, algorithms: ['ES256'], asserts: ['people'] };
    const trusted_issuers = {
      [IDP]: settings,
      [OTHER_IDP]: settings,
      [TENANTS_IDP]: { ...settings, tenant: 'acme' },
    };
    return { trusted_issuers };
  });
  ({ idp, portal, assistant } = organization);
  await idp.publish(idp.key, rsaKey);
  other = await registerAssistant(portal);
  await link(portal, ADA);
  await link(portal, ADA, SUBJECT, TENANTS_IDP);
});
afterAll(() => organization.close());

const now = () => Math.floor(Date.now() / 1000);
const encode = (text: string) => Buffer.from(text).toString('base64url');

/** Signs the claims of a valid assertion with these changes. */
const withClaims = (changes: Members, key: ClientKey = idp.key) =>
  signed(key, jagHeader(key), { ...jagClaims(portal, assistant), ...changes });
const withHeader = (changes: Members, key: ClientKey = idp.key) =>
  signed(key, { ...jagHeader(key), ...changes }, jagClaims(portal, assistant));
/** Signs this text as the payload. */
const withPayload = (text: string) => signed(idp.key, jagHeader(idp.key), text);

/** Writes the claims, and adds this member a second time with this value. */
function doubled(name: string, value: unknown): string {
  const text = JSON.stringify(jagClaims(portal, assistant));
  return withPayload(`${text.slice(0, -1)},"${name}":${JSON.stringify(value)}}`);
}

interface Sent {
  readonly assertion: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly by?: TestClient | null;
}
type Refusal = readonly [what: string, send: () => string | Sent];

const WRONG_TYPES: readonly unknown[] = [null, true, 0, -1, 1.5, '', [], {}, [[]], [{}], [null]];
const TEXTS = ['iss', 'sub', 'aud', 'client_id', 'jti'] as const;
const TIMES = ['iat', 'exp'] as const;
const WRONG_TIMES: readonly unknown[] = [null, true, '', 'now', String(2e9), [], {}, -1, [2e9]];

const MISSING: readonly Refusal[] = [...TEXTS, ...TIMES].map((name) => [
  `no ${name}`,
  () => withClaims({ [name]: undefined }),
]);

const OF_WRONG_TYPE: readonly Refusal[] = [
  ...TEXTS.flatMap((name) =>
    WRONG_TYPES.map((value): Refusal => [
      `${name} is ${JSON.stringify(value)}`,
      () => withClaims({ [name]: value }),
    ]),
  ),
  ...[...TIMES, 'nbf'].flatMap((name) =>
    WRONG_TIMES.map((value): Refusal => [
      `${name} is ${JSON.stringify(value)}`,
      () => withClaims({ [name]: value }),
    ]),
  ),
  ...[null, true, 7, '', ' ', [], ['notes:read'], {}, 'a"b', 'a\\b', 'é'].map((scope): Refusal => [
    `scope is ${JSON.stringify(scope)}`,
    () => withClaims({ scope }),
  ]),
  ...[null, true, 7, '', [], {}, [7], [''], [null], [{}]].map((resource): Refusal => [
    `resource is ${JSON.stringify(resource)}`,
    () => withClaims({ resource }),
  ]),
  ...[null, true, 'x', [], {}, { jkt: 7 }, { jkt: 'x', jwk: {} }, { jwk: {} }, { jkt: 'x' }].map(
    (cnf): Refusal => [`cnf is ${JSON.stringify(cnf)}`, () => withClaims({ cnf })],
  ),
  ...['sub', 'jti', 'iss'].flatMap((name): readonly Refusal[] => [
    [`${name} is too long`, () => withClaims({ [name]: 'a'.repeat(256) })],
    [`${name} has NUL`, () => withClaims({ [name]: 'a\0b' })],
    [`${name} is not Unicode`, () => withClaims({ [name]: '\uD800' })],
  ]),
];

const DOUBLED: readonly Refusal[] = [
  ...[...TEXTS, ...TIMES, 'scope'].map((name): Refusal => [
    `${name} twice, with the same value`,
    () => doubled(name, jagClaims(portal, assistant)[name]),
  ]),
  ['sub twice', () => doubled('sub', 'someone')],
  ['client_id twice', () => doubled('client_id', other.id)],
  ['aud twice', () => doubled('aud', 'https://elsewhere.example')],
  [
    'alg twice',
    () => {
      const { kid } = idp.key;
      const header = `{"typ":"oauth-id-jag+jwt","alg":"ES256","alg":"none","kid":"${kid}"}`;
      return signed(idp.key, header, jagClaims(portal, assistant));
    },
  ],
];

const TIMES_PAST: readonly Refusal[] = [
  ['expired', () => withClaims({ exp: now() - 31, iat: now() - 200 })],
  ['expired long ago', () => withClaims({ exp: 1 })],
  ['expires before it was issued', () => withClaims({ iat: now() + 20, exp: now() + 10 })],
  ['expires when it was issued', () => withClaims({ iat: now(), exp: now() })],
  ['valid for more than a day', () => withClaims({ exp: now() + 86_500 })],
  ['valid for ever', () => withClaims({ exp: Number.MAX_SAFE_INTEGER })],
  ['issued in the future', () => withClaims({ iat: now() + 60 })],
  ['too old', () => withClaims({ iat: now() - 340, exp: now() + 60 })],
  ['issued in 1970', () => withClaims({ iat: 0 })],
  ['not valid yet', () => withClaims({ nbf: now() + 60 })],
  ['milliseconds instead of seconds', () => withClaims({ iat: Date.now(), exp: Date.now() + 1e5 })],
];

const ELSEWHERE: readonly Refusal[] = [
  ...[
    (issuer: string) => `${issuer}/`,
    (issuer: string) => `${issuer}/oauth/token`,
    (issuer: string) => issuer.toUpperCase(),
    (issuer: string) => issuer.replace('http', 'https'),
    (issuer: string) => ` ${issuer}`,
    (issuer: string) => [issuer, issuer],
    (issuer: string) => [issuer, 'https://elsewhere.example'],
    (issuer: string) => ['https://elsewhere.example', issuer],
    (issuer: string) => [[issuer]],
    (issuer: string) => ({ 0: issuer }),
    () => 'https://elsewhere.example',
    () => assistant.id,
    () => IDP,
    () => '*',
  ].map((audience, index): Refusal => [
    `another audience (${index})`,
    () => withClaims({ aud: audience(portal.server.issuer) }),
  ]),
  ['for a different client', () => withClaims({ client_id: other.id })],
  ['for an unknown client', () => withClaims({ client_id: 'unknown-client' })],
  ['for a list with the client', () => withClaims({ client_id: [assistant.id] })],
  ['sent by a different client', () => ({ assertion: withClaims({}), by: other })],
  ['sent without a client', () => ({ assertion: withClaims({}), by: null })],
  [
    'sent with a wrong secret',
    () => ({ assertion: withClaims({}), by: { id: assistant.id, secret: 'wrong' } }),
  ],
  [
    'sent with the id of a client alone',
    () => ({ assertion: withClaims({}), by: null, form: { client_id: assistant.id } }),
  ],
  ['for a different resource', () => withClaims({ resource: 'https://elsewhere.example/api' })],
  [
    'for several resources',
    () => withClaims({ resource: ['https://a.example', 'https://b.example'] }),
  ],
  [
    'for a resource that only the request names',
    () => ({ assertion: withClaims({}), form: { resource: 'https://elsewhere.example' } }),
  ],
  [
    'for a different resource than the request names',
    () => ({
      assertion: withClaims({ resource: 'https://a.example' }),
      form: { resource: 'https://b.example' },
    }),
  ],
  ['with authorization_details', () => withClaims({ authorization_details: [] })],
  ['of someone who acts for the person', () => withClaims({ act: { sub: 'robot' } })],
  ['for a tenant of the server', () => withClaims({ aud_tenant: 'acme' })],
  ['of a tenant, where none is configured', () => withClaims({ tenant: 'acme' })],
  ['with an empty tenant', () => withClaims({ tenant: '' })],
  ['with null as tenant', () => withClaims({ tenant: null })],
  ['without the configured tenant', () => withClaims({ iss: TENANTS_IDP })],
  ['of a different tenant', () => withClaims({ iss: TENANTS_IDP, tenant: 'other' })],
];

const WIDER: readonly Refusal[] = [
  ['with a scope that is not offered', () => withClaims({ scope: 'admin' })],
  [
    'with an offered scope and one that is not offered',
    () => withClaims({ scope: 'notes:read admin' }),
  ],
  ['with a scope that the client lacks', () => withClaims({ scope: 'email' })],
  ['with a scope in capital letters', () => withClaims({ scope: 'NOTES:READ' })],
  ['with only openid', () => withClaims({ scope: 'openid' })],
  ['with only offline_access', () => withClaims({ scope: 'offline_access' })],
  [
    'with a different scope than the request',
    () => ({ assertion: withClaims({}), form: { scope: 'notes:write' } }),
  ],
  [
    'with a malformed scope in the request',
    () => ({ assertion: withClaims({}), form: { scope: 'a"b' } }),
  ],
  [
    'if the request has a scope that is not offered',
    () => ({ assertion: withClaims({ scope: undefined }), form: { scope: 'admin' } }),
  ],
];

const FOREIGN: readonly Refusal[] = [
  ...[
    `${IDP}/`,
    IDP.toUpperCase(),
    'http://idp.example',
    'https://idp.example:443',
    'https://idp.example.evil.example',
    'https://evil.example',
    ` ${IDP}`,
    'idp.example',
    '__proto__',
    'constructor',
  ].map((iss): Refusal => [`of the issuer ${JSON.stringify(iss)}`, () => withClaims({ iss })]),
  ['of the server itself', () => withClaims({ iss: portal.server.issuer })],
  ['of the client', () => withClaims({ iss: assistant.id })],
  ['of a different trusted issuer with the same subject', () => withClaims({ iss: OTHER_IDP })],
  ...['u019488227', ` ${SUBJECT}`, `${SUBJECT} `, `${SUBJECT}\u200B`, ADA, 'unknown'].map(
    (sub): Refusal => [`about the subject ${JSON.stringify(sub)}`, () => withClaims({ sub })],
  ),
  [
    'about an unknown subject, with an e-mail address',
    () => withClaims({ sub: 'unknown', email: ADA, email_verified: true, aud_sub: SUBJECT }),
  ],
];

/** Signs with the public key as the secret of an HMAC. */
function hmac(algorithm: string, digest: string, secret: string | Buffer): string {
  const header = JSON.stringify({ ...jagHeader(idp.key), alg: algorithm });
  const input = `${encode(header)}.${encode(JSON.stringify(jagClaims(portal, assistant)))}`;
  return `${input}.${createHmac(digest, secret).update(input).digest('base64url')}`;
}

const spki = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;

const ALGORITHMS: readonly Refusal[] = [
  ...[
    'none',
    'None',
    'NONE',
    'nOnE',
    '',
    'ES384',
    'ES512',
    'ES256K',
    'HS256',
    'RS256',
    'PS256',
    'EdDSA',
    'es256',
    null,
    7,
    ['ES256'],
  ].map((alg): Refusal => [`alg is ${JSON.stringify(alg)}`, () => withHeader({ alg })]),
  ['no alg', () => withHeader({ alg: undefined })],
  ['no signature', () => `${withClaims({}).split('.').slice(0, 2).join('.')}.`],
  [
    'none without a signature',
    () => `${withHeader({ alg: 'none' }).split('.').slice(0, 2).join('.')}.`,
  ],
  ['RS256, which the issuer does not use', () => withClaims({}, rsaKey)],
  ['PS256 by the same key', () => withClaims({}, { ...rsaKey, algorithm: 'PS256' })],
  ['HS256 with the key set', () => hmac('HS256', 'sha256', JSON.stringify(idp.key.jwk))],
  [
    'HS256 with the public key as PEM',
    () => hmac('HS256', 'sha256', spki().export({ type: 'spki', format: 'pem' })),
  ],
  ['HS512 with x of the key', () => hmac('HS512', 'sha512', String(idp.key.jwk['x']))],
  ['HS256 with an empty secret', () => hmac('HS256', 'sha256', '')],
];

const KEYS: readonly Refusal[] = [
  ['signed by a different key', () => withClaims({}, otherKey)],
  [
    'signed by a different key with the kid of the issuer',
    () => withHeader({ kid: idp.key.kid }, otherKey),
  ],
  ['with an unknown kid', () => withHeader({ kid: 'unknown' })],
  ['with the kid of the other key', () => withHeader({ kid: rsaKey.kid })],
  ...[null, 7, {}, [], true].map((kid): Refusal => [
    `kid is ${JSON.stringify(kid)}`,
    () => withHeader({ kid }),
  ]),
  ...(['jwk', 'jku', 'x5u', 'x5c'] as const).flatMap((name): readonly Refusal[] => {
    const value = {
      jwk: otherKey.jwk,
      jku: 'https://evil.example/keys',
      x5u: 'https://evil.example/certificate',
      x5c: ['MIIB'],
    }[name];
    return [
      [`${name} in the header, signed by that key`, () => withHeader({ [name]: value }, otherKey)],
      [
        `${name} in the header, with the kid of the issuer`,
        () => withHeader({ [name]: value, kid: idp.key.kid }, otherKey),
      ],
      [`${name} in the header, signed by the issuer`, () => withHeader({ [name]: value })],
      [`${name} is null in the header`, () => withHeader({ [name]: null })],
    ];
  }),
];

const HEADERS: readonly Refusal[] = [
  ...[
    undefined,
    null,
    '',
    7,
    'JWT',
    'jwt',
    'at+jwt',
    'dpop+jwt',
    'OAUTH-ID-JAG+JWT',
    'id-jag+jwt',
    'application/oauth-id-jag+jwt',
    'client-authentication+jwt',
    ['oauth-id-jag+jwt'],
  ].map((typ): Refusal => [`typ is ${JSON.stringify(typ)}`, () => withHeader({ typ })]),
  ['crit', () => withHeader({ crit: ['exp'] })],
  ['an empty crit', () => withHeader({ crit: [] })],
  ['b64', () => withHeader({ b64: false, crit: ['b64'] })],
];

const MALFORMED: readonly Refusal[] = [
  ['empty', () => ''],
  ['a space', () => ' '],
  ['dots', () => '..'],
  ['a word', () => 'assertion'],
  ['JSON', () => '{}'],
  ['NUL', () => '\0'],
  ['Unicode', () => '🔑.🔑.🔑'],
  ['four parts', () => `${withClaims({})}.a`],
  ['an encrypted token', () => `${withClaims({})}.a.b`],
  ['white space around it', () => ` ${withClaims({})} `],
  ['a line break in it', () => withClaims({}).replace('.', '.\n')],
  ['padding', () => `${withClaims({})}==`],
  ['very long', () => 'a'.repeat(20_000)],
  ['a long payload', () => withClaims({ more: 'a'.repeat(9000) })],
  ['a list as payload', () => withPayload('[]')],
  ['null as payload', () => withPayload('null')],
  ['text as payload', () => withPayload('text')],
  ['nested deeply', () => withPayload(`${'{"a":'.repeat(900)}1${'}'.repeat(900)}`)],
  ['a changed payload', () => changedPayload()],
  ['a changed signature', () => `${withClaims({}).slice(0, -4)}AAAA`],
  ['a signature in DER', () => `${withClaims({})}AAAA`],
  ['the parts of two', () => ofTwo()],
  ['used as a client assertion', () => asClientAssertion()],
];

function changedPayload(): string {
  const [header = '', , signature = ''] = withClaims({}).split('.');
  const claims = { ...jagClaims(portal, assistant), scope: 'notes:read notes:write' };
  return `${header}.${encode(JSON.stringify(claims))}.${signature}`;
}

function ofTwo(): string {
  const [header = '', payload = ''] = withClaims({}).split('.');
  return `${header}.${payload}.${signatureOf(idp.key, 'another')}`;
}

function asClientAssertion(): Sent {
  const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const assertion = withClaims({});
  return {
    assertion,
    by: null,
    form: { client_assertion: assertion, client_assertion_type: type },
  };
}

const REFUSED: readonly Refusal[] = [
  ...MISSING,
  ...OF_WRONG_TYPE,
  ...DOUBLED,
  ...TIMES_PAST,
  ...ELSEWHERE,
  ...WIDER,
  ...FOREIGN,
  ...ALGORITHMS,
  ...KEYS,
  ...HEADERS,
  ...MALFORMED,
];

// @shows AS-49.2
test('the table has at least 200 assertions, and an unchanged assertion is accepted', async () => {
  expect(REFUSED.length).toBeGreaterThanOrEqual(200);
  expect(new Set(REFUSED.map(([what]) => what)).size).toBe(REFUSED.length);
  expect((await present(portal, assistant, withClaims({}))).status).toBe(200);
  const withTenant = withClaims({ iss: TENANTS_IDP, tenant: 'acme' });
  expect((await present(portal, assistant, withTenant)).status).toBe(200);
});

// @shows AS-49.2, AS-49.3, AS-49.4
test.each(REFUSED)('an assertion is refused: %s', async (_, send) => {
  const sent = send();
  const {
    assertion,
    form = {},
    by = assistant,
  } = typeof sent === 'string' ? { assertion: sent } : sent;
  const response = await present(portal, by, assertion, form);
  expect([400, 401]).toContain(response.status);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const { error } = (await response.json()) as { readonly error: string };
  expect([
    'invalid_grant',
    'invalid_scope',
    'invalid_target',
    'invalid_client',
    'invalid_request',
  ]).toContain(error);
});

// @shows AS-49.2
test('a replay is refused, also with other header members and by a different key of the issuer', async () => {
  const jti = randomUUID();
  expect((await present(portal, assistant, withClaims({ jti }))).status).toBe(200);
  for (const again of [withClaims({ jti }), withClaims({ jti, exp: now() + 100 })])
    expect((await present(portal, assistant, again)).status).toBe(400);
});

test('an assertion that is missing or sent twice is an invalid request', async () => {
  const missing = await requestToken(portal, assistant, { grant_type: JWT_BEARER });
  expect(missing.status).toBe(400);
  const body = new URLSearchParams({ grant_type: JWT_BEARER });
  for (let copy = 0; copy < 2; copy += 1) body.append('assertion', withClaims({}));
  const { id, secret } = assistant;
  const twice = await fetch(`${portal.url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body,
  });
  expect(twice.status).toBe(400);
});
