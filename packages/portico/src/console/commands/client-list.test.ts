import { describe, expect, test, vi } from 'vitest';
import { storedClient } from '../../../../../test/support/stored-client.ts';
import type { Client } from '../../store/client.ts';
import type { MetadataField } from '../../store/further-metadata.ts';
import { addClientList } from './client-list.ts';
import { clientMetadata } from './client-metadata.ts';
import {
  CHOICES,
  client,
  CREATED,
  DEMANDS,
  FIELDS,
  KEYS,
  WORKLOAD,
} from '../../../../../test/support/client-commands.ts';
import { runCommand } from './run-command.fixture.ts';

describe('oauth:client:list', () => {
  async function listed(
    clients: readonly Client[],
    {
      marked = {},
      next = null,
      fields = FIELDS,
    }: {
      readonly marked?: Readonly<Record<string, object>> | null;
      readonly next?: string | null;
      readonly fields?: readonly MetadataField[];
    } = {},
    ...options: string[]
  ) {
    const asked: unknown[] = [];
    const server = {
      demands: DEMANDS,
      clients: {
        list: async () => clients,
        async page(page: unknown) {
          asked.push(page);
          return { items: clients, next };
        },
        async metadataOf() {
          if (marked === null) throw new Error('The fields are read');
          return new Map(Object.entries(marked));
        },
      },
    };
    const add = addClientList({ ...CHOICES, fields });
    return { ...(await runCommand(add, server, 'oauth:client:list', ...options)), asked };
  }

  test('shows what each client may do', async () => {
    const until = Date.now() + 3_600_000;
    const { printed, noted } = await listed(
      [
        client(),
        storedClient('full', CREATED, {
          public: true,
          applicationType: 'native',
          scopes: [],
          grants: ['client_credentials'],
          idTokenSignedResponseAlg: 'ES256',
          keys: KEYS,
          dpopBoundAccessTokens: true,
          profile: 'fapi2',
          previousSecretExpiresAt: until,
          redirectUris: ['https://a.example', 'https://b.example'],
        }),
      ],
      { marked: { full: { trusted: ['true'], uris: ['a'] } } },
    );
    expect(noted).toEqual([]);
    expect(printed).toEqual([
      `id  An application  (confidential)
  grants     authorization_code, refresh_token
  scopes     openid, notes:read
  redirect   https://client.example/cb

full  An application  (public, native, trusted)
  grants     client_credentials
  ID tokens  ES256
  keys       stored by the server (private_key_jwt)
  tokens     with dpopBoundAccessTokens
  profile    fapi2
  rotation   open: the previous secret is accepted until ${new Date(until).toISOString()}
  redirect   https://a.example
  redirect   https://b.example`,
    ]);
  });

  test.each([
    [{ registeredBy: 'registration' }, '"An application"  (confidential, registered itself)'],
    [{ registeredBy: 'document' }, '"An application"  (confidential, a document)'],
    [{ registeredBy: 'document', revokedAt: 1 }, '(confidential, a document, blocked)'],
    [{ revokedAt: 1 }, 'An application  (confidential, revoked)'],
    [{ name: 'a\nb', registeredBy: 'registration' }, String.raw`id  "a\u{a}b"  (`],
  ] as const)('shows who registered %j, and whether it is revoked', async (changes, says) => {
    expect((await listed([client(changes)])).printed[0]).toContain(says);
  });

  test.each([
    [{ ...KEYS, algorithm: 'ES256' }, 'keys       stored by the server (private_key_jwt, ES256)'],
    [
      { ...KEYS, jwksUri: 'https://a.example/keys' },
      'keys       https://a.example/keys (private_key_jwt)',
    ],
    [WORKLOAD, 'workload   a of https://idp.example'],
  ] as const)('shows the keys %j', async (keys, says) => {
    expect((await listed([client({ keys })])).printed[0]).toContain(`\n  ${says}\n`);
  });

  test('shows an open rotation until it ends, to the millisecond', async () => {
    vi.useFakeTimers({ now: CREATED, toFake: ['Date'] });
    try {
      const rotating = (until: number, changes = {}) =>
        listed([client({ previousSecretExpiresAt: until, ...changes })]);
      expect((await rotating(CREATED + 1)).printed[0]).toContain('rotation   open');
      expect((await rotating(CREATED)).printed[0]).not.toContain('rotation');
      expect((await rotating(CREATED + 1, { revokedAt: 1 })).printed).toEqual([
        expect.stringMatching(/scopes {5}openid, notes:read\n {2}redirect {3}\S+$/),
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('says that there is no client, or no more', async () => {
    expect(await listed([])).toMatchObject({
      printed: [],
      noted: ['No application is registered. To register one, see oauth:client:create --help.'],
    });
    expect(await listed([], {}, '--after=x')).toMatchObject({
      printed: [],
      noted: ['There are no more applications.'],
    });
  });

  test('prints pages', async () => {
    expect(await listed([client()], { next: 'id' }, '--limit=1')).toMatchObject({
      printed: [expect.stringMatching(/^id {2}/)],
      noted: ['There are more. Continue with --after id'],
      asked: [{ limit: 1 }],
    });
    expect(await listed([client(), client()], {}, '--after=x')).toMatchObject({
      printed: [expect.stringMatching(/^id {2}[^]*\n\nid {2}/)],
      noted: [],
      asked: [{ after: 'x' }],
    });
    expect((await listed([client()], { next: 'id' }, '--limit=1', '--json')).printed).toEqual([
      { items: [{ ...clientMetadata(client(), DEMANDS) }], next: 'id' },
    ]);
  });

  test('with --json prints a list, with the marks that only an operator can set', async () => {
    const marked = { id: { trusted: ['true'], uris: ['a'] } };
    expect((await listed([client(), storedClient('b', 1)], { marked }, '--json')).printed).toEqual([
      [
        { ...clientMetadata(client(), DEMANDS), trusted: true },
        clientMetadata(storedClient('b', 1), DEMANDS),
      ],
    ]);
    expect((await listed([], {}, '--json')).printed).toEqual([[]]);
    const fields = FIELDS.slice(0, 1);
    expect((await listed([client()], { fields, marked: null }, '--json')).printed).toEqual([
      [clientMetadata(client(), DEMANDS)],
    ]);
    const lists = [{ name: 'tags', called: 'tag', selfRegistered: 'never' }] as never;
    expect((await listed([client()], { fields: lists }, '--json')).printed).toEqual([
      [{ ...clientMetadata(client(), DEMANDS), tags: [] }],
    ]);
  });
});
