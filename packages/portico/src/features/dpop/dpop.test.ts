import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Dpop, readProof, requireAlgorithm } from './dpop.ts';
import type { DpopNonces } from './nonces.ts';
import type { DpopProof } from '../../keys/jws/dpop-proof.ts';
import type { Server } from '../../server.ts';
import { DpopError } from './errors.ts';
import type { SingleUses } from '../../store/single-uses.ts';

const NOW = 1_800_000_000_000;
const URL_OF_IT = 'https://app.example/oauth/token';
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = ec.publicKey.export({ format: 'jwk' });
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function proof(more: object = {}): string {
  const claims = { jti: 'once', htm: 'POST', htu: URL_OF_IT, iat: NOW / 1000, ...more };
  const signed = `${encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk })}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), {
    key: ec.privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return `${signed}.${signature.toString('base64url')}`;
}

const GOOD = 'a good nonce';
const nonces = { current: async () => GOOD, isGood: async (nonce: string) => nonce === GOOD };

interface Made {
  readonly singleUses?: SingleUses;
  readonly nonces?: typeof nonces;
  readonly algorithms?: readonly string[];
  readonly clock?: () => number;
}

/** Returns a Dpop that accepts each proof once. Records the calls. */
function dpop(made: Made = {}) {
  const claimed: unknown[] = [];
  const singleUses = {
    async claim(...use) {
      const isNew = !claimed.some((each) => JSON.stringify(each) === JSON.stringify(use));
      if (isNew) claimed.push(use);
      return isNew;
    },
  } satisfies Partial<SingleUses> as unknown as SingleUses;
  const { algorithms, nonces: used = null, ...others } = made;
  const profiles = { servers: algorithms === undefined ? null : { algorithms } };
  const server = { singleUses, profiles, clock: () => NOW, ...others } as unknown as Server;
  const checking = new Dpop(server, used as DpopNonces | null);
  const check = (text: string | null, accessToken: string | null = null) =>
    checking.check({ proof: text, method: 'POST', url: URL_OF_IT }, accessToken);
  const claim = (proved: DpopProof) => checking.claim(proved);
  return { claim, nonce: () => checking.nonce(), check, claimed };
}

async function refusal(what: () => unknown): Promise<readonly unknown[]> {
  try {
    await what();
  } catch (error) {
    if (error instanceof DpopError) return [error.code, error.detail, error.nonce];
    throw error;
  }
  throw new Error('It was not refused');
}
const wrong = (detail: string) => ['invalid_dpop_proof', detail, null];

describe('The DPoP proof of a request', () => {
  test('is read from the DPoP header, with the method and the public URL of the request', () => {
    const request = new Request('http://127.0.0.1:8080/token', {
      method: 'PUT',
      headers: { DPoP: 'a' },
    });
    expect(readProof(request, URL_OF_IT)).toEqual({ proof: 'a', method: 'PUT', url: URL_OF_IT });
    expect(readProof(new Request('http://127.0.0.1/'), URL_OF_IT).proof).toBeNull();
  });

  test('contains the key that it proves, and a request without a proof has none', async () => {
    const { crv, kty, x, y } = jwk;
    const thumbprint = createHash('sha256')
      .update(JSON.stringify({ crv, kty, x, y }))
      .digest('base64url');
    expect(await dpop().check(proof())).toMatchObject({
      thumbprint,
      algorithm: 'ES256',
      jti: 'once',
    });
    for (const options of [{}, { nonces }, { algorithms: [] }]) {
      expect(await dpop(options).check(null)).toBeNull();
    }
  });

  test('that is invalid is refused, with the reason for the log', async () => {
    expect(await refusal(() => dpop().check('a'))).toEqual(
      wrong('DPoP proof refused: its header is missing or not base64url'),
    );
    expect(await refusal(() => dpop().check(proof({ htm: 'GET' })))).toEqual(
      wrong('DPoP proof refused: its htm is another method'),
    );
    expect(await refusal(() => dpop().check(proof(), 'an access token'))).toEqual(
      wrong('DPoP proof refused: its ath is missing'),
    );
    expect(await refusal(() => dpop({ clock: () => NOW + 3_600_000 }).check(proof()))).toEqual(
      wrong('DPoP proof refused: its iat is too long ago'),
    );
  });

  test('is not blamed for an internal error', async () => {
    const fault = new TypeError('a fault');
    const broken = dpop({
      clock: () => {
        throw fault;
      },
    });
    await expect(broken.check(proof())).rejects.toBe(fault);
  });

  test('may use only the algorithms of the profile, if there is one', async () => {
    const says = wrong('DPoP proof refused: its alg is ES256, which the profile does not allow');
    expect(await refusal(() => dpop({ algorithms: ['EdDSA'] }).check(proof()))).toEqual(says);
    expect(await dpop({ algorithms: ['EdDSA', 'ES256'] }).check(proof())).toMatchObject({
      jti: 'once',
    });
    const checked = await dpop().check(proof());
    if (checked === null) throw new Error('no proof');
    expect(await refusal(() => requireAlgorithm(checked, []))).toEqual(says);
    expect(() => requireAlgorithm(checked, ['ES256'])).not.toThrow();
  });

  test('needs a valid nonce if nonces are enabled, and the error contains a new one', async () => {
    const strict = dpop({ nonces });
    expect(await strict.check(proof({ nonce: GOOD }))).toMatchObject({ nonce: GOOD });
    expect(await refusal(() => strict.check(proof()))).toEqual([
      'use_dpop_nonce',
      'the proof has no nonce',
      GOOD,
    ]);
    expect(await refusal(() => strict.check(proof({ nonce: 'x' })))).toEqual([
      'use_dpop_nonce',
      'the nonce of the proof is too old, or comes from another server',
      GOOD,
    ]);
    expect(await dpop().check(proof({ nonce: 'x' }))).toMatchObject({ nonce: 'x' });
    expect([await strict.nonce(), await dpop().nonce()]).toEqual([GOOD, null]);
  });

  test('is accepted once for its key and jti, until it expires', async () => {
    const made = dpop();
    const { check, claimed } = made;
    const checked = await check(proof());
    if (checked === null) throw new Error('no proof');
    expect(claimed).toEqual([]);
    await made.claim(checked);
    expect(claimed).toEqual([['proof', [checked.thumbprint, 'once'], NOW + 120_000]]);
    expect(await refusal(() => made.claim(checked))).toEqual(
      wrong('DPoP proof refused: it was used before'),
    );
  });
});
