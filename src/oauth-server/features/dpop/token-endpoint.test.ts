import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createTokenEndpoint, type TokenEndpointOptions } from '../../endpoints/token.ts';
import type { GrantHandler } from '../../grants/grant.ts';
import { PROFILED_ALGORITHMS } from '../../profiles/fapi2.ts';
import type { Server } from '../../server.ts';
import type { SingleUses } from '../../store/single-uses.ts';
import type { Client } from '../../store/client.ts';
import { bindingBy } from './binding.ts';
import { createDpop } from './dpop.ts';

const NOW = 1_800_000_000_000;
const URL_OF_IT = 'https://portal.example/oauth/token';
const CLIENT = { id: 'notebook' } as Client;
const ANSWER = { access_token: 'secret', token_type: 'Bearer', expires_in: 60, scope: 'notes:read' } as const;
const THUMBPRINT = expect.stringMatching(/^[\w-]{43}$/) as string;

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

function proof(alg: keyof typeof pairs = 'ES256'): string {
  const { privateKey, publicKey } = pairs[alg];
  const jwk = publicKey.export({ format: 'jwk' });
  const claims = { jti: randomUUID(), htm: 'POST', htu: URL_OF_IT, iat: NOW / 1000, nonce: 'this one' };
  const signed = `${encoded({ typ: 'dpop+jwt', alg, jwk })}.${encoded(claims)}`;
  const key = alg === 'ES256' ? ({ key: privateKey, dsaEncoding: 'ieee-p1363' } as const) : privateKey;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

interface Started {
  readonly dpop?: 'off' | 'on' | 'with nonces';
  /** Whether the profile holds the client. */
  readonly governs?: boolean;
  /** Whether the same request stayed unanswered before; and whether what it offered was spent then. */
  readonly kept?: 'spent' | 'not spent';
  /** Whether the use of a client is written down, and has to be waited for. */
  readonly notes?: boolean;
}

/** An endpoint with one grant, and what became of each part of a request, in its order. */
function start({ dpop = 'off', governs = false, kept, notes = false }: Started = {}) {
  const steps: unknown[] = [];
  const state = { problem: null as Error | null };
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
  const made = createDpop({
    singleUses,
    nonces: dpop === 'with nonces' ? nonces : null,
    algorithms: null,
    clock: () => NOW,
  });
  const profiles = { algorithms: null, algorithmsOf: () => (governs ? PROFILED_ALGORITHMS : null) };
  const server = { profiles, config: { scopes: {} }, basePath: '', mountPath: '' } as unknown as Server;
  const grant: GrantHandler = async (client, form, proved) => {
    steps.push(['granted', client.id, form.get('code') ?? null, proved?.thumbprint ?? null]);
    await proved?.claim();
    await proved?.claim();
    return ANSWER;
  };
  const again = { ...ANSWER, access_token: 'kept' };
  const options: TokenEndpointOptions = {
    async authenticateClient() {
      steps.push('authenticated');
      if (state.problem !== null) throw state.problem;
      return CLIENT;
    },
    grants: new Map([['authorization_code', grant]]),
    binding: dpop === 'off' ? null : bindingBy(made, server, {}),
    url: URL_OF_IT,
    lostAnswers: {
      find(client, form, thumbprint) {
        steps.push(['looked for', client.id, form.get('code') ?? null, thumbprint]);
        if (kept === undefined) return null;
        return (otherwise) => (kept === 'spent' ? Promise.resolve(again) : otherwise());
      },
    },
    recordUse(client) {
      steps.push(['noted', client.id]);
      if (!notes) return null;
      return new Promise((resolve) => {
        setImmediate(() => {
          steps.push('written down');
          resolve();
        });
      });
    },
    pruning: {
      async tick() {
        await Promise.resolve();
        steps.push('pruned');
      },
    },
  };
  const endpoint = createTokenEndpoint(options);
  return {
    steps,
    state,
    ask: (
      proved: string | null = null,
      form: Readonly<Record<string, string>> = { grant_type: 'authorization_code', code: 'c' },
    ) => {
      const headers: Record<string, string> = proved === null ? {} : { DPoP: proved };
      return endpoint(new Request(URL_OF_IT, { method: 'POST', headers, body: new URLSearchParams(form) }));
    },
  };
}

const bodyOf = ({ body }: { readonly body: string | Uint8Array | null }): unknown => JSON.parse(String(body));
const offered = (thumbprint: string | null) => [
  ['looked for', 'notebook', 'c', thumbprint],
  ['granted', 'notebook', 'c', thumbprint],
];
const ending = [['noted', 'notebook'], 'pruned'];

describe('a proof at the token endpoint', () => {
  test('is not looked at where DPoP is off', async () => {
    const { ask, steps } = start();
    expect((await ask('no proof at all')).status).toBe(200);
    expect(steps).toEqual(['authenticated', ...offered(null), ...ending]);
  });

  test('is not needed where it is on', async () => {
    const { ask, steps } = start({ dpop: 'with nonces' });
    expect((await ask()).headers).not.toHaveProperty('DPoP-Nonce');
    expect(steps).toEqual(['authenticated', ...offered(null), ...ending]);
  });

  test('is handed to the grant, which claims it once however often it asks', async () => {
    const { ask, steps } = start({ dpop: 'on' });
    const text = proof();
    expect((await ask(text)).headers).not.toHaveProperty('DPoP-Nonce');
    expect(steps).toEqual(['authenticated', ...offered(THUMBPRINT), 'proof claimed', ...ending]);
    steps.length = 0;
    await expect(ask(text)).rejects.toMatchObject({ code: 'invalid_dpop_proof' });
    expect(steps).toEqual(['authenticated', ...offered(THUMBPRINT), 'proof claimed']);
  });

  test('that is none is refused before the client is authenticated', async () => {
    const { ask, steps } = start({ dpop: 'on' });
    await expect(ask('no proof at all')).rejects.toMatchObject({ code: 'invalid_dpop_proof' });
    expect(steps).toEqual([]);
  });

  test('is answered with the next nonce, which is there before anything is issued', async () => {
    const { ask, steps } = start({ dpop: 'with nonces' });
    expect((await ask(proof())).headers).toMatchObject({ 'DPoP-Nonce': 'the next one' });
    expect(steps).toEqual(['authenticated', 'nonce', ...offered(THUMBPRINT), 'proof claimed', ...ending]);
  });

  test('is claimed before what was kept is given to whoever sends it', async () => {
    const { ask, steps } = start({ dpop: 'on', kept: 'spent' });
    const text = proof();
    expect(bodyOf(await ask(text))).toMatchObject({ access_token: 'kept' });
    expect(steps).toEqual(['authenticated', offered(THUMBPRINT)[0], 'proof claimed', ...ending]);
    await expect(ask(text)).rejects.toMatchObject({ code: 'invalid_dpop_proof' });
  });

  test('of a client of the profile is signed as the profile allows, of any other as the server does', async () => {
    expect((await start({ dpop: 'on' }).ask(proof('RS256'))).status).toBe(200);
    const { ask, steps } = start({ dpop: 'on', governs: true });
    expect((await ask(proof('ES256'))).status).toBe(200);
    expect((await ask()).status).toBe(200);
    steps.length = 0;
    await expect(ask(proof('RS256'))).rejects.toMatchObject({ code: 'invalid_dpop_proof' });
    expect(steps).toEqual(['authenticated']);
  });
});
