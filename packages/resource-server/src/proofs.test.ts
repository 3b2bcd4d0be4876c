import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { dpopOffer } from 'portico/extension';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { DpopOptions, SentRequest } from './contract.ts';
import { Proofs, getRefusal } from './proofs.ts';

const NOW = 1_800_000_000_000;
const TOKEN = 'an access token';
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const THUMBPRINT = thumbprintOf(ec);
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

interface Key {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const newKey = (): Key => generateKeyPairSync('ec', { namedCurve: 'P-256' });

function thumbprintOf({ publicKey }: Key): string {
  const { crv, kty, x, y } = publicKey.export({ format: 'jwk' });
  return hashOf(JSON.stringify({ crv, kty, x, y }));
}

function proof(htu: string, more: object = {}, key: Key = ec): string {
  const claims = {
    jti: 'once',
    htm: 'GET',
    htu,
    iat: Date.now() / 1000,
    ath: hashOf(TOKEN),
    ...more,
  };
  const signed = `${encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk: key.publicKey.export({ format: 'jwk' }) })}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), {
    key: key.privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return `${signed}.${signature.toString('base64url')}`;
}

/**
 * Creates a checker of proofs with these options. The default URL is https://api.example. The clock
 * does not move.
 */
function api(options: Partial<DpopOptions> = {}) {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  onTestFinished(() => void vi.useRealTimers());
  const proofs = new Proofs({ publicUrl: 'https://api.example', ...options });
  const told = (sent: Partial<SentRequest> = {}, boundTo = THUMBPRINT) =>
    proofs.refusal(TOKEN, boundTo, {
      method: 'GET',
      target: '/notes',
      dpop: proof('https://api.example/notes'),
      ...sent,
    });
  const ask = async (...given: Parameters<typeof told>) => (await told(...given))?.reason ?? null;
  const use = (jti: string, key: Key = ec) =>
    ask({ dpop: proof('https://api.example/notes', { jti }, key) }, thumbprintOf(key));
  return { told, ask, use };
}

describe('A request in the DPoP scheme', () => {
  test('proves possession of the key of its token once', async () => {
    const { ask } = api();
    expect(await ask()).toBeNull();
    expect(await ask()).toBe('proof_used');
  });

  test('is refused without a proof or with a wrong one, and the reason is reported', async () => {
    const { told, ask } = api();
    for (const [dpop, reason, detail] of [
      [null, 'proof_missing', null],
      ['', 'proof_malformed', 'its header is missing or not base64url'],
      ['eHg', 'proof_malformed', 'its header is not JSON'],
      [proof('https://api.example/other'), 'proof_url', 'its htu is another URL'],
      [
        proof('https://api.example/notes', { htm: 'POST' }),
        'proof_method',
        'its htm is another method',
      ],
      [
        proof('https://api.example/notes', { ath: hashOf('another') }),
        'proof_for_another_token',
        'its ath is that of another token',
      ],
      [
        proof('https://api.example/notes', { iat: NOW / 1000 - 120 }),
        'proof_too_old',
        'its iat is too long ago',
      ],
    ] as const)
      expect(await told({ dpop })).toEqual({ reason, detail });
    expect(await ask({ method: 'POST' })).toBe('proof_method');
    expect(await ask()).toBeNull();
  });

  test('with the key of a different token is refused, and does not use up the proof', async () => {
    const { ask } = api();
    expect(await ask({}, hashOf('another key'))).toBe('proof_of_another_key');
    expect(await ask()).toBeNull();
  });

  test.each([
    ['https://api.example', '/notes?page=2', 'https://api.example/notes'],
    ['https://api.example/', '/', 'https://api.example/'],
    ['https://api.example/shop', '/notes', 'https://api.example/shop/notes'],
    ['https://api.example/shop/', '/notes?', 'https://api.example/shop/notes'],
    ['https://API.example:443/a/b/', '/?a=/b', 'https://api.example/a/b/'],
  ])('at %s, for %s, accepts a proof for %s', async (publicUrl, target, htu) => {
    const { ask } = api({ publicUrl });
    expect(await ask({ target, dpop: proof(`${htu}x`) })).toBe('proof_url');
    expect(await ask({ target, dpop: proof(htu) })).toBeNull();
  });

  test.each([
    'notes',
    'https://api.example/notes',
    ':443/notes',
    '',
    '?',
    '*',
    '/a/../notes',
    '/./notes',
    '//notes',
    '/\\notes',
  ])('for a URL that a parser would rewrite accepts no proof: %s', async (target) => {
    const { ask } = api();
    expect(await ask({ target })).toBe(target === '//notes' ? 'proof_url' : 'proof_target');
    expect(await ask()).toBeNull();
  });

  test('may have any query, because a proof does not cover it', async () => {
    for (const query of ['?', '?a=b?c', '?a=/../b', '?a=\\', '?a=\u00fc'])
      expect(await api().ask({ target: `/notes${query}` })).toBeNull();
  });

  test('fails with an internal error without blaming the proof', async () => {
    const { ask } = api();
    await expect(ask({ dpop: 7 as never })).rejects.toThrow(TypeError);
  });
});

test('The public URL of an API must be a valid URL without query and fragment', () => {
  const says = 'dpop.publicUrl: must have no query and no fragment';
  for (const publicUrl of ['https://api.example/?a', 'https://api.example/#a']) {
    expect(() => new Proofs({ publicUrl })).toThrow(new TypeError(says));
  }
  const must = 'dpop.publicUrl: must be a URL, such as https://api.example.com';
  for (const publicUrl of ['/notes', 'localhost:3000', 'api.example:443/notes', '']) {
    expect(() => new Proofs({ publicUrl })).toThrow(new TypeError(must));
  }
});

test('A refusal contains the DPoP algorithms, and whether proofs are required', () => {
  const url = { publicUrl: 'https://api.example' };
  const offered = (required: boolean) => dpopOffer({ required, algorithms: ALGORITHMS });
  expect(getRefusal(new Proofs(url), false)).toEqual({
    ...offered(false),
    presented: false,
    answer: null,
  });
  expect(getRefusal(new Proofs({ ...url, required: true }), true)).toEqual({
    ...offered(true),
    presented: true,
    answer: null,
  });
  expect(getRefusal(null, true)).toBeNull();
});

describe('The replay check of proofs', () => {
  test('may be done by a store, which receives a hash and an expiry', async () => {
    const told: unknown[] = [];
    const claim = async (...about: unknown[]) => told.push(about) === 1;
    const { ask } = api({ claim });
    expect([await ask(), await ask()]).toEqual([null, 'proof_used']);
    const hash = hashOf(JSON.stringify([THUMBPRINT, 'once']));
    expect(told[0]).toEqual([hash, NOW + 120_000]);
    for (const answer of [true, 1])
      expect(await api({ claim: () => answer as never }).ask()).toBeNull();
    for (const answer of [0, 2, 'true', 'OK', {}, { isNew: false }, undefined])
      expect(await api({ claim: () => answer as never }).ask()).toBe('proof_used');
  });

  test.each([
    ['an error without a code', new Error('the store is away'), null],
    [
      'an error with a code',
      Object.assign(new Error('the store is away'), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED',
    ],
    [
      'a code of the cause that is not an error code',
      new Error('away', { cause: { code: 'no error' } }),
      null,
    ],
    [
      'the code of the cause',
      new Error('x', { cause: Object.assign(new Error('y'), { code: '57P01' }) }),
      '57P01',
    ],
    ['a text that is not a code', Object.assign(new Error('x'), { code: 'the token abc' }), null],
    ['a code that is a number', Object.assign(new Error('x'), { code: 7 }), null],
    ['a fault that is not an error', 'ECONNREFUSED', null],
  ])('fails if the store fails, and reports the code: %s', async (_, fault, detail) => {
    const { told } = api({ claim: () => Promise.reject(fault) });
    expect(await told()).toEqual({ reason: 'claim_failed', detail });
    const thrown = api({
      claim: () => {
        throw fault;
      },
    });
    expect(await thrown.told()).toEqual({ reason: 'claim_failed', detail });
  });

  test('remembers a configured number of proofs, and refuses more until one has expired', async () => {
    const { use } = api({ remembered: 3 });
    expect(await use('a')).toBeNull();
    vi.setSystemTime(NOW + 1000);
    expect(await use('b')).toBeNull();
    expect(await use('c')).toBe('proofs_too_many');
    expect(await use('c')).toBe('proofs_too_many');
    expect(await use('b')).toBe('proof_used');
    vi.setSystemTime(NOW + 119_000);
    expect(await use('c')).toBe('proofs_too_many');
    vi.setSystemTime(NOW + 120_000);
    expect(await use('c')).toBeNull();
    expect(await use('d')).toBe('proofs_too_many');
    expect([await use('b'), await use('c')]).toEqual(['proof_used', 'proof_used']);
  });

  test('still works for other keys if one key sends as many proofs as it can', async () => {
    const { use } = api({ remembered: 8 });
    const sent: (string | null)[] = [];
    for (let each = 0; each < 12; each++) sent.push(await use(`flood ${each}`));
    expect(sent.filter((reason) => reason === null)).toHaveLength(4);
    expect(sent.at(-1)).toBe('proofs_too_many');
    for (const key of [newKey(), newKey()]) {
      expect(await use('once', key)).toBeNull();
      expect(await use('once', key)).toBe('proof_used');
    }
    expect(await use('flood 0')).toBe('proof_used');
  });
});
