import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ALGORITHMS } from '../../../../test/support/algorithms.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import type { Client } from '../store/client.ts';
import { failing, ok, skipped, warning } from './checks.ts';
import { engineExaminations } from './engine-examinations.ts';
import {
  examineClients,
  examineHasher,
  examineKeys,
  examineSchema,
  examineStore,
} from './server-checks.ts';
import type { Subject } from './subject.ts';

const NOW = 1_800_000_000_000;
const APPLIED = [{ name: 'first', appliedAt: '2026-01-01T00:00:00Z' }];
const PENDING = [
  ...APPLIED,
  { name: 'second', appliedAt: null },
  { name: 'third', appliedAt: null },
];

describe('the store', () => {
  type Execute = (sql: string) => unknown;
  /** The statements that the check has run. */
  let run: string[];
  beforeEach(() => void (run = []));

  const examined = (
    execute: Execute,
    database: object = { dialect: 'postgres' },
    migrations: readonly object[] = APPLIED,
  ) =>
    examineStore({
      application: {
        pool: {},
        migrations: async () => migrations,
        database: {
          ...database,
          async execute(sql: string) {
            run.push(sql);
            return execute(sql);
          },
        },
      },
    } as unknown as Subject);
  const fine = () => ({ rows: [], affected: 0 });
  const refusing =
    (thrown: unknown, of = /./) =>
    (sql: string) => {
      if (of.test(sql)) throw thrown;
      return fine();
    };

  test('answers and accepts writes', async () => {
    expect(await examined(fine)).toEqual(ok('postgres answers and accepts writes'));
    expect(run).toEqual(['SELECT 1', expect.stringMatching(/^UPDATE /)]);
    const database = { dialect: 'postgres', schema: 'oauth' };
    expect(await examined(fine, database)).toEqual(
      ok('postgres answers, in the schema oauth and accepts writes'),
    );
  });

  test('is not written to before its tables exist', async () => {
    expect(await examined(fine, { dialect: 'postgres', schema: null }, PENDING)).toEqual(
      ok('postgres answers'),
    );
    expect(run).toEqual(['SELECT 1']);
  });

  test.each([
    [new Error('it is read-only'), 'it is read-only'],
    ['a text', 'a text'],
  ])('answers, but refuses writes with %s', async (thrown, reason) => {
    expect(await examined(refusing(thrown, /^UPDATE/))).toEqual([
      ok('postgres answers'),
      {
        outcome: 'failing',
        detail: `the database does not accept writes: ${reason}`,
        remedy: expect.stringMatching(
          /^check that the disk is not full.*\(docs\/troubleshooting\.md#the-database-takes-no-writes\)$/,
        ) as string,
      },
    ]);
  });

  test('refuses the user', async () => {
    const wrong = Object.assign(new Error('password authentication failed'), { code: '28P01' });
    expect(await examined(refusing(wrong))).toMatchObject({
      outcome: 'failing',
      detail:
        'database_url: does not work (its value comes from DATABASE_URL): password ' +
        'authentication failed',
      remedy: expect.stringContaining('password') as string,
    });
  });

  test.each([
    [new Error('it broke'), 'it broke'],
    [new AggregateError([new Error('first'), new Error('second')], ''), 'first; second'],
    ['a text', 'a text'],
  ])('cannot be reached: %s', async (thrown, reason) => {
    expect(await examined(refusing(thrown))).toEqual(
      failing(
        `the database cannot be reached: ${reason}`,
        'start the database server, or correct database_url (DATABASE_URL)',
      ),
    );
  });

  test('is a node of a cluster that is not ready', async () => {
    const answer = (sql: string) => {
      if (sql === 'SELECT 1')
        throw new Error('WSREP has not yet prepared node for application use');
      const rows = sql.includes('STATUS')
        ? [
            { Variable_name: 'wsrep_cluster_status', Value: 'non-Primary' },
            { Variable_name: 'wsrep_ready', Value: 'OFF' },
          ]
        : [{ Variable_name: 'wsrep_on', Value: 'ON' }];
      return { rows, affected: 0 };
    };
    expect(await examined(answer, { dialect: 'mysql' })).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining('Galera cluster is not ready (non-Primary)') as string,
    });
  });
});

test('settings of the engine that cannot be read are skipped, with the reason', async () => {
  for (const [thrown, reason] of [
    [new Error('no such thing'), 'no such thing'],
    ['a text', 'a text'],
  ] as const) {
    const execute = async () => {
      throw thrown;
    };
    const database = { dialect: 'sqlite', execute } as unknown as Parameters<
      typeof engineExaminations
    >[0];
    const examinations = await engineExaminations(database);
    expect(examinations.map(([part]) => part)).toEqual(['durability', 'database file']);
    for (const [, examine] of examinations)
      expect(await examine({ application: { database } } as unknown as Subject)).toEqual([
        skipped(`the database settings cannot be read: ${reason}`),
      ]);
  }
});

test('missing migrations are listed', async () => {
  const examined = (migrations: readonly object[]) =>
    examineSchema({
      application: { migrations: async () => migrations },
    } as unknown as Subject);
  expect(await examined(APPLIED)).toEqual(ok('all database migrations are applied'));
  expect(await examined(PENDING)).toEqual(
    failing(
      'these database migrations are not applied: second, third',
      'run npx portico db:migrate up',
    ),
  );
});

/** A server that has these clients. */
const having = (clients: readonly Client[] | Error) => ({
  clients: {
    async page() {
      if (clients instanceof Error) throw clients;
      return { items: clients, next: null };
    },
  },
});

describe('the signing keys', () => {
  let directory: string;
  beforeEach(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "portico-server-checks-it's-"));
    directory = path.join(folder, 'keys');
    await mkdir(directory, { mode: 0o700 });
  });
  afterEach(() => rm(path.dirname(directory), { recursive: true }));

  const keyOf = (kid: string, changes: Partial<SigningKey> = {}) =>
    ({
      kid,
      algorithm: 'RS256',
      signsFrom: NOW - 1000,
      isStaged: false,
      file: `${kid}.json`,
      ...changes,
    }) as SigningKey;
  const examined = async (
    keys: readonly SigningKey[],
    clients: readonly Client[] | Error = [],
    begin: (grants: readonly string[], holder: string) => boolean = () => true,
  ) => {
    const server = {
      ...having(clients),
      keys: { all: async () => keys, algorithms: ALGORITHMS },
      config: { key_path: directory },
      clock: () => NOW,
      grantTypes: { begin },
    };
    return [await examineKeys({ server } as unknown as Subject)].flat();
  };
  const since = new Date(NOW - 1000).toISOString();

  test('are listed with the time since which they sign', async () => {
    expect(await examined([keyOf('a')])).toEqual([ok(`a signs since ${since}; 1 published`)]);
    const signer = keyOf('c', { algorithm: 'ES256', signsFrom: 0, file: null });
    const [{ detail } = ok('')] = await examined([keyOf('a'), keyOf('b'), signer]);
    expect(detail.split('; ').toSorted()).toEqual([
      '3 published',
      `a signs since ${since}`,
      'c signs ES256 through a KeySigner',
    ]);
  });

  test('can be elsewhere', async () => {
    await chmod(directory, 0o755);
    expect(await examined([keyOf('a', { file: null, signsFrom: 0 })])).toEqual([
      ok('a signs through a KeySigner; 1 published'),
    ]);
  });

  test('do not need a directory', async () => {
    const signer = keyOf('a', { file: null, signsFrom: 0 });
    const file = path.join(directory, 'a.txt');
    await writeFile(file, '');
    for (const place of [path.join(directory, 'missing'), file]) {
      directory = place;
      expect(await examined([signer])).toEqual([ok('a signs through a KeySigner; 1 published')]);
    }
    directory = path.dirname(file);
  });

  test('are not compared with the modes of files on Windows', async () => {
    const { platform, geteuid } = process;
    await writeFile(path.join(directory, 'a.json'), '');
    await chmod(path.join(directory, 'a.json'), 0o666);
    Object.defineProperty(process, 'platform', { value: 'win32' });
    Object.defineProperty(process, 'geteuid', { value: undefined });
    try {
      expect(await examined([keyOf('a')])).toMatchObject([{ outcome: 'ok' }]);
    } finally {
      Object.defineProperty(process, 'platform', { value: platform });
      Object.defineProperty(process, 'geteuid', { value: geteuid });
    }
  });

  test('are missing', async () => {
    expect(await examined([])).toMatchObject([
      {
        outcome: 'failing',
        detail:
          `oauth_server:key_path: there is no signing key in ${directory}, so requests for ` +
          'openid fail',
        remedy: expect.stringMatching(/^if keys existed before, restore their directory/) as string,
      },
    ]);
  });

  test.each([0o040, 0o020, 0o010, 0o004, 0o002, 0o001])(
    'are open to other users with the mode %i',
    async (mode) => {
      const open = path.join(directory, 'b.json');
      await writeFile(path.join(directory, 'c.json'), '', { mode: 0o600 });
      await writeFile(open, '');
      await chmod(open, 0o600 | mode);
      const quoted = directory.replaceAll("'", String.raw`'\''`);
      expect(await examined([keyOf('a')])).toEqual([
        {
          outcome: 'failing',
          detail: `oauth_server:key_path: other users can read ${open}`,
          remedy: expect.stringContaining(`run chmod -R go= '${quoted}'. If another`) as string,
        },
      ]);
      await writeFile(path.join(directory, 'a.json'), '');
      await chmod(path.join(directory, 'a.json'), 0o666);
      await chmod(directory, 0o700 | mode);
      const [{ detail } = ok('')] = await examined([keyOf('a'), keyOf('b', { file: null })]);
      expect(detail).toBe(
        `oauth_server:key_path: other users can read ${directory}, ${directory}/a.json, ${open}`,
      );
    },
  );

  test('lack the algorithm of a client that can get ID tokens', async () => {
    const es = { idTokenSignedResponseAlg: 'ES256' } as const;
    const clients = [
      storedClient('two', 2, es),
      storedClient('one', 1, es),
      storedClient('ed', 3, { idTokenSignedResponseAlg: 'EdDSA' }),
      storedClient('right', 4),
      storedClient('document', 5, { ...es, registeredBy: 'document' }),
      storedClient('unscoped', 6, { ...es, scopes: ['notes:read'] }),
      storedClient('robot', 7, { ...es, grants: ['client_credentials'] }),
      storedClient('gone', 8, { ...es, revokedAt: 9 }),
    ];
    const begin = (grants: readonly string[], holder: string) =>
      holder === 'person' && grants.includes('authorization_code');
    expect(await examined([keyOf('a')], clients, begin)).toEqual([
      failing(
        'oauth_server:key_path: these clients cannot get the scope openid, because ' +
          `${directory} has no key for their algorithm: one (ES256), two (ES256), ed (EdDSA)`,
        'run npx portico oauth:keys:generate --alg ES256; run npx portico oauth:keys:generate ' +
          '--alg EdDSA',
      ),
    ]);
    const keys = [
      keyOf('a'),
      keyOf('b', { algorithm: 'ES256' }),
      keyOf('c', { algorithm: 'EdDSA' }),
    ];
    expect(await examined(keys, clients, begin)).toMatchObject([{ outcome: 'ok' }]);
  });

  test('are listed if the clients cannot be read', async () => {
    expect(await examined([keyOf('a')], new Error('The store is away'))).toMatchObject([
      { outcome: 'ok' },
    ]);
  });
});

describe('the password hasher', () => {
  const examined = (
    verify: (password: string, hash: string) => unknown,
    hash: (password: string) => string = (password) => `of ${password}`,
  ) => {
    const passwordHasher = {
      hash: async (password: string) => hash(password),
      verify: async (password: string, stored: string) => verify(password, stored),
    };
    return examineHasher({ server: { host: { passwordHasher } } } as unknown as Subject);
  };
  const right = (password: string, hash: string) => hash === `of ${password}`;

  test('accepts a right secret and refuses a wrong one', async () => {
    expect(await examined(right)).toEqual(ok('accepts a correct secret and refuses a wrong one'));
  });

  test.each<[what: string, verify: (password: string, hash: string) => unknown]>([
    ['accepts each secret', () => true],
    ['accepts each secret that is not empty', (password) => password !== ''],
    ['refuses each secret', () => false],
    ['returns 1 in place of true', (password, hash) => (right(password, hash) ? 1 : 0)],
    ['is the wrong way round', (password, hash) => !right(password, hash)],
  ])('is wrong if it %s', async (_, verify) => {
    expect(await examined(verify)).toEqual(
      failing('accepts a wrong secret or refuses a correct one', "fix the host's password hasher"),
    );
  });

  test('may ignore the end of a long secret, as bcrypt does', async () => {
    const short = (password: string) => password.slice(0, 20);
    const verify = (password: string, hash: string) => hash === short(password);
    expect(await examined(verify, short)).toMatchObject({ outcome: 'ok' });
  });
});

describe('the clients', () => {
  const examined = (
    clients: readonly Client[],
    {
      migrations = APPLIED,
      arrivals = [],
    }: {
      readonly migrations?: readonly object[];
      readonly arrivals?: readonly object[];
    } = {},
  ) =>
    examineClients({
      application: { migrations: async () => migrations },
      server: {
        ...having(clients),
        offers: (scope: string) => !scope.startsWith('old'),
        arrivals,
      },
    } as unknown as Subject);

  test('are counted unless a migration is missing', async () => {
    const gone = storedClient('gone', 1, { revokedAt: 1 });
    const clients = [gone, storedClient('a', 1), storedClient('b', 2)];
    expect(await examined(clients)).toEqual(ok('2 registered'));
    expect(await examined(clients, { migrations: PENDING })).toEqual(
      skipped('not checked: some database migrations are not applied'),
    );
  });

  test('have scopes that are no longer offered', async () => {
    const old = { scopes: ['openid', 'old:read', 'old:write'] };
    const clients = [
      storedClient('b', 2, old),
      storedClient('a', 1, { scopes: ['old:read'] }),
      storedClient('c', 3, { ...old, registeredBy: 'document' }),
      storedClient('d', 4, { ...old, revokedAt: 5 }),
      storedClient('e', 6, { scopes: [] }),
    ];
    expect(await examined(clients)).toEqual(
      warning(
        'clients have scopes that this server no longer offers: a has old:read, b has old:read, ' +
          'b has old:write',
        'add these scopes to oauth_server:scopes again, or remove them from the clients (npx ' +
          'portico oauth:client:update)',
      ),
    );
  });

  test('may be missing if they can register themselves', async () => {
    expect(await examined([])).toMatchObject({
      outcome: 'warning',
      detail: 'no client is registered',
      remedy: expect.stringMatching(/^run npx portico oauth:client:create/) as string,
    });
    expect(await examined([], { arrivals: [{ says: 'clients register themselves' }] })).toEqual(
      ok('no client is registered yet; clients register themselves'),
    );
  });
});
