import { describe, expect, test } from 'vitest';
import { storedClient } from '../../../../test/support/stored-client.ts';
import { createParameters } from '../parameters.ts';
import type { UnsettledGrant } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';
import { LostAnswers } from './lost-answers.ts';

const CLIENT = storedClient('client', 0, {
  grants: ['refresh_token'],
  public: true,
  secretHash: null,
});

const response = (token: string): TokenResponse => ({
  access_token: token,
  token_type: 'Bearer',
  expires_in: 60,
  scope: 'openid',
});
const form = (parameters: string) => createParameters(new URLSearchParams(parameters));
const UNSETTLED: UnsettledGrant = {
  issued: null,
  error: new Error('away'),
  settle: async () => true,
};

function createKeeping() {
  let now = 0;
  const lostAnswers = new LostAnswers(() => now);
  return {
    passes: (seconds: number) => {
      now += seconds * 1000;
    },
    keep: (parameters: string, unsettled = UNSETTLED, answer = parameters) =>
      lostAnswers.keep(
        { client: CLIENT, form: form(parameters), thumbprint: null },
        {
          unsettled,
          answer: async () => response(answer),
          isSpentRefused: false,
        },
      ),
    ask: async (parameters: string, client = CLIENT, thumbprint: string | null = null) => {
      const found = lostAnswers.find(client, form(parameters), thumbprint);
      return found === null ? null : (await found(async () => response('another'))).access_token;
    },
  };
}

describe('a token response that could not be sent', () => {
  test('is kept for a request with the same parameters, in any order, of the same client', async () => {
    const { keep, ask } = createKeeping();
    keep('a=1&b=2');
    expect(await ask('a=1')).toBeNull();
    expect(await ask('a=1&b=2&c=3')).toBeNull();
    expect(await ask('a=1&b=2', { ...CLIENT, id: 'another' })).toBeNull();
    expect(await ask('a=1&b=2', CLIENT, 'a key')).toBeNull();
    expect(await ask('b=2&a=1')).toBe('a=1&b=2');
    expect(await ask('a=1&b=2')).toBeNull();
  });

  test('is kept with at most 999 others, and the oldest one is dropped', async () => {
    const { keep, ask } = createKeeping();
    for (let count = 0; count <= 1000; count += 1) keep(`token=${count}`);
    expect(await ask('token=0')).toBeNull();
    expect(await ask('token=1')).toBe('token=1');
    expect(await ask('token=1000')).toBe('token=1000');
  });

  test('is returned to one request, and a simultaneous one must retry', async () => {
    const { keep, ask } = createKeeping();
    const settled = Promise.withResolvers<boolean>();
    keep('token=1', { ...UNSETTLED, settle: () => settled.promise });
    const first = ask('token=1');
    await expect(ask('token=1')).rejects.toBe(UNSETTLED.error);
    settled.resolve(true);
    expect(await first).toBe('token=1');
    expect(await ask('token=1')).toBeNull();
  });

  test('is kept until the store confirms whether the request took effect', async () => {
    const { keep, ask } = createKeeping();
    const answers = [() => Promise.reject(new Error('still away')), async () => true];
    keep('token=1', {
      ...UNSETTLED,
      settle: () => answers.shift()?.() ?? Promise.resolve(false),
    });
    await expect(ask('token=1')).rejects.toThrow('still away');
    expect(await ask('token=1')).toBe('token=1');
  });

  test('is that of the request that took effect, if the same request was lost several times', async () => {
    const { keep, ask } = createKeeping();
    const not: UnsettledGrant = { ...UNSETTLED, settle: async () => false };
    for (const [first, second] of [
      [UNSETTLED, not],
      [not, UNSETTLED],
    ] as const) {
      keep('token=1', first, 'the first');
      keep('token=1', second, 'the second');
      expect(await ask('token=1')).toBe(first === UNSETTLED ? 'the first' : 'the second');
      expect(await ask('token=1')).toBeNull();
    }
    keep('token=1', not);
    keep('token=1', not);
    expect(await ask('token=1')).toBe('another');
  });

  test('is also resolved if it is lost while an earlier one is being looked up', async () => {
    const { keep, ask } = createKeeping();
    const settled = Promise.withResolvers<boolean>();
    keep('token=1', { ...UNSETTLED, settle: () => settled.promise }, 'the first');
    const asked = ask('token=1');
    keep('token=1', UNSETTLED, 'the second');
    await expect(ask('token=1')).rejects.toBe(UNSETTLED.error);
    settled.resolve(false);
    expect(await asked).toBe('the second');
  });

  test('is kept for five minutes, in whatever order the requests return', async () => {
    const { keep, ask, passes } = createKeeping();
    keep('token=1');
    keep('token=2');
    passes(299);
    keep('token=1', UNSETTLED, 'the second');
    passes(299);
    expect(await ask('token=2')).toBeNull();
    expect(await ask('token=1')).toBe('the second');
    keep('token=3');
    passes(300);
    expect(await ask('token=3')).toBeNull();
  });
});
