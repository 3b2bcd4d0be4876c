import { describe, expect, test } from 'vitest';
import { answerFields, bearerChallenge, bindingRefusal, challenges } from './challenges.ts';
import { dpopOffer } from './dpop.ts';

const OFFER = dpopOffer({ required: false, algorithms: ['PS256', 'ES256'] });
const REFUSED = {
  realm: 'oauth',
  error: 'invalid_token',
  error_description: 'It is none.',
  scope: 'a b',
};

describe('a WWW-Authenticate challenge', () => {
  test('for Bearer contains all its members, as quoted strings', () => {
    expect(bearerChallenge({ realm: 'oauth', error: null })).toBe('Bearer realm="oauth"');
    expect(bearerChallenge({ realm: 'a"b\\c"', scope: 'a b' })).toBe(
      String.raw`Bearer realm="a\"b\\c\"", scope="a b"`,
    );
    expect(challenges(REFUSED, null)).toBe(
      'Bearer realm="oauth", error="invalid_token", error_description="It is none.", scope="a b"',
    );
  });

  test('for both schemes has the error in Bearer unless the token came with DPoP', () => {
    expect(challenges(REFUSED, bindingRefusal(OFFER, undefined))).toBe(
      'Bearer realm="oauth", error="invalid_token", error_description="It is none.", scope="a b", ' +
        'DPoP realm="oauth", scope="a b", algs="PS256 ES256"',
    );
  });

  test('has only DPoP if the token came with DPoP, or must', () => {
    const alone =
      'DPoP realm="oauth", error="invalid_token", error_description="It is none.", scope="a b", algs="PS256 ES256"';
    expect(challenges(REFUSED, bindingRefusal(OFFER, { answer: null }))).toBe(alone);
    expect(challenges(REFUSED, bindingRefusal({ ...OFFER, required: true }, undefined))).toBe(
      alone,
    );
  });
});

test('a refusal contains the DPoP offer, whether the token came with DPoP, and the nonce', () => {
  expect(bindingRefusal(null, { answer: 'n' })).toBe(null);
  expect(bindingRefusal(OFFER, undefined)).toEqual({ ...OFFER, presented: false, answer: null });
  expect(bindingRefusal(OFFER, { answer: null })).toEqual({
    ...OFFER,
    presented: true,
    answer: null,
  });
  expect(bindingRefusal(OFFER, { answer: 'n' })).toEqual({
    ...OFFER,
    presented: true,
    answer: 'n',
  });
});

test('the nonce of a challenge is in its own header field, if there is one', () => {
  expect(answerFields(null)).toEqual({});
  expect(answerFields(bindingRefusal(OFFER, { answer: null }))).toEqual({});
  expect(answerFields(bindingRefusal(OFFER, { answer: 'n' }))).toEqual({ 'DPoP-Nonce': 'n' });
});

test('the metadata of a resource contains DPoP if it is offered', () => {
  for (const required of [false, true])
    expect(dpopOffer({ required, algorithms: ['PS256', 'ES256'] }).metadata).toEqual({
      dpop_signing_alg_values_supported: ['PS256', 'ES256'],
      dpop_bound_access_tokens_required: required,
    });
});
