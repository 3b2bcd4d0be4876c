// @engines sqlite: nothing is stored
import { describe, expect, test } from 'vitest';
import {
  readKeyId,
  requireAudience,
  requireHeader,
  requireTenant,
  requireText,
  requireTimes,
  requireWorkloadClaims,
  requireWorkloadHeader,
  requireWorkloadTimes,
} from './checks.ts';
import type { TrustedIssuer } from './trusted-issuer.ts';

const NOW = 1_800_000_000;
const A_DAY = 86_400;
const ISSUER: TrustedIssuer = {
  issuer: 'https://idp.example',
  keys: { file: '/keys.json' },
  algorithms: ['ES256'],
  asserts: ['people', 'clients'],
  tenant: null,
  clockTolerance: 30,
  maximumAge: 300,
};

describe('the header of an assertion', () => {
  test('has exactly the expected typ', () => {
    expect(() => requireHeader({ typ: 'expected+jwt' }, 'expected+jwt')).not.toThrow();
    for (const typ of [undefined, null, '', 'JWT', 'Expected+jwt', ['expected+jwt']])
      expect(() => requireHeader({ typ }, 'expected+jwt')).toThrow('its typ is not expected+jwt');
  });

  test.each(['jwk', 'jku', 'x5u', 'x5c'])('has no %s, not even an empty one', (name) => {
    const problem = `its header has ${name}, which is not accepted`;
    for (const value of ['x', undefined]) {
      expect(() => requireHeader({ typ: 'a', [name]: value }, 'a')).toThrow(problem);
      expect(() => requireWorkloadHeader({ [name]: value })).toThrow(problem);
    }
  });

  test('has any spelling of a typ of workloads, or no typ', () => {
    for (const typ of [
      undefined,
      'JWT',
      'jwt',
      'JOSE',
      'application/jwt',
      'Application/JOSE',
      'client-authentication+jwt',
    ])
      expect(() => requireWorkloadHeader({ typ })).not.toThrow();
  });

  test.each([
    'at+jwt',
    'logout+jwt',
    'dpop+jwt',
    '',
    'application/',
    'application/application/jwt',
    'x-application/jwt',
    'jwt ',
    'jwtapplication/',
    null,
    1,
    ['jwt'],
    {},
  ])('does not have the typ %j if the assertion is about a workload', (typ) => {
    expect(() => requireWorkloadHeader({ typ })).toThrow(
      'its typ belongs to another kind of token',
    );
  });

  test('can name a key, only as a string', () => {
    expect([readKeyId({}), readKeyId({ kid: 'a' }), readKeyId({ kid: '' })]).toEqual([
      null,
      'a',
      '',
    ]);
    for (const kid of [null, 1, ['a'], {}])
      expect(() => readKeyId({ kid })).toThrow('its kid is not a string');
  });
});

test.each(['scope', 'scp', 'nonce', 'at_hash', 'c_hash', 'auth_time', 'events'])(
  'a token of a workload has no %s',
  (name) => {
    const problem = `it has ${name}, so it is another kind of token`;
    for (const value of ['x', null, undefined])
      expect(() => requireWorkloadClaims({ [name]: value })).toThrow(problem);
    expect(() => requireWorkloadClaims({ sub: name })).not.toThrow();
  },
);

describe('a text of an assertion', () => {
  test.each(['a', ' ', '\n', 'é', 'a'.repeat(255), '𝄞'])('can be %j', (text) => {
    expect(requireText({ sub: text }, 'sub')).toBe(text);
  });

  test.each([undefined, null, '', 1, true, ['a'], {}, 'a'.repeat(256), 'a\0', '\uD834'])(
    'cannot be %j',
    (value) => {
      expect(() => requireText({ sub: value }, 'sub')).toThrow(
        'its sub is missing, or not a string of at most 255 characters',
      );
    },
  );

  test('is never inherited from the prototype', () => {
    const claims = Object.create({ sub: 'a' }) as Readonly<Record<string, unknown>>;
    expect(() => requireText(claims, 'sub')).toThrow('its sub is missing');
  });
});

test('the audience is only the expected one, as a string or as the only item of a list', () => {
  const check = (aud: unknown) => () => requireAudience({ aud }, 'https://app.example');
  for (const aud of ['https://app.example', ['https://app.example']])
    expect(check(aud)).not.toThrow();
  for (const aud of [
    undefined,
    null,
    '',
    [],
    'https://app.example/',
    'https://other.example',
    ['https://app.example', 'https://other.example'],
    ['https://app.example', 'https://app.example'],
    ['https://other.example', 'https://app.example'],
    [['https://app.example']],
    { 0: 'https://app.example' },
  ])
    expect(check(aud)).toThrow('its aud must be only the issuer of this server');
});

test('the tenant is the configured one, or missing if none is configured', () => {
  expect(() => requireTenant({ tenant: 'one' }, 'one')).not.toThrow();
  expect(() => requireTenant({}, null)).not.toThrow();
  for (const tenant of ['one', '', null, 0])
    expect(() => requireTenant({ tenant }, null)).toThrow(
      'it has a tenant, but no tenant is configured for its issuer',
    );
  for (const tenant of [undefined, null, '', 'One', ['one']])
    expect(() => requireTenant({ tenant }, 'one')).toThrow(
      'its tenant is missing, or not the configured one',
    );
});

const NO_TIMES = [null, '1', -1, Number.NaN, Number.POSITIVE_INFINITY, [NOW]];

describe('the times of an assertion', () => {
  const check = (claims: Readonly<Record<string, unknown>>, leastAhead?: number) => () =>
    requireTimes({ iat: NOW, exp: NOW + 60, ...claims }, ISSUER, NOW, leastAhead);

  test.each(NO_TIMES)('cannot be %j', (value) => {
    expect(check({ exp: value })).toThrow('its exp is missing, or not a time');
    expect(check({ iat: value })).toThrow('its iat is missing, or not a time');
    expect(check({ nbf: value })).toThrow('its nbf is in the future, or not a time');
  });

  test('can only leave out nbf', () => {
    expect(check({ nbf: undefined })).not.toThrow();
    expect(check({ exp: undefined })).toThrow('its exp is missing, or not a time');
    expect(check({ iat: undefined })).toThrow('its iat is missing, or not a time');
  });

  test('the expiry is rounded up to a whole second', () => {
    expect([check({})(), check({ exp: NOW + 59.1 })()]).toEqual([NOW + 60, NOW + 60]);
  });

  test('it can have expired within the tolerance', () => {
    expect(check({ iat: NOW - 100, exp: NOW - 29 })).not.toThrow();
    expect(check({ iat: NOW - 100, exp: NOW - 30 })).toThrow('it has expired');
  });

  test('it can be issued and begin ahead within the tolerance', () => {
    expect(check({ iat: NOW + 30, nbf: NOW + 30 })).not.toThrow();
    expect(check({ iat: NOW + 31 })).toThrow('its iat is in the future');
    expect(check({ nbf: NOW + 31 })).toThrow('its nbf is in the future, or not a time');
    expect(check({ nbf: 0 })).not.toThrow();
  });

  test('it can be further ahead if the profile says so, but never less', () => {
    expect(check({ iat: NOW + 59, nbf: NOW + 60 }, 60)).not.toThrow();
    expect(check({ iat: NOW + 61, exp: NOW + 90 }, 60)).toThrow('its iat is in the future');
    expect(check({ nbf: NOW + 61 }, 60)).toThrow('its nbf is in the future');
    expect(check({ iat: NOW + 30, nbf: NOW + 30 }, 10)).not.toThrow();
  });

  test('it is not older than the maximum age', () => {
    expect(check({ iat: NOW - 329 })).not.toThrow();
    expect(check({ iat: NOW - 330 })).toThrow('its iat is more than 300 seconds ago');
  });

  test('it expires after it was issued, and at most a day later', () => {
    expect(check({ iat: NOW + 10, exp: NOW + 11 })).not.toThrow();
    expect(check({ iat: NOW + 10, exp: NOW + 10 })).toThrow('its exp is not after its iat');
    expect(check({ exp: NOW + A_DAY })).not.toThrow();
    expect(check({ exp: NOW + A_DAY + 1 })).toThrow(
      'its exp is more than 86400 seconds after its iat',
    );
  });
});

describe('the times of a token of a workload', () => {
  const check = (claims: Readonly<Record<string, unknown>>) => () =>
    requireWorkloadTimes(claims, ISSUER, NOW);

  test('follow the same rules if it has an iat', () => {
    expect(check({ iat: NOW, exp: NOW + A_DAY })).not.toThrow();
    expect(check({ iat: NOW - 330, exp: NOW + 60 })).toThrow('its iat is more than 300');
    expect(check({ iat: undefined, exp: NOW + 60 })).toThrow('its iat is missing, or not a time');
  });

  test('end within the maximum age from now if it has no iat', () => {
    expect(check({ exp: NOW + 330 })).not.toThrow();
    expect(check({ exp: NOW + 331 })).toThrow(
      'its exp is more than 300 seconds ahead, and it has no iat',
    );
    expect(check({ exp: NOW - 29 })).not.toThrow();
    expect(check({ exp: NOW - 30 })).toThrow('it has expired');
  });

  test('do not begin further ahead than the tolerance', () => {
    expect(check({ exp: NOW + 60, nbf: NOW + 30 })).not.toThrow();
    expect(check({ exp: NOW + 60, nbf: NOW + 31 })).toThrow('its nbf is in the future');
  });
});
