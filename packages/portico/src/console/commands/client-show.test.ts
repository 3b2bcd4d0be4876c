import { describe, expect, test } from 'vitest';
import type { ShownClient } from '../../clients/describing.ts';
import type { Client } from '../../store/client.ts';
import { clientMetadata } from './client-metadata.ts';
import { addClientShow } from './client-show.ts';
import {
  answering,
  CHOICES,
  client,
  CREATED,
  DEMANDS,
  KEYS,
  LATER,
  WORKLOAD,
} from '../../../../../test/support/client-commands.ts';
import { runCommand } from './run-command.fixture.ts';

describe('oauth:client:show', () => {
  const SHOWN: ShownClient = {
    client: client(),
    status: 'active',
    keys: [],
    secret: { previousAcceptedUntil: null },
    scopesNotOffered: [],
    refusal: null,
    metadata: {},
  };
  async function shown(changes: Partial<ShownClient>, ...options: string[]) {
    const { asked, server } = answering('show', { ...SHOWN, ...changes });
    const add = addClientShow(CHOICES);
    const said = await runCommand(add, server, 'oauth:client:show', 'id', ...options);
    expect(asked).toEqual([['id']]);
    expect(said.noted).toEqual([]);
    return said.printed;
  }

  test('shows all that is stored', async () => {
    expect(await shown({})).toEqual([
      `id  An application  (confidential)
  status         active
  registered     2026-01-01T00:00:00.000Z by an operator
  last used      not recorded for applications that an operator registered
  grants         authorization_code, refresh_token
  scopes         openid, notes:read
  redirect       https://client.example/cb
  authenticates  by its secret; no previous secret is accepted
  ID tokens      RS256`,
    ]);
    const full = await shown({
      client: client({
        scopes: ['notes:read', 'old', 'openid'],
        dpopBoundAccessTokens: true,
        profile: 'fapi2',
        revokedAt: LATER,
      }),
      status: 'revoked',
      refusal: 'it lacks a key',
      scopesNotOffered: ['old'],
      metadata: { uris: ['a', 'b'], trusted: ['true'] },
      secret: { previousAcceptedUntil: LATER },
    });
    expect(full).toEqual([
      `id  An application  (confidential, revoked, trusted)
  status         revoked, but cannot get tokens now: it lacks a key
  registered     2026-01-01T00:00:00.000Z by an operator
  last used      not recorded for applications that an operator registered
  ended          2026-01-02T00:00:01.999Z
  grants         authorization_code, refresh_token
  scopes         notes:read, old (no longer offered), openid
  redirect       https://client.example/cb
  authenticates  by its secret; the previous secret is accepted until 2026-01-02T00:00:01.999Z
  ID tokens      RS256
  tokens         only with dpopBoundAccessTokens
  profile        fapi2
  uris           a
  uris           b`,
    ]);
    expect((await shown({ client: client({ scopes: ['notes:read'] }) }))[0]).not.toContain(
      'ID tok',
    );
  });

  test.each([
    ['registration', null, 'registered     2026-01-01T00:00:00.000Z by the application itself'],
    ['document', null, 'by the document at its id; its information is not verified'],
    ['registration', null, 'last used      never'],
    ['document', LATER, 'last used      2026-01-02T00:00:01.999Z (recorded once a day)'],
  ] as const)(
    'shows who registered it (%s) and its last use',
    async (registeredBy, usedAt, says) => {
      expect((await shown({ client: client({ registeredBy, usedAt }) }))[0]).toContain(says);
    },
  );

  test.each<[what: string, changes: Partial<Client>, secret: ShownClient['secret'], says: string]>([
    [
      'a workload',
      { keys: WORKLOAD },
      null,
      'as the workload a, with tokens from https://idp.example',
    ],
    ['stored keys', { keys: KEYS }, null, 'by its keys, stored by the server (private_key_jwt)'],
    [
      'keys with one algorithm',
      { keys: { ...KEYS, algorithm: 'ES256' } },
      null,
      'by its keys, stored by the server (private_key_jwt), only with ES256',
    ],
    [
      'keys at a URL',
      { keys: { ...KEYS, jwksUri: 'https://a.example' } },
      null,
      'by the keys that it publishes at https://a.example (private_key_jwt)',
    ],
    [
      'nothing',
      { public: true },
      null,
      'without a secret or key: it is a public client, protected by PKCE',
    ],
    [
      'a secret that expires',
      { secretExpiresAt: CREATED },
      { previousAcceptedUntil: null },
      'by its secret, which expires at 2026-01-01T00:00:00.000Z; no previous secret is accepted',
    ],
  ])('shows a client that authenticates with %s', async (_, changes, secret, says) => {
    expect((await shown({ client: client(changes), secret }))[0]).toContain(
      `\n  authenticates  ${says}\n`,
    );
  });

  test('shows each key, and quotes the id that the client chose', async () => {
    const [text] = await shown({
      keys: [
        { kid: null, kty: 'RSA', alg: null, thumbprint: 'x' },
        { kid: 'a"', kty: 'EC', alg: 'ES256', thumbprint: 'y' },
      ],
    });
    expect(text).toContain(
      '\n  key            without a kid, RSA, thumbprint x' +
        '\n  key            "a\\u{22}", EC, ES256, thumbprint y\n',
    );
  });

  test('with --json prints times in seconds', async () => {
    const given = client({ usedAt: LATER });
    const keys = [{ kid: null, kty: 'RSA', alg: null, thumbprint: 'x' }];
    const [printed] = await shown(
      {
        client: given,
        keys,
        refusal: 'a reason',
        scopesNotOffered: ['old'],
        metadata: { uris: ['a'] },
        secret: { previousAcceptedUntil: LATER },
      },
      '--json',
    );
    expect(printed).toEqual({
      ...clientMetadata(given, DEMANDS),
      uris: ['a'],
      status: 'active',
      keys,
      previous_secret_expires_at: LATER / 1000 - 0.999,
      scopes_not_offered: ['old'],
      refused_because: 'a reason',
      last_used_at: LATER / 1000 - 0.999,
    });
    const [without] = await shown({ secret: null }, '--json');
    expect(without).toMatchObject({ previous_secret_expires_at: null, last_used_at: null });
  });
});

test('the metadata of a client has the names of RFC 7591, and leaves out defaults', () => {
  expect(clientMetadata(client(), DEMANDS)).toStrictEqual({
    client_id: 'id',
    client_name: 'An application',
    application_type: 'web',
    redirect_uris: ['https://client.example/cb'],
    scope: 'openid notes:read',
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'client_secret_basic',
    registered_by: 'operator',
    client_id_issued_at: CREATED / 1000,
    previous_secret_expires_at: null,
    revoked_at: null,
  });
  const full = client({
    idTokenSignedResponseAlg: 'ES256',
    siteUri: 'https://site.example',
    logoHash: 'hash',
    profile: 'fapi2',
    createdAt: LATER,
    secretExpiresAt: LATER,
    previousSecretExpiresAt: LATER,
    revokedAt: LATER,
  });
  const seconds = LATER / 1000 - 0.999;
  expect(clientMetadata(full, DEMANDS)).toMatchObject({
    id_token_signed_response_alg: 'ES256',
    client_uri: 'https://site.example',
    logo_sha256: 'hash',
    profile: 'fapi2',
    client_id_issued_at: seconds,
    client_secret_expires_at: seconds,
    previous_secret_expires_at: seconds,
    revoked_at: seconds,
  });
});
