import { describe, expect, test } from 'vitest';
import type { Client } from '../../store/client.ts';
import { addClientCreate } from './client-create.ts';
import { clientMetadata } from './client-metadata.ts';
import {
  answering,
  BY,
  CHOICES,
  client,
  DEMANDS,
  KEYS,
  WORKLOAD,
} from '../../../../../test/support/client-commands.ts';
import { runCommand } from './run-command.fixture.ts';

describe('oauth:client:create', () => {
  async function created(
    {
      client: made = client(),
      secret = 'the secret',
      problems = [],
    }: {
      readonly client?: Client;
      readonly secret?: string | null;
      readonly problems?: readonly string[];
    },
    ...options: string[]
  ) {
    const clientKeyProblems = async () => problems;
    const { asked, server } = answering('create', { client: made, secret }, { clientKeyProblems });
    const add = addClientCreate(CHOICES);
    return {
      ...(await runCommand(add, server, 'oauth:client:create', 'My app', ...options)),
      asked,
    };
  }
  const NOTHING = {
    name: 'My app',
    redirectUris: [],
    scopes: [],
    grants: [],
    public: false,
    applicationType: 'web',
    allowedSchemes: [],
  };

  test('passes only what was chosen', async () => {
    const { asked } = await created({});
    expect(asked).toEqual([[expect.objectContaining(NOTHING), BY]]);
    const [[given]] = asked as [[object]];
    for (const name of ['profile', 'siteUri', 'idTokenSignedResponseAlg', 'metadata', 'logo'])
      expect(given).not.toHaveProperty(name);
    expect(given).not.toMatchObject({ dpopBoundAccessTokens: true });
  });

  test('passes each option', async () => {
    const { asked, noted } = await created(
      {},
      '--redirect=https://a.example',
      '--redirect=https://b.example',
      '--scope=openid,notes:read',
      '--grant=authorization_code',
      '--public',
      '--native',
      '--allow-scheme=cursor',
      '--dpop',
      '--par',
      '--uri=https://c.example',
      '--trusted',
      '--profile=fapi2',
      '--site=https://site.example',
      '--logo=https://site.example/logo.png',
      '--id-token-alg=ES256',
      '--jwks=https://site.example/keys',
      '--jwks-alg=EdDSA',
      '--workload=https://idp.example',
      '--subject=a',
    );
    expect(asked).toEqual([
      [
        {
          name: 'My app',
          redirectUris: ['https://a.example', 'https://b.example'],
          scopes: ['openid', 'notes:read'],
          grants: ['authorization_code'],
          public: true,
          applicationType: 'native',
          allowedSchemes: ['cursor'],
          dpopBoundAccessTokens: true,
          requirePushedAuthorizationRequests: true,
          metadata: { uris: ['https://c.example'], trusted: ['true'] },
          profile: 'fapi2',
          siteUri: 'https://site.example',
          logoUri: 'https://site.example/logo.png',
          idTokenSignedResponseAlg: 'ES256',
          jwksUri: 'https://site.example/keys',
          tokenEndpointAuthSigningAlg: 'EdDSA',
          workload: { issuer: 'https://idp.example', subject: 'a' },
        },
        BY,
      ],
    ]);
    expect(noted[0]).toMatch(/^Warning: any program on the device can register cursor: and/);
  });

  test.each([
    [['--workload=a'], 'Use --workload and --subject together'],
    [['--logo=/missing.png'], 'The logo /missing.png cannot be read'],
    [['--jwks=/missing.json'], 'The key set /missing.json cannot be read'],
  ])('refuses %j before it registers a client', async (options, says) => {
    expect(await created({}, ...options)).toMatchObject({
      failed: expect.stringContaining(says) as string,
      asked: [],
    });
  });

  test('prints the id and the secret, or how the client authenticates without one', async () => {
    expect(await created({})).toMatchObject({
      printed: ['client id:     id', 'client secret: the secret'],
      noted: ['Copy the secret now. It is not shown again: only its hash is stored.'],
    });
    const none = { secret: null };
    const isPublic = client({ public: true });
    expect(await created({ ...none, client: isPublic })).toMatchObject({
      printed: ['client id:     id'],
      noted: ['This client is public: it has no secret and uses PKCE.'],
    });
    const withoutCode = client({ public: true, grants: ['urn:other'] });
    expect((await created({ ...none, client: withoutCode })).noted).toEqual([
      'This client is public: it has no secret.',
    ]);
    const keyed = client({ keys: KEYS });
    const byKeys = 'This client has no secret. It authenticates with its keys (private_key_jwt).';
    expect(await created({ ...none, client: keyed })).toMatchObject({
      printed: ['client id:     id'],
      noted: [byKeys],
    });
    expect((await created({ ...none, client: keyed, problems: ['a', 'b'] })).noted).toEqual([
      byKeys,
      'Warning: some keys cannot be used: a; b.',
    ]);
    const workload = { ...none, client: client({ keys: WORKLOAD }), problems: ['a'] };
    expect(await created(workload)).toMatchObject({
      printed: ['client id:     id'],
      noted: ["This client has no secret. It authenticates with its workload's token."],
    });
  });

  test('with --json prints only JSON', async () => {
    const { printed, noted } = await created({}, '--json', '--uri=a', '--trusted');
    expect(printed).toEqual([
      {
        ...clientMetadata(client(), DEMANDS),
        uris: ['a'],
        trusted: true,
        client_secret: 'the secret',
        client_secret_expires_at: 0,
      },
    ]);
    expect(noted).toEqual([]);
    const [without] = (await created({ secret: null }, '--json')).printed;
    expect(without).toEqual(clientMetadata(client(), DEMANDS));
  });
});
