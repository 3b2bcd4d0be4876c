import { describe, expect, test } from 'vitest';
import { RegistrationError } from '../errors.ts';
import type { Server } from '../server.ts';
import type { Client, ClientKeys } from '../store/client.ts';
import { checkKeys, type NamedKeys } from './registered-keys.ts';

const ISSUER = 'https://ci.example';
const WORKLOAD = { issuer: ISSUER, subject: 'repo:a/b' };
const PLAIN = 'https://client.example/keys';
const ON_PORT = 'https://client.example:8443/keys';
const REFUSED = { name: 'RegistrationError', constructor: RegistrationError };

/** Checks keys at a server that trusts one issuer for clients, and another for people. */
function check(
  named: NamedKeys,
  before: Partial<ClientKeys> | null | 'new' = 'new',
  { isPublic = false, anyPort }: { readonly isPublic?: boolean; readonly anyPort?: boolean } = {},
) {
  const server = {
    fetching: anyPort === undefined ? {} : { anyPort },
    trustedIssuers: {
      trusts: (issuer: string, what: string) =>
        issuer === ISSUER ? what === 'clients' : what === 'people',
    },
  } as unknown as Server;
  const client = before === 'new' ? null : ({ keys: before } as Partial<Client> as Client);
  return checkKeys(named, isPublic, server, client);
}

const refusal = (says: string) => expect.objectContaining({ ...REFUSED, message: says }) as Error;

describe('the workload of a client', () => {
  const KEYS = { jwks: null, jwksUri: null, algorithm: null, workload: WORKLOAD };

  test('needs an issuer that the server trusts for clients, and a valid subject', () => {
    expect(check({ workload: WORKLOAD })).toEqual(KEYS);
    expect(() => check({ workload: { ...WORKLOAD, issuer: 'https://idp.example' } })).toThrow(
      'The issuer "https://idp.example" is not in oauth_server:trusted_issuers',
    );
    expect(() => check({ workload: { ...WORKLOAD, subject: 'a*b' } })).toThrow(
      /^The subject "a\*b" can have only one \*/,
    );
  });

  test('stays valid after the server stops trusting its issuer, but no other one becomes so', () => {
    const gone = { issuer: 'https://gone.example', subject: 'a*b' };
    expect(check({ workload: gone }, { workload: gone })).toEqual({ ...KEYS, workload: gone });
    for (const before of [
      null,
      {},
      { workload: { ...gone, issuer: ISSUER } },
      { workload: { ...gone, subject: 'other' } },
    ])
      expect(() => check({ workload: gone }, before)).toThrow(
        'The issuer "https://gone.example" is not in oauth_server:trusted_issuers',
      );
  });

  test('excludes a public client, and keys', () => {
    expect(() => check({ workload: WORKLOAD }, 'new', { isPublic: true })).toThrow(
      refusal('A workload authenticates with its token, so it cannot be public'),
    );
    for (const more of [
      { jwks: { keys: [] } },
      { jwksUri: PLAIN },
      { tokenEndpointAuthSigningAlg: 'ES256' },
    ])
      expect(() => check({ workload: WORKLOAD, ...more })).toThrow(
        refusal('The client has both a workload and keys; use only one of them to authenticate'),
      );
  });
});

describe('the URL of the keys of a client', () => {
  test('has the port of https, unless the server fetches from any port', () => {
    for (const anyPort of [undefined, false]) {
      const options = anyPort === undefined ? {} : { anyPort };
      expect(check({ jwksUri: PLAIN }, 'new', options)).toMatchObject({ jwksUri: PLAIN });
      expect(() => check({ jwksUri: ON_PORT }, 'new', options)).toThrow(RegistrationError);
    }
    expect(check({ jwksUri: ON_PORT }, 'new', { anyPort: true })).toMatchObject({
      jwksUri: ON_PORT,
    });
  });

  test('may keep a port that an earlier configuration allowed, but cannot get one', () => {
    expect(check({ jwksUri: ON_PORT }, { jwksUri: ON_PORT })).toMatchObject({ jwksUri: ON_PORT });
    for (const before of [null, { jwksUri: null }, { jwksUri: PLAIN }])
      expect(() => check({ jwksUri: ON_PORT }, before)).toThrow(RegistrationError);
  });
});

test('a registration without keys has none', () => {
  expect(check({})).toBeNull();
  expect(check({}, { jwksUri: PLAIN })).toBeNull();
});

test('a public client has no keys', () => {
  for (const named of [{ jwks: { keys: [] } }, { tokenEndpointAuthSigningAlg: 'ES256' }])
    expect(() => check(named, 'new', { isPublic: true })).toThrow(
      refusal('A client with keys authenticates with them, so it cannot be public'),
    );
});
