// @engines sqlite: nothing is stored
import { describe, expect, test } from 'vitest';
import { OAuthError } from '../../errors.ts';
import type { VerifiedAssertion } from '../../keys/assertions/trusted-issuers.ts';
import { JwsError } from '../../keys/jws/compact.ts';
import type { SecurityProfile } from '../../profiles.ts';
import {
  ofClaim,
  requireAllowed,
  requireBoundKey,
  requireSupported,
  resourceOf,
  scopesOf,
  withEffect,
} from './rights.ts';

const NOW = 1_800_000_000;
const STRICT = {
  name: 'strict',
  algorithms: ['ES256', 'PS256'],
  longestAhead: 60,
} as unknown as SecurityProfile;

/** Returns the OAuthError that `work` throws. */
function refusal(work: () => unknown): { readonly code: string; readonly detail: string | null } {
  try {
    work();
  } catch (error) {
    if (error instanceof OAuthError) return { code: error.code, detail: error.detail };
    throw error;
  }
  throw new Error('It was accepted');
}

describe('a profile', () => {
  const check =
    (algorithm: string, claims: object, profile: SecurityProfile | null = STRICT) =>
    () =>
      requireAllowed({ algorithm, claims } as unknown as VerifiedAssertion, profile, NOW);

  test('allows only its algorithms', () => {
    expect(check('PS256', {})).not.toThrow();
    expect(check('RS256', {})).toThrow(
      new JwsError('its alg is RS256, which the profile strict does not allow'),
    );
  });

  test.each(['iat', 'nbf'])('limits how far ahead %s can be', (claim) => {
    expect(check('ES256', { [claim]: NOW + 60 })).not.toThrow();
    expect(check('ES256', { [claim]: NOW + 61 })).toThrow(
      new JwsError(
        `its ${claim} is more than 60 seconds ahead, which the profile strict does not allow`,
      ),
    );
  });

  test('limits nothing if the client has no profile', () => {
    expect(check('RS256', { iat: NOW + 61, nbf: NOW + 61 }, null)).not.toThrow();
  });
});

test.each(['authorization_details', 'aud_tenant', 'act'])(
  'an assertion with %s is refused, even if it is empty',
  (name) => {
    for (const value of [[], null, undefined, 'x'])
      expect(() => requireSupported({ sub: 'a', [name]: value })).toThrow(
        new JwsError(`it has ${name}, which is not supported`),
      );
    expect(() => requireSupported({ sub: name })).not.toThrow();
  },
);

describe('a refused value', () => {
  const refuse = (detail?: string) => () => {
    throw new OAuthError('invalid_scope', 'The scope is wrong.', detail);
  };

  test('is a fault of the assertion if the assertion has the claim', () => {
    expect(() => ofClaim({ scope: 'a' }, 'scope', refuse('b is unknown'))).toThrow(
      new JwsError('its scope is not accepted: b is unknown'),
    );
    expect(() => ofClaim({ scope: null }, 'scope', refuse())).toThrow(
      new JwsError('its scope is not accepted: The scope is wrong.'),
    );
  });

  test('is a fault of the request otherwise', () => {
    expect(refusal(() => ofClaim({ resource: 'a' }, 'scope', refuse('b')))).toEqual({
      code: 'invalid_scope',
      detail: 'b',
    });
  });

  test('keeps other errors, and a value that is not refused', () => {
    const fail = () => {
      throw new TypeError('a fault');
    };
    expect(() => ofClaim({ scope: 'a' }, 'scope', fail)).toThrow(new TypeError('a fault'));
    expect(ofClaim({ scope: 'a' }, 'scope', () => 'kept')).toBe('kept');
  });
});

describe('the resource', () => {
  const ONE = 'https://one.example';
  const TWO = 'https://two.example';

  test('is the default one if the assertion names none', () => {
    expect(resourceOf({}, undefined)).toBeUndefined();
    expect(resourceOf({}, undefined, ONE)).toBeUndefined();
    expect(resourceOf({}, ONE, ONE)).toBeUndefined();
    for (const standard of [undefined, null, TWO])
      expect(refusal(() => resourceOf({}, ONE, standard))).toEqual({
        code: 'invalid_target',
        detail: 'the request names a resource, but the assertion names none',
      });
  });

  test('is the one of the assertion, if it names only one', () => {
    for (const resource of [ONE, [ONE], [ONE, ONE]]) {
      expect(resourceOf({ resource }, undefined)).toBe(ONE);
      expect(resourceOf({ resource }, ONE)).toBe(ONE);
    }
  });

  test('is the one that the request chooses from several', () => {
    expect(resourceOf({ resource: [ONE, TWO] }, TWO)).toBe(TWO);
    expect(refusal(() => resourceOf({ resource: [ONE, TWO] }, undefined))).toEqual({
      code: 'invalid_target',
      detail: 'the assertion names several resources, and the request does not choose one',
    });
  });

  test('is never one that only the request names, or only the server has', () => {
    for (const resource of [ONE, [ONE], [ONE, ONE]])
      expect(refusal(() => resourceOf({ resource }, TWO, TWO))).toEqual({
        code: 'invalid_target',
        detail: 'the request names a resource that the assertion does not name',
      });
  });

  test.each([null, '', [], [''], 1, {}, [ONE, ''], [ONE, 1], [[ONE]]])(
    'of an assertion cannot be %j',
    (resource) => {
      for (const sent of [undefined, ONE])
        expect(() => resourceOf({ resource }, sent)).toThrow(
          new JwsError('its resource is neither a string nor a list of strings'),
        );
    },
  );
});

describe('the scopes', () => {
  test('are null if neither the assertion nor the request names one', () => {
    expect(scopesOf({}, undefined)).toBeNull();
  });

  test('are those of the one that names some', () => {
    expect(scopesOf({ scope: 'a  b a ' }, undefined)).toEqual(['a', 'b']);
    expect(scopesOf({}, ' a b')).toEqual(['a', 'b']);
    expect(scopesOf({}, '')).toEqual([]);
  });

  test('are those that both name', () => {
    expect(scopesOf({ scope: 'a b c' }, 'c d a')).toEqual(['c', 'a']);
    expect(refusal(() => scopesOf({ scope: 'a' }, 'b c'))).toEqual({
      code: 'invalid_scope',
      detail: 'the assertion contains none of the requested scopes: "b", "c"',
    });
    expect(refusal(() => scopesOf({ scope: 'a' }, '')).code).toBe('invalid_scope');
  });

  test('leave out those without an effect', () => {
    expect(withEffect(['openid', 'a', 'offline_access'])).toEqual(['a']);
    expect(scopesOf({ scope: 'openid a offline_access' }, undefined)).toEqual(['a']);
    expect(scopesOf({}, 'openid a offline_access')).toEqual(['a']);
    expect(refusal(() => scopesOf({ scope: 'openid' }, 'openid')).code).toBe('invalid_scope');
  });

  test.each([null, '', ' ', 1, ['a'], 'a "b"', 'a\\', 'é', 'a\nb'])(
    'of an assertion cannot be %j',
    (scope) => {
      for (const sent of [undefined, 'a'])
        expect(() => scopesOf({ scope }, sent)).toThrow(
          new JwsError('its scope is not a string that contains scopes'),
        );
    },
  );

  test('of a request that are not well formed are named', () => {
    expect(refusal(() => scopesOf({ scope: 'a' }, 'a b" c\\'))).toEqual({
      code: 'invalid_scope',
      detail: 'not well formed: "b\\u{22}", "c\\u{5c}"',
    });
  });
});

describe('a key to which the assertion is bound', () => {
  const check = (claims: object, proved: string | null) => () =>
    requireBoundKey(claims as Readonly<Record<string, unknown>>, proved);

  test('is the one that the request proves', () => {
    expect(check({ cnf: { jkt: 'one' } }, 'one')).not.toThrow();
    expect(check({ cnf: { jkt: 'one' } }, 'other')).toThrow(
      new JwsError('it is bound to another key'),
    );
    expect(check({ cnf: { jkt: 'one' } }, null)).toThrow(
      new JwsError('it is bound to a key, but the request contains no proof of that key'),
    );
  });

  test('is not necessary', () => {
    expect(check({}, null)).not.toThrow();
    expect(check({}, 'one')).not.toThrow();
  });

  test.each([
    null,
    '',
    'one',
    [],
    ['one'],
    {},
    { jkt: 1 },
    { jkt: null },
    { jwk: 'one' },
    { 'x5t#S256': 'one' },
    { jkt: 'one', 'x5t#S256': 'two' },
  ])('cannot be written as %j', (cnf) => {
    for (const proved of ['one', null])
      expect(check({ cnf }, proved)).toThrow(new JwsError('its cnf must contain only jkt'));
  });
});
