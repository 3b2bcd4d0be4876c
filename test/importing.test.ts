import { createHash, pbkdf2Sync } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { AUDIT, type AuditEvent, type PasswordHasher } from 'portico';
import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { CHEAP } from './support/hashers.ts';
import {
  ADA,
  exchangeCode,
  GRACE,
  obtainCode,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

/**
 * Data of another server is imported completely or not at all, and its clients keep their ids and
 * secrets.
 */

const ITERATIONS = 1000;
const CONFIG = { oauth_server: { imported_pbkdf2_iterations: ITERATIONS } };
const SECRET = 'rather-a-long-secret-of-before';

let verified = 0;
const counting: PasswordHasher = {
  hash: (password) => CHEAP.hash(password),
  verify(password, hash) {
    verified += 1;
    return CHEAP.verify(password, hash);
  },
};

let portal: RunningPortal;
let folder: string;
const events: AuditEvent[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-importing-'));
  portal = await startPortal({ config: CONFIG, passwordHasher: counting, random: () => 0 });
  portal.application.events.on(AUDIT, (event: AuditEvent) => void events.push(event));
});
afterEach(() => void events.splice(0));
afterAll(async () => {
  await portal.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (...args: readonly string[]) => runAt(portal, args);
const runAt = ({ env }: RunningPortal, args: readonly string[], more = {}) =>
  porticoHere(args, {
    cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
    env: { ...env, PORTAL_CONFIG: JSON.stringify(CONFIG), ...more },
  });

/** Runs a command, and returns the audit events that it makes. */
async function eventsOf(at: RunningPortal, args: readonly string[]): Promise<readonly unknown[]> {
  const file = await fileOf('');
  expect(await runAt(at, args, { EVENTS_TO: file })).toMatchObject({ code: 0 });
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as unknown);
}

/** Runs a command with this standard input. */
async function runWithInput(input: string, args: readonly string[]) {
  const own = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  Object.defineProperty(process, 'stdin', {
    value: Readable.from([Buffer.from(input)]),
    configurable: true,
  });
  try {
    return await run(...args);
  } finally {
    Object.defineProperty(process, 'stdin', own);
  }
}

let count = 0;

async function fileOf(content: unknown): Promise<string> {
  count += 1;
  const file = path.join(folder, `${count}.json`);
  const isReady = typeof content === 'string' || content instanceof Uint8Array;
  await writeFile(file, isReady ? content : JSON.stringify(content));
  return file;
}

/** A record of a new client, for client credentials by default. */
function record(more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  count += 1;
  return {
    client_id: `old-client-${count}`,
    client_name: 'A client of before',
    grant_types: ['client_credentials'],
    scope: 'notes:read',
    client_secret: SECRET,
    ...more,
  };
}

/** The same with a hash instead of the secret. */
const hashed = (hash: string) => record({ client_secret: undefined, client_secret_hash: hash });

const sha256 = (encoding: 'hex' | 'base64' | 'base64url') =>
  `sha256:${createHash('sha256').update(SECRET).digest(encoding)}`;
function django(iterations = ITERATIONS, secret = SECRET): string {
  const value = pbkdf2Sync(secret, 'some salt', iterations, 32, 'sha256').toString('base64');
  return `pbkdf2_sha256$${iterations}$some salt$${value}`;
}

const take = (records: readonly unknown[], options = {}) =>
  portal.server.importing.clients(records, { by: 'console', ...options });
const idOf = ({ client_id: id }: Readonly<Record<string, unknown>>) => String(id);
const clientOf = (about: Readonly<Record<string, unknown>>, secret = SECRET): TestClient => ({
  id: idOf(about),
  secret,
});
const status = async (client: TestClient) =>
  (await requestToken(portal, client, { grant_type: 'client_credentials' })).status;
const ids = async () => (await portal.server.clients.list()).map(({ id }) => id);

describe('oauth:client:import', () => {
  // @shows AS-41.1
  test('registers every client of a file under its id, and its existing secret works', async () => {
    const records = [record(), record({ token_endpoint_auth_method: 'client_secret_post' })];
    const { code, stdout, stderr } = await run(
      'oauth:client:import',
      await fileOf(records),
      '--json',
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      written: true,
      clients: records.map((each, at) => ({
        record: at + 1,
        client_id: each['client_id'],
        outcome: 'imported',
        problem: null,
        changes: [],
      })),
    });
    for (const each of records) {
      expect(await status(clientOf(each))).toBe(200);
      expect(await status(clientOf(each, 'another-secret-of-that-length'))).toBe(401);
    }
  });

  // @shows AS-41.1
  test('accepts a client for people, one record per line, with its date of registration', async () => {
    const web = {
      ...record(),
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['https://client.example/callback'],
      scope: 'openid notes:read offline_access',
      response_types: ['code'],
      client_id_issued_at: 1_500_000_000,
      logo_uri: 'https://client.example/logo.png',
      jwks: null,
    };
    const phone = { ...web, client_id: idOf(record()), token_endpoint_auth_method: 'none' };
    const file = await fileOf(`${JSON.stringify(web)}\n\n${JSON.stringify(phone)}\n`);
    const { code, stdout } = await run('oauth:client:import', file);
    expect(code).toBe(0);
    expect(stdout).toContain(
      'use oauth:client:update to add values that Portico supports): logo_uri',
    );
    expect(stdout).toContain(
      'the secret is not imported, because token_endpoint_auth_method is none',
    );
    const { client } = await portal.server.clients.show(idOf(web));
    expect(client).toMatchObject({
      registeredBy: 'operator',
      scopes: ['openid', 'notes:read'],
      createdAt: 1_500_000_000_000,
    });
    const { client: native } = await portal.server.clients.show(idOf(phone));
    expect(native.public).toBe(true);
    expect((await portal.server.clients.find(idOf(phone)))?.secretHash).toBe(null);
    const code1 = await obtainCode(portal, clientOf(web), await portal.signedIn(ADA), {
      scope: 'openid notes:read',
    });
    expect((await exchangeCode(portal, clientOf(web), code1)).status).toBe(200);
  });

  // @shows AS-41.1, AS-41.6
  test('writes nothing if one record is refused, and prints its position and reason without secrets', async () => {
    const before = await ids();
    const records = [record(), record({ redirect_uris: 7 }), hashed(`md5:${'0'.repeat(32)}`)];
    const { code, stdout, stderr } = await run('oauth:client:import', await fileOf(records));
    expect(code).toBe(1);
    expect(stdout).toContain(
      `${idOf(records[1] ?? {})}  refused: redirect_uris must be a list of strings`,
    );
    expect(stderr).toBe('2 of 3 applications were refused, so nothing was imported\n');
    expect(`${stdout}${stderr}`).not.toContain(SECRET);
    expect(`${stdout}${stderr}`).not.toContain('0'.repeat(32));
    expect(await ids()).toEqual(before);
  });

  // @shows AS-41.6
  test('fails for a single refused record, and for an empty file', async () => {
    const refused = await run('oauth:client:import', await fileOf([record({ redirect_uris: 7 })]));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      '1 of 1 applications were refused, so nothing was imported\n',
    ]);
    for (const nothing of ['[]', '', '\n \n'])
      expect(await run('oauth:client:import', await fileOf(nothing))).toEqual({
        code: 1,
        stdout: '',
        stderr: 'The input has no records\n',
      });
  });

  test('accepts a file with a byte order mark', async () => {
    const file = await fileOf(`\uFEFF${JSON.stringify([record()])}`);
    expect(await run('oauth:client:import', file, '--dry-run')).toMatchObject({ code: 0 });
  });

  test('refuses a file that is not UTF-8, because names would lose characters', async () => {
    const before = await ids();
    const text = JSON.stringify([record({ client_name: 'Café' })]);
    expect(await run('oauth:client:import', await fileOf(Buffer.from(text, 'latin1')))).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The input is not UTF-8; convert the file\n',
    });
    expect(await ids()).toEqual(before);
  });

  // @shows AS-41.6
  test('prints the line number of invalid JSON, without its content', async () => {
    const file = await fileOf(`${JSON.stringify(record())}\n{"client_secret": "${SECRET}",\n`);
    const { code, stdout, stderr } = await run('oauth:client:import', file);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'Line 2 is not valid JSON. The file must contain one JSON array, or one JSON object per ' +
        'line\n',
    );
  });

  // @shows AS-41.8
  test('with --dry-run writes nothing, and prints the same', async () => {
    const before = await ids();
    const file = await fileOf([record()]);
    const { code, stdout, stderr } = await run('oauth:client:import', file, '--dry-run');
    expect([code, stderr]).toEqual([0, 'Dry run: nothing was written.\n']);
    expect(stdout).toContain('would be imported');
    expect(await ids()).toEqual(before);
    expect(events).toEqual([]);
  });

  // @shows AS-41.1, AS-41.8
  test('prints a line for each client, with what changed, and a new secret below it', async () => {
    const [plain, wanting] = [record(), record({ client_secret: undefined, logo_uri: 'x' })];
    await take([plain]);
    const file = await fileOf([plain, wanting]);
    const change =
      '  not imported (use oauth:client:update to add values that Portico supports): logo_uri\n';
    const begun = (outcome: string) =>
      `${idOf(plain)}  unchanged\n${idOf(wanting)}  ${outcome}\n${change}`;
    const dry = await run('oauth:client:import', file, '--new-secrets', '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([0, begun('would be imported')]);
    const { code, stdout, stderr } = await run('oauth:client:import', file, '--new-secrets');
    const [, secret = ''] = /client secret: ([\w-]{43})$/m.exec(stdout) ?? [];
    expect([code, stdout, stderr]).toEqual([
      0,
      `${begun('imported')}  client secret: ${secret}\n`,
      '',
    ]);
    expect(await status(clientOf(wanting, secret))).toBe(200);
  });

  // @shows AS-41.6
  test('records the console as the source of the audit event', async () => {
    const about = record();
    expect(await eventsOf(portal, ['oauth:client:import', await fileOf([about])])).toEqual([
      {
        type: 'client_registered',
        clientId: idOf(about),
        registeredBy: 'operator',
        by: expect.stringContaining('console') as string,
      },
    ]);
  });

  // @shows AS-41.1
  test('reads standard input for -, also with whitespace around the array', async () => {
    const about = record();
    const input = ` \n${JSON.stringify([about], null, 2)}\n`;
    expect(await runWithInput(input, ['oauth:client:import', '-'])).toMatchObject({
      code: 0,
      stdout: `${idOf(about)}  imported\n`,
    });
    expect(await status(clientOf(about))).toBe(200);
  });

  test('refuses a file that is missing or too large', async () => {
    const missing = path.join(folder, 'missing.json');
    expect(await run('oauth:client:import', missing)).toEqual({
      code: 1,
      stdout: '',
      stderr: `The file ${missing} cannot be read (ENOENT)\n`,
    });
    const file = await fileOf('');
    const handle = await open(file, 'r+');
    await handle.truncate(67_108_865);
    expect(await run('oauth:client:import', file)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The input is larger than 64 MiB; split the file\n',
    });
    await handle.truncate(67_108_864);
    await handle.close();
    expect((await run('oauth:client:import', file)).stderr).toContain('Line 1 is not valid JSON');
    await rm(file);
  });

  // @shows AS-41.5
  test('changes nothing when repeated, and refuses a client that has changed since', async () => {
    const records = [
      record(),
      hashed(sha256('hex')),
      hashed(django()),
      record({
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        redirect_uris: ['https://client.example/cb'],
      }),
    ];
    expect(await take(records)).toMatchObject({ written: true });
    const before = await portal.server.clients.list();
    const again = await take(records);
    expect([again.written, again.clients.map(({ outcome }) => outcome)]).toEqual([
      false,
      ['unchanged', 'unchanged', 'unchanged', 'unchanged'],
    ]);
    const [plain, digest] = records;
    const problems = async (...given: readonly unknown[]) =>
      (await take(given)).clients.map(({ problem }) => problem ?? 'none');
    expect(await problems({ ...plain, client_name: 'Another', scope: 'notes:write' })).toEqual([
      'a client with this id already exists, with a different client_name, scope; to change ' +
        'it, use oauth:client:update',
    ]);
    const otherSecret =
      'a client with this id already exists, with a different secret; to replace the secret, ' +
      'use oauth:client:rotate-secret';
    expect(await problems({ ...plain, client_secret: 'another-secret-of-that-length' })).toEqual([
      otherSecret,
    ]);
    await portal.server.clients.rotateSecret(idOf(digest ?? {}));
    expect(await problems(digest)).toEqual([otherSecret]);
    await portal.server.clients.revoke(idOf(plain ?? {}));
    expect(await problems(plain)).toEqual([
      'a client with this id was revoked, so it cannot be imported again; use another id',
    ]);
    const known = (client: { readonly id: string }) =>
      ![idOf(plain ?? {}), idOf(digest ?? {})].includes(client.id);
    expect((await portal.server.clients.list()).filter(known)).toEqual(before.filter(known));
  });

  // @shows AS-41.5
  test('refuses the id of a client that registered itself, also while its expired row exists', async () => {
    const given = record();
    expect(await take([given])).toMatchObject({ written: true });
    const became = (createdAt: number) =>
      portal.application.database.execute(
        "UPDATE oauth_clients SET registered_by = 'registration', created_at = ? WHERE client_id = ?",
        [createdAt, idOf(given)],
      );
    const problem = async () => (await take([given])).clients[0]?.problem;
    await became(Date.now());
    expect(await problem()).toBe('a client with this id already registered itself; use another id');
    await became(Date.now() - 86_400_000 - 1000);
    expect(await problem()).toContain('run oauth:prune to remove it');
  });

  // @shows AS-41.5
  test('registers each client once if several imports run at the same time', async () => {
    const records = Array.from({ length: 5 }, () => record());
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => take(records)));
    const written = outcomes.filter((each) => each.status === 'fulfilled' && each.value.written);
    expect(written).toHaveLength(1);
    const refused = outcomes.flatMap((each) =>
      each.status === 'rejected' ? [String(each.reason)] : [],
    );
    for (const reason of refused)
      expect(reason).toContain('was registered during the import, so nothing was imported');
    const there = await ids();
    expect(records.map((each) => there.filter((id) => id === idOf(each)).length)).toEqual([
      1, 1, 1, 1, 1,
    ]);
    expect(await status(clientOf(records[4] ?? {}))).toBe(200);
  });

  // @shows AS-41.6
  test('writes an audit event for each client, without a secret or a hash', async () => {
    const records = [record(), hashed(sha256('hex'))];
    await take(records);
    expect(events).toEqual(
      records.map((each) => ({
        type: 'client_registered',
        clientId: each['client_id'],
        registeredBy: 'operator',
        by: 'console',
      })),
    );
  });

  // @shows AS-41.3
  test('generates a secret on request, prints it once, and stores its hash', async () => {
    const about = record({ client_secret: undefined });
    const file = await fileOf([about]);
    expect((await run('oauth:client:import', file)).stdout).toContain('or use --new-secrets');
    const { stdout } = await run('oauth:client:import', file, '--new-secrets', '--json');
    const [made] = (JSON.parse(stdout) as { clients: readonly { client_secret: string }[] })
      .clients;
    expect(made?.client_secret).toMatch(/^[\w-]{43}$/);
    expect(await status(clientOf(about, made?.client_secret))).toBe(200);
    const again = await run('oauth:client:import', file, '--new-secrets', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({
      written: false,
      clients: [{ outcome: 'unchanged' }],
    });
    expect(again.stdout).not.toContain('client_secret');
  });
});

describe('an imported client secret that another server had hashed', () => {
  // @shows AS-41.3
  test.each([
    ['SHA-256 in hexadecimal digits', () => sha256('hex')],
    ['SHA-256 in base64url', () => sha256('base64url')],
    ['SHA-256 in base64', () => sha256('base64')],
    ['PBKDF2 as Django writes it', () => django()],
    ['PBKDF2 with fewer iterations', () => django(10)],
    ['a hash from the host’s hasher', () => CHEAP.hash(SECRET)],
  ] as const)('works, while a wrong secret or the hash itself fails: %s', async (_, make) => {
    const hash = await make();
    const about = hashed(hash);
    expect(await take([about])).toMatchObject({ written: true, clients: [{ problem: null }] });
    expect(await status(clientOf(about))).toBe(200);
    const kept = (await portal.server.clients.find(idOf(about)))?.secretHash ?? '';
    const value = hash.replace(/^.*[:$]/, '');
    const readElsewhere = [
      hash,
      value,
      Buffer.from(value, 'base64').toString('hex'),
      kept,
      `${SECRET} `,
    ];
    for (const wrong of readElsewhere)
      expect(await status(clientOf(about, wrong)), wrong).toBe(401);
  });

  // @shows AS-41.3
  test('is stored as a hash of the hash, so that it cannot be read from the store', async () => {
    const records = [hashed(sha256('hex')), hashed(django())];
    await take(records);
    const text = JSON.stringify(
      (await portal.application.database.execute('SELECT secret_hash FROM oauth_clients')).rows,
    );
    for (const hash of [sha256('hex'), django()])
      expect(text).not.toContain(hash.replace(/^.*[:$]/, ''));
    expect(text).toContain('imported$sha256$$argon2id$');
  });

  // @shows AS-41.3
  test('stays valid as the previous secret during a rotation', async () => {
    const about = hashed(sha256('base64url'));
    await take([about]);
    const { secret } = await portal.server.clients.rotateSecret(idOf(about));
    expect([await status(clientOf(about)), await status(clientOf(about, secret))]).toEqual([
      200, 200,
    ]);
    await portal.server.clients.rotateSecret(idOf(about), 0);
    expect(await status(clientOf(about))).toBe(401);
  });

  // @shows AS-41.4
  test('takes as long to check as the secret of an unknown client or a wrong secret', async () => {
    const [digest, derived] = [hashed(sha256('hex')), hashed(django())];
    await take([digest, derived]);
    const own = await registerClient(portal);
    const cost = async (id: string) => {
      const before = verified;
      expect(await status(clientOf({ client_id: id }, `a wrong one of ${id} ${++count}`))).toBe(
        401,
      );
      return verified - before;
    };
    // An unknown client costs two hashes while a client of this portal has two secrets, like the
    // one that was rotated above.
    const unknown = await cost('unknown');
    expect(unknown).toBeGreaterThan(0);
    expect([await cost(own.id), await cost(idOf(digest)), await cost(idOf(derived))]).toEqual([
      unknown,
      unknown,
      unknown,
    ]);
  });

  // @shows AS-41.3
  test.each([
    ['a different function', 'md5:0123456789abcdef0123456789abcdef', 'has an unknown form'],
    [
      'a hash from the host’s hasher with a different cost',
      `$argon2id$v=19$m=128,t=1,p=1$${'a'.repeat(22)}$${'b'.repeat(43)}`,
      '$argon2id$v=19$m=64,t=1,p=1$',
    ],
    ['bcrypt, which the host does not use', `$2b$12$${'a'.repeat(53)}`, 'has an unknown form'],
    [
      'PBKDF2 with more iterations than configured',
      django(ITERATIONS + 1),
      'imported_pbkdf2_iterations',
    ],
    ['incomplete SHA-256', sha256('hex').slice(0, -1), 'has an unknown form'],
    [
      'SHA-256 of an empty text',
      `sha256:${createHash('sha256').digest('hex')}`,
      'of an empty secret',
    ],
    ['PBKDF2 of an empty text', django(ITERATIONS, ''), 'of an empty secret'],
  ] as const)('is refused: %s', async (_, hash, reason) => {
    const { written, clients } = await take([hashed(hash)]);
    expect([written, clients[0]?.outcome]).toEqual([false, 'refused']);
    expect(clients[0]?.problem).toContain(reason);
    expect(clients[0]?.problem).not.toContain(hash);
  });
});

describe('an empty client secret', () => {
  // @shows AS-41.9
  test('is not imported, whether it is a hash by the hasher of the host or spaces', async () => {
    const own = hashed(await CHEAP.hash(''));
    const spaces = record({ client_secret: ' '.repeat(20) });
    const { written, clients } = await take([own, spaces]);
    expect([written, ...clients.map(({ problem }) => problem)]).toEqual([
      false,
      expect.stringContaining('client_secret_hash is the hash of an empty secret'),
      expect.stringContaining('client_secret is blank'),
    ]);
  });

  /** Imports a secret as an earlier release did, which did not check the hashed value. */
  async function importedBefore(secretHash: string, at = portal): Promise<string> {
    const about = record({ grant_types: ['client_credentials', 'introspection'] });
    await at.server.importing.clients([about]);
    await at.application.database.execute(
      'UPDATE oauth_clients SET secret_hash = ? WHERE client_id = ?',
      [secretHash, idOf(about)],
    );
    return idOf(about);
  }
  const digestOfNothing = createHash('sha256').digest('hex');
  const [, , salt, derivedFromNothing] = django(ITERATIONS, '').split('$');
  const HASHES: readonly (readonly [what: string, hash: () => Promise<string>])[] = [
    ['SHA-256', async () => `imported$sha256$${await CHEAP.hash(digestOfNothing)}`],
    [
      'PBKDF2',
      async () =>
        `imported$pbkdf2_sha256$${ITERATIONS}$${Buffer.from(salt ?? '').toString('base64url')}$${await CHEAP.hash(
          Buffer.from(derivedFromNothing ?? '', 'base64').toString('hex'),
        )}`,
    ],
    ['the host’s hasher', () => CHEAP.hash('')],
    ['the host’s hasher, with a space as the secret', () => CHEAP.hash(' ')],
  ];

  // @shows AS-9.11, AS-9.3
  test.each(HASHES)(
    'is never accepted, even if its hash was imported earlier: %s',
    async (_, hash) => {
      const id = await importedBefore(await hash());
      const own = await registerClient(portal);
      const cost = async (of: string, secret: string) => {
        const before = verified;
        expect(await status({ id: of, secret })).toBe(401);
        return verified - before;
      };
      const wrong = await cost(own.id, 'a wrong one');
      expect([await cost(id, ''), await cost(id, ' '), await cost(id, '\u3000')]).toEqual([
        wrong,
        wrong,
        wrong,
      ]);
      for (const endpoint of ['introspect', 'revoke']) {
        const response = await fetch(`${portal.url}/oauth/${endpoint}`, {
          method: 'POST',
          headers: { Authorization: `Basic ${btoa(`${id}:`)}` },
          body: new URLSearchParams({ token: 'any' }),
        });
        expect(response.status).toBe(401);
      }
      const posted = { grant_type: 'client_credentials', client_id: id, client_secret: '' };
      expect((await requestToken(portal, null, posted)).status).toBe(401);
    },
  );

  // @shows AS-41.9
  test('imported by an earlier release is reported by the doctor until it is replaced', async () => {
    const lone = await startPortal({ config: CONFIG, passwordHasher: CHEAP });
    try {
      const ids: string[] = [];
      for (const [, hash] of HASHES.slice(0, 3)) ids.push(await importedBefore(await hash(), lone));
      const sound = record();
      await lone.server.importing.clients([sound]);
      const doctor = async () => {
        const { stdout } = await porticoHere(['oauth:server:doctor', '--json'], {
          cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
          env: { ...lone.env, PORTAL_CONFIG: JSON.stringify(CONFIG) },
        });
        const { checks } = JSON.parse(stdout) as {
          readonly checks: readonly { readonly part: string }[];
        };
        return checks.filter(({ part }) => part === 'imported secrets');
      };
      expect(await doctor()).toEqual([
        expect.objectContaining({
          outcome: 'failing',
          detail: `these clients have an empty secret, which earlier releases accepted from anyone (this release refuses it): ${ids.join(', ')}`,
        }),
      ]);
      for (const id of ids) await lone.server.clients.rotateSecret(id, 0);
      expect(await doctor()).toEqual([]);

      // The secrets of another server are checked first, even after many other clients, because
      // each check computes a slow hash.
      const { client: own } = await lone.server.clients.create({
        name: 'Own',
        scopes: ['notes:read'],
        grants: ['client_credentials'],
      });
      const { database } = lone.application;
      const [row = {}] = (
        await database.execute('SELECT * FROM oauth_clients WHERE client_id = ?', [own.id])
      ).rows;
      const names = Object.keys(row);
      const statement = `INSERT INTO oauth_clients (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
      await database.transaction(async (connection) => {
        for (let count = 0; count < 500; count += 1) {
          const changes: Readonly<Record<string, unknown>> = {
            client_id: count.toString(16).padStart(32, '0'),
            created_at: 1,
          };
          await connection.execute(
            statement,
            names.map((name) => changes[name] ?? row[name]) as (string | number | null)[],
          );
        }
      });
      const last = await importedBefore((await HASHES[0]?.[1]()) ?? '', lone);
      expect(await doctor()).toEqual([
        expect.objectContaining({
          detail: expect.stringMatching(new RegExp(`: ${last}$`)) as string,
        }),
      ]);
    } finally {
      await lone.close();
    }
  });
});

describe('an imported secret with more iterations than are configured', () => {
  // @shows AS-41.4
  test('is refused, and the doctor reports the client until it has a new secret', async () => {
    const about = hashed(django(20));
    const lone = await startPortal({ config: CONFIG, passwordHasher: CHEAP });
    try {
      await lone.server.importing.clients([about]);
      const doctor = async () => {
        const { stdout } = await porticoHere(['oauth:server:doctor', '--json'], {
          cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
          env: { ...lone.env, PORTAL_CONFIG: '{}' },
        });
        const { checks } = JSON.parse(stdout) as {
          readonly checks: readonly { readonly part: string }[];
        };
        return checks.filter(({ part }) => part === 'imported secrets');
      };
      const named = `these clients cannot authenticate, because their secrets need more PBKDF2 iterations than the configured maximum (0): ${idOf(about)}`;
      expect(await doctor()).toEqual([
        expect.objectContaining({ outcome: 'failing', detail: named }),
      ]);
      await lone.server.clients.rotateSecret(idOf(about), 0);
      expect(await doctor()).toEqual([]);
    } finally {
      await lone.close();
    }
  });
});

describe('a client record of an import', () => {
  // @shows AS-41.2
  test.each([
    ['a list', [], 'the record is not a JSON object'],
    ['without an id', record({ client_id: '' }), 'client_id must have 1 to 255'],
    ['an id with a space', record({ client_id: 'a b' }), 'client_id must have 1 to 255'],
    [
      'a document URL',
      record({ client_id: 'https://tool.example/client.json' }),
      'client_id is a URL',
    ],
    ['without a name', record({ client_name: null }), 'client_name is missing'],
    [
      'a scope that is not offered',
      record({ scope: 'notes:read old:scope' }),
      'The scope "old:scope" is unknown',
    ],
    [
      'a redirect URI with a wildcard',
      record({ grant_types: ['authorization_code'], redirect_uris: ['https://*.example/'] }),
      'wildcard',
    ],
    [
      'an unknown field',
      record({ tls_client_auth_subject_dn: 'CN=a' }),
      'unknown fields: "tls_client_auth_subject_dn"',
    ],
    ['pairwise subjects', record({ subject_type: 'pairwise' }), 'subject_type must be public'],
    [
      'a different authentication method',
      record({ token_endpoint_auth_method: 'client_secret_jwt' }),
      'token_endpoint_auth_method is "client_secret_jwt"',
    ],
    [
      'unknown grants',
      record({ grant_types: ['implicit', 'password'] }),
      'this server does not support any of its grant_types: "implicit", "password"',
    ],
    ['no grant', record({ grant_types: [] }), 'grant_types is empty'],
    [
      'a secret that can be guessed',
      record({ client_secret: 'secret' }),
      'must have at least 16 characters',
    ],
    [
      'a hash in place of the secret',
      record({ client_secret: `$2b$12$${'a'.repeat(53)}` }),
      'looks like a hash',
    ],
    [
      'a hash of Django in place of the secret',
      record({ client_secret: django() }),
      'looks like a hash',
    ],
    ['a secret that has expired', record({ client_secret_expires_at: 1 }), 'has expired'],
    [
      'both a secret and a hash',
      record({ client_secret_hash: sha256('hex') }),
      'both client_secret and client_secret_hash',
    ],
    [
      'keys, if the server does not accept keys',
      record({
        token_endpoint_auth_method: 'private_key_jwt',
        jwks_uri: 'https://client.example/jwks',
      }),
      'oauth_server:private_key_jwt is off',
    ],
    [
      'keys that are missing',
      record({ token_endpoint_auth_method: 'private_key_jwt' }),
      'needs its public keys',
    ],
    [
      'bound tokens, if the server does not issue them',
      record({ dpop_bound_access_tokens: true }),
      'oauth_server:dpop is off',
    ],
    [
      'an ID token algorithm without a key',
      record({
        grant_types: ['authorization_code'],
        redirect_uris: ['https://c.example/cb'],
        scope: 'openid',
        id_token_signed_response_alg: 'ES256',
      }),
      'oauth:keys:generate',
    ],
  ] as const)('is refused: %s', async (_, given, reason) => {
    const before = await ids();
    const { written, clients } = await take([given]);
    expect([written, clients[0]?.outcome]).toEqual([false, 'refused']);
    expect(clients[0]?.problem).toContain(reason);
    expect(await ids()).toEqual(before);
  });

  // @shows AS-41.2
  test('is refused if an earlier record has the same id', async () => {
    const about = record();
    const { clients } = await take([about, about]);
    expect(clients.map(({ problem }) => problem)).toEqual([
      null,
      'an earlier record has the same client_id',
    ]);
  });

  // @shows AS-41.2
  test('is accepted with unsupported fields, which are reported', async () => {
    const about = record({
      grant_types: ['client_credentials', 'implicit'],
      response_types: ['token'],
      redirect_uris: ['https://client.example/cb'],
      client_secret_expires_at: 9_999_999_999,
      jwks_uri: 'https://client.example/jwks',
    });
    const [taken] = (await take([about])).clients;
    expect(taken?.changes).toEqual([
      'grant_types not imported, because this server does not offer them: "implicit"',
      'response_types not imported, because this server does not offer them: "token"',
      'redirect_uris are not imported, because none of the grants uses them',
      'the keys are not imported, because token_endpoint_auth_method is client_secret_basic',
      'client_secret_expires_at is not imported, because imported secrets do not expire',
    ]);
    expect(await status(clientOf(about))).toBe(200);
  });

  // @shows AS-41.2
  test('keeps the fields of features that are on', async () => {
    const config = { oauth_server: { logout: true, back_channel_logout: true } };
    const signingOut = await startPortal({ config });
    try {
      const importing = signingOut.server.importing;
      const back = 'https://client.example/bye';
      const receiver = 'https://client.example/signed-out';
      const about = record({
        post_logout_redirect_uris: [back],
        backchannel_logout_uri: receiver,
        backchannel_logout_session_required: true,
        policy_uri: 'https://client.example/policy',
      });
      const imported = async (given: Readonly<Record<string, unknown>>) => {
        const [client] = (await importing.clients([given], { by: 'console' })).clients;
        return [client?.outcome, client?.problem, client?.changes];
      };
      expect(await imported(about)).toEqual([
        'imported',
        null,
        ['not imported (use oauth:client:update to add values that Portico supports): policy_uri'],
      ]);
      expect(await signingOut.server.clients.show(idOf(about))).toMatchObject({
        metadata: {
          post_logout_redirect_uris: [back],
          backchannel_logout_uri: [receiver],
          backchannel_logout_session_required: ['true'],
        },
      });
      expect((await imported(about))[0]).toBe('unchanged');
      // No command changes this flag, so it is not compared.
      const { backchannel_logout_session_required: _, ...others } = about;
      const earlier = { ...others, client_id: `${idOf(about)}-earlier` };
      expect((await imported(earlier))[0]).toBe('imported');
      const flagged = { ...earlier, backchannel_logout_session_required: true };
      expect((await imported(flagged))[0]).toBe('unchanged');
      expect(await imported({ ...about, post_logout_redirect_uris: [`${back}/2`] })).toEqual([
        'refused',
        'a client with this id already exists, with a different post_logout_redirect_uris; to ' +
          'change it, use oauth:client:update',
        [],
      ]);
      expect(
        await imported(record({ post_logout_redirect_uris: ['javascript:alert(1)'] })),
      ).toEqual(['refused', expect.stringContaining('post-logout redirect URI'), []]);
    } finally {
      await signingOut.close();
    }
  });

  // @shows AS-41.2
  test('gets no fields of a removed client that had the same id', async () => {
    const signingOut = await startPortal({ config: { oauth_server: { logout: true } } });
    try {
      const { importing, clients } = signingOut.server;
      const fields = { post_logout_redirect_uris: ['https://client.example/bye'] };
      const [one, other] = [record(), record()];
      await importing.clients([one, other].map((each) => ({ ...each, ...fields })));
      // As when a client that registered itself makes room for another one.
      await signingOut.application.database.execute(
        'DELETE FROM oauth_clients WHERE client_id IN (?, ?)',
        [idOf(one), idOf(other)],
      );
      const others = { post_logout_redirect_uris: ['https://other.example/bye'] };
      await importing.clients([one, { ...other, ...others }]);
      expect((await clients.show(idOf(one))).metadata).toEqual({});
      expect((await clients.show(idOf(other))).metadata).toEqual(others);
    } finally {
      await signingOut.close();
    }
  });

  test('is limited to a thousand per import', async () => {
    await expect(take(Array.from({ length: 1001 }, () => ({})))).rejects.toThrow(
      '1000 can be imported at once',
    );
  });
});

describe('oauth:subject:import', () => {
  let people: RunningPortal;
  beforeAll(async () => {
    people = await startPortal({ passwordHasher: CHEAP });
  });
  afterAll(() => people.close());
  beforeEach(async () => {
    await people.application.database.execute('DELETE FROM oauth_subjects');
  });

  const reference = async (email: string) => {
    const { rows } = await people.application.database.execute<{ id: string }>(
      'SELECT id FROM host_accounts WHERE email = ?',
      [email],
    );
    return { provider: 'accounts', id: String(rows[0]?.id) };
  };
  const subjectOf = async (email: string): Promise<unknown> => {
    const client = await registerClient(people);
    const code = await obtainCode(people, client, await people.signedIn(email));
    const { id_token: idToken } = (await (
      await exchangeCode(people, client, code)
    ).json()) as Tokens;
    return decodeJwt(idToken ?? '').sub;
  };
  const give = async (...records: readonly unknown[]) => {
    const { written, subjects } = await people.server.importing.subjects(records, {
      by: 'console',
    });
    return [written, subjects.map(({ outcome, problem }) => problem ?? outcome)];
  };

  // @shows AS-41.7
  test('keeps the sub that clients have stored for a person, and no other person ever gets it', async () => {
    const [ada, grace] = [await reference(ADA), await reference(GRACE)];
    const file = await fileOf(JSON.stringify({ ...ada, sub: 'auth|4711' }));
    const dry = await runAt(people, ['oauth:subject:import', file, '--dry-run']);
    expect([dry.code, dry.stdout]).toEqual([0, '1 to import, 0 unchanged, 0 refused\n']);
    const { code, stdout } = await runAt(people, ['oauth:subject:import', file]);
    expect([code, stdout]).toEqual([0, '1 imported, 0 unchanged, 0 refused\n']);
    expect(await subjectOf(ADA)).toBe('auth|4711');

    expect(await give({ ...ada, sub: 'auth|4711' })).toEqual([false, ['unchanged']]);
    expect(await give({ ...ada, sub: 'auth|4712' })).toEqual([
      false,
      ['the person already has another sub, which cannot change'],
    ]);
    expect(await give({ ...grace, sub: 'auth|4711' })).toEqual([
      false,
      ['another person already has this sub'],
    ]);
    expect(await give({ ...grace, sub: 'g1' }, { ...ada, id: 'unknown', sub: 'n1' })).toEqual([
      false,
      ['imported', 'the application has no account with this provider and id'],
    ]);
    expect(await give({ ...grace, sub: 'g1' }, { ...grace, sub: 'g2' })).toEqual([
      false,
      ['imported', 'an earlier record has the same person'],
    ]);
    const own = await subjectOf(GRACE);
    expect(own).toMatch(/^[0-9a-f]{32}$/);
    expect(await give({ ...grace, sub: 'g1' })).toEqual([
      false,
      ['the person already has another sub, which cannot change'],
    ]);
    expect([await subjectOf(ADA), await subjectOf(GRACE)]).toEqual(['auth|4711', own]);
  });

  // @shows AS-41.7
  test.each([
    ['an empty sub', { sub: '' }, 'sub must have 1 to 255'],
    ['a sub with a space', { sub: 'a b' }, 'sub must have 1 to 255'],
    ['one of 256 characters', { sub: 'x'.repeat(256) }, 'sub must have 1 to 255'],
    ['one that is a number', { sub: 42 }, '"sub" must be a string'],
    ['a person without an id', { id: '' }, 'must not be empty'],
    ['an unknown field', { email: 'ada@example.com' }, 'unknown fields: "email"'],
  ] as const)('refuses %s', async (_, changes, reason) => {
    const [written, [outcome]] = (await give({
      provider: 'accounts',
      id: '1',
      sub: 's',
      ...changes,
    })) as [boolean, string[]];
    expect(written).toBe(false);
    expect(outcome).toContain(reason);
  });

  // @shows AS-41.6
  test('prints at most twenty refusals with their total, and that nothing was written', async () => {
    const records = Array.from({ length: 25 }, (_, at) => ({
      provider: 'accounts',
      id: String(at),
      sub: '',
    }));
    const file = await fileOf(records);
    const { code, stdout, stderr } = await runAt(people, ['oauth:subject:import', file]);
    expect([code, stderr]).toEqual([1, '25 of 25 records were refused; nothing was written\n']);
    expect(stdout.match(/^record \d+ {2}refused: .+$/gm)).toHaveLength(20);
    expect(stdout).toContain('0 to import, 0 unchanged, 25 refused');
  });

  // @shows AS-41.6, AS-41.8
  test('prints the counts, or JSON, and fails only if a record is refused', async () => {
    const [ada, grace] = [await reference(ADA), await reference(GRACE)];
    const [one, other] = [
      { ...ada, sub: `old|${++count}` },
      { ...grace, sub: `old|${++count}` },
    ];
    const [first, both] = [await fileOf([one]), await fileOf([one, other])];
    const json = { imported: 1, unchanged: 0, refused: [] };
    const nothing = 'Dry run: nothing was written.\n';
    const told = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await runAt(people, ['oauth:subject:import', ...args]);
      return [code, args.includes('--json') ? (JSON.parse(stdout) as unknown) : stdout, stderr];
    };
    expect(await told(first, '--dry-run', '--json')).toEqual([
      0,
      { written: false, ...json },
      nothing,
    ]);
    expect(await eventsOf(people, ['oauth:subject:import', first])).toEqual([
      { type: 'subjects_imported', subjects: 1, by: expect.stringContaining('console') as string },
    ]);
    expect(await told(both, '--dry-run')).toEqual([
      0,
      '1 to import, 1 unchanged, 0 refused\n',
      nothing,
    ]);
    expect(await told(both, '--json')).toEqual([0, { ...json, written: true, unchanged: 1 }, '']);
    expect(await told(both)).toEqual([0, '0 to import, 2 unchanged, 0 refused\n', '']);
    const problem = 'the person already has another sub, which cannot change';
    const wrong = await fileOf([one, { ...grace, sub: 'other' }]);
    const failed = '1 of 2 records were refused; nothing was written\n';
    expect(await told(wrong)).toEqual([
      1,
      `record 2  refused: ${problem}\n0 to import, 1 unchanged, 1 refused\n`,
      failed,
    ]);
    const refused = [{ record: 2, outcome: 'refused', problem }];
    expect(await told(wrong, '--json')).toEqual([
      1,
      { written: false, imported: 0, unchanged: 1, refused },
      failed,
    ]);
  });

  // @shows AS-41.6
  test('writes an audit event with the number and the operator', async () => {
    const lone = await startPortal({ passwordHasher: CHEAP });
    try {
      const told: AuditEvent[] = [];
      lone.application.events.on(AUDIT, (event: AuditEvent) => void told.push(event));
      const { rows } = await lone.application.database.execute<{ id: string }>(
        'SELECT id FROM host_accounts',
      );
      const records = rows.map(({ id }, at) => ({ provider: 'accounts', id, sub: `old-${at}` }));
      await lone.server.importing.subjects(records, { by: 'console' });
      expect(told).toEqual([
        { type: 'subjects_imported', subjects: records.length, by: 'console' },
      ]);
    } finally {
      await lone.close();
    }
  });
});
