// @engines sqlite: nothing is stored
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { trustedIssuersShape } from './config.ts';
import { trustedIssuers } from './index.ts';

const IDP = 'https://idp.example';
const DOMAIN = 'spiffe://example.org';
const SERVER = 'https://app.example';
const FILE = { jwks_file: '/keys.json', algorithms: ['RS256'], asserts: ['clients'] };
const shape = z.object(trustedIssuersShape);

const parse = (settings: object, issuer = IDP) =>
  shape.safeParse({ trusted_issuers: { [issuer]: settings } });

/** Returns the trusted issuers of valid settings. */
function described(settings: object, issuer = IDP) {
  const config = shape.parse({ trusted_issuers: { [issuer]: settings } });
  return trustedIssuers.trustedIssuers?.(config as never);
}

const problemsOf = (settings: object, issuer: string, publicUrl = SERVER) =>
  trustedIssuers.problems?.(
    shape.parse({ trusted_issuers: { [issuer]: settings } }) as never,
    publicUrl,
  );

describe('the name of an issuer', () => {
  const longest = `${IDP}/${'a'.repeat(255 - IDP.length - 1)}`;

  test.each([IDP, `${IDP}/a/b`, 'https://idp.example:8443', DOMAIN, longest])(
    'can be %s',
    (issuer) => expect(parse(FILE, issuer).success).toBe(true),
  );

  test.each([
    '',
    'http://idp.example',
    'xhttps://idp.example',
    'https://',
    'https://[',
    `${IDP}?a`,
    `${IDP}#a`,
    `${IDP}/a b`,
    `${IDP}/a\n`,
    'https://a@idp.example',
    'https://:b@idp.example',
    'https://a:b@idp.example',
    'spiffe://Example.org',
    'spiffe://example.org/a',
    `${longest}a`,
  ])('cannot be %s', (issuer) => {
    expect(parse(FILE, issuer).error?.issues).toMatchObject([
      {
        issues: [{ message: expect.stringMatching(/^must be an issuer: an https URL/) as string }],
      },
    ]);
  });
});

describe('the settings of an issuer', () => {
  test('name either a URL or a file with its keys', () => {
    const url = { jwks_uri: `${IDP}/keys` };
    const both = [
      { ...FILE, ...url },
      { ...FILE, jwks_file: undefined },
    ];
    for (const settings of both)
      expect(parse(settings).error?.issues).toMatchObject([
        { message: 'needs either jwks_uri or jwks_file' },
      ]);
    expect(parse({ ...FILE, jwks_file: 'keys.json' }).error?.issues).toMatchObject([
      { message: 'must be an absolute path' },
    ]);
    const plain = { ...FILE, jwks_file: undefined, jwks_uri: 'http://idp.example' };
    expect(parse(plain).error?.issues).toMatchObject([{ code: 'custom', message: 'is not https' }]);
  });

  test('have limits for times and the tenant', () => {
    const limits = {
      jwks_lifetime: [0, 3600],
      clock_tolerance: [0, 300],
      maximum_age: [1, 86_400],
    };
    for (const [name, [least = 0, most = 0]] of Object.entries(limits)) {
      for (const value of [least, most])
        expect(parse({ ...FILE, [name]: value }).success).toBe(true);
      expect(parse({ ...FILE, [name]: least - 1 }).error?.issues).toMatchObject([
        { message: `must be at least ${least} seconds` },
      ]);
      expect(parse({ ...FILE, [name]: most + 1 }).error?.issues).toMatchObject([
        { message: `must be at most ${most} seconds` },
      ]);
    }
    expect(parse({ ...FILE, tenant: 'a'.repeat(255) }).success).toBe(true);
    for (const tenant of ['', 'a'.repeat(256)])
      expect(parse({ ...FILE, tenant }).success).toBe(false);
  });

  test('have defaults that the guide lists', () => {
    const found = { issuer: IDP, algorithms: ['RS256'], asserts: ['clients'], tenant: null };
    const times = { clockTolerance: 30, maximumAge: 300 };
    expect(described(FILE)).toEqual([{ ...found, ...times, keys: { file: '/keys.json' } }]);
    const { jwks_file: _, ...others } = FILE;
    const url = `${IDP}/keys`;
    expect(
      described({
        ...others,
        jwks_uri: url,
        jwks_lifetime: 5,
        tenant: 'one',
        clock_tolerance: 1,
        maximum_age: 2,
      }),
    ).toEqual([
      { ...found, tenant: 'one', clockTolerance: 1, maximumAge: 2, keys: { url, lifetime: 5 } },
    ]);
  });

  test('are empty without the setting', () => {
    const none = {} as never;
    expect([
      trustedIssuers.trustedIssuers?.(none),
      trustedIssuers.problems?.(none, SERVER),
    ]).toEqual([[], []]);
  });
});

test('a server with trusted issuers stores which assertions were used', () => {
  const start = (config: object) => trustedIssuers.start?.({} as never, config as never);
  expect([start({}), start({ trusted_issuers: {} })]).toEqual([{}, {}]);
  expect(start(shape.parse({ trusted_issuers: { [IDP]: FILE } }))).toEqual({ usesOnce: true });
});

describe('an issuer is refused', () => {
  const key = (issuer: string) => `oauth_server:trusted_issuers:${issuer}`;

  test('on the origin of the server, on any path', () => {
    for (const issuer of [SERVER, `${SERVER}/idp`])
      for (const publicUrl of [SERVER, `${SERVER}/auth`])
        expect(problemsOf(FILE, issuer, publicUrl)).toEqual([
          {
            key: key(issuer),
            message: 'has the same origin as this server; use an issuer on a different origin',
          },
        ]);
    expect(problemsOf(FILE, `${SERVER}:8443`)).toEqual([]);
  });

  test('as a trust domain that asserts people', () => {
    for (const asserts of [['people'], ['clients', 'people']])
      expect(problemsOf({ ...FILE, asserts }, DOMAIN)).toEqual([
        {
          key: `${key(DOMAIN)}:asserts`,
          message: "must be ['clients'], because the issuer is a SPIFFE trust domain",
        },
      ]);
    expect(problemsOf(FILE, DOMAIN)).toEqual([]);
  });

  test('as one that asserts both people and clients', () => {
    expect(problemsOf({ ...FILE, asserts: ['people', 'clients'] }, IDP)).toEqual([
      {
        key: `${key(IDP)}:asserts`,
        message: "must be ['people'] or ['clients'], not both; use two issuers",
      },
    ]);
    for (const asserts of [['people'], ['people', 'people'], ['clients']])
      expect(problemsOf({ ...FILE, asserts }, IDP)).toEqual([]);
  });
});
