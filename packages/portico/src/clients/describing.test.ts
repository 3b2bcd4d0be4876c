import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { jwkThumbprint } from '../keys/jws/dpop-proof.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import { createScopeCatalog } from '../tokens/scopes.ts';
import { describeClient, describeKeys } from './describing.ts';
import { readKeySet } from './key-sets.ts';

const NOW = 1_800_000_000_000;
const scopes = createScopeCatalog({ 'notes:read': 'Read notes' });
const [one, other] = [
  generateKeyPairSync('ed25519'),
  generateKeyPairSync('ec', { namedCurve: 'P-256' }),
].map(({ publicKey }) => publicKey.export({ format: 'jwk' }));

const clientWith = (changes: Partial<Client> = {}) =>
  ({
    id: 'notebook',
    scopes: ['notes:read'],
    registeredBy: 'operator',
    public: false,
    keys: null,
    secretHash: 'hash',
    previousSecretHash: 'hash of before',
    previousSecretExpiresAt: null,
    revokedAt: null,
    ...changes,
  }) as Client;

const described = (changes: Partial<Client> = {}, refusal: string | null = null) =>
  describeClient(clientWith(changes), {
    scopes,
    profiles: { refusal: () => refusal },
    clock: () => NOW,
  } as unknown as Server);

test('a client is shown without the hashes of its secrets', () => {
  const { secretHash: _, previousSecretHash: __, ...client } = clientWith();
  expect(described()).toStrictEqual({
    client,
    status: 'active',
    keys: [],
    secret: { previousAcceptedUntil: null },
    scopesNotOffered: [],
    refusal: null,
  });
});

test('the status of a client is active, revoked or blocked, and a refusal is shown only if active', () => {
  expect(described({ registeredBy: 'document' }, 'why')).toMatchObject({
    status: 'active',
    refusal: 'why',
  });
  expect(described({ revokedAt: NOW }, 'why')).toMatchObject({ status: 'revoked', refusal: null });
  const blocked = described({ revokedAt: NOW, registeredBy: 'document' }, 'why');
  expect(blocked).toMatchObject({ status: 'blocked', refusal: null });
});

test.each<[Partial<Client>, number | null | 'no secret']>([
  [{ previousSecretExpiresAt: NOW + 1 }, NOW + 1],
  [{ previousSecretExpiresAt: NOW }, null],
  [{ previousSecretExpiresAt: NOW + 1, revokedAt: NOW }, null],
  [{ public: true }, 'no secret'],
  [{ keys: { jwks: null, jwksUri: 'https://client.example/keys', algorithm: null } }, 'no secret'],
])(
  'the description of a client with %j contains the expiry of its previous secret',
  (changes, until) => {
    expect(described(changes).secret).toEqual(
      until === 'no secret' ? null : { previousAcceptedUntil: until },
    );
  },
);

test('the description of a client lists its scopes that are not offered', () => {
  expect(described({ scopes: ['notes:read', 'notes:old', 'openid'] }).scopesNotOffered).toEqual([
    'notes:old',
  ]);
});

test('the description of a client lists its stored keys with kid, type, algorithm and thumbprint', () => {
  const set = { keys: [{ ...one, kid: 'first', alg: 'EdDSA' }, other] };
  const jwks = JSON.stringify(set);
  const thumbprints = (readKeySet(set) ?? []).map(jwkThumbprint);
  const shown = [
    { kid: 'first', kty: 'OKP', alg: 'EdDSA', thumbprint: thumbprints[0] },
    { kid: null, kty: 'EC', alg: null, thumbprint: thumbprints[1] },
  ];
  expect(described({ keys: { jwks, jwksUri: null, algorithm: null } }).keys).toEqual(shown);
  expect(describeKeys(null)).toEqual([]);
  expect(
    describeKeys({ jwks: null, jwksUri: 'https://client.example/keys', algorithm: null }),
  ).toEqual([]);
  // If the stored text is not a key set, it describes no keys.
  expect(describeKeys({ jwks: '{}', jwksUri: null, algorithm: null })).toEqual([]);
});
