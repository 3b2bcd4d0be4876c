import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createProofs, RememberedError, refusalOf, type DpopOptions, type SentRequest } from './proofs.ts';

const NOW = 1_800_000_000_000;
const TOKEN = 'an access token';
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = ec.publicKey.export({ format: 'jwk' });
const { crv, kty, x, y } = jwk;
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');
const THUMBPRINT = hashOf(JSON.stringify({ crv, kty, x, y }));
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function proof(htu: string, more: object = {}): string {
  const claims = { jti: 'once', htm: 'GET', htu, iat: Date.now() / 1000, ath: hashOf(TOKEN), ...more };
  const signed = `${encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk })}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** An API at https://api.example, unless it is said otherwise, and a clock that stands still. */
function api(options: Partial<DpopOptions> = {}) {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  onTestFinished(() => void vi.useRealTimers());
  const proofs = createProofs({ publicUrl: 'https://api.example', ...options });
  const ask = (sent: Partial<SentRequest> = {}, boundTo = THUMBPRINT) =>
    proofs.problem(TOKEN, boundTo, {
      method: 'GET',
      target: '/notes',
      dpop: proof('https://api.example/notes'),
      ...sent,
    });
  const use = (jti: string) => ask({ dpop: proof('https://api.example/notes', { jti }) });
  return { ask, use };
}

describe('A request in the scheme DPoP', () => {
  test('proves the key of its token, once', async () => {
    const { ask } = api();
    expect(await ask()).toBeNull();
    expect(await ask()).toBe('invalid_dpop_proof');
  });

  test('proves nothing without a proof, or with one of something else', async () => {
    const { ask } = api();
    for (const dpop of [
      null,
      '',
      'x',
      proof('https://api.example/other'),
      proof('https://api.example/notes', { htm: 'POST' }),
      proof('https://api.example/notes', { ath: hashOf('another') }),
      proof('https://api.example/notes', { iat: NOW / 1000 - 120 }),
    ])
      expect(await ask({ dpop })).toBe('invalid_dpop_proof');
    expect(await ask({ method: 'POST' })).toBe('invalid_dpop_proof');
    expect(await ask()).toBeNull();
  });

  test('with the key of another token has a token that is not its own, and uses nothing', async () => {
    const { ask } = api();
    expect(await ask({}, hashOf('another key'))).toBe('invalid_token');
    expect(await ask()).toBeNull();
  });

  test.each([
    ['https://api.example', '/notes?page=2', 'https://api.example/notes'],
    ['https://api.example/', '/', 'https://api.example/'],
    ['https://api.example/shop', '/notes', 'https://api.example/shop/notes'],
    ['https://api.example/shop/', '/notes?', 'https://api.example/shop/notes'],
    ['https://API.example:443/a/b/', '/?a=/b', 'https://api.example/a/b/'],
  ])('at %s, for %s, has a proof for %s', async (publicUrl, target, htu) => {
    const { ask } = api({ publicUrl });
    expect(await ask({ target, dpop: proof(`${htu}x`) })).toBe('invalid_dpop_proof');
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
  ])('for what parsers write anew has no proof: %s', async (target) => {
    const { ask } = api();
    expect(await ask({ target })).toBe('invalid_dpop_proof');
    expect(await ask()).toBeNull();
  });

  test('may have any query: a proof says nothing of it', async () => {
    for (const query of ['?', '?a=b?c', '?a=/../b', '?a=\\', '?a=\u00fc'])
      expect(await api().ask({ target: `/notes${query}` })).toBeNull();
  });

  test('ends with a fault of ours, and is not told that its proof is one', async () => {
    const { ask } = api();
    await expect(ask({ dpop: 7 as never })).rejects.toThrow(TypeError);
  });
});

test('The public URL of an API has neither query nor fragment, and is one', () => {
  const says = 'dpop.publicUrl: must have no query and no fragment';
  for (const publicUrl of ['https://api.example/?a', 'https://api.example/#a']) {
    expect(() => createProofs({ publicUrl })).toThrow(new TypeError(says));
  }
  expect(() => createProofs({ publicUrl: '/notes' })).toThrow(TypeError);
});

test('A refusal names the algorithms, and whether proofs are needed', () => {
  const url = { publicUrl: 'https://api.example' };
  const offer = { required: false, algorithms: ALGORITHMS };
  expect(refusalOf(createProofs(url), false)).toEqual({ ...offer, presented: false, nonce: null });
  expect(refusalOf(createProofs({ ...url, required: true }), true)).toEqual({
    ...offer,
    required: true,
    presented: true,
    nonce: null,
  });
  expect(refusalOf(null, true)).toBeNull();
});

describe('Whether a proof is new', () => {
  test('is said by what others keep, of which it is told a hash and when it ends', async () => {
    const told: unknown[] = [];
    const claim = async (...about: unknown[]) => told.push(about) === 1;
    const { ask } = api({ claim });
    expect([await ask(), await ask()]).toEqual([null, 'invalid_dpop_proof']);
    const hash = hashOf(JSON.stringify([THUMBPRINT, 'once']));
    expect(told[0]).toEqual([hash, NOW + 120_000]);
    for (const answer of [true, 1]) expect(await api({ claim: () => answer as never }).ask()).toBeNull();
    for (const answer of [0, 2, 'true', 'OK', {}, { isNew: false }, undefined])
      expect(await api({ claim: () => answer as never }).ask()).toBe('invalid_dpop_proof');
    const fault = new Error('the store is away');
    await expect(api({ claim: () => Promise.reject(fault) }).ask()).rejects.toBe(fault);
  });

  test('is remembered of as many as are said: the next one is refused until one has expired', async () => {
    const { use } = api({ remembered: 2 });
    expect(await use('a')).toBeNull();
    vi.setSystemTime(NOW + 1000);
    expect(await use('b')).toBeNull();
    await expect(use('c')).rejects.toThrow('2 proofs are remembered, and none has expired');
    await expect(use('c')).rejects.toThrow(RememberedError);
    expect(await use('b')).toBe('invalid_dpop_proof');
    vi.setSystemTime(NOW + 119_999);
    await expect(use('c')).rejects.toThrow(RememberedError);
    vi.setSystemTime(NOW + 120_000);
    expect(await use('c')).toBeNull();
    await expect(use('d')).rejects.toThrow(RememberedError);
    expect([await use('b'), await use('c')]).toEqual(['invalid_dpop_proof', 'invalid_dpop_proof']);
  });
});
