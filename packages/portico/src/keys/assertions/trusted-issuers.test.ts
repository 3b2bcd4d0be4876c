// @engines sqlite: nothing is stored
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  headerOf,
  newKey,
  signed,
  type ClientKey,
} from '../../../../../test/support/assertions.ts';
import { readKeySet } from '../../clients/key-sets.ts';
import type { SingleUses } from '../../store/single-uses.ts';
import { parseJws } from '../jws/compact.ts';
import type { TrustedIssuer } from './trusted-issuer.ts';
import { TrustedIssuers } from './trusted-issuers.ts';

const NOW = 1_800_000_000;
const SERVER = 'https://app.example';
const IDP = 'https://idp.example';
const CLUSTER = 'https://cluster.example';
const DOMAIN = 'spiffe://example.org';
const TYPE = 'id-jag+jwt';
const KEY = newKey('ES256', 'one');
const CLAIMS = { iss: IDP, sub: 'ada', aud: SERVER, jti: 'a', iat: NOW, exp: NOW + 59.5 };

/** Trusts issuers whose keys are in a file. `uses` has each claim of an assertion. */
async function trust(keySet: unknown, ...settings: readonly Partial<TrustedIssuer>[]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-issuers-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'keys.json');
  await writeFile(file, JSON.stringify(keySet));
  const uses: unknown[][] = [];
  const issuers = new TrustedIssuers(
    settings.map((each) => ({
      issuer: IDP,
      keys: { file },
      algorithms: ['ES256'],
      asserts: ['people'],
      tenant: null,
      clockTolerance: 30,
      maximumAge: 300,
      ...each,
    })),
    { clock: () => NOW * 1000, allowsLoopback: false, anyPort: false },
    readKeySet,
    {
      claim: async (...asked: unknown[]) => {
        uses.push(asked);
        return uses.length === 1;
      },
    } as unknown as SingleUses,
  );
  return { issuers, uses };
}

const sign = (claims: object = {}, header: object = {}, key: ClientKey = KEY) =>
  signed(key, { ...headerOf(key), typ: TYPE, ...header }, { ...CLAIMS, ...claims });
const EXPECTED = { type: TYPE, audience: SERVER };

describe('an assertion about a person', () => {
  test('is accepted with all that it says, and its use is stored until it expires', async () => {
    const { issuers, uses } = await trust({ keys: [KEY.jwk] }, { tenant: 'one' });
    const found = await issuers.verify(sign({ tenant: 'one', more: 1 }), EXPECTED);
    expect(found).toMatchObject({
      issuer: IDP,
      tenant: 'one',
      subject: 'ada',
      algorithm: 'ES256',
      claims: { ...CLAIMS, tenant: 'one', more: 1 },
    });
    expect([uses, await found.claim(), await found.claim()]).toEqual([
      [
        ['assertion', ['issuer', IDP, 'a'], (NOW + 90) * 1000],
        ['assertion', ['issuer', IDP, 'a'], (NOW + 90) * 1000],
      ],
      true,
      false,
    ]);
  });

  test.each([
    ['its iss is missing', { iss: undefined }, {}],
    ['its iss is not in oauth_server:trusted_issuers', { iss: 'https://other.example' }, {}],
    ['its iss is not in oauth_server:trusted_issuers', { iss: 'constructor' }, {}],
    ['its typ is not id-jag+jwt', {}, { typ: 'JWT' }],
    ['its header has jwk', {}, { jwk: KEY.jwk }],
    ['its aud must be only the issuer', { aud: IDP }, {}],
    ['it has a tenant', { tenant: 'one' }, {}],
    ['its sub is missing', { sub: undefined }, {}],
    ['its jti is missing', { jti: undefined }, {}],
    ['it has expired', { exp: NOW - 30 }, {}],
    ['its iat is in the future', { iat: NOW + 31 }, {}],
    ['its kid is not a string', {}, { kid: 1 }],
    ['none of the keys of its issuer signed it', {}, { kid: 'other' }],
  ])('is refused: %s', async (problem, claims, header) => {
    const { issuers, uses } = await trust({ keys: [KEY.jwk] }, {});
    await expect(issuers.verify(sign(claims, header), EXPECTED)).rejects.toThrow(problem);
    expect(uses).toEqual([]);
  });

  test('can be further ahead if the server expects it', async () => {
    const { issuers } = await trust({ keys: [KEY.jwk] }, {});
    const ahead = sign({ iat: NOW + 50 });
    await expect(issuers.verify(ahead, EXPECTED)).rejects.toThrow('in the future');
    const found = await issuers.verify(ahead, { ...EXPECTED, leastAhead: 60 });
    expect(found.subject).toBe('ada');
  });

  test('comes only from an issuer that may assert people', async () => {
    const { issuers } = await trust({ keys: [KEY.jwk] }, { asserts: ['clients'] });
    await expect(issuers.verify(sign(), EXPECTED)).rejects.toThrow(
      'its issuer may not assert people',
    );
  });
});

describe('the signature', () => {
  test('has an algorithm that is configured for the issuer', async () => {
    const key = newKey('RS256', 'rsa');
    const { issuers } = await trust({ keys: [key.jwk] }, { algorithms: ['ES256', 'PS256'] });
    await expect(issuers.verify(sign({}, {}, key), EXPECTED)).rejects.toThrow(
      'its alg is not one of those configured for its issuer',
    );
  });

  test('is checked with each key that can fit if the header names none', async () => {
    const others = [newKey('RS256').jwk, newKey('ES256').jwk];
    const { issuers } = await trust({ keys: [...others, KEY.jwk] }, {});
    const found = await issuers.verify(sign({}, { kid: undefined }), EXPECTED);
    expect(found.subject).toBe('ada');
  });

  test('is checked with at most ten keys that can fit', async () => {
    const fitting = Array.from({ length: 10 }, () => newKey('ES256', 'same').jwk);
    const none = Array.from({ length: 3 }, () => newKey('Ed25519', 'same').jwk);
    const own = { ...KEY.jwk, kid: 'same' };
    const check = async (keys: readonly unknown[]) => {
      const { issuers } = await trust({ keys }, {});
      return issuers.verify(sign({}, { kid: 'same' }), EXPECTED);
    };
    await expect(check([...none, ...fitting, own])).rejects.toThrow('none of the keys');
    await expect(check([...none, ...fitting.slice(1), own])).resolves.toBeDefined();
  });

  test('is not valid for changed claims', async () => {
    const { issuers } = await trust({ keys: [KEY.jwk] }, {});
    const [header, , signature] = sign().split('.');
    const [, other] = sign({ sub: 'eve' }).split('.');
    const forged = [header, other, signature].join('.');
    await expect(issuers.verify(forged, EXPECTED)).rejects.toThrow('none of the keys');
  });

  test('is not accepted from a key without the id that the header names', async () => {
    const { issuers } = await trust({ keys: [{ ...KEY.jwk, kid: undefined }] }, {});
    await expect(issuers.verify(sign(), EXPECTED)).rejects.toThrow('none of the keys');
  });
});

describe('a token of a workload', () => {
  const WORKLOAD = { issuer: CLUSTER, asserts: ['clients'] } as const;
  const token = (claims: object = {}, header: object = {}) =>
    parseJws(sign({ iss: CLUSTER, jti: undefined, ...claims }, { typ: undefined, ...header }));

  test('says which workload it is, and can be used again', async () => {
    const { issuers, uses } = await trust({ keys: [KEY.jwk] }, { ...WORKLOAD, tenant: 'one' });
    const sent = token({ tenant: 'one' });
    for (let use = 0; use < 2; use += 1)
      expect(await issuers.identify(sent, CLUSTER, SERVER)).toBe('ada');
    expect(uses).toEqual([]);
  });

  test.each([
    ['its typ belongs to another kind of token', {}, { typ: TYPE }],
    ['it has scope', { scope: 'a' }, {}],
    ['its aud must be only the issuer', { aud: CLUSTER }, {}],
    ['it has a tenant', { tenant: 'one' }, {}],
    ['its sub is missing', { sub: '' }, {}],
    ['it has expired', { exp: NOW - 30 }, {}],
    ['none of the keys of its issuer signed it', {}, { kid: 'other' }],
  ])('is refused: %s', async (problem, claims, header) => {
    const { issuers } = await trust({ keys: [KEY.jwk] }, WORKLOAD);
    await expect(issuers.identify(token(claims, header), CLUSTER, SERVER)).rejects.toThrow(problem);
  });

  test('comes only from a trusted issuer that may assert clients', async () => {
    const { issuers } = await trust({ keys: [KEY.jwk] }, { issuer: CLUSTER });
    await expect(issuers.identify(token(), CLUSTER, SERVER)).rejects.toThrow(
      'its issuer may not assert clients',
    );
    await expect(issuers.identify(token(), IDP, SERVER)).rejects.toThrow(
      'its iss is not in oauth_server:trusted_issuers',
    );
  });

  test('of a trust domain is signed by a key for JWT-SVIDs', async () => {
    const check = async (bundle: unknown, issuer: string = DOMAIN) => {
      const { issuers } = await trust(bundle, { ...WORKLOAD, issuer });
      return issuers.identify(token(), issuer, SERVER);
    };
    const others = [null, { ...newKey('ES256').jwk, use: 'x509-svid' }];
    const own = { ...KEY.jwk, use: 'jwt-svid' };
    await expect(check({ keys: [...others, own] })).resolves.toBe('ada');
    for (const use of ['x509-svid', 'sig', undefined])
      await expect(check({ keys: [{ ...KEY.jwk, use }] })).rejects.toThrow('none of the keys');
    for (const bundle of [null, [], {}, { keys: null }, { keys: {} }])
      await expect(check(bundle)).rejects.toThrow('cannot be read now');
    // Other issuers publish ordinary key sets.
    await expect(check({ keys: [own] }, CLUSTER)).rejects.toThrow('none of the keys');
    await expect(check({ keys: [KEY.jwk] }, CLUSTER)).resolves.toBe('ada');
  });
});

test('each issuer is trusted only with what it may assert', async () => {
  const { issuers } = await trust(
    { keys: [] },
    { tenant: 'one' },
    { issuer: CLUSTER, asserts: ['clients'] },
  );
  expect([issuers.trustedWith('people'), issuers.trustedWith('clients')]).toEqual([
    [IDP],
    [CLUSTER],
  ]);
  expect(
    [IDP, CLUSTER, SERVER].map((issuer) => [
      issuers.trusts(issuer, 'people'),
      issuers.trusts(issuer, 'clients'),
      issuers.tenantOf(issuer),
    ]),
  ).toEqual([
    [true, false, 'one'],
    [false, true, null],
    [false, false, null],
  ]);
});
