import { describe, expect, test } from 'vitest';
import { OAuthError } from '../errors.ts';
import type { GrantHandler } from '../grants/grant.ts';
import type { Client } from '../store/client.ts';
import { createTokenEndpoint, type TokenEndpointOptions } from './token.ts';

const URL_OF_IT = 'https://portal.example/oauth/token';
const CLIENT = { id: 'notebook' } as Client;
const ANSWER = { access_token: 'secret', token_type: 'Bearer', expires_in: 60, scope: 'notes:read' } as const;

interface Server {
  /** Whether the same request stayed unanswered before; and whether what it offered was spent then. */
  readonly kept?: 'spent' | 'not spent';
  /** Whether the use of a client is written down, and has to be waited for. */
  readonly notes?: boolean;
}

/** An endpoint with one grant, and what became of each part of a request, in its order. */
function start({ kept, notes = false }: Server = {}) {
  const steps: unknown[] = [];
  const state = { problem: null as Error | null };
  const grant: GrantHandler = async (client, form, proved) => {
    steps.push(['granted', client.id, form.get('code') ?? null, proved?.thumbprint ?? null]);
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
    binding: null,
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
    ask: (form: Readonly<Record<string, string>> = { grant_type: 'authorization_code', code: 'c' }) =>
      endpoint(new Request(URL_OF_IT, { method: 'POST', body: new URLSearchParams(form) })),
  };
}

const bodyOf = ({ body }: { readonly body: string | Uint8Array | null }): unknown => JSON.parse(String(body));
const offered = [
  ['looked for', 'notebook', 'c', null],
  ['granted', 'notebook', 'c', null],
];
const ending = [['noted', 'notebook'], 'pruned'];

describe('a token request', () => {
  test('is answered by the grant that it names, for the client that proved itself', async () => {
    const { ask, steps } = start();
    const reply = await ask();
    expect([reply.status, bodyOf(reply)]).toEqual([200, ANSWER]);
    expect(reply.headers).toMatchObject({ 'Cache-Control': 'no-store' });
    expect(steps).toEqual(['authenticated', ...offered, ...ending]);
  });

  test('is answered once its use is written down, where it is', async () => {
    const { ask, steps } = start({ notes: true });
    await ask();
    expect(steps.slice(-3)).toEqual([['noted', 'notebook'], 'written down', 'pruned']);
  });

  test.each([
    [{ grant_type: 'password' }, 'unsupported_grant_type', 'the grant_type is "password"'],
    [{ code: 'c' }, 'invalid_request', null],
  ])('for no grant that there is, %j, is refused, and nothing more is done', async (form, code, detail) => {
    const { ask, steps } = start();
    const asked = ask(form);
    await expect(asked).rejects.toBeInstanceOf(OAuthError);
    await expect(asked).rejects.toMatchObject({ code, detail });
    expect(steps).toEqual(['authenticated']);
  });

  test('of a client that does not prove itself is refused, and nothing more is done', async () => {
    const { ask, steps, state } = start();
    state.problem = new OAuthError('invalid_client', 'No.', 'none');
    await expect(ask()).rejects.toBe(state.problem);
    expect(steps).toEqual(['authenticated']);
  });

  test('that stayed unanswered is answered with what was kept, and nothing is issued again', async () => {
    const { ask, steps } = start({ kept: 'spent' });
    expect(bodyOf(await ask())).toEqual({ ...ANSWER, access_token: 'kept' });
    expect(steps).toEqual(['authenticated', offered[0], ...ending]);
  });

  test('that stayed unanswered, and spent nothing, is answered as any other', async () => {
    const { ask, steps } = start({ kept: 'not spent' });
    expect(bodyOf(await ask())).toEqual(ANSWER);
    expect(steps).toEqual(['authenticated', ...offered, ...ending]);
  });
});
