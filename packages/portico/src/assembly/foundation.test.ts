// @engines sqlite: the database makes no difference
import { migrate, openDatabase, type Migration, type OpenedDatabase } from '@portico/sql';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { countHashesAtOnce } from '../../../../test/support/hashes-at-once.ts';
import type { OAuthServerConfig } from '../config.ts';
import { OAuthError } from '../errors.ts';
import type { Feature } from '../feature.ts';
import { systemRandom } from '../http/failed-attempts.ts';
import type { MeasuredTask, Telemetry } from '../measuring.ts';
import type { Branding } from '../pages/branding.ts';
import { Speaking } from '../pages/speaking.ts';
import { oauthServerMigrations } from '../store/migrations/index.ts';
import { configOf, HOST, NOW, optionsWith, startWith } from './authorization-server.fixture.ts';
import { assembleServer } from './authorization-server.ts';
import { branded, brandingWithoutApplication, getBranding } from './branding.ts';
import { completeHost } from './complete-host.ts';
import { OWN_DEFAULTS } from './host-defaults.ts';
import { fieldsOfFeatures, migrationsWith, sendsMessages } from './migrations.ts';

let database: OpenedDatabase;
let empty: OpenedDatabase;
beforeAll(async () => {
  database = openDatabase('sqlite::memory:', { directory: '/' });
  empty = openDatabase('sqlite::memory:', { directory: '/' });
  await migrate(database, oauthServerMigrations);
});
afterAll(() => Promise.all([database.close(), empty.close()]));

const FIELD = {
  name: 'own_field',
  called: 'own field',
  most: 1,
  problem: () => null,
} as const;
const offered = (isOffered: boolean) => [{ ...FIELD, isOffered: () => isOffered }];

describe('the parts that the features of a server share', () => {
  test('include the records of features, which replace none of the server', () => {
    const asked: unknown[] = [];
    const records = (given: unknown) => {
      asked.push(given);
      return { clients: 'replaced', own: 'a record' } as object;
    };
    const { server } = startWith(database, { feature: { records } });
    expect((server.store as unknown as Record<string, unknown>)['own']).toBe('a record');
    expect(server.store.clients).not.toBe('replaced');
    expect(asked).toEqual([database]);
  });

  test('measure the server and its store only with telemetry', async () => {
    const tasks: MeasuredTask[] = [];
    const told: unknown[] = [];
    const lines: unknown[] = [];
    const telemetry = {
      begin(task: MeasuredTask) {
        tasks.push(task);
        return { run: (work: () => unknown) => work(), end() {} };
      },
      observe: () => void told.push('observed'),
      refused: (...refused: unknown[]) => void told.push(refused),
      answered() {
        throw new Error('out of order');
      },
    } as unknown as Telemetry;
    const log = { ...HOST.log, warning: (...line: unknown[]) => void lines.push(line) };
    const { made, server } = startWith(database, {
      changes: { telemetry, host: { ...HOST, log } },
      feature: { errorCodes: ['own_code'] },
    });
    await server.store.authorizations.hasOpenidFamily();
    expect(tasks).toMatchObject([{ kind: 'store', dialect: database.dialect }]);
    for (const code of ['own_code', 'another_code'])
      made.measuring?.refused('token()', new OAuthError(code as never, 'No.'));
    expect(told).toEqual(['observed', ['token()', 'own_code'], ['token()', 'other']]);
    made.measuring?.answered('token()', 200);
    expect(lines).toHaveLength(1);
    expect(made.measuring).toBe(server.measuring);
    const plain = startWith(database);
    await plain.server.store.authorizations.hasOpenidFamily();
    expect([tasks.length, plain.made.measuring]).toEqual([1, null]);
  });

  test.each([
    ['http://localhost:3000', true, true],
    ['http://localhost:3000', false, false],
    ['http://localhost:3000', undefined, false],
    ['https://app.example', true, false],
  ])('at %s with details (%s) send requests to this computer: %s', (...given) => {
    const [publicUrl, showsDetails, allowsLoopback] = given;
    const changes = { publicUrl, ...(showsDetails === undefined ? {} : { showsDetails }) };
    const { server } = startWith(database, { changes });
    expect(server.fetching).toMatchObject({ allowsLoopback, anyPort: allowsLoopback });
    expect(server.fetching.clock()).toBe(NOW);
    const outbound = { ca: 'a certificate' } as object;
    expect(startWith(database, { changes: { outbound } }).server.fetching).toMatchObject(outbound);
  });

  test('use the clock and the random source of the system by default', () => {
    const { clock: _, ...options } = optionsWith(database);
    let server: Parameters<NonNullable<Feature['start']>>[0] | null = null;
    const own: Feature = { name: 'own', start: (started) => ((server = started), {}) };
    assembleServer({
      ...options,
      features: [own],
      host: (browsers, sessions) => completeHost(HOST, OWN_DEFAULTS, browsers, sessions),
    });
    expect(server).toMatchObject({ clock: Date.now, random: systemRandom });
    expect((server as unknown as { fetching: object }).fetching).toMatchObject({
      clock: Date.now,
    });
    const random = () => 0.5;
    expect(startWith(database, { changes: { random } }).server).toMatchObject({ random });
  });

  test('list the migrations of the server, or those of the application', async () => {
    const step: Migration = { name: 'oauth_server_own_0001_rows', up: async () => {} };
    const { server } = startWith(database, { feature: { migrations: () => [step] } });
    const [first] = oauthServerMigrations;
    const migrations = await server.migrations();
    expect(migrations.map(({ name }) => name)).toContain(first?.name);
    expect(migrations.filter(({ appliedAt }) => appliedAt === null)).toMatchObject([
      { name: step.name },
    ]);
    const own = async () => [{ name: 'of the application', appliedAt: null }];
    const changes = { migrations: own } as object;
    const other = startWith(database, { changes }).server;
    expect(await other.migrations()).toEqual([{ name: 'of the application', appliedAt: null }]);
  });

  test('have the fields, messages, languages and headings of features', async () => {
    const heading = { group: 'own', title: 'Own', holds: () => true };
    const { made, server } = startWith(database, {
      section: { languages: ['en', 'xx'] },
      feature: {
        clientMetadata: offered(true),
        sendsMessages: () => true,
        messages: { xx: async () => ({}) },
        scopeHeadings: () => [heading] as never,
        arrivals: () => [{ says: 'own', as: 'own' }],
      },
    });
    expect(server.furtherMetadata.fields).toMatchObject([{ name: 'own_field' }]);
    expect(server.outbox.isOn).toBe(true);
    expect(server.speaking.locales).toEqual(['en', 'xx']);
    expect(server.scopeHeadings.at(-1)).toBe(heading);
    expect(server.scopeHeadings.filter((each) => typeof each !== 'object')).toEqual([]);
    expect(made).toMatchObject({ admitsUnverified: true, arrivals: [{ says: 'own' }] });
    const kinds = made.expiring.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['clientMetadata', 'outboxMessages']));
    const plain = startWith(database).server;
    expect(plain.furtherMetadata.fields).toEqual([]);
    expect([plain.outbox.isOn, plain.speaking.locales]).toEqual([false, null]);
    const speaking = new Speaking();
    const given = { speaking } as object;
    expect(startWith(database, { changes: given }).server.speaking).toBe(speaking);
  });

  test('have the messages in the folder of the application', async () => {
    const messages = await mkdtemp(path.join(tmpdir(), 'portico-messages-'));
    try {
      await writeFile(path.join(messages, 'xx.json'), '{}');
      const section = { languages: true };
      const { server } = startWith(database, { section, changes: { messages } });
      expect(server.speaking.locales).toContain('xx');
    } finally {
      await rm(messages, { recursive: true });
    }
  });

  test('open what was sealed as long as a person may take to answer', async () => {
    const period = 30 * 86_400_000;
    let now = Math.ceil(NOW / period) * period - 1;
    const { server } = startWith(database, { changes: { clock: () => now } });
    const sealed = await server.sealer.seal('name', 'content');
    now += 599_000;
    expect(await server.sealer.open('name', sealed)).toBe('content');
    now += 2 * period;
    expect(await server.sealer.open('name', sealed)).toBeNull();
  });

  test('include the audience only if it is not empty', () => {
    expect(startWith(database).server.audience).toBeNull();
    const section = { audience: 'https://app.example/api' };
    expect(startWith(database, { section }).server.audience).toBe('https://app.example/api');
  });

  test('remove expired rows of features, and report the totals', async () => {
    const removed: unknown[] = [];
    const expiring = {
      kind: 'own',
      batch: 10,
      async remove(limit: number) {
        removed.push(limit);
        return { removed: 0, after: null };
      },
    };
    const { made } = startWith(database, { adds: { expiring: expiring as never } });
    expect(await made.prune()).toMatchObject({ own: 0 });
    expect(removed).toEqual([10]);
  });

  test('keep messages of the kinds that a feature delivers', async () => {
    const own = openDatabase('sqlite::memory:', { directory: '/' });
    const feature = { sendsMessages: () => true };
    try {
      await migrate(own, migrationsWith(configOf(), [{ name: 'own', ...feature }]));
      const adds = { deliveries: { own: async () => ({ outcome: 'delivered' }) as const } };
      const { server } = startWith(own, { feature, adds });
      const add = (kind: string) =>
        own.transaction((connection) =>
          server.outbox.add(connection, [
            { kind, receiver: 'a', payload: 'p', expiresAt: 2 * NOW },
          ]),
        );
      await add('own');
      await expect(add('other')).rejects.toThrow('No feature delivers messages of the kind');
      expect(await server.outbox.counts()).toMatchObject({ waiting: 1 });
    } finally {
      await own.close();
    }
  });

  test('have no keys if no ID tokens were issued, or if there are no tables', async () => {
    expect(await startWith(database).made.keys.published()).toEqual([]);
    const { made } = startWith(empty);
    expect(await made.keys.published()).toEqual([]);
    const { made: unreachable } = startWith(empty);
    const unavailable = vi.spyOn(empty, 'isUnavailable').mockReturnValue(true);
    try {
      await expect(unreachable.keys.published()).rejects.toThrow('oauth_families');
    } finally {
      unavailable.mockRestore();
    }
  });
});

describe('the branding of a server', () => {
  const CONFIG = configOf();
  const look = { view: { accent: 'green' }, logos: [] } as unknown as Branding;
  const place = { directory: '/app', basePath: '/auth', application: { own: true } };

  test('comes from the first feature that has one', () => {
    const asked: unknown[] = [];
    const without: Feature = {
      name: 'without',
      branding(...given) {
        asked.push(given);
        return null;
      },
    };
    const own: Feature = { name: 'own', branding: () => look };
    const later: Feature = { name: 'later', branding: () => ({ ...look }) };
    expect(getBranding([{ name: 'none' }, without, own, later], CONFIG, place)).toBe(look);
    expect(getBranding([{ name: 'none' }, without], CONFIG, place)).toBeNull();
    expect(brandingWithoutApplication([without, own], CONFIG, '/auth')).toBe(look);
    expect(brandingWithoutApplication([without], CONFIG, '/auth')).toBeNull();
    const alone = { directory: null, basePath: '/auth', application: {} };
    expect(asked).toEqual([place, place, alone, alone].map((each) => [CONFIG, each]));
  });

  test('with problems prevents the start', () => {
    const problems = [{ key: 'branding', message: 'is wrong' }];
    const branding = () => ({ problems });
    expect(() => brandingWithoutApplication([{ name: 'own', branding }], CONFIG, '')).toThrow(
      'branding: is wrong',
    );
  });

  test('is data of each view, which the data of the page can replace', async () => {
    const render = async (view: string, data: object) => JSON.stringify([view, data]);
    const host = { ...HOST, render } as never;
    expect(branded(host, null)).toBe(host);
    const own = branded(host, look);
    expect(own.log).toBe(HOST.log);
    expect(JSON.parse(await own.render('oauth/error', { title: 'a' }))).toEqual([
      'oauth/error',
      { branding: look.view, title: 'a' },
    ]);
    expect(JSON.parse(await own.render('oauth/error', { branding: 'own' }))).toEqual([
      'oauth/error',
      { branding: 'own' },
    ]);
    const given = { branding: look } as object;
    expect(startWith(database, { changes: given }).server.branding).toBe(look);
  });
});

describe('the migrations of a server', () => {
  const CONFIG = configOf();
  const names = (feature: Partial<Feature>, config: OAuthServerConfig = CONFIG) =>
    migrationsWith(config, [{ name: 'own', ...feature }]).map(({ name }) => name);
  const steps = (...all: readonly string[]) => ({
    migrations: () => all.map((name) => ({ name, up: async () => {} })),
  });
  const core = oauthServerMigrations.map(({ name }) => name);

  test('are its own, then those of features, then those of shared tables', () => {
    expect(names({})).toEqual(core);
    expect(migrationsWith(CONFIG).map(({ name }) => name)).toEqual(core);
    const step = 'oauth_server_own_0001_rows';
    const shared = { clientMetadata: offered(true), sendsMessages: () => true };
    const all = names({ ...steps(step), ...shared });
    expect(all.slice(0, core.length + 1)).toEqual([...core, step]);
    const rest = all.slice(core.length + 1);
    expect(rest).toEqual([
      ...names({ clientMetadata: offered(true) }).slice(core.length),
      ...names({ sendsMessages: () => true }).slice(core.length),
    ]);
    expect(rest.length).toBeGreaterThan(1);
  });

  test('depend on the settings, with those of the profile', () => {
    const demanded = { name: 'own', demanded: { code_ttl: 7 }, needs: [], isServers: () => true };
    const profile = demanded as unknown as NonNullable<Feature['profile']>;
    const migrations = ({ code_ttl: ttl }: OAuthServerConfig) =>
      steps(...(ttl === 7 ? ['oauth_server_own_0001_rows'] : [])).migrations();
    expect(names({ migrations })).toEqual(core);
    expect(names({ migrations, profile })).toEqual([...core, 'oauth_server_own_0001_rows']);
  });

  test.each([
    'own_0001_rows',
    'oauth_server_other_0001_rows',
    'oauth_server_own_001_rows',
    'oauth_server_own_00001_rows',
    'oauth_server_own_a0001_rows',
    'oauth_server_own_0001_',
    'oauth_server_own_0001_Rows',
    'oauth_server_own_0001_rows-',
    'an_oauth_server_own_0001_rows',
  ])('of a feature cannot have the name %s', (name) => {
    expect(() => names(steps(name))).toThrow(
      `The feature own adds the migration ${name}; its name must begin with ` +
        'oauth_server_own_0001_ or a higher number',
    );
  });

  test('are for fields that are offered, and for features that send messages', () => {
    const features: readonly Feature[] = [
      { name: 'none' },
      { name: 'own', clientMetadata: [...offered(false), ...offered(true)] },
      { name: 'idle', sendsMessages: () => false },
    ];
    expect(fieldsOfFeatures(features, CONFIG)).toMatchObject([{ name: 'own_field' }]);
    expect(fieldsOfFeatures(features, CONFIG)).toHaveLength(1);
    expect(sendsMessages(features, CONFIG)).toBe(false);
    const sending: Feature = { name: 'sending', sendsMessages: (config) => config === CONFIG };
    expect(sendsMessages([...features, sending], CONFIG)).toBe(true);
  });
});

test('a host without its own parts gets the views, the hasher and the log of the server', async () => {
  const text = { title: 'The title', message: 'The message', serverName: 'App', nonce: 'n' };
  const data = { ...text, status: 400, requestId: null, detail: null, link: null };
  expect(await OWN_DEFAULTS.renderer()('oauth/error', data)).toContain('The title');
  expect(OWN_DEFAULTS.clientAddress()).toBeNull();
  await expect(OWN_DEFAULTS.audit({ type: 'secret_rotated' } as never)).resolves.toBeUndefined();
  const hasher = OWN_DEFAULTS.passwordHasher();
  const most = await countHashesAtOnce(() => Promise.all([hasher.hash('one'), hasher.hash('two')]));
  expect(most).toBe(1);
  expect(Object.keys(OWN_DEFAULTS.log())).toEqual(['debug', 'info', 'warning', 'error', 'close']);
});
