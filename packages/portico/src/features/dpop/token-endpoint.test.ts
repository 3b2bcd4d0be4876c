import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  bodyOf,
  ending,
  offered,
  startTokenEndpoint,
  URL_OF_IT,
  type Started as StartedWithout,
} from '../../../../../test/support/token-endpoint.ts';
import type { Server } from '../../server.ts';
import type { SingleUses } from '../../store/single-uses.ts';
import { DpopBinding } from './binding.ts';
import { Dpop } from './dpop.ts';
import type { DpopNonces } from './nonces.ts';

const NOW = 1_800_000_000_000;
const THUMBPRINT = expect.stringMatching(/^[\w-]{43}$/) as string;

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

function proof(alg: keyof typeof pairs = 'ES256'): string {
  const { privateKey, publicKey } = pairs[alg];
  const jwk = publicKey.export({ format: 'jwk' });
  const claims = {
    jti: randomUUID(),
    htm: 'POST',
    htu: URL_OF_IT,
    iat: NOW / 1000,
    nonce: 'this one',
  };
  const signed = `${encoded({ typ: 'dpop+jwt', alg, jwk })}.${encoded(claims)}`;
  const key =
    alg === 'ES256' ? ({ key: privateKey, dsaEncoding: 'ieee-p1363' } as const) : privateKey;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

interface Started extends StartedWithout {
  readonly dpop?: 'off' | 'on' | 'with nonces';
  /** Whether the profile applies to the client. */
  readonly governs?: boolean;
}

/**
 * Returns the DPoP binding of this endpoint. Adds a step for each proof that it marks as used and
 * for each nonce that it issues.
 */
function dpopBinding(steps: unknown[], { dpop, governs }: Pick<Started, 'dpop' | 'governs'>) {
  const uses = new Set<string>();
  const singleUses = {
    async claim(...use: unknown[]) {
      steps.push('proof claimed');
      const isNew = !uses.has(JSON.stringify(use));
      uses.add(JSON.stringify(use));
      return isNew;
    },
  } satisfies Partial<SingleUses> as unknown as SingleUses;
  const nonces = {
    async current() {
      steps.push('nonce');
      return 'the next one';
    },
    isGood: async (nonce: string) => nonce === 'this one',
  };
  const profiles = {
    servers: null,
    of: () => (governs === true ? { algorithms: ['ES256'] } : null),
  };
  const server = {
    profiles,
    singleUses,
    clock: () => NOW,
    config: { scopes: {} },
    basePath: '',
    mountPath: '',
  } as unknown as Server;
  const used = dpop === 'with nonces' ? (nonces as unknown as DpopNonces) : null;
  return new DpopBinding(server, new Dpop(server, used), 'accept');
}

function start({ dpop = 'off', governs = false, ...started }: Started = {}) {
  const { steps, state, ask } = startTokenEndpoint(started, (taken) =>
    dpop === 'off' ? null : dpopBinding(taken, { dpop, governs }),
  );
  return {
    steps,
    state,
    ask: (proved: string | null = null, form?: Readonly<Record<string, string>>) =>
      ask(form, proved === null ? {} : { DPoP: proved }),
  };
}

describe('a proof at the token endpoint', () => {
  test('is ignored if DPoP is off', async () => {
    const { ask, steps } = start();
    expect((await ask('no proof at all')).status).toBe(200);
    expect(steps).toEqual(['authenticated', ...offered(null), ...ending]);
  });

  test('is optional if DPoP is on', async () => {
    const { ask, steps } = start({ dpop: 'with nonces' });
    expect((await ask()).headers).not.toHaveProperty('DPoP-Nonce');
    expect(steps).toEqual(['authenticated', ...offered(null), ...ending]);
  });

  test('is marked as used once, even if the grant reads it several times', async () => {
    const { ask, steps } = start({ dpop: 'on' });
    const text = proof();
    expect((await ask(text)).headers).not.toHaveProperty('DPoP-Nonce');
    expect(steps).toEqual(['authenticated', ...offered(THUMBPRINT), 'proof claimed', ...ending]);
    steps.length = 0;
    await expect(ask(text)).rejects.toMatchObject({ code: 'invalid_dpop_proof' });
    expect(steps).toEqual(['authenticated', ...offered(THUMBPRINT), 'proof claimed']);
  });

  test('that is invalid is refused before the client is authenticated', async () => {
    const { ask, steps } = start({ dpop: 'on' });
    await expect(ask('no proof at all')).rejects.toMatchObject({ code: 'invalid_dpop_proof' });
    expect(steps).toEqual([]);
  });

  test('gets a response with the next nonce, which is created before any token is issued', async () => {
    const { ask, steps } = start({ dpop: 'with nonces' });
    expect((await ask(proof())).headers).toMatchObject({ 'DPoP-Nonce': 'the next one' });
    expect(steps).toEqual([
      'authenticated',
      'nonce',
      ...offered(THUMBPRINT),
      'proof claimed',
      ...ending,
    ]);
  });

  test('is marked as used before a stored response is returned to its sender', async () => {
    const { ask, steps } = start({ dpop: 'on', kept: 'spent' });
    const text = proof();
    expect(bodyOf(await ask(text))).toMatchObject({ access_token: 'kept' });
    expect(steps).toEqual(['authenticated', offered(THUMBPRINT)[0], 'proof claimed', ...ending]);
    await expect(ask(text)).rejects.toMatchObject({ code: 'invalid_dpop_proof' });
  });

  test('needs an algorithm of the profile if the client has one, and otherwise of the server', async () => {
    expect((await start({ dpop: 'on' }).ask(proof('RS256'))).status).toBe(200);
    const { ask, steps } = start({ dpop: 'on', governs: true });
    expect((await ask(proof('ES256'))).status).toBe(200);
    expect((await ask()).status).toBe(200);
    steps.length = 0;
    await expect(ask(proof('RS256'))).rejects.toMatchObject({ code: 'invalid_dpop_proof' });
    expect(steps).toEqual(['authenticated']);
  });
});
