import { describe, expect, test } from 'vitest';
import { newKey } from '../../../../../test/support/assertions.ts';
import { jktOf } from '../../../../../test/support/dpop.ts';
import { proofFor } from '../../../../../test/support/proofs.ts';
import { noteRequestLine } from '../../http/request-line.ts';
import type { Server } from '../../server.ts';
import type { BoundToken } from '../../tokens/key-binding.ts';
import { Dpop } from './dpop.ts';
import { ResourceProofs } from './resource-proofs.ts';

const TOKEN = 'an access token';
const key = newKey('ES256');
const thumbprint = jktOf(key);
const found: BoundToken = { thumbprint, clientProfile: null };

/** Returns the checks of a server at `/app`, of which a proxy removes `/app`. */
function start({ algorithms }: { readonly algorithms?: readonly string[] } = {}) {
  const claims: string[] = [];
  const server = {
    clock: Date.now,
    basePath: '/app/oauth',
    mountPath: '/oauth',
    origin: 'https://api.example',
    profiles: {
      servers: null,
      named: (name: string | null) =>
        algorithms === undefined || name !== 'strict' ? null : { algorithms },
    },
    singleUses: {
      async claim(_kind: string, use: readonly string[]) {
        const isNew = !claims.includes(use.join());
        claims.push(use.join());
        return isNew;
      },
    },
  } as unknown as Server;
  const proofs = new ResourceProofs(server, new Dpop(server, null));
  const refusal = (request: Request | undefined, bound: BoundToken = found) =>
    proofs.refusal(request === undefined ? undefined : () => request, TOKEN, bound);
  return { refusal, claims, proofs };
}

function request(proof: string | null, url = 'http://127.0.0.1/notes?page=2') {
  return new Request(url, { headers: proof === null ? {} : { DPoP: proof } });
}

const good = () => proofFor(key, 'GET', 'https://api.example/app/notes', TOKEN);

const wrong = (detail: string) => ({
  code: 'invalid_dpop_proof',
  message: 'The DPoP proof is missing, or not good for this request.',
  detail,
  answer: null,
});

describe('the proof in a request with a bound token', () => {
  test('is good once, for the public URL without the query', async () => {
    const { refusal, claims } = start();
    const proof = good();
    expect(await refusal(request(proof))).toBeNull();
    expect(claims).toHaveLength(1);
    expect(await refusal(request(proof))).toEqual(wrong('DPoP proof refused: it was used before'));
  });

  test('is marked as used once, however often a server checks the same request', async () => {
    const { refusal, claims } = start();
    const asked = request(good());
    expect([await refusal(asked), await refusal(asked)]).toEqual([null, null]);
    expect(claims).toHaveLength(1);
    asked.headers.set('DPoP', good());
    expect(await refusal(asked)).toBeNull();
    expect(claims).toHaveLength(2);
  });

  test('is marked as used by each server that checks the request', async () => {
    const asked = request(good());
    const servers = [start(), start()];
    for (const { refusal } of servers) expect(await refusal(asked)).toBeNull();
    expect(servers.map(({ claims }) => claims.length)).toEqual([1, 1]);
  });

  test('is refused if another key signed it, and is then still unused', async () => {
    const { refusal, claims } = start();
    for (const other of [jktOf(newKey('ES256')), null])
      expect(await refusal(request(good()), { thumbprint: other, clientProfile: null })).toEqual({
        code: 'invalid_token',
        detail: 'the proof was signed with a different key than the one that the token is bound to',
        answer: null,
      });
    expect(claims).toEqual([]);
  });

  test('must have an algorithm of the profile of the client', async () => {
    const strict = { thumbprint, clientProfile: 'strict' };
    const { refusal, claims } = start({ algorithms: ['EdDSA'] });
    expect(await refusal(request(good()), strict)).toEqual(
      wrong('DPoP proof refused: its alg is ES256, which the profile does not allow'),
    );
    expect(claims).toEqual([]);
    expect(await refusal(request(good()))).toBeNull();
    expect(await start({ algorithms: ['ES256'] }).refusal(request(good()), strict)).toBeNull();
    expect(await start().refusal(request(good()), strict)).toBeNull();
  });

  test('must be there, in a request', async () => {
    const { refusal } = start();
    expect(await refusal(request(null))).toEqual(wrong('there is no DPoP header'));
    expect(await refusal(undefined)).toEqual(
      wrong('lookUpToken() was called without a request; pass the request that contains the proof'),
    );
    expect(await refusal(request('no proof'))).toMatchObject({ code: 'invalid_dpop_proof' });
  });

  test.each(['notes', '*', '?notes', '/notes/../secrets', '/notes/%2e%2e/secrets'])(
    'is refused for the target %s, even if it names that URL',
    async (target) => {
      const { refusal } = start();
      const url = `https://api.example/app${target}`;
      const asked = request(proofFor(key, 'GET', url, TOKEN));
      noteRequestLine(asked, { method: 'GET', target });
      expect(await refusal(asked)).toEqual(
        wrong('the path of the request is not correctly percent-encoded'),
      );
    },
  );

  test('is compared with the line that the client sent', async () => {
    const { refusal } = start();
    const asked = request(proofFor(key, 'PUT', 'https://api.example/app/first', TOKEN));
    noteRequestLine(asked, { method: 'PUT', target: '/first?page=2' });
    expect(await refusal(asked)).toBeNull();
  });

  test('is not blamed for an internal error', async () => {
    const fault = new TypeError('a fault');
    const { proofs } = start();
    const asked = request(good());
    Object.defineProperty(asked, 'headers', {
      get() {
        throw fault;
      },
    });
    await expect(proofs.refusal(() => asked, TOKEN, found)).rejects.toBe(fault);
  });
});
