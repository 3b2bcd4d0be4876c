import { describe, expect, test } from 'vitest';
import { OAuthError } from '../errors.ts';
import type { AssertionGrant } from '../grants/assertion-grant.ts';
import { createParameters } from '../parameters.ts';
import {
  ANSWER,
  bodyOf,
  ending,
  offered,
  startTokenEndpoint,
  type Started,
} from '../../../../test/support/token-endpoint.ts';

const start = (started: Started = {}) => startTokenEndpoint(started);

describe('a token request', () => {
  test('is processed by its grant, for the authenticated client', async () => {
    const { ask, steps } = start();
    const reply = await ask();
    expect([reply.status, bodyOf(reply)]).toEqual([200, ANSWER]);
    expect(reply.headers).toMatchObject({ 'Cache-Control': 'no-store' });
    expect(steps).toEqual(['authenticated', ...offered(null), ...ending]);
  });

  test('is answered after the use of the client is recorded, if it has to be recorded', async () => {
    const { ask, steps } = start({ notes: true });
    await ask();
    expect(steps.slice(-3)).toEqual([['noted', 'notebook'], 'written down', 'pruned']);
  });

  test.each([
    [{ grant_type: 'password' }, 'unsupported_grant_type', 'the grant_type is "password"'],
    [{ code: 'c' }, 'invalid_request', null],
  ])(
    'with an unknown grant, %j, is refused without any further step',
    async (form, code, detail) => {
      const { ask, steps } = start();
      const asked = ask(form);
      await expect(asked).rejects.toBeInstanceOf(OAuthError);
      await expect(asked).rejects.toMatchObject({ code, detail });
      expect(steps).toEqual(['authenticated']);
    },
  );

  test('of a client that fails to authenticate is refused without any further step', async () => {
    const { ask, steps, state } = start();
    state.problem = new OAuthError('invalid_client', 'No.', 'none');
    await expect(ask()).rejects.toBe(state.problem);
    expect(steps).toEqual(['authenticated']);
  });

  test('whose response was lost gets the stored one, and no new tokens are issued', async () => {
    const { ask, steps } = start({ kept: 'spent' });
    expect(bodyOf(await ask())).toEqual({ ...ANSWER, access_token: 'kept' });
    expect(steps).toEqual(['authenticated', offered(null)[0], ...ending]);
  });

  test('whose response was lost before anything was used is processed like any other', async () => {
    const { ask, steps } = start({ kept: 'not spent' });
    expect(bodyOf(await ask())).toEqual(ANSWER);
    expect(steps).toEqual(['authenticated', ...offered(null), ...ending]);
  });

  describe('whose assertion identifies the client', () => {
    const CODE = { grant_type: 'authorization_code', code: 'of the assertion' };
    const assertionGrant: AssertionGrant = (_, form) =>
      form.has('assertion') ? createParameters(new URLSearchParams(CODE)) : null;

    // @shows AS-54.8
    test('is processed as if the client had authenticated with the assertion', async () => {
      const { ask, steps } = start({ assertionGrant });
      await ask({ grant_type: 'other', assertion: 'a' });
      expect(steps).toContainEqual(['granted', 'notebook', 'of the assertion', null]);
      steps.length = 0;
      await ask();
      expect(steps).toEqual(['authenticated', ...offered(null), ...ending]);
    });

    // @shows AS-54.8
    test('is invalid_grant if the assertion identifies no client, and keeps any other error', async () => {
      const { ask, state } = start({ assertionGrant });
      state.problem = new OAuthError('invalid_client', 'No.', 'why');
      const expected = { code: 'invalid_grant', detail: 'why' };
      await expect(ask({ assertion: 'a' })).rejects.toMatchObject(expected);
      await expect(ask()).rejects.toBe(state.problem);
      for (const other of [new OAuthError('invalid_request', 'No.'), new Error('A fault')]) {
        state.problem = other;
        await expect(ask({ assertion: 'a' })).rejects.toBe(other);
      }
    });
  });
});
