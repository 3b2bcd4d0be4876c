import { describe, expect, test } from 'vitest';
import { OAuthError } from '../errors.ts';
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
  test('is answered by the grant that it names, for the client that proved itself', async () => {
    const { ask, steps } = start();
    const reply = await ask();
    expect([reply.status, bodyOf(reply)]).toEqual([200, ANSWER]);
    expect(reply.headers).toMatchObject({ 'Cache-Control': 'no-store' });
    expect(steps).toEqual(['authenticated', ...offered(null), ...ending]);
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
    expect(steps).toEqual(['authenticated', offered(null)[0], ...ending]);
  });

  test('that stayed unanswered, and spent nothing, is answered as any other', async () => {
    const { ask, steps } = start({ kept: 'not spent' });
    expect(bodyOf(await ask())).toEqual(ANSWER);
    expect(steps).toEqual(['authenticated', ...offered(null), ...ending]);
  });
});
