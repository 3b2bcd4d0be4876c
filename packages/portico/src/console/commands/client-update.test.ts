import { describe, expect, test } from 'vitest';
import { RegistrationError } from '../../errors.ts';
import { clientMetadata } from './client-metadata.ts';
import { addClientUpdate } from './client-update.ts';
import {
  answering,
  BY,
  CHOICES,
  client,
  DEMANDS,
} from '../../../../../test/support/client-commands.ts';
import { runCommand } from './run-command.fixture.ts';

describe('oauth:client:update', () => {
  async function updated(answer: unknown, ...options: string[]) {
    const { asked, server } = answering('update', answer);
    const add = addClientUpdate(CHOICES);
    return { ...(await runCommand(add, server, 'oauth:client:update', 'id', ...options)), asked };
  }
  const SAME = { client: client(), changes: {} };

  test('passes each option', async () => {
    const { asked, noted } = await updated(
      SAME,
      '--name=New',
      '--add-redirect-uri=https://a.example',
      '--remove-redirect-uri=https://b.example',
      '--allow-scheme=cursor',
      '--add-scope=a,b',
      '--remove-scope=c',
      '--add-grant=refresh_token',
      '--remove-grant=client_credentials',
      '--site=https://site.example',
      '--logo=https://site.example/logo.png',
      '--jwks=https://site.example/keys',
      '--jwks-alg=EdDSA',
      '--uri=',
      '--no-trusted',
    );
    expect(asked).toEqual([
      [
        'id',
        {
          name: 'New',
          addRedirectUris: ['https://a.example'],
          removeRedirectUris: ['https://b.example'],
          allowedSchemes: ['cursor'],
          addScopes: ['a', 'b'],
          removeScopes: ['c'],
          addGrants: ['refresh_token'],
          removeGrants: ['client_credentials'],
          siteUri: 'https://site.example',
          logoUri: 'https://site.example/logo.png',
          jwksUri: 'https://site.example/keys',
          tokenEndpointAuthSigningAlg: 'EdDSA',
          metadata: { uris: [], trusted: [] },
        },
        BY,
      ],
    ]);
    expect(noted[0]).toMatch(/register cursor: and/);
    for (const [option, changes] of [
      ['--remove-site', { siteUri: null }],
      ['--remove-logo', { logo: null }],
      ['--name=New', { name: 'New' }],
    ] as const)
      expect((await updated(SAME, option)).asked).toEqual([['id', changes, BY]]);
  });

  test.each([
    [[], 'No changes given. Add an option such as --name or --remove-scope; see --help'],
    [['--json'], 'No changes given'],
    [['--jwks=/missing.json'], 'The key set /missing.json cannot be read'],
    [['--logo=/missing.png'], 'The logo /missing.png cannot be read'],
  ])('refuses the options %j', async (options, says) => {
    expect(await updated(SAME, ...options)).toMatchObject({
      failed: expect.stringContaining(says) as string,
      printed: [],
      asked: [],
    });
  });

  test('ends with the reason if the change is refused', async () => {
    expect(await updated(new RegistrationError('It is revoked'), '--name=a')).toMatchObject({
      failed: 'It is revoked',
      printed: [],
    });
  });

  test('prints each value before and after', async () => {
    const changes = {
      client_name: { before: 'Old', after: 'New "app"' },
      redirect_uris: { before: ['a', 'b'], after: [] },
      client_uri: { before: null, after: 'https://site.example' },
      grant_types: { before: '', after: ['c'] },
    };
    expect(await updated({ client: client(), changes }, '--name=New')).toMatchObject({
      printed: [
        `Changed the client id:
  client_name: "Old" → "New \\u{22}app\\u{22}"
  redirect_uris: "a", "b" → none
  client_uri: none → "https://site.example"
  grant_types: none → "c"`,
      ],
      noted: [],
    });
    expect(await updated(SAME, '--name=Old')).toMatchObject({
      printed: [],
      noted: ['Nothing was changed: the client id already has these values.'],
    });
  });

  test('with --json prints the client and the changes', async () => {
    const changes = { client_name: { before: 'Old', after: 'New' } };
    const answer = { client: client(), changes };
    expect((await updated(answer, '--name=New', '--uri=a', '--json')).printed).toEqual([
      { ...clientMetadata(client(), DEMANDS), uris: ['a'], changes },
    ]);
    expect((await updated(SAME, '--name=New', '--json')).printed).toEqual([
      { ...clientMetadata(client(), DEMANDS), changes: {} },
    ]);
  });
});
