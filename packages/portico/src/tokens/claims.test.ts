import type { Log } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import type { UserInterface } from '../person.ts';
import { claimNameProblem, claimNames, Claims, type ClaimsMapper } from './claims.ts';
import { createScopeCatalog } from './scopes.ts';

const catalog = createScopeCatalog({
  team: { label: 'See your team', claims: ['roles', 'email', 'unknown'] },
  office: { label: 'See your office', claims: ['roles', 'desk'] },
});

/** Creates a person with this profile. Counts how often the profile was read. */
function person(profile: object): { readonly user: UserInterface; readonly asked: () => number } {
  let asked = 0;
  const getProfile = () => {
    asked += 1;
    return profile as ReturnType<UserInterface['getProfile']>;
  };
  const user = { reference: { provider: 'accounts', id: '1' }, isActive: () => true, getProfile };
  return { user, asked: () => asked };
}

const NO_OBJECT = '{source} returned {what} instead of an object, so it provides no claims';

function claimsOf(mapper: ClaimsMapper | undefined) {
  const warnings: (readonly [string, object | undefined])[] = [];
  const warning: Log['warning'] = (message, context) => void warnings.push([message, context]);
  const log = { warning } as Log;
  return { claims: new Claims(mapper, catalog, log), warnings };
}

describe('the claims of scopes', () => {
  // An unhandled rejection would fail the test.
  test.each([
    ['a promise', () => Promise.resolve({ email: 'a@example.com' })],
    ['a promise that is rejected', () => Promise.reject(new Error('The database is away'))],
  ])('are dropped with a warning if getProfile() returns %s', async (_, profile) => {
    const { user } = person(profile());
    const { claims, warnings } = claimsOf(undefined);
    expect(await claims.released(user, ['email'])).toEqual({});
    await claims.released(user, ['email']);
    const reason =
      'getProfile() returned a promise. Load the values in loadAccount(), and return an object';
    expect(warnings.map(([, context]) => context)).toEqual([
      { claim: 'email', reason },
      { claim: 'email_verified', reason },
    ]);
  });

  const circular: unknown[] = [];
  circular.push(circular);
  test.each<[what: string, value: unknown]>([
    ['a bigint', 1n],
    ['a bigint in an object', { desk: 1n }],
    ['an object that contains itself', circular],
    ['a function', () => 'a'],
    ['a symbol', Symbol('a')],
    ['an object whose toJSON() returns undefined', { toJSON: () => undefined }],
    [
      'an object whose toJSON() throws',
      {
        toJSON: () => {
          throw new Error('The document is closed');
        },
      },
    ],
  ])('are dropped if JSON cannot contain them: %s', async (_, value) => {
    const { claims, warnings } = claimsOf(() => ({ desk: value, email: 'a@example.com' }));
    const { user } = person({ roles: value });
    const released = await claims.released(user, ['email', 'office']);
    expect(released).toStrictEqual({ email: 'a@example.com' });
    const reason = 'JSON cannot contain its value';
    expect(warnings.map(([, context]) => context)).toEqual([
      { claim: 'roles', reason },
      { claim: 'desk', reason },
    ]);
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'text'],
  ])('are missing if the mapper returns %s, with one warning', async (what, returned) => {
    const { claims, warnings } = claimsOf(() => returned as never);
    const { user } = person({ email: 'a@example.com' });
    for (let count = 0; count < 2; count += 1)
      expect(await claims.released(user, ['email'])).toEqual({ email: 'a@example.com' });
    expect(warnings).toEqual([[NO_OBJECT, { source: 'oauth_server:claims', what }]]);
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
  ])(
    'are those of the mapper if getProfile() returns %s, with one warning',
    async (what, given) => {
      const { claims, warnings } = claimsOf(() => ({ email: 'a@example.com' }));
      const { user } = person(given as never);
      for (let count = 0; count < 2; count += 1)
        expect(await claims.released(user, ['email'])).toEqual({ email: 'a@example.com' });
      expect(warnings).toEqual([[NO_OBJECT, { source: 'getProfile()', what }]]);
    },
  );

  test('come from OpenID Connect and the configuration, each once, in the order of the scopes', () => {
    expect(
      claimNames(['openid', 'email', 'team', 'office', 'gone', 'constructor'], catalog),
    ).toEqual(['email', 'email_verified', 'roles', 'unknown', 'desk']);
    expect(claimNames(['phone', 'address'], catalog)).toEqual([
      'phone_number',
      'phone_number_verified',
      'address',
    ]);
  });

  // @shows OIDC-5.4a
  test('are those of OpenID Connect section 5.4', () => {
    const profile =
      'name family_name given_name middle_name nickname preferred_username profile picture website gender birthdate zoneinfo locale updated_at';
    expect(claimNames(['profile'], catalog)).toEqual(profile.split(' '));
    expect(claimNames(['email'], catalog)).toEqual(['email', 'email_verified']);
    expect(claimNames(['openid', 'offline_access'], catalog)).toEqual([]);
  });

  test('come from the profile, then from the mapper, without those that are null or missing', async () => {
    const { user } = person({ email: 'a@example.com', roles: null });
    const mapper = () => ({
      email: 'other',
      email_verified: false,
      roles: ['a'],
      desk: null,
      name: 'Ada',
    });
    const { claims } = claimsOf(mapper);
    expect(await claims.released(user, ['email', 'team', 'office'])).toStrictEqual({
      email: 'a@example.com',
      email_verified: false,
      roles: ['a'],
    });
    expect(await claimsOf(undefined).claims.released(user, ['email', 'team'])).toEqual({
      email: 'a@example.com',
    });
    // Inherited properties of an object are not claims.
    const inherited = Object.create({ desk: 4 }) as Readonly<Record<string, unknown>>;
    expect(await claimsOf(() => inherited).claims.released(person({}).user, ['office'])).toEqual(
      {},
    );
    expect(await claimsOf(undefined).claims.released(person(inherited).user, ['office'])).toEqual(
      {},
    );
  });

  // @shows OIDC-5.1b
  test('are left out if their text is empty, because a client could take it for an address', async () => {
    const { user } = person({ email: '', roles: [], unknown: '' });
    const { claims } = claimsOf(() => ({ email_verified: false, unknown: 'x', desk: '' }));
    expect(await claims.released(user, ['email', 'team', 'office'])).toStrictEqual({
      email_verified: false,
      roles: [],
      unknown: 'x',
    });
  });

  // @shows AS-3.10, OIDC-5.1a
  test.each([
    [true, true],
    [1, true],
    ['true', true],
    [false, false],
    [0, false],
    ['false', false],
    ['', undefined],
    [null, undefined],
  ])('are true or false if OpenID Connect says so: %j', async (given, expected) => {
    const { claims, warnings } = claimsOf(() => ({ email_verified: given }));
    const released = await claims.released(person({ email: 'a@example.com' }).user, ['email']);
    expect(released).toStrictEqual({
      email: 'a@example.com',
      ...(expected === undefined ? {} : { email_verified: expected }),
    });
    expect(warnings).toEqual([]);
  });

  // @shows AS-3.10
  test.each([2, -1, 'yes', 't', 'False', ' ', new Date(), Buffer.from([0]), [false], {}])(
    'are dropped if they are neither, but must be: %j',
    async (value) => {
      const { claims, warnings } = claimsOf(() => ({ unknown: value }));
      const { user } = person({ email_verified: value });
      expect(await claims.released(user, ['email', 'team'])).toStrictEqual({ unknown: value });
      expect(warnings.map(([, context]) => context)).toEqual([
        { claim: 'email_verified', reason: 'it is neither true nor false' },
      ]);
    },
  );

  // @shows AS-3.10, OIDC-5.1a
  test.each([
    [1_700_000_000, 1_700_000_000],
    [0, 0],
    [new Date(1_700_000_000_999), 1_700_000_000],
  ])('are a number of seconds if OpenID Connect says so: %j', async (given, expected) => {
    const { claims, warnings } = claimsOf(undefined);
    const { user } = person({ updated_at: given });
    expect(await claims.released(user, ['profile'])).toStrictEqual({ updated_at: expected });
    expect(warnings).toEqual([]);
  });

  // @shows AS-3.10
  test.each(['2026-11-30T09:00:00Z', '1700000000', Number.NaN, new Date(Number.NaN), true, {}])(
    'are dropped if they are not, but must be: %j',
    async (value) => {
      const { claims, warnings } = claimsOf(undefined);
      expect(await claims.released(person({ updated_at: value }).user, ['profile'])).toEqual({});
      expect(warnings.map(([, context]) => context)).toEqual([
        { claim: 'updated_at', reason: 'it is neither a Date nor a number of seconds' },
      ]);
    },
  );

  // @shows AS-3.10, OIDC-5.1a
  test.each(['1990-05-17', '0000-05-17', '1990', '2000-02-29', new Date(Date.UTC(1990, 4, 17))])(
    'are a calendar day if OpenID Connect says so: %j',
    async (given) => {
      const { claims, warnings } = claimsOf(undefined);
      const expected = given instanceof Date ? '1990-05-17' : given;
      const { user } = person({ birthdate: given });
      expect(await claims.released(user, ['profile'])).toStrictEqual({ birthdate: expected });
      expect(warnings).toEqual([]);
    },
  );

  // @shows AS-3.10
  test.each([
    '17.05.1990',
    '1990-5-17',
    '1990-13-01',
    '1990-05-32',
    '1990-05',
    '1990-05-17\n',
    '1990-05-17T00:00:00Z',
    1990,
    642_902_400,
    {},
    new Date(Number.NaN),
    new Date(Date.UTC(10_000, 0)),
  ])('are dropped if they are no calendar day, but must be: %j', async (value) => {
    const { claims, warnings } = claimsOf(undefined);
    expect(await claims.released(person({ birthdate: value }).user, ['profile'])).toEqual({});
    expect(warnings.map(([, context]) => context)).toEqual([
      { claim: 'birthdate', reason: 'it is neither a Date nor YYYY-MM-DD, 0000-MM-DD or YYYY' },
    ]);
  });

  test.each([Number.NaN, Infinity, new Date(Number.NaN), { toJSON: () => null }])(
    'are dropped if they would be null in JSON: %j',
    async (value) => {
      const { claims, warnings } = claimsOf(() => ({ desk: value }));
      expect(await claims.released(person({ roles: value }).user, ['office'])).toStrictEqual({});
      const reason = 'JSON cannot contain its value';
      expect(warnings.map(([, context]) => context)).toEqual([
        { claim: 'roles', reason },
        { claim: 'desk', reason },
      ]);
    },
  );

  test.each([
    ['alone', '\ud800'],
    ['in a list', ['a', '\ud800', 'b']],
    ['in an object', { a: { b: '\ud800' } }],
    ['in a name', { 'a\ud800': 1 }],
    ['in a name of a text', { 'a\ud800': 'b' }],
  ])('are dropped if a text is not well-formed Unicode: %s', async (_, value) => {
    const { claims, warnings } = claimsOf(() => ({ desk: value }));
    expect(await claims.released(person({}).user, ['office'])).toEqual({});
    expect(warnings.map(([, context]) => context)).toEqual([
      { claim: 'desk', reason: 'its text is not well-formed Unicode' },
    ]);
  });

  test('may have any other value that JSON can contain', async () => {
    for (const value of [true, false, 0, -1.5, 'é😀', ['é', 1], { 'é😀': { a: '😀', b: null } }])
      expect(
        await claimsOf(() => ({ desk: value })).claims.released(person({}).user, ['office']),
      ).toEqual({ desk: value });
  });

  test('without a value are left out, without a warning', async () => {
    const { claims, warnings } = claimsOf(() => ({ desk: undefined, roles: '' }));
    const { user } = person({ email: undefined, roles: null });
    expect(await claims.released(user, ['email', 'office'])).toStrictEqual({});
    expect(warnings).toEqual([]);
  });

  test('are not read if no scope has a claim', async () => {
    const { user, asked } = person({ email: 'a@example.com' });
    let mapped = 0;
    const { claims } = claimsOf(() => ({ roles: [(mapped += 1)] }));
    expect(await claims.released(user, ['openid', 'gone'])).toEqual({});
    expect([asked(), mapped]).toEqual([0, 0]);
    expect(await claims.released(user, ['team'])).toEqual({ roles: [1], email: 'a@example.com' });
    expect([asked(), mapped]).toEqual([1, 1]);
  });

  test('are logged once each if no scope contains them, for profile and mapper', async () => {
    const { user } = person({ name: 'Ada', phone_number: '1' });
    const { claims, warnings } = claimsOf(() => ({ roles: [], hat_size: 5, phone_number: '2' }));
    for (const scope of ['email', 'team', 'email']) await claims.released(user, [scope]);
    expect(warnings).toEqual([
      [
        'The claim {claim} is dropped: {reason}',
        {
          claim: 'phone_number',
          reason: 'the scope phone, which releases it, is not in oauth_server:scopes',
        },
      ],
      [
        'The claim {claim} is dropped: {reason}',
        {
          claim: 'hat_size',
          reason: expect.stringMatching(/^OpenID Connect defines no scope/) as string,
        },
      ],
    ]);
  });

  test('are logged for at most 100 names', async () => {
    const { user } = person({});
    let call = 0;
    const mapper = () => {
      call += 1;
      return Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${call}-${index}`, 1]));
    };
    const { claims, warnings } = claimsOf(mapper);
    for (const _ of 'abc') await claims.released(user, ['email']);
    expect(warnings).toHaveLength(100);
    expect(warnings.at(-1)?.[1]).toMatchObject({ claim: '2-39' });
  });
});

describe('the name of a configured claim', () => {
  test.each([
    ['RFC 7519', 'iss sub aud exp nbf iat jti'],
    [
      'OpenID Connect',
      'nonce auth_time acr amr azp at_hash c_hash s_hash sid sub_jwk _claim_names _claim_sources',
    ],
    ['RFC 7662', 'active scope client_id token_type'],
    [
      'RFC 7800, 8693, 8417, 9396, 9493, 9701',
      'cnf act may_act events toe txn authorization_details sub_id',
    ],
    ['other documents', 'verified_claims token_introspection error error_description error_uri'],
  ])('cannot be one that the server itself sets according to %s: %s', (_, names) => {
    for (const name of names.split(' '))
      expect([name, claimNameProblem(name)]).toEqual([
        name,
        expect.stringMatching(/^is a protocol claim/),
      ]);
  });

  test.each(['roles', 'https://portal.example/plan', '!', '~', 'x'.repeat(255)])(
    'may be %j',
    (name) => {
      expect(claimNameProblem(name)).toBe(null);
    },
  );

  test.each([
    ['', /^is not a claim name: /],
    ['a b', /^is not a claim name: /],
    [' a', /^is not a claim name: /],
    ['a ', /^is not a claim name: /],
    ['é', /^is not a claim name: /],
    ['x'.repeat(256), /^is not a claim name: /],
    ['constructor', /^is not a claim name$/],
    ['hasOwnProperty', /^is not a claim name$/],
    ['sub', /^is a protocol claim/],
    ['SUB', /^is a protocol claim/],
    ['_claim_names', /^is a protocol claim/],
    ['error_uri', /^is a protocol claim/],
  ])('cannot be %j', (name, problem) => {
    expect(claimNameProblem(name)).toMatch(problem);
  });
});
