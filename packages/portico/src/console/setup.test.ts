import { describe, expect, test } from 'vitest';
import { profilesWith } from '../../../../test/support/profiles.ts';
import type { Acting } from '../auditing/audit.ts';
import { KeyRotationError, KeysLostError } from '../keys/signing-key.ts';
import { authorizationServerOf } from './open-server.ts';
import { hasLostKeys, setUpServer } from './setup.ts';
import type { Subject } from './subject.ts';

const ADD_CLIENT =
  "no client is registered; run npx portico oauth:client:create '<name>' --redirect=<uri> " +
  '--scope=<scope>';

/** A server with only the members that the setup reads. */
function createServer({
  algorithms = [],
  published = async () => [],
  profile = {},
  clients = async () => ({ items: [{}] }),
  arrivals = [],
  route = '/login',
}: {
  readonly algorithms?: readonly string[];
  readonly published?: () => Promise<unknown>;
  readonly profile?: object;
  readonly clients?: () => Promise<object>;
  readonly arrivals?: readonly object[];
  readonly route?: string;
} = {}) {
  const generated: unknown[] = [];
  const logged: unknown[] = [];
  const pages: unknown[] = [];
  const server = {
    profiles: profilesWith(profile),
    config: { login_route: route, key_path: '/keys' },
    host: {
      loginUrl() {
        throw new Error('No such page');
      },
      log: { warning: (...line: unknown[]) => void logged.push(line) },
    },
    arrivals,
    keys: {
      all: async () =>
        algorithms.map((algorithm, index) => ({ algorithm, kid: `${algorithm}-${index}` })),
      published,
      async generate(...given: unknown[]) {
        generated.push(given);
        return { kid: 'new' };
      },
    },
    clients: {
      page(page: unknown) {
        pages.push(page);
        return clients();
      },
    },
  } as unknown as Subject['server'];
  return { server, generated, logged, pages };
}

type Options = Parameters<typeof createServer>[0];
const APPLICATION = { hasRoute: () => false } as unknown as Subject['application'];

async function setUp(options?: Options, acting?: Acting) {
  const created = createServer(options);
  const report =
    acting === undefined
      ? await setUpServer(APPLICATION, created.server)
      : await setUpServer(APPLICATION, created.server, acting);
  return { report, ...created };
}
const lost = async () => {
  throw new KeysLostError('There are no keys', null);
};

describe('the setup of a server', () => {
  test('creates a key if there is none', async () => {
    const { report, generated, pages } = await setUp({}, { by: 'console' });
    expect(report).toEqual({ signing_key: { kid: 'new', created: true }, missing: [] });
    expect(generated).toEqual([['RS256', { by: 'console' }]]);
    expect(pages).toEqual([{ limit: 1 }]);
    expect((await setUp()).generated).toEqual([['RS256', {}]]);
  });

  test('keeps a key that it can use', async () => {
    const { report, generated } = await setUp({ algorithms: ['ES256', 'RS256', 'RS256'] });
    expect(report.signing_key).toEqual({ kid: 'RS256-1', created: false });
    expect(generated).toEqual([]);
    const other = await setUp({ algorithms: ['ES256'], published: lost });
    expect(other.report.signing_key).toEqual({ kid: 'new', created: true });
  });

  test('uses an algorithm of the profile', async () => {
    const profile = { profile: 'fapi2' };
    const { generated } = await setUp({ algorithms: ['RS256'], profile });
    expect(generated).not.toEqual([['RS256', {}]]);
    const [[algorithm]] = generated as [[string]];
    const { report } = await setUp({ algorithms: ['RS256', algorithm], profile });
    expect(report.signing_key).toEqual({ kid: `${algorithm}-1`, created: false });
  });

  test('refuses to replace lost keys', async () => {
    const { server, generated } = createServer({ published: lost });
    const error: unknown = await setUpServer(APPLICATION, server).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(KeyRotationError);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^There is no signing key in \/keys, but the server issued ID tokens before, so it had a key\. Restore .*is lost$/,
      ) as string,
    });
    expect(generated).toEqual([]);
  });

  test('reports each missing part', async () => {
    const none = async () => ({ items: [] });
    expect((await setUp({ clients: none, route: 'login' })).report.missing).toEqual([
      expect.stringMatching(
        /^oauth_server:login_route: no route is named 'login'; pass accounts to the application\./,
      ),
      ADD_CLIENT,
    ]);
    const arrivals = [{ says: 'clients register themselves' }];
    expect((await setUp({ clients: none, arrivals })).report.missing).toEqual([]);
  });

  test('reports a schema that cannot be read, and logs why', async () => {
    const error = new Error('There is no such table');
    const { report, logged } = await setUp({ clients: () => Promise.reject(error) });
    expect(report.missing).toEqual([
      'the database schema cannot be read; run npx portico db:migrate up (for details, see the log)',
    ]);
    expect(logged).toEqual([['The schema cannot be read: {exception}', { exception: error }]]);
  });
});

test('keys are lost only if the key ring says so', async () => {
  expect(await hasLostKeys(createServer().server)).toBe(false);
  expect(await hasLostKeys(createServer({ published: lost }).server)).toBe(true);
  const away = () => Promise.reject(new Error('The store is away'));
  await expect(hasLostKeys(createServer({ published: away }).server)).rejects.toThrow(
    'The store is away',
  );
});

test('an application without the plugin has no server', () => {
  const server = {};
  expect(authorizationServerOf({ services: new Map([['oauth_server', server]]) })).toBe(server);
  expect(() => authorizationServerOf({ services: new Map() })).toThrow(
    'The application has no authorization server; add oauthServer() to its plugins',
  );
});
