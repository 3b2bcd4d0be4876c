import { createHash, createHmac, createPublicKey, randomUUID, sign } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import { newKey, signatureOf, type Algorithm, type ClientKey } from './assertions.ts';

/** Valid and invalid proofs of possession (RFC 9449 section 4.2). */

type Members = Readonly<Record<string, unknown>>;

/** The request that a proof is for. */
export interface Door {
  readonly method: string;
  readonly url: string;
  /** The access token in the same request, or null. */
  readonly accessToken: string | null;
}

export const hashOf = (accessToken: string) =>
  createHash('sha256').update(accessToken).digest('base64url');

/** Returns only the public key. */
export function jwkOf({ jwk }: ClientKey): Members {
  return Object.fromEntries(Object.entries(jwk).filter(([name]) => name !== 'kid'));
}

export interface Parts {
  readonly key: ClientKey;
  readonly header: Members;
  readonly claims: Members;
  /** Writes the two parts of the proof as text. A change can repeat a member here. */
  readonly write: (header: Members, claims: Members) => readonly [header: string, claims: string];
  readonly sign: (key: ClientKey, input: string) => string;
  /** Changes the complete proof before it is sent. */
  readonly send: (proof: string) => string;
}

/** Returns the parts of a valid proof. `now` is in milliseconds. */
export function rightParts(key: ClientKey, { method, url, accessToken }: Door, now: number): Parts {
  return {
    key,
    header: { typ: 'dpop+jwt', alg: key.algorithm, jwk: jwkOf(key) },
    claims: {
      jti: randomUUID(),
      htm: method,
      htu: url,
      iat: Math.floor(now / 1000),
      ...(accessToken === null ? {} : { ath: hashOf(accessToken) }),
    },
    write: (header, claims) => [JSON.stringify(header), JSON.stringify(claims)],
    sign: signatureOf,
    send: (proof) => proof,
  };
}

export function proofOf({ key, header, claims, write, sign: signing, send }: Parts): string {
  const input = write(header, claims)
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
  return send(`${input}.${signing(key, input)}`);
}

/** A change to a valid proof. */
export interface Change {
  readonly name: string;
  /** Whether the changed proof must still be accepted. */
  readonly harmless: boolean;
  /** Whether the change has an effect at this endpoint. */
  readonly at?: (door: Door) => boolean;
  readonly apply: (parts: Parts, door: Door, now: number) => Parts;
}

const NO_TEXTS: readonly unknown[] = [undefined, null, true, 0, -1, 1.5, {}, [], [['x']], ''];

const inHeader =
  (name: string, value: unknown): Change['apply'] =>
  (parts) => ({ ...parts, header: { ...parts.header, [name]: value } });
const inClaims =
  (name: string, value: unknown): Change['apply'] =>
  (parts, door, now) => ({
    ...parts,
    claims: {
      ...parts.claims,
      [name]:
        typeof value === 'function'
          ? (value as (door: Door, now: number) => unknown)(door, now)
          : value,
    },
  });

const said = (value: unknown) => (value === undefined ? 'missing' : JSON.stringify(value));
const harmful = (name: string, apply: Change['apply'], at?: Change['at']): Change => ({
  name,
  harmless: false,
  apply,
  ...(at === undefined ? {} : { at }),
});
const harmless = (name: string, apply: Change['apply']): Change => ({
  name,
  harmless: true,
  apply,
});

const hasToken = ({ accessToken }: Door) => accessToken !== null;
const seconds = (now: number) => Math.floor(now / 1000);
const withPath = (url: string, change: (path: string) => string) => {
  const { origin, pathname } = new URL(url);
  return origin + change(pathname);
};

const escaped = (character: string) => `%${character.charCodeAt(0).toString(16)}`;

/** Repeats a member, with the same value or with another one. */
const doubled =
  (part: 0 | 1, name: string, other?: unknown): Change['apply'] =>
  (parts) => ({
    ...parts,
    write(header, claims) {
      const written = [...parts.write(header, claims)] as [string, string];
      const value = other ?? (part === 0 ? header : claims)[name] ?? null;
      written[part] = written[part].replace(
        '{',
        `{${JSON.stringify(name)}:${JSON.stringify(value)}${written[part] === '{}' ? '' : ','}`,
      );
      return written;
    },
  });

const pem = (key: ClientKey) =>
  createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' });
const hmacWith =
  (secret: (key: ClientKey) => string | Buffer): Change['apply'] =>
  (parts, door, now) => ({
    ...inHeader('alg', 'HS256')(parts, door, now),
    sign: (key, input) => createHmac('sha256', secret(key)).update(input).digest('base64url'),
  });

const OTHER = newKey('ES256');
const SMALL = newKey('RS256', 'small', 1024);

const jwkWith =
  (change: (jwk: Members, key: ClientKey) => unknown): Change['apply'] =>
  (parts, door, now) =>
    inHeader('jwk', change(jwkOf(parts.key), parts.key))(parts, door, now);

const sized = (kilobytes: number) => 'A'.repeat(kilobytes * 1024);

/** The sizes of long values, in KiB. Node rejects larger headers before any handler reads them. */
const SIZES = [1, 2, 4, 8, 12] as const;

export const CHANGES: readonly Change[] = [
  // The same value, written in another way.
  harmless('more claims', inClaims('more', { a: [1] })),
  harmless('more in the header', inHeader('more', 'a')),
  harmless(
    'a kid and a use of the key',
    jwkWith((jwk) => ({ ...jwk, kid: 'mine', use: 'sig' })),
  ),
  harmless(
    'htu with a query',
    inClaims('htu', ({ url }: Door) => `${url}?a=b`),
  ),
  harmless(
    'htu with a fragment',
    inClaims('htu', ({ url }: Door) => `${url}#a`),
  ),
  harmless(
    'htu in upper case',
    inClaims('htu', ({ url }: Door) => url.replace('http://localhost', 'HTTP://LOCALHOST')),
  ),
  harmless(
    'htu with an escape that need not be',
    inClaims('htu', ({ url }: Door) => withPath(url, (path) => path.replace(/[a-z]$/, escaped))),
  ),
  harmless(
    'htu with dots',
    inClaims('htu', ({ url }: Door) => withPath(url, (path) => `/x/..${path}`)),
  ),
  harmless(
    'a minute ahead',
    inClaims('iat', (_: Door, now: number) => seconds(now) + 58),
  ),
  harmless(
    'a minute behind',
    inClaims('iat', (_: Door, now: number) => seconds(now) - 58),
  ),
  harmless(
    'half a second',
    inClaims('iat', (_: Door, now: number) => seconds(now) - 0.5),
  ),

  ...[...NO_TEXTS, 'jwt', 'at+jwt', 'dpop', 'dpop+jwt ', 'client-authentication+jwt'].map((value) =>
    harmful(`typ ${said(value)}`, inHeader('typ', value)),
  ),
  ...[...NO_TEXTS, 'none', 'None', 'NONE', 'HS256', 'RS512', 'ES384', 'constructor', ['ES256']].map(
    (value) => harmful(`alg ${said(value)}`, inHeader('alg', value)),
  ),
  harmful('alg of another kind of key', (parts, door, now) =>
    inHeader('alg', parts.key.algorithm === 'ES256' ? 'RS256' : 'ES256')(parts, door, now),
  ),
  harmful('alg none, without a signature', (parts, door, now) => ({
    ...inHeader('alg', 'none')(parts, door, now),
    sign: () => '',
  })),
  harmful(
    'HS256 with the public key',
    hmacWith((key) => pem(key)),
  ),
  harmful(
    'HS256 with the JWK',
    hmacWith((key) => JSON.stringify(jwkOf(key))),
  ),
  harmful(
    'HS256 with nothing',
    hmacWith(() => ''),
  ),
  harmful('HS256 with a key of its own', (parts, door, now) =>
    jwkWith(() => ({ kty: 'oct', k: 'AAAA' }))(
      hmacWith(() => Buffer.from([0, 0, 0]))(parts, door, now),
      door,
      now,
    ),
  ),
  ...[['exp'], [], 'exp', null, {}].map((value) =>
    harmful(`crit ${said(value)}`, inHeader('crit', value)),
  ),
  harmful('b64', (parts, door, now) =>
    inHeader('b64', false)(inHeader('crit', ['b64'])(parts, door, now), door, now),
  ),

  ...[...NO_TEXTS, 'key', '{"kty":"EC"}'].map((value) =>
    harmful(`jwk ${said(value)}`, inHeader('jwk', value)),
  ),
  harmful('the jwk of another', inHeader('jwk', jwkOf(OTHER))),
  harmful(
    'a jwk in a list',
    jwkWith((jwk) => [jwk]),
  ),
  harmful(
    'a jwk in a set',
    jwkWith((jwk) => ({ keys: [jwk] })),
  ),
  ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].map((name) =>
    harmful(
      `a jwk with ${name}`,
      jwkWith((jwk) => ({ ...jwk, [name]: 'AAAA' })),
    ),
  ),
  harmful(
    'the whole private key',
    jwkWith((_, { privateKey }) => privateKey.export({ format: 'jwk' })),
  ),
  harmful(
    'a jwk for encryption',
    jwkWith((jwk) => ({ ...jwk, use: 'enc' })),
  ),
  harmful(
    'a jwk for another algorithm',
    jwkWith((jwk) => ({ ...jwk, alg: 'PS512' })),
  ),
  harmful(
    'a jwk of another kind',
    jwkWith((jwk) => ({ ...jwk, kty: jwk['kty'] === 'EC' ? 'RSA' : 'EC' })),
  ),
  harmful(
    'a jwk without its kind',
    jwkWith((jwk) => ({ ...jwk, kty: undefined })),
  ),
  harmful(
    'a point that is on no curve',
    jwkWith(() => ({ kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) })),
  ),
  harmful('a key of 1,024 bits', (parts) => ({
    ...parts,
    key: SMALL,
    header: { ...parts.header, alg: 'RS256', jwk: jwkOf(SMALL) },
  })),
  harmful('another key, elsewhere', (parts, door, now) => ({
    ...inHeader('jku', 'https://evil.example/jwks')(
      inHeader('jwk', undefined)(parts, door, now),
      door,
      now,
    ),
    key: OTHER,
  })),
  harmful('a kid in the place of a key', (parts, door, now) =>
    inHeader('kid', 'mine')(inHeader('jwk', undefined)(parts, door, now), door, now),
  ),
  ...SIZES.map((size) =>
    harmful(
      `n of ${size} KB`,
      jwkWith(() => ({ kty: 'RSA', n: sized(size), e: 'AQAB' })),
    ),
  ),
  ...SIZES.map((size) =>
    harmful(
      `e of ${size} KB`,
      jwkWith((jwk) => ({ kty: 'RSA', n: jwk['n'] ?? 'A'.repeat(342), e: sized(size) })),
    ),
  ),
  ...SIZES.map((size) =>
    harmful(
      `x of ${size} KB`,
      jwkWith((jwk) => ({ kty: 'EC', crv: 'P-256', y: jwk['y'] ?? 'AA', x: sized(size) })),
    ),
  ),

  ...['typ', 'alg', 'jwk'].map((name) => harmful(`${name} twice`, doubled(0, name))),
  harmful('alg none first', doubled(0, 'alg', 'none')),
  harmful('another jwk first', doubled(0, 'jwk', jwkOf(OTHER))),
  ...['jti', 'htm', 'htu', 'iat'].map((name) => harmful(`${name} twice`, doubled(1, name))),
  harmful('another htu first', doubled(1, 'htu', 'https://evil.example/')),
  harmful('ath twice', doubled(1, 'ath'), hasToken),

  ...[...NO_TEXTS, 'x'.repeat(256), 'x'.repeat(4096)].map((value) =>
    harmful(`jti ${said(value).slice(0, 20)}`, inClaims('jti', value)),
  ),
  ...[...NO_TEXTS, 'PUT', 'post', 'get', 'POST ', 'POST,GET', '*', ['POST'], ['GET']].map((value) =>
    harmful(`htm ${said(value)}`, inClaims('htm', value)),
  ),
  harmful(
    'htm of another method',
    inClaims('htm', ({ method }: Door) => (method === 'POST' ? 'GET' : 'POST')),
  ),
  ...[...NO_TEXTS, 'localhost', '/', '//localhost/', 'javascript:alert(1)', '*'].map((value) =>
    harmful(`htu ${said(value)}`, inClaims('htu', value)),
  ),
  ...(
    [
      ['in a list', (url: string) => [url]],
      ['of the origin alone', (url: string) => new URL(url).origin],
      ['as a path', (url: string) => new URL(url).pathname],
      ['by https', (url: string) => url.replace('http:', 'https:')],
      ['by ws', (url: string) => url.replace('http:', 'ws:')],
      ['without a scheme', (url: string) => url.replace('http:', '')],
      ['at another host', (url: string) => url.replace('localhost', 'evil.example')],
      ['at the address of the host', (url: string) => url.replace('localhost', '127.0.0.1')],
      [
        'at a host that begins so',
        (url: string) => url.replace('localhost', 'localhost.evil.example'),
      ],
      ['with a dot behind the host', (url: string) => url.replace('localhost', 'localhost.')],
      ['at another port', (url: string) => url.replace(/:\d+\//, ':1/')],
      ['at no port', (url: string) => url.replace(/:\d+\//, '/')],
      ['with a name', (url: string) => url.replace('//', '//a@')],
      ['with a password', (url: string) => url.replace('//', '//a:b@')],
      ['with a slash at its end', (url: string) => `${url}/`],
      ['with two slashes', (url: string) => withPath(url, (path) => `/${path}`)],
      ['with an escaped slash', (url: string) => url.replace(/\/(?=[a-z]+$)/, '%2F')],
      ['with an escaped query', (url: string) => `${url}%3Fa=b`],
      [
        'with an escape of an escape',
        (url: string) =>
          withPath(url, (path) =>
            path.replace(/[a-z]$/, (last) => escaped(last).replace('%', '%25')),
          ),
      ],
      ['in another case', (url: string) => withPath(url, (path) => path.toUpperCase())],
      ['with backslashes', (url: string) => withPath(url, (path) => path.replaceAll('/', '\\'))],
      ['with white space', (url: string) => ` ${url}`],
      ['with a line break', (url: string) => `${url.slice(0, -1)}\n${url.slice(-1)}`],
      ['with a null', (url: string) => `${url}\0`],
      ['with a parameter of its path', (url: string) => `${url};a=b`],
      ['of 4 KB', (url: string) => `${url}?${'a'.repeat(4096)}`],
    ] as const
  ).map(([what, change]) =>
    harmful(
      `htu ${what}`,
      inClaims('htu', ({ url }: Door) => change(url)),
    ),
  ),

  ...[...NO_TEXTS.filter((value) => value !== undefined), 'now', '1e9', 1e300].map((value) =>
    harmful(`iat ${said(value)}`, inClaims('iat', value)),
  ),
  harmful('no iat', inClaims('iat', undefined)),
  harmful(
    'iat as text',
    inClaims('iat', (_: Door, now: number) => String(seconds(now))),
  ),
  harmful(
    'iat in milliseconds',
    inClaims('iat', (_: Door, now: number) => now),
  ),
  harmful(
    'old',
    inClaims('iat', (_: Door, now: number) => seconds(now) - 122),
  ),
  harmful(
    'of yesterday',
    inClaims('iat', (_: Door, now: number) => seconds(now) - 86_400),
  ),
  harmful(
    'early',
    inClaims('iat', (_: Door, now: number) => seconds(now) + 62),
  ),
  harmful(
    'of tomorrow',
    inClaims('iat', (_: Door, now: number) => seconds(now) + 86_400),
  ),
  harmful(
    'expired',
    inClaims('exp', (_: Door, now: number) => seconds(now) - 62),
  ),
  harmful(
    'not yet',
    inClaims('nbf', (_: Door, now: number) => seconds(now) + 62),
  ),

  ...[...NO_TEXTS, 'x', ['x']].map((value) =>
    harmful(`ath ${said(value)}`, inClaims('ath', value), hasToken),
  ),
  harmful('ath of another token', inClaims('ath', hashOf('another')), hasToken),
  harmful(
    'the token in the place of its hash',
    inClaims('ath', ({ accessToken }: Door) => accessToken),
    hasToken,
  ),
  harmful(
    'ath in hexadecimal',
    inClaims('ath', ({ accessToken }: Door) =>
      createHash('sha256')
        .update(accessToken ?? '')
        .digest('hex'),
    ),
    hasToken,
  ),
  harmful(
    'ath with padding',
    inClaims('ath', ({ accessToken }: Door) => `${hashOf(accessToken ?? '')}=`),
    hasToken,
  ),
  harmful('nonce of nobody', inClaims('nonce', 1)),

  harmful('signed by another', (parts) => ({ ...parts, key: OTHER })),
  harmful('no signature', (parts) => ({ ...parts, sign: () => '' })),
  harmful('a signature of zeros', (parts) => ({ ...parts, sign: () => 'A'.repeat(86) })),
  harmful('a signature of something else', (parts) => ({
    ...parts,
    sign: (key, input) => signatureOf(key, `${input} `),
  })),
  harmful('a signature in DER', (parts) => ({
    ...parts,
    sign: (key, input) =>
      key.algorithm === 'ES256'
        ? sign('sha256', Buffer.from(input), key.privateKey).toString('base64url')
        : `${signatureOf(key, input)}A`,
  })),
  ...(
    [
      ['two of them', (proof: string) => `${proof}, ${proof}`],
      ['two without a space', (proof: string) => `${proof},${proof}`],
      ['a comma behind it', (proof: string) => `${proof},`],
      ['two parts', (proof: string) => proof.split('.').slice(0, 2).join('.')],
      ['four parts', (proof: string) => `${proof}.AAAA`],
      ['padding', (proof: string) => `${proof}=`],
      ['white space within', (proof: string) => proof.replace('.', '. ')],
      ['base64', (proof: string) => `${proof}+`],
      ['quotes', (proof: string) => `"${proof}"`],
      ['a scheme', (proof: string) => `DPoP ${proof}`],
      ['nothing', () => ''],
      ['a word', () => 'proof'],
      ['dots', () => '..'],
      ['three letters', () => 'a.b.c'],
      [
        'a header that is a list',
        (proof: string) => ['WzFd', ...proof.split('.').slice(1)].join('.'),
      ],
      ['claims that are null', (proof: string) => proof.split('.').with(1, 'bnVsbA').join('.')],
      ['claims that are not UTF-8', (proof: string) => proof.split('.').with(1, '_w').join('.')],
      [
        'what it says was changed',
        (proof: string) =>
          proof.split('.').with(1, Buffer.from('{"jti":"a"}').toString('base64url')).join('.'),
      ],
      [
        'deep JSON',
        (proof: string) =>
          proof
            .split('.')
            .with(1, Buffer.from('['.repeat(5000)).toString('base64url'))
            .join('.'),
      ],
      ['a long one', (proof: string) => proof + 'A'.repeat(9000)],
    ] as const
  ).map(([what, send]) => harmful(what, (parts) => ({ ...parts, send }))),
];

const HARMLESS = CHANGES.filter((change) => change.harmless);
const HARMFUL = CHANGES.filter((change) => !change.harmless);

/** A client key of each kind. */
export const KEYS: readonly ClientKey[] = (
  ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'] as Algorithm[]
).map((algorithm) => newKey(algorithm));

/** A key and some changes. The proof is valid if all changes are harmless. */
export const anyProof: Arbitrary<{ readonly key: ClientKey; readonly changes: readonly Change[] }> =
  fc.record({
    key: fc.constantFrom(...KEYS),
    changes: fc
      .tuple(
        fc.subarray([...HARMLESS], { maxLength: 3 }),
        fc.oneof(
          { weight: 1, arbitrary: fc.constant([]) },
          // Apply only one harmful change, because a second one could undo the first.
          { weight: 3, arbitrary: fc.constantFrom(...HARMFUL).map((change) => [change]) },
        ),
      )
      .map(([some, others]) => [...some, ...others]),
  });
