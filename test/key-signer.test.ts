// @engines sqlite: the database makes no difference
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import { examine, type KeySigner, type SigningAlgorithm } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  exchangeCode,
  obtainCode,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const PAIRS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
} as const satisfies Readonly<Record<SigningAlgorithm, () => Pair>>;

const digestOf = (algorithm: SigningAlgorithm) => (algorithm === 'EdDSA' ? null : 'sha256');

function signatureBy(algorithm: SigningAlgorithm, key: KeyObject, data: Uint8Array): Uint8Array {
  return sign(digestOf(algorithm), data, { key, dsaEncoding: 'ieee-p1363' });
}

/** A signer that the test controls. */
function signerOf(
  algorithm: SigningAlgorithm,
  kid: string,
  changes: Partial<KeySigner> = {},
): KeySigner & { readonly pair: Pair } {
  const pair = PAIRS[algorithm]();
  return {
    algorithm,
    kid,
    publicJwk: pair.publicKey.export({ format: 'jwk' }),
    sign: async (data) => signatureBy(algorithm, pair.privateKey, data),
    ...changes,
    pair,
  };
}

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;
const SECRET = 'pkcs11-tool --pin 648219';

type Sign = KeySigner['sign'];

const clock = createClock();
/** Replaces the next signatures of each algorithm. If null, the signer works normally. */
let misbehaves: Sign | null = null;
const signers = ALGORITHMS.map((algorithm) => {
  const made = signerOf(algorithm, `module ${algorithm}`, { timeout: 50 });
  return {
    ...made,
    sign: (...args: Parameters<Sign>) => misbehaves?.(...args) ?? made.sign(...args),
  };
});
const later = signerOf('RS256', 'module RS256 next', { signsFrom: clock.now() + 3_600_000 });

let portal: RunningPortal;
let keyPath: string;
const clients = new Map<SigningAlgorithm, TestClient>();

beforeAll(async () => {
  keyPath = await mkdtemp(path.join(tmpdir(), 'portico-keys-'));
  const file = { ...PAIRS.RS256().privateKey.export({ format: 'jwk' }), kid: 'file' };
  await writeFile(path.join(keyPath, '1000-file.json'), JSON.stringify(file), { mode: 0o600 });
  await chmod(keyPath, 0o700);
  const config = { oauth_server: { key_path: keyPath } };
  portal = await startPortal({ clock: clock.now, config, keySigners: [...signers, later] });
  for (const algorithm of ALGORITHMS)
    clients.set(algorithm, await registerClient(portal, { idTokenSignedResponseAlg: algorithm }));
});
afterAll(async () => {
  await portal.close();
  await rm(keyPath, { recursive: true });
});
beforeEach(() => {
  misbehaves = null;
});

const clientOf = (algorithm: SigningAlgorithm) => clients.get(algorithm) ?? { id: '', secret: '' };
const logOf = () => readFile(path.join(portal.application.storageDirectory, 'app.log'), 'utf8');

async function keySet(): Promise<JSONWebKeySet> {
  return (await (await fetch(`${portal.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
}

async function proved({ id_token: token }: Tokens): Promise<string | undefined> {
  await jwtVerify(token, createLocalJWKSet(await keySet()), { currentDate: new Date(clock.now()) });
  return decodeProtectedHeader(token).kid;
}

describe('a KeySigner', () => {
  // @shows AS-11.18
  test.each(ALGORITHMS)(
    'is used for ID tokens with %s in place of key files, and any library verifies them',
    async (algorithm) => {
      const client = clientOf(algorithm);
      const code = await obtainCode(portal, client, await portal.signedIn(ADA));
      const tokens = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
      expect(decodeProtectedHeader(tokens.id_token).alg).toBe(algorithm);
      expect(await proved(tokens)).toBe(`module ${algorithm}`);
      const again = (await (await refresh(portal, client, tokens.refresh_token)).json()) as Tokens;
      expect(await proved(again)).toBe(`module ${algorithm}`);
    },
  );

  // @shows AS-11.18
  test('is published with only its public members, together with key files, before it signs', async () => {
    const { keys } = await keySet();
    expect(keys.map(({ kid }) => String(kid)).toSorted()).toEqual(
      [...signers.map(({ kid }) => kid), later.kid, 'file'].toSorted(),
    );
    for (const key of keys)
      expect(['alg,e,kid,kty,n,use', 'alg,crv,kid,kty,use,x,y', 'alg,crv,kid,kty,use,x']).toContain(
        Object.keys(key).toSorted().join(),
      );
  });

  // @shows AS-11.20
  test('is listed, and can be replaced only by passing a different KeySigner to the server', async () => {
    expect(await portal.server.keys.list()).toMatchObject([
      { kid: later.kid, state: 'staged', file: null, signsFrom: later.signsFrom },
      { kid: 'module EdDSA', state: 'signing', file: null },
      { kid: 'module ES256', state: 'signing', file: null },
      { kid: 'module RS256', state: 'signing', file: null, signsFrom: null },
      { state: 'retired', removableAt: null, algorithm: 'RS256' },
    ]);
    for (const options of [{ algorithm: 'ES256' }, { now: true }] as const)
      await expect(portal.server.keys.rotate(options)).rejects.toThrow(
        'Pass another KeySigner to the server',
      );
    expect(await portal.server.keys.rotate()).toMatchObject({
      staged: [],
      created: [],
      removed: [],
    });
    expect(await portal.server.keys.prune(3600)).toEqual([]);
    await expect(portal.server.keys.generate()).rejects.toThrow(
      'A KeySigner already signs with RS256',
    );
    const { checks } = await examine(portal.application, portal.server);
    expect(checks.find(({ part }) => part === 'signing key')).toMatchObject({
      outcome: 'ok',
      detail: expect.stringMatching(
        /^module RS256 signs through a KeySigner; module ES256 signs ES256 through a KeySigner; /,
      ) as string,
    });
  });
});

// @shows AS-11.20
test('a KeySigner that signs for more than a year must be replaced in the code, not by a command', async () => {
  const old = signerOf('RS256', 'old', { signsFrom: clock.now() - 367 * 86_400_000 });
  const another = await startPortal({ clock: clock.now, keySigners: [old] });
  try {
    const { checks } = await examine(another.application, another.server);
    expect(checks.find(({ part }) => part === 'key rotation')).toMatchObject({
      outcome: 'warning',
      detail: expect.stringMatching(
        /^old \(RS256\) has been the signing key for more than a year /,
      ) as string,
      remedy: 'pass another KeySigner with its signsFrom time',
    });
  } finally {
    await another.close();
  }
});

describe('an invalid signature of a KeySigner', () => {
  const throwSecret = () => {
    throw new Error(SECRET);
  };
  const signature = (data: Uint8Array) => signatureBy('ES256', PAIRS.ES256().privateKey, data);
  const pairOf = (algorithm: SigningAlgorithm) =>
    signers.find((each) => each.algorithm === algorithm)?.pair.privateKey ??
    PAIRS[algorithm]().privateKey;
  const right = (data: Uint8Array) => signatureBy('ES256', pairOf('ES256'), data);
  const answers: readonly (readonly [string, string, (data: Uint8Array) => unknown])[] = [
    [
      'an error',
      'failed: Error, CKR_DEVICE_ERROR',
      () => Promise.reject(Object.assign(new Error(SECRET), { code: 'CKR_DEVICE_ERROR' })),
    ],
    [
      'an error thrown synchronously',
      'failed: TypeError',
      () => {
        throw new TypeError(SECRET);
      },
    ],
    [
      'an error with its own name and code',
      'failed: an error\n',
      () => Promise.reject(Object.assign(new Error(SECRET), { name: SECRET, code: SECRET })),
    ],
    ['something that is not an error', 'failed: an error\n', () => Promise.reject(SECRET)],
    [
      'an error whose code throws',
      'failed: an error\n',
      () => Promise.reject(Object.defineProperty(new Error(SECRET), 'code', { get: throwSecret })),
    ],
    [
      'bytes whose buffer was transferred',
      'did not return a Uint8Array',
      (data) => {
        const bytes = Uint8Array.from(right(data));
        structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
        return bytes;
      },
    ],
    ['a promise that never resolves', 'did not respond within 50 ms', () => new Promise(() => {})],
    [
      'a text',
      'did not return a Uint8Array',
      (data) => Buffer.from(right(data)).toString('base64url'),
    ],
    ['undefined', 'did not return a Uint8Array', () => undefined],
    [
      'an ArrayBuffer',
      'did not return a Uint8Array',
      (data) => Uint8Array.from(right(data)).buffer,
    ],
    [
      'an empty Uint8Array',
      'returned 0 bytes, which are not a valid ES256 signature',
      () => new Uint8Array(),
    ],
    [
      'one byte too few',
      'returned 63 bytes, which are not a valid ES256 signature',
      (data) => right(data).subarray(0, 63),
    ],
    [
      'one byte too many',
      'returned 65 bytes, which are not a valid ES256 signature',
      (data) => Buffer.concat([right(data), Buffer.of(0)]),
    ],
    ['zeros', 'returned 64 bytes, which are not a valid ES256 signature', () => new Uint8Array(64)],
    [
      'the signature of a different key',
      'returned 64 bytes, which are not a valid ES256 signature',
      signature,
    ],
    [
      'the signature of different data',
      'returned 64 bytes, which are not a valid ES256 signature',
      () => right(Buffer.from('something else')),
    ],
    ['DER', 'answered a DER signature', (data) => sign('sha256', data, pairOf('ES256'))],
  ];

  // @shows AS-11.19
  test('causes a 503 with the reason only in the log, and the same request works afterwards', async () => {
    const client = clientOf('ES256');
    const visitor = await portal.signedIn(ADA);
    let token = '';
    for (const [what, said, answer] of answers) {
      const code = await obtainCode(portal, client, visitor);
      misbehaves = (async (data: Uint8Array) => answer(data)) as Sign;
      const attempts = [
        exchangeCode(portal, client, code),
        ...(token === '' ? [] : [refresh(portal, client, token)]),
      ];
      for (const attempt of await Promise.all(attempts)) {
        expect([what, attempt.status, attempt.headers.get('retry-after')]).toEqual([
          what,
          503,
          '2',
        ]);
        expect(await attempt.json()).toMatchObject({ error: 'temporarily_unavailable' });
      }
      misbehaves = null;
      const refreshed = token === '' ? null : await refresh(portal, client, token);
      expect(refreshed?.status ?? 200).toBe(200);
      const worked = await exchangeCode(portal, client, code);
      expect([what, worked.status]).toEqual([what, 200]);
      token = ((await worked.json()) as Tokens).refresh_token;
      const log = (await logOf()).replaceAll(String.raw`\"`, '"').replaceAll(String.raw`\n`, '\n');
      expect(log).toContain(`SignerError: The KeySigner of "module ES256" ${said}`);
    }
    expect(await logOf()).not.toContain('648219');
  });

  // @shows AS-11.19
  test.each(['RS256', 'EdDSA'] as const)('is refused with %s too', async (algorithm) => {
    const client = clientOf(algorithm);
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    misbehaves = async () => new Uint8Array(algorithm === 'RS256' ? 256 : 64);
    expect((await exchangeCode(portal, client, code)).status).toBe(503);
    misbehaves = null;
    expect((await exchangeCode(portal, client, code)).status).toBe(200);
  });

  // @shows AS-11.19
  test('is found even if the signer changes the bytes that it was given to sign', async () => {
    const client = clientOf('EdDSA');
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    misbehaves = async (data) => {
      data.fill(0);
      return signatureBy('EdDSA', pairOf('EdDSA'), data);
    };
    expect((await exchangeCode(portal, client, code)).status).toBe(503);
    misbehaves = null;
    expect((await exchangeCode(portal, client, code)).status).toBe(200);
  });

  test('does not affect requests without an ID token', async () => {
    const client = clientOf('ES256');
    const code = await obtainCode(portal, client, await portal.signedIn(ADA), {
      scope: 'notes:read',
    });
    misbehaves = () => Promise.reject(new Error('away'));
    expect((await exchangeCode(portal, client, code)).status).toBe(200);
    expect((await fetch(`${portal.url}/.well-known/jwks.json`)).status).toBe(200);
  });
});

// @shows AS-11.20
test('of several KeySigners, the one with the latest start time signs', async () => {
  const client = clientOf('RS256');
  const signedBy = async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    return proved((await (await exchangeCode(portal, client, code)).json()) as Tokens);
  };
  expect(await signedBy()).toBe('module RS256');
  clock.advance(3600);
  expect(await signedBy()).toBe('module RS256 next');
});

describe('a server is not started with KeySigners', () => {
  const made = signerOf('ES256', 'one');
  const { pair, ...plain } = made;
  // @shows AS-11.18
  test.each<readonly [string, readonly unknown[], string]>([
    ['with the same kid twice', [plain, plain], 'keySigners:1: another KeySigner has the same kid'],
    [
      'with a private key',
      [{ ...plain, publicJwk: pair.privateKey.export({ format: 'jwk' }) }],
      'keySigners:0: publicJwk must not contain the private key',
    ],
    [
      'with a key of a different algorithm',
      [{ ...plain, algorithm: 'EdDSA' }],
      'publicJwk must be a public Ed25519 key, for EdDSA',
    ],
    [
      'with a small key',
      [
        {
          ...signerOf('RS256', 'small'),
          publicJwk: generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
            format: 'jwk',
          }),
        },
      ],
      'at least 2048 bits',
    ],
    ['with an unknown algorithm', [{ ...plain, algorithm: 'PS256' }], 'algorithm must be one of'],
    ['without a kid', [{ ...plain, kid: '' }], 'kid must be a non-empty string'],
    ['without a key', [{ ...plain, publicJwk: null }], 'publicJwk must be a public P-256 key'],
    ['without a sign function', [{ ...plain, sign: null }], 'sign must be a function'],
    [
      'with an invalid time',
      [{ ...plain, signsFrom: '2026-01-01' }],
      'signsFrom must be milliseconds',
    ],
    ['with an invalid timeout', [{ ...plain, timeout: 0 }], 'timeout must be between 1 and'],
  ])('%s', async (_, keySigners, message) => {
    await expect(startPortal({ keySigners: keySigners as KeySigner[] })).rejects.toThrow(message);
  });
});

// @shows AS-11.18, AS-51.1
test('ID tokens signed by a KeySigner work for sign-out, with any exponent of its key', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicExponent: 3,
  });
  const signer = signerOf('RS256', 'module of exponent 3', {
    publicJwk: publicKey.export({ format: 'jwk' }),
    sign: async (data) => signatureBy('RS256', privateKey, data),
  });
  const own = await startPortal({
    config: { oauth_server: { logout: true } },
    keySigners: [signer],
  });
  onTestFinished(() => own.close());
  const back = 'https://client.example/signed-out';
  const client = await registerClient(own, { metadata: { post_logout_redirect_uris: [back] } });
  const ada = await own.signedIn(ADA);
  const code = await obtainCode(own, client, ada);
  const tokens = (await (await exchangeCode(own, client, code)).json()) as Tokens;
  const query = { id_token_hint: tokens.id_token, post_logout_redirect_uri: back };
  const answer = await ada.get(`/oauth/logout?${new URLSearchParams(query)}`);
  expect(answer.headers.get('location')).toBe(back);
});
