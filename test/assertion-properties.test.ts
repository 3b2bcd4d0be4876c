// @engines sqlite: refused assertions are not stored
import { createHmac, createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  claimsOf,
  headerOf,
  newKey,
  signatureOf,
  signed,
  withAssertion,
  type Algorithm,
} from './support/assertions.ts';
import { createClock } from './support/clock.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';
import { SCALE } from './support/scale.ts';

/** Assertions with generated combinations of errors, and valid assertions at the limits. */

const ALGORITHMS: readonly Algorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const clock = createClock();
const keys = ALGORITHMS.map((algorithm) => newKey(algorithm));
const strangers = keys.map(({ algorithm, kid }) => newKey(algorithm, kid));
let portal: RunningPortal;
/** The client that signs with each key. */
let ids: readonly string[];

beforeAll(async () => {
  portal = await startPortal({
    clock: clock.now,
    config: { oauth_server: { private_key_jwt: true, registration: 'open' } },
  });
  const created = keys.map(({ jwk }) =>
    portal.server.clients.create({
      name: 'A service',
      scopes: ['notes:read'],
      grants: ['client_credentials', 'introspection'],
      jwks: { keys: [jwk] },
    }),
  );
  ids = (await Promise.all(created)).map(({ client }) => client.id);
});
afterAll(() => portal.close());

type Members = Readonly<Record<string, unknown>>;

/** An assertion before it is signed. Doubled members occur twice in its text. */
interface Draft {
  readonly header: Members;
  readonly claims: Members;
  readonly doubled: readonly string[];
  /** Which of the two keys with this name signs, and what happens to the text afterwards. */
  readonly isStranger: boolean;
  readonly finish: (text: string, which: number) => string;
}

type Fault = (draft: Draft) => Draft;

const inHeader =
  (changes: Members): Fault =>
  (draft) => ({ ...draft, header: { ...draft.header, ...changes } });
const inClaims =
  (changes: (claims: Members, now: number) => Members): Fault =>
  (draft) => ({
    ...draft,
    claims: { ...draft.claims, ...changes(draft.claims, Math.floor(clock.now() / 1000)) },
  });
const finished =
  (finish: Draft['finish']): Fault =>
  (draft) => ({ ...draft, finish: (text, which) => finish(draft.finish(text, which), which) });

const CLAIMS = ['iss', 'sub', 'aud', 'exp', 'jti'] as const;
const required = fc.constantFrom(...CLAIMS);
const anyClaim = fc.constantFrom(...CLAIMS, 'iat', 'nbf');

/** Values that are neither a text, nor a time, nor a list of texts. */
const wrongType = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, {}, [], [[]], [null], { length: 1 }, '', -1),
  fc.double({ max: -1, noNaN: true }),
  fc.dictionary(fc.string(), fc.jsonValue()),
  fc.array(fc.oneof(fc.integer(), fc.constant(null), fc.dictionary(fc.string(), fc.integer()))),
);

/** URLs that a lenient comparison would accept as the issuer's. */
const ELSEWHERE: readonly ((issuer: string) => unknown)[] = [
  (issuer) => `${issuer}/`,
  (issuer) => issuer.toUpperCase(),
  (issuer) => issuer.replace('http', 'HTTP'),
  (issuer) => issuer.replace('localhost', 'LocalHost'),
  (issuer) => issuer.replace('localhost', 'localhost.'),
  (issuer) => issuer.replace('localhost', '%6Cocalhost'),
  (issuer) => issuer.replace('localhost', 'a@localhost'),
  (issuer) => issuer.replace(/:\d+$/, ''),
  (issuer) => issuer.replace(/:\d+$/, ':443'),
  (issuer) => issuer.replace(/:(\d+)$/, ':0$1'),
  (issuer) => `${issuer}?`,
  (issuer) => `${issuer}#`,
  (issuer) => ` ${issuer}`,
  (issuer) => `${issuer}\u{0}`,
  (issuer) => `${issuer}/oauth/token/`,
  (issuer) => `${issuer}/oauth/Token`,
  (issuer) => `${issuer}/oauth/%74oken`,
  (issuer) => `${issuer}/oauth/../oauth/token`,
  (issuer) => `${issuer}//oauth/token`,
  (issuer) => `${issuer}/oauth/revoke`,
  (issuer) => `${issuer}/oauth/introspect`,
  (issuer) => [issuer, `${issuer}/`],
  (issuer) => [[issuer]],
  (issuer) => ({ 0: issuer }),
  (issuer) => ({ aud: issuer }),
  () => [],
  () => 'https://evil.example',
];

const otherAudience = fc
  .constantFrom(...ELSEWHERE)
  .map((aud) => inClaims(() => ({ aud: aud(portal.server.issuer) })));

/** Each of these faults is enough for the server to reject the assertion. */
const someFault: fc.Arbitrary<Fault> = fc.oneof(
  required.map((name) => inClaims(() => ({ [name]: undefined }))),
  anyClaim.map((name): Fault => (draft) => ({ ...draft, doubled: [...draft.doubled, name] })),
  fc.tuple(anyClaim, wrongType).map(([name, value]) => inClaims(() => ({ [name]: value }))),
  fc.integer({ min: 60, max: 10 ** 9 }).map((ago) => inClaims((_, now) => ({ exp: now - ago }))),
  fc
    .integer({ min: 3662, max: 10 ** 12 })
    .map((ahead) => inClaims((_, now) => ({ exp: now + ahead }))),
  fc
    .integer({ min: 662, max: 10 ** 12 })
    .map((ahead) => inClaims((_, now) => ({ exp: now + ahead, iat: undefined }))),
  fc
    .tuple(fc.constantFrom('iat', 'nbf'), fc.integer({ min: 62, max: 10 ** 12 }))
    .map(([name, ahead]) => inClaims((_, now) => ({ [name]: now + ahead }))),
  fc.integer({ min: 661, max: 10 ** 9 }).map((ago) => inClaims((_, now) => ({ iat: now - ago }))),
  fc
    .constantFrom('exp', 'iat', 'nbf')
    .map((name) => inClaims((_, now) => ({ [name]: String(now) }))),
  fc
    .tuple(fc.constantFrom('iss', 'sub'), fc.string({ minLength: 1 }))
    .map(([name, other]) => inClaims((claims) => ({ [name]: `${String(claims[name])}${other}` }))),
  fc
    .integer({ min: 256, max: 5000 })
    .map((length) => inClaims(() => ({ jti: 'a'.repeat(length) }))),
  fc.constant<Fault>((draft) => ({ ...draft, isStranger: true })),
  // An unknown key of 1 KB to 1 MB in the header, from which the server must not read keys.
  fc.integer({ min: 1, max: 1024 }).map((size): Fault => (draft) => ({
    ...inHeader({ jwk: { ...strangers[0]?.jwk, n: 'A'.repeat(size * 1024) } })(draft),
    isStranger: true,
  })),
  fc
    .constantFrom<unknown>(
      'none',
      'None',
      'NONE',
      '',
      'HS256',
      'HS512',
      'RS384',
      'RS512',
      'ES512',
      'PS512',
      'dir',
    )
    .map((alg) => inHeader({ alg })),
  fc
    .jsonValue()
    .filter((alg) => typeof alg !== 'string')
    .map((alg) => inHeader({ alg })),
  fc.jsonValue().map((crit) => inHeader({ crit })),
  fc
    .constantFrom('at+jwt', 'dpop+jwt', 'JOSE', 'secevent+jwt', 'jwt+jwt')
    .map((typ) => inHeader({ typ })),
  fc
    .jsonValue()
    .filter((kid) => typeof kid !== 'string')
    .map((kid) => inHeader({ kid })),
  fc.string().map((kid) => inHeader({ kid: `${kid}?` })),
  // The public key as the secret of an HMAC.
  fc.constantFrom('pem' as const, 'der' as const, 'jwk' as const).map((form) =>
    finished((text, which) => {
      const key = keys[which];
      if (key === undefined) return text;
      const input = `${Buffer.from(JSON.stringify({ alg: 'HS256', kid: key.kid })).toString('base64url')}.${text.split('.')[1] ?? ''}`;
      const shared = createPublicKey(key.privateKey);
      const secret = {
        jwk: () => JSON.stringify(key.jwk),
        pem: () => shared.export({ type: 'spki', format: 'pem' }),
        der: () => shared.export({ type: 'spki', format: 'der' }),
      }[form]();
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
    }),
  ),
  fc
    .constantFrom('', 'AA', 'AAAA')
    .map((signature) => finished((text) => [...text.split('.').slice(0, 2), signature].join('.'))),
  // As long as the signatures of other kinds of keys.
  fc
    .uint8Array({ minLength: 1, maxLength: 1100 })
    .map((bytes) =>
      finished((text) =>
        [...text.split('.').slice(0, 2), Buffer.from(bytes).toString('base64url')].join('.'),
      ),
    ),
  fc
    .constantFrom('.', '=', ' ', '\n', '.AAAA', '%')
    .map((more) => finished((text) => `${text}${more}`)),
  fc.constant(
    finished((text, which) => {
      const [header = '', , signature = ''] = text.split('.');
      const other = JSON.stringify(claimsOf(ids[which] ?? '', portal.server.issuer, clock.now()));
      return `${header}.${Buffer.from(other).toString('base64url')}.${signature}`;
    }),
  ),
);

/** Its JSON, with these members repeated. */
function textOf(members: Members, doubled: readonly string[]): string {
  const text = JSON.stringify(members);
  const twice = doubled.map(
    (name) => `${JSON.stringify(name)}:${JSON.stringify(members[name] ?? 1)},`,
  );
  return text.replace('{', () => `{${twice.join('')}${twice.join('')}`);
}

function assertionOf(which: number, faults: readonly Fault[]): string {
  const key = keys[which] ?? keys[0];
  const stranger = strangers[which] ?? strangers[0];
  if (key === undefined || stranger === undefined) throw new Error('there are no keys');
  const begun: Draft = {
    header: headerOf(key),
    claims: claimsOf(ids[which] ?? '', portal.server.issuer, clock.now()),
    doubled: [],
    isStranger: false,
    finish: (text) => text,
  };
  const draft = faults.reduce((each, change) => change(each), begun);
  const text = signed(
    draft.isStranger ? stranger : key,
    draft.header,
    textOf(draft.claims, draft.doubled),
  );
  return draft.finish(text, which);
}

function ask(path: string, assertion: string, clientId?: string): Promise<Response> {
  const grant = path === 'token' ? { grant_type: 'client_credentials' } : { token: 'a' };
  const named = clientId === undefined ? {} : { client_id: clientId };
  const body = new URLSearchParams({ ...grant, ...named, ...withAssertion(assertion) });
  return fetch(`${portal.url}/oauth/${path}`, { method: 'POST', body });
}

const fault = fc.oneof(
  { weight: 5, arbitrary: someFault },
  { weight: 1, arbitrary: otherAudience },
);

/** Mostly one fault, because with two faults each one hides the effect of the other. */
const faults = fc.oneof(
  { weight: 3, arbitrary: fault.map((one) => [one]) },
  { weight: 1, arbitrary: fc.array(fault, { minLength: 2, maxLength: 3 }) },
);

const endpoint = fc.constantFrom('token', 'revoke', 'introspect');
const which = fc.nat({ max: ALGORITHMS.length - 1 });

// @shows AS-23.3, AS-23.5, RFC7523-3a, RFC7523-3b, RFC7523-3d, RFC7523-3e, RFC7523-3.2
test('a client assertion with any errors is rejected without a server error', async () => {
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        which,
        endpoint,
        faults,
        named: fc.boolean(),
      }),
      async ({ which: one, endpoint: path, faults, named }) => {
        // Time passes, because the server slows down failures. Another test checks that.
        clock.advance(901);
        const response = await ask(path, assertionOf(one, faults), named ? ids[one] : undefined);
        const body = await response.text();
        seen.add(response.status);
        expect([401, 413]).toContain(response.status);
        const { error } = JSON.parse(body) as { readonly error?: unknown };
        expect(error).toBe(response.status === 401 ? 'invalid_client' : 'invalid_request');
        expect(response.headers.get('cache-control')).toBe('no-store');
        expect((await ask(path, assertionOf(one, []))).status).toBe(200);
      },
    ),
    { numRuns: SCALE.hostileAssertions },
  );
  expect(seen).toContain(401);
});

// @shows AS-23.3, RFC7523-3e
test('assertion times may differ by one minute, and the lifetime may be ten minutes', async () => {
  const offset = (...edges: readonly number[]) =>
    fc.oneof(
      fc.integer({ min: -800, max: 800 }),
      fc.constantFrom(...edges.flatMap((edge) => [edge - 1, edge, edge + 1])),
      fc.double({ min: -800, max: 800, noNaN: true }),
    );
  const outcomes = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        which,
        exp: offset(-60, 660, 3660),
        iat: fc.option(offset(-660, 60), { nil: undefined }),
        nbf: fc.option(offset(-660, 60), { nil: undefined }),
      }),
      async ({ which: one, exp, iat, nbf }) => {
        clock.advance(901);
        const now = clock.now() / 1000;
        const at = (time: number | undefined) => (time === undefined ? undefined : now + time);
        const times = { exp: at(exp), iat: at(iat), nbf: at(nbf) };
        const { exp: ends = 0, iat: began = now, nbf: from = now } = times;
        const isRight =
          ends > now - 60 &&
          ends <= now + (iat === undefined ? 660 : 3660) &&
          began >= now - 660 &&
          began <= now + 60 &&
          from <= now + 60;
        outcomes.add(isRight);
        const response = await ask('token', assertionOf(one, [inClaims(() => times)]));
        expect(response.status).toBe(isRight ? 200 : 401);
      },
    ),
    { numRuns: SCALE.hostileAssertions },
  );
  expect(outcomes).toEqual(new Set([true, false]));
});

/** The members that are read from a key of each kind. */
const READ: Readonly<Record<string, readonly string[]>> = {
  RSA: ['n', 'e', 'kid'],
  EC: ['x', 'y', 'kid'],
  OKP: ['x', 'kid'],
};

// @shows AS-23.2, AS-23.8
test('keys of 2 KB to 1 MB are refused at registration without a server error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 1024 }), which, fc.nat(), async (size, one, at) => {
      clock.advance(3601);
      const jwk = keys[one]?.jwk;
      const members = READ[jwk?.kty ?? ''] ?? [];
      const member = members[at % members.length] ?? '';
      const response = await fetch(`${portal.url}/oauth/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          redirect_uris: ['https://client.example/cb'],
          token_endpoint_auth_method: 'private_key_jwt',
          jwks: { keys: [{ ...jwk, [member]: 'Z'.repeat(size * 1024) }] },
        }),
      });
      expect([400, 413]).toContain(response.status);
    }),
    { numRuns: Math.ceil(SCALE.hostileAssertions / 5) },
  );
});

// @shows AS-23.3
test('a forged signature of any length is rejected without a server error', async () => {
  for (const [one, key] of keys.entries()) {
    const [header = '', payload = ''] = assertionOf(one, []).split('.');
    const right = signatureOf(key, `${header}.${payload}`);
    for (const other of [right.slice(0, -4), `${right}AAAA`, right.slice(4), 'A'.repeat(1400)]) {
      clock.advance(901);
      expect((await ask('token', `${header}.${payload}.${other}`)).status).toBe(401);
    }
  }
});
