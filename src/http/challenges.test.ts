import { describe, expect, test } from 'vitest';
import { bearerChallenge, challenges, dpopMetadata, dpopRefusal } from './challenges.ts';

const OFFER = { required: false, algorithms: ['PS256', 'ES256'] };
const REFUSED = { realm: 'oauth', error: 'invalid_token', error_description: 'It is none.', scope: 'a b' };

describe('a challenge', () => {
  test('of Bearer alone names what there is, as quoted strings', () => {
    expect(bearerChallenge({ realm: 'oauth', error: null })).toBe('Bearer realm="oauth"');
    expect(bearerChallenge({ realm: 'a"b\\c"', scope: 'a b' })).toBe(
      String.raw`Bearer realm="a\"b\\c\"", scope="a b"`,
    );
    expect(challenges(REFUSED, null)).toBe(
      'Bearer realm="oauth", error="invalid_token", error_description="It is none.", scope="a b"',
    );
  });

  test('of both schemes has the error with Bearer, in which the token came, or none did', () => {
    expect(challenges(REFUSED, dpopRefusal(OFFER, undefined))).toBe(
      'Bearer realm="oauth", error="invalid_token", error_description="It is none.", scope="a b", ' +
        'DPoP realm="oauth", scope="a b", algs="PS256 ES256"',
    );
  });

  test('is of DPoP alone where the token came in it, or has to', () => {
    const alone =
      'DPoP realm="oauth", error="invalid_token", error_description="It is none.", scope="a b", algs="PS256 ES256"';
    expect(challenges(REFUSED, dpopRefusal(OFFER, { nonce: null }))).toBe(alone);
    expect(challenges(REFUSED, dpopRefusal({ ...OFFER, required: true }, undefined))).toBe(alone);
  });
});

test('what a refusal says of DPoP: the offer, whether the token came in it, and the nonce', () => {
  expect(dpopRefusal(null, { nonce: 'n' })).toBe(null);
  expect(dpopRefusal(OFFER, undefined)).toEqual({ ...OFFER, presented: false, nonce: null });
  expect(dpopRefusal(OFFER, { nonce: null })).toEqual({ ...OFFER, presented: true, nonce: null });
  expect(dpopRefusal(OFFER, { nonce: 'n' })).toEqual({ ...OFFER, presented: true, nonce: 'n' });
});

test('the metadata of a resource name DPoP where it is offered', () => {
  expect(dpopMetadata(null)).toEqual({});
  for (const required of [false, true])
    expect(dpopMetadata({ ...OFFER, required })).toEqual({
      dpop_signing_alg_values_supported: ['PS256', 'ES256'],
      dpop_bound_access_tokens_required: required,
    });
});
