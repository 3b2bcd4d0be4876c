// @engines sqlite, long: keys are files
import { execFile } from 'node:child_process';
import {
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import { AUDIT, examine, KeyRotationError, type AuditEvent } from 'portico';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { createRandom } from './support/random.ts';
import { SCALE } from './support/scale.ts';

const PORTAL = path.join(ROOT, 'examples', 'portal');
const DAY = 86_400;
/**
 * How many seconds a new key is published before it signs. These are the five seconds of the key
 * set's Cache-Control, plus 15 minutes.
 */
const STAGED = 905;
const BY = { provider: 'accounts', id: 'the administrator' };

/** Two processes that share a key directory; their clocks differ by some seconds. */
let clock: ReturnType<typeof createClock>;
let one: RunningPortal;
let other: RunningPortal;
const events: AuditEvent[] = [];
let keyPath: string;
/** A storage directory with these keys. */
let storage: string;
/** The content of the first key's file. */
let first: string;

beforeAll(async () => {
  clock = createClock();
  keyPath = await mkdtemp(path.join(tmpdir(), 'portico-keys-'));
  storage = `${keyPath}-storage`;
  await mkdir(path.join(storage, 'oauth'), { recursive: true });
  await symlink(keyPath, path.join(storage, 'oauth', 'keys'));
  const config = { oauth_server: { key_path: keyPath } };
  [one, other] = await Promise.all([
    startPortal({ clock: clock.now, config }),
    startPortal({ clock: () => clock.now() - 3000, config, signingKey: false }),
  ]);
  for (const { application } of [one, other])
    application.events.on(AUDIT, (event: AuditEvent) => {
      if (event.type.startsWith('signing_key')) events.push(event);
    });
  first = await readFile(path.join(keyPath, (await readdir(keyPath))[0] ?? ''), 'utf8');
});
afterAll(async () => {
  await Promise.all([one.close(), other.close()]);
  await rm(keyPath, { recursive: true });
  await rm(storage, { recursive: true });
});
/** One key, which signs from now on. */
beforeEach(async () => {
  clock.advance(1);
  const { kid } = JSON.parse(first) as { kid: string };
  const name = `${clock.now()}-${kid}.json`;
  await writeFile(path.join(keyPath, name), first, { mode: 0o600 });
  for (const each of await readdir(keyPath)) if (each !== name) await rm(path.join(keyPath, each));
  await one.server.keys.all();
  await other.server.keys.all();
  events.length = 0;
});

const keys = () => one.server.keys;

async function keySet({ url }: RunningPortal): Promise<JSONWebKeySet> {
  const response = await fetch(`${url}/.well-known/jwks.json`);
  expect(response.headers.get('cache-control')).toBe('public, max-age=5');
  return (await response.json()) as JSONWebKeySet;
}

const kidsOf = ({ keys }: JSONWebKeySet) => keys.map(({ kid }) => String(kid));
const states = async () => (await keys().list()).map(({ kid, state }) => ({ kid, state }));

/** A client that gets an ID token with each refresh. */
async function tokenSource(portal: RunningPortal): Promise<() => Promise<string>> {
  const client: TestClient = await registerClient(portal);
  let { refresh_token: token } = await obtainTokens(portal, client, ADA);
  return async () => {
    const answer = await refresh(portal, client, token);
    expect(answer.status).toBe(200);
    const tokens = (await answer.json()) as Tokens;
    token = tokens.refresh_token;
    return tokens.id_token;
  };
}

async function verifies(idToken: string, set: JSONWebKeySet): Promise<void> {
  const currentDate = new Date(clock.now());
  await jwtVerify(idToken, createLocalJWKSet(set), { currentDate, clockTolerance: 10 });
}

/** Notes the key files each time their folder is written to disk. A crash loses later changes. */
async function watchDisk(): Promise<readonly (readonly string[])[]> {
  const written: (readonly string[])[] = [];
  const handle = await open(keyPath);
  const { ino } = await handle.stat();
  const spy = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'sync');
  await handle.close();
  onTestFinished(() => spy.mockRestore());
  spy.mockImplementation(async function sync(this: FileHandle) {
    if ((await this.stat()).ino === ino) written.push(await keyFiles());
  });
  return written;
}
const keyFiles = async () => (await readdir(keyPath)).filter((name) => name.endsWith('.json'));

describe('a crash of the machine', () => {
  // @shows AS-11.12
  test.each([
    ['a new key', () => keys().generate()],
    ['a staged key', () => keys().rotate()],
    ['an immediate replacement, and restores no old key', () => keys().rotate({ now: true })],
    [
      'the removal of an old key',
      async () => {
        await keys().generate();
        clock.advance(3700);
        expect(await keys().prune(3600)).toHaveLength(1);
      },
    ],
  ])('does not lose %s', async (_, change) => {
    const written = await watchDisk();
    const before = await keyFiles();
    await change();
    expect(await keyFiles()).not.toEqual(before);
    expect(written.at(-1)).toEqual(await keyFiles());
  });
});

describe('oauth:keys:rotate', () => {
  // @shows AS-11.10, AS-11.11, AS-11.12
  test('replaces a key so that a cached key set verifies every ID token at any time', async () => {
    const random = createRandom(7);
    const sources = [await tokenSource(one), await tokenSource(other)];
    const processes = [one, other];
    /** The key set that a library caches for ten minutes, without reading Cache-Control. */
    let cached = await keySet(one);
    let cachedAt = clock.now();
    const living: { token: string; until: number }[] = [];
    const signers = new Set<unknown>();
    for (let step = 0; step < SCALE.keyRotationSteps; step += 1) {
      clock.advance(Math.ceil(random() * 300));
      if (random() < 0.5)
        await processes[Math.floor(random() * 2)]?.server.keys.rotate({
          ifOlderThan: 600,
          by: 'console',
        });
      if (clock.now() - cachedAt > 600_000) {
        cached = await keySet(processes[Math.floor(random() * 2)] ?? one);
        cachedAt = clock.now();
      }
      for (const next of sources) {
        const token = await next();
        await verifies(token, cached);
        signers.add(decodeProtectedHeader(token).kid);
        living.push({ token, until: clock.now() + 3_600_000 - 10_000 });
      }
      const sets = await Promise.all(processes.map(keySet));
      for (const { token, until } of living)
        if (until > clock.now()) for (const set of sets) await verifies(token, set);
      expect(new Set(sets.map((set) => kidsOf(set).toSorted().join())).size).toBe(1);
      expect(kidsOf(sets[0] ?? { keys: [] }).length).toBeLessThan(8);
    }
    // The keys were rotated more than once.
    expect(signers.size).toBeGreaterThan(2);
    expect(events.some(({ type }) => type === 'signing_key_removed')).toBe(true);
  });

  // @shows AS-11.10, AS-11.17
  test('run every hour with an age, does each step once: publish, sign with, remove', async () => {
    const [before] = await keys().all();
    const old = before?.kid ?? '';
    const rotate = () => keys().rotate({ ifOlderThan: 30 * DAY, by: 'console' });
    for (let day = 0; day < 29; day += 1) {
      clock.advance(DAY);
      expect(await rotate()).toMatchObject({ created: [], staged: [], removed: [] });
    }
    clock.advance(DAY);
    const { staged } = await rotate();
    const [next] = staged;
    const second = next?.kid ?? '';
    expect(staged).toMatchObject([
      {
        algorithm: 'RS256',
        state: 'staged',
        createdAt: clock.now(),
        signsFrom: clock.now() + STAGED * 1000,
      },
    ]);
    expect(await rotate()).toMatchObject({ staged: [], removed: [] });
    // The other process reads the directory again, as it does at least once a second.
    await other.server.keys.all();
    expect((await keys().active())?.kid).toBe(old);
    expect((await other.server.keys.active())?.kid).toBe(old);

    clock.advance(STAGED - 1);
    expect((await keys().active())?.kid).toBe(old);
    clock.advance(1);
    expect((await keys().active())?.kid).toBe(second);
    // Three seconds behind.
    expect((await other.server.keys.active())?.kid).toBe(old);
    clock.advance(3);
    expect((await other.server.keys.active())?.kid).toBe(second);
    expect(await rotate()).toMatchObject({ staged: [], removed: [] });
    expect(await states()).toEqual([
      { kid: second, state: 'signing' },
      { kid: old, state: 'retired' },
    ]);
    const { retiredAt, removableAt } = (await keys().list())[1] ?? {};
    // The lifetime of an ID token, and as long as caches keep it.
    expect((removableAt ?? 0) - (retiredAt ?? 0)).toBe((3600 + STAGED) * 1000 + 1000);

    clock.advance(3600 + STAGED - 3);
    expect(await rotate()).toMatchObject({ staged: [], removed: [] });
    clock.advance(1);
    expect(await rotate()).toMatchObject({ staged: [], removed: [old] });
    expect(await rotate()).toMatchObject({ staged: [], removed: [] });
    expect(kidsOf(await keySet(other))).toEqual([second]);
    expect(events).toEqual([
      { type: 'signing_key_staged', kid: second, algorithm: 'RS256', by: 'console' },
      { type: 'signing_key_removed', kid: old, algorithm: 'RS256', by: 'console' },
    ]);
  });

  // @shows AS-11.12
  test('creates one key if several processes run it at the same time', async () => {
    for (const algorithm of ['ES256', 'EdDSA'] as const) {
      await keys().generate(algorithm);
      const rounds = [one, other, one, other, one, other];
      const rotations = await Promise.all(
        rounds.map(({ server }) => server.keys.rotate({ algorithm, by: BY })),
      );
      const made = rotations.flatMap(({ staged }) => staged);
      expect(made).toHaveLength(1);
      expect(events.filter(({ type }) => type === 'signing_key_staged').at(-1)).toEqual({
        type: 'signing_key_staged',
        kid: made[0]?.kid,
        algorithm,
        by: BY,
      });
      expect((await keys().list()).filter((key) => key.algorithm === algorithm)).toHaveLength(2);
    }
    expect(events.filter(({ type }) => type === 'signing_key_staged')).toHaveLength(2);
    expect((await readdir(keyPath)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  // @shows AS-11.10
  test('replaces the keys of every algorithm, or of one', async () => {
    await keys().generate('ES256');
    expect((await keys().rotate({ algorithm: 'ES256' })).staged).toMatchObject([
      { algorithm: 'ES256' },
    ]);
    expect((await keys().rotate()).staged).toMatchObject([{ algorithm: 'RS256' }]);
    await expect(keys().rotate({ algorithm: 'EdDSA' })).rejects.toThrow(
      new KeyRotationError(
        'There is no signing key for EdDSA to replace. First run npx portico oauth:keys:generate --alg EdDSA',
      ),
    );
  });

  // @shows AS-11.13
  test('names files for older releases: a staged key sorts as oldest, and as newest once it signs', async () => {
    // The earlier release reads them in this order.
    const newest = async () =>
      (await readdir(keyPath))
        .filter((name) => /^(\d+)-[A-Za-z0-9_-]+(?:\.(ES256|EdDSA))?\.json$/.test(name))
        .toSorted((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10));
    const [old = ''] = await newest();
    const { staged } = await keys().rotate();
    expect(await newest()).toEqual([old, expect.stringMatching(/^0-next-/)]);
    clock.advance(STAGED);
    await keys().rotate({ ifOlderThan: DAY });
    expect(await newest()).toEqual([`${staged[0]?.signsFrom}-${staged[0]?.kid}.json`, old]);
    expect((await stat(path.join(keyPath, (await newest())[0] ?? ''))).mode & 0o777).toBe(0o600);
  });

  // @shows AS-11.11
  test('publishes the same members of a staged key as of other keys', async () => {
    await keys().rotate();
    for (const key of (await keySet(one)).keys)
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });

  // @shows AS-11.12
  test('continues after it was killed at any step: with a draft, or a key with both of its names', async () => {
    const draft = path.join(keyPath, `.draft-${'0'.repeat(32)}`);
    await writeFile(draft, '{"kty":', { mode: 0o600 });
    const { staged } = await keys().rotate();
    // Another command may still be writing the file.
    expect(await readdir(keyPath)).toContain(path.basename(draft));
    await utimes(draft, 1, 1);
    clock.advance(STAGED);
    const name = (await readdir(keyPath)).find((each) => each.startsWith('0-next-')) ?? '';
    const { kid = '', signsFrom = 0 } = staged[0] ?? {};
    await link(path.join(keyPath, name), path.join(keyPath, `${signsFrom}-${kid}.json`));
    expect(kidsOf(await keySet(one)).filter((each) => each === kid)).toEqual([kid]);
    expect((await keys().active())?.kid).toBe(kid);
    await keys().rotate({ ifOlderThan: DAY });
    const left = await readdir(keyPath);
    expect(left).toHaveLength(2);
    expect(left).toContain(`${signsFrom}-${kid}.json`);
  });

  // @shows AS-11.22
  test('never writes outside of the directory, with any kid in a file', async () => {
    await keys().rotate();
    const name = (await readdir(keyPath)).find((each) => each.startsWith('0-next-')) ?? '';
    const file = path.join(keyPath, name);
    const jwk = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(
      file,
      JSON.stringify({ ...jwk, kid: `x/../../${path.basename(keyPath)}-storage/planted` }),
    );
    clock.advance(STAGED);
    await keys().rotate({ ifOlderThan: DAY });
    expect(await readdir(storage)).toEqual(['oauth']);
    expect(await readdir(keyPath)).toContain(name);
  });

  // @shows AS-11.12
  test('changes nothing and prints an error if it cannot write', async () => {
    const before = await readdir(keyPath);
    const run = ['oauth:keys:rotate', '--json'];
    // With this limit, no file can be written.
    const limited = 'ulimit -f 0; trap "" XFSZ; exec "$0" "$@"';
    const command = [
      process.execPath,
      path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'),
      ...run,
    ];
    const failed = await promisify(execFile)('sh', ['-c', limited, ...command], {
      cwd: PORTAL,
      env: { PATH: process.env['PATH'], STORAGE_DIR: storage },
    }).then(
      () => null,
      (error: unknown) => error as { readonly stderr: string; readonly stdout: string },
    );
    expect(failed?.stderr).toMatch(
      /^The key directory \S+ cannot be written \(EFBIG: [^)]+\): no key was replaced$/m,
    );
    expect(failed?.stdout).toBe('');
    expect(await readdir(keyPath)).toEqual(before);
  });

  // @shows AS-11.13
  test('keeps a key whose name prevents it from signing, as during delivery in two steps', async () => {
    const fresh = await keys().generate('ES256');
    await keys().generate('ES256');
    await rename(
      path.join(keyPath, fresh.file ?? ''),
      path.join(keyPath, `0-${fresh.kid}.ES256.json`),
    );
    clock.advance(400 * DAY);
    expect((await keys().rotate({ ifOlderThan: 1000 * DAY })).removed).toEqual([]);
    expect((await keys().list()).find(({ kid }) => kid === fresh.kid)).toMatchObject({
      state: 'published',
      removableAt: null,
      signsFrom: null,
    });
  });

  test.each([
    [{ now: true, ifOlderThan: 60 }, 'now cannot be combined with ifOlderThan'],
    [{ stagedFor: 904 }, 'from 905 to'],
    [{ ifOlderThan: 0 }, 'from 1 to'],
    [{ ifOlderThan: Number.NaN }, 'from 1 to'],
    [{ algorithm: 'PS256' as never }, 'one of RS256, ES256, EdDSA'],
  ])('refuses %j', async (options, message) => {
    const before = await readdir(keyPath);
    await expect(keys().rotate(options)).rejects.toThrow(RangeError);
    await expect(keys().rotate(options)).rejects.toThrow(message);
    expect(await readdir(keyPath)).toEqual(before);
  });
});

describe('oauth:keys:rotate --now', () => {
  // @shows AS-11.14, AS-11.17
  test('signs with a new key immediately, and removes all others of its algorithm, also staged ones', async () => {
    const next = await tokenSource(one);
    const old = await next();
    await keys().rotate();
    const ec = await keys().generate('ES256');
    events.length = 0;
    const { created, removed } = await keys().rotate({
      now: true,
      algorithm: 'RS256',
      by: 'console',
    });
    expect(created).toMatchObject([{ state: 'signing', algorithm: 'RS256' }]);
    expect(removed).toHaveLength(2);
    const kid = created[0]?.kid ?? '';
    const set = await keySet(other);
    expect(kidsOf(set).toSorted()).toEqual([kid, ec.kid].toSorted());
    await verifies(await next(), set);
    await expect(verifies(old, set)).rejects.toThrow('no applicable key');
    expect(events).toEqual([
      { type: 'signing_key_created', kid, algorithm: 'RS256', by: 'console' },
      ...removed.map((each) => ({
        type: 'signing_key_removed',
        kid: each,
        algorithm: 'RS256',
        by: 'console',
      })),
    ]);
  });

  // @shows AS-11.14
  test('removes a key under both of its names, as after a crash during renaming', async () => {
    const { staged } = await keys().rotate();
    clock.advance(STAGED);
    const { kid = '', signsFrom = 0 } = staged[0] ?? {};
    const name = (await readdir(keyPath)).find((each) => each.startsWith('0-next-')) ?? '';
    await link(path.join(keyPath, name), path.join(keyPath, `${signsFrom}-${kid}.json`));
    const { created, removed } = await keys().rotate({ now: true });
    expect(removed).toContain(kid);
    expect(kidsOf(await keySet(other))).toEqual(created.map((each) => each.kid));
    expect(await readdir(keyPath)).toHaveLength(1);
  });

  // @shows AS-11.14
  test('leaves a signing key if several processes run it at the same time', async () => {
    await Promise.all(
      [one, other, one, other].map(({ server }) => server.keys.rotate({ now: true })),
    );
    const { length } = await keys().all();
    expect(length).toBeGreaterThan(0);
    expect(kidsOf(await keySet(other))).toContain((await keys().active())?.kid);
  });
});

describe('oauth:keys:rotate on the console', () => {
  /** Uses the system's clock. */
  beforeEach(async () => {
    const [name = ''] = await readdir(keyPath);
    await rename(
      path.join(keyPath, name),
      path.join(keyPath, name.replace(/^\d+/, String(Date.now()))),
    );
  });

  const run = (...args: string[]) =>
    porticoHere(args, { cwd: PORTAL, env: { STORAGE_DIR: storage } });

  // @shows AS-11.10, AS-11.14, AS-11.15
  test('rotates, prints what it did, and oauth:keys:list shows the state of each key', async () => {
    const [signing = ''] = (await keys().all()).map(({ kid }) => kid);
    const rotated = await run('oauth:keys:rotate', '--alg', 'RS256', '--staged-for', '2h');
    expect(rotated.stdout).toMatch(
      /^The key \S{43} \(RS256\) is published and signs from \S+Z\.\n$/,
    );
    const again = await run('oauth:keys:rotate', '--if-older-than=30d');
    expect(again.stdout).toMatch(
      /^The key \S{43} \(RS256\) was already published and signs from \S+Z\.\n$/,
    );
    const listed = await run('oauth:keys:list');
    expect(listed.stdout).toMatch(
      /^\S{43} {2}RS256 {2}\(published; signs later\)\n {2}created {5}\S+Z\n {2}signs from {2}\S+Z\n {2}file {8}\S+\n\n/,
    );
    expect(listed.stdout).toContain(`${signing}  RS256  (signs)\n`);
    const { items, next } = JSON.parse((await run('oauth:keys:list', '--json')).stdout) as {
      items: { kid: string; state: string; created_at: string; signs_from: string }[];
      next: null;
    };
    expect(next).toBe(null);
    expect(items.map(({ state }) => state)).toEqual(['staged', 'signing']);
    const [staged] = items;
    expect(Object.keys(staged ?? {})).toEqual([
      'kid',
      'alg',
      'state',
      'created_at',
      'signs_from',
      'retired_at',
      'removable_at',
      'file',
    ]);
    expect(Date.parse(staged?.signs_from ?? '') - Date.parse(staged?.created_at ?? '')).toBe(
      7_200_000,
    );
    const content = await readFile(
      path.join(keyPath, (await readdir(keyPath)).find((name) => name.startsWith('0-')) ?? ''),
      'utf8',
    );
    const { d } = JSON.parse(content) as { d: string };
    expect(listed.stdout + JSON.stringify(items)).not.toContain(d);

    const now = await run('oauth:keys:rotate', '--now', '--json');
    expect(now.stderr).toMatch(/^Applications refuse ID tokens from the old keys/);
    const report = JSON.parse(now.stdout) as {
      created: unknown[];
      removed: string[];
      keys: unknown[];
    };
    expect([report.created.length, report.removed.length, report.keys.length]).toEqual([1, 2, 1]);
    expect((await run('oauth:keys:rotate', '--if-older-than=30d')).stdout).toBe(
      'No key is old enough to be replaced or removed.\n',
    );
  });

  // @shows AS-11.10
  test.each([
    [['--if-older-than=soon'], '--if-older-than must be a duration such as 30d'],
    [['--if-older-than=30d', '--now'], 'Use --now without --if-older-than and --staged-for'],
    [['--alg=ES256'], 'oauth:keys:generate --alg ES256'],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await run('oauth:keys:rotate', ...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(message);
    expect(stderr.trim()).not.toContain('\n');
  });

  // @shows AS-11.15
  test('prints the kid of a manually created key without terminal control characters', async () => {
    const [name = ''] = await readdir(keyPath);
    const content = JSON.parse(await readFile(path.join(keyPath, name), 'utf8')) as object;
    const kid = '\u001B[2J\u202Ekid';
    await writeFile(path.join(keyPath, name), JSON.stringify({ ...content, kid }));
    const { stdout } = await run('oauth:keys:list');
    expect(stdout).toContain(String.raw`"\u{1b}[2J\u{202e}kid"`);
  });
});

describe('the doctor, about signing keys', () => {
  const rotation = async () => {
    const { checks } = await examine(other.application, other.server);
    return checks.filter(({ part }) => part === 'key rotation');
  };

  // @shows AS-11.16
  test('reports which key is staged, which is old, and which is no longer needed', async () => {
    expect(await rotation()).toEqual([]);
    clock.advance(367 * DAY);
    expect(await rotation()).toMatchObject([
      { outcome: 'warning', detail: expect.stringContaining('for more than a year') as string },
    ]);
    await keys().rotate();
    expect(await rotation()).toMatchObject([
      {
        outcome: 'ok',
        detail: expect.stringMatching(/^\S{43} \(RS256\) is published and signs from/) as string,
      },
    ]);
    // The key signs now, and ID tokens from the previous key are still valid.
    clock.advance(1000);
    expect(await rotation()).toEqual([]);
    clock.advance(DAY - 1000);
    expect(await rotation()).toMatchObject([
      {
        outcome: 'warning',
        detail: expect.stringContaining(
          'these keys are no longer needed to verify ID tokens',
        ) as string,
      },
    ]);
    await keys().rotate({ ifOlderThan: DAY });
    await keys().rotate({ ifOlderThan: 30 * DAY });
    expect(await rotation()).toMatchObject([]);
  });

  // @shows AS-11.16
  test('reports an old key for each algorithm separately, even if a key of another is staged', async () => {
    await keys().generate('EdDSA');
    clock.advance(367 * DAY);
    const old = async () =>
      (await rotation()).filter(({ outcome }) => outcome === 'warning').map(({ detail }) => detail);
    expect(await old()).toHaveLength(2);
    await keys().rotate({ algorithm: 'EdDSA' });
    expect(await old()).toEqual([
      expect.stringMatching(
        / \(RS256\) has been the signing key for more than a year \(since \S+\)$/,
      ),
    ]);
  });

  // @shows AS-11.16
  test('reports a staged key that was created while a clock was ahead', async () => {
    clock.advance(3650 * DAY);
    await keys().rotate();
    clock.advance(-3650 * DAY);
    expect(await rotation()).toMatchObject([
      { outcome: 'ok' },
      {
        outcome: 'warning',
        detail: expect.stringContaining('created while a clock was ahead') as string,
        remedy: expect.stringContaining('Then remove ') as string,
      },
    ]);
    const name = (await readdir(keyPath)).find((each) => each.startsWith('0-next-')) ?? '';
    await rm(path.join(keyPath, name));
    expect(await rotation()).toEqual([]);
    expect((await keys().rotate()).staged).toHaveLength(1);
    expect(await rotation()).toMatchObject([{ outcome: 'ok' }]);
  });

  // @shows AS-11.16
  test('reports a signing key that was created while a clock was ahead', async () => {
    clock.advance(3650 * DAY);
    await keys().rotate({ now: true });
    clock.advance(-3650 * DAY);
    expect(await rotation()).toMatchObject([
      {
        outcome: 'warning',
        detail: expect.stringContaining('created while a clock was ahead') as string,
        remedy: expect.stringContaining('Then rename ') as string,
      },
    ]);
    const [name = ''] = await readdir(keyPath);
    const renamed = name.replace(/^\d+/, String(clock.now()));
    await rename(path.join(keyPath, name), path.join(keyPath, renamed));
    expect(await rotation()).toEqual([]);
    clock.advance(31 * DAY);
    expect((await keys().rotate({ ifOlderThan: 30 * DAY })).staged).toHaveLength(1);
  });

  // @shows AS-11.16
  test('reports that a staged key cannot be read, while the others continue', async () => {
    await keys().rotate();
    const name = (await readdir(keyPath)).find((each) => each.startsWith('0-next-')) ?? '';
    await writeFile(path.join(keyPath, name), '{}');
    await (
      await tokenSource(other)
    )();
    expect(await rotation()).toMatchObject([
      { outcome: 'failing', detail: expect.stringContaining(name) as string },
    ]);
  });
});
