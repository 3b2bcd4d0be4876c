import { ConfigurationError } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import { profilesWith } from '../../../../../test/support/profiles.ts';
import { storedClient } from '../../../../../test/support/stored-client.ts';
import { KeysLostError } from '../../keys/signing-key.ts';
import { openServer } from '../open-server.ts';
import { runCommand, runCommandIn } from './run-command.fixture.ts';
import { addServerDoctor } from './server-doctor.ts';
import { addServerSetup } from './server-setup.ts';

const APPLICATION = {
  database: { dialect: 'postgres', execute: async () => ({ rows: [], affected: 0 }) },
  migrations: async () => [],
};

describe('oauth:server:doctor', () => {
  const UNTIL = Date.UTC(2100, 0, 1);
  const server = {
    issuer: 'https://portal.example',
    basePath: '',
    config: { login_route: '/login', key_path: '/missing' },
    host: { log: { error: () => {} } },
    examinations: [],
    clock: () => 1,
    clients: {
      page: async () => ({
        items: [storedClient('id', 1, { name: 'Ann"s app', previousSecretExpiresAt: UNTIL })],
        next: null,
      }),
    },
  };

  test('prints each check, then the open rotations, and fails', async () => {
    const { printed, noted, failed } = await runCommandIn(
      APPLICATION,
      addServerDoctor,
      server,
      'oauth:server:doctor',
    );
    const [text] = printed as [string];
    expect(text).toMatch(
      /^ok +configuration +the issuer is https:\/\/portal\.example, from public_url\n/,
    );
    expect(text.split('\n').at(-1)).toBe(
      String.raw`open     secret rotation     "Ann\u{22}s app" (id): the previous secret is also accepted until 2100-01-01T00:00:00.000Z`,
    );
    expect(text).not.toContain('public address');
    expect(noted).toEqual([]);
    expect(failed).toMatch(/^\d+ checks fail\.$/);
  });

  test('with --online examines the public address, too', async () => {
    // Nothing listens on this port.
    const away = { ...server, issuer: 'http://127.0.0.1:1', origin: 'http://127.0.0.1:1' };
    const args = ['oauth:server:doctor', '--online'];
    const { printed } = await runCommandIn(APPLICATION, addServerDoctor, away, ...args);
    expect(printed[0]).toMatch(/\nfailing +public address +public_url: 127\.0\.0\.1:1 refuses/);
  });

  test('with --json prints only JSON', async () => {
    const args = ['oauth:server:doctor', '--json'];
    const { printed } = await runCommandIn(APPLICATION, addServerDoctor, server, ...args);
    expect(printed).toMatchObject([
      {
        healthy: false,
        checks: expect.arrayContaining([expect.objectContaining({ part: 'schema' })]) as unknown,
        open_rotations: [{ client_id: 'id', previous_secret_expires_at: UNTIL / 1000 }],
      },
    ]);
  });

  test('reports a configuration that prevents the start', async () => {
    const error = new ConfigurationError([{ key: 'public_url', message: 'is missing' }]);
    const args = ['oauth:server:doctor', '--json'];
    expect(await runCommand(addServerDoctor, error, ...args)).toMatchObject({
      printed: [
        {
          healthy: false,
          checks: [{ part: 'configuration', detail: 'public_url: is missing' }],
          open_rotations: [],
        },
      ],
      failed: 'One check fails.',
    });
    const fault = new Error('it broke');
    await expect(runCommand(addServerDoctor, fault, ...args)).rejects.toBe(fault);
  });
});

describe('oauth:server:setup', () => {
  async function setUp(
    {
      algorithms = [],
      isLost = false,
      items = [{}],
    }: {
      readonly algorithms?: readonly string[];
      readonly isLost?: boolean;
      readonly items?: readonly object[];
    },
    ...options: string[]
  ) {
    const generated: unknown[] = [];
    const server = {
      profiles: profilesWith(),
      config: { login_route: '/login', key_path: '/keys' },
      arrivals: [],
      keys: {
        all: async () => algorithms.map((algorithm) => ({ algorithm, kid: 'old' })),
        async published() {
          if (isLost) throw new KeysLostError('There are no keys', null);
        },
        async generate(...given: unknown[]) {
          generated.push(given);
          return { kid: 'new' };
        },
      },
      clients: { page: async () => ({ items }) },
    };
    const args = ['oauth:server:setup', ...options];
    return { ...(await runCommand(addServerSetup, server, ...args)), generated };
  }

  test('says what it created, and that the server is ready', async () => {
    expect(await setUp({})).toEqual({
      printed: ['Created the signing key new.', 'The authorization server is ready.'],
      noted: [],
      failed: null,
      generated: [['RS256', { by: 'console' }]],
    });
    expect((await setUp({ algorithms: ['RS256'] })).printed).toEqual([
      'The signing key old already exists.',
      'The authorization server is ready.',
    ]);
  });

  test('says what is missing', async () => {
    expect((await setUp({ items: [] })).printed).toEqual([
      'Created the signing key new.',
      expect.stringMatching(
        /^Missing: no client is registered; run npx portico oauth:client:create/,
      ),
      'Fix these problems, then run the command again.',
    ]);
    expect((await setUp({ items: [] }, '--json')).printed).toEqual([
      {
        signing_key: { kid: 'new', created: true },
        missing: [expect.stringMatching(/^no client is registered/)],
      },
    ]);
  });

  test('ends with the reason if the keys were lost', async () => {
    expect(await setUp({ isLost: true })).toMatchObject({
      printed: [],
      failed: expect.stringContaining('Restore the directory of that key') as string,
    });
  });
});

test('a command stops the outbox before it uses the server', async () => {
  let stopped = 0;
  const server = { outbox: { stop: async () => void (stopped += 1) } };
  const services = new Map([['oauth_server', server]]);
  const context = { application: async () => ({ services }) };
  expect(await openServer(context as unknown as Parameters<typeof openServer>[0])).toBe(server);
  expect(stopped).toBe(1);
});
