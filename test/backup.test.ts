// @engines all, long: it copies databases under load
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { openDatabase, AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { portico, porticoHere, ROOT, start, type RunningProcess } from './support/console.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { createWorker } from './support/load.ts';
import {
  ADA,
  callApi,
  exchangeCode,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { createVisitor } from './support/visitor.ts';

/** The commands of docs/backup.md and docs/restore.md. */
const COMMANDS = {
  sqlite: {
    backup: 'npx portico db:backup "$backup"',
    restore: 'install -m 600 "$backup" "$restored"',
  },
  postgres: {
    backup: 'pg_dump --format=custom --file="$backup" "$database"',
    restore: 'pg_restore --exit-on-error --no-owner --dbname="$restored" "$backup"',
  },
  mysql: {
    backup:
      'mariadb-dump --defaults-extra-file="$login" --single-transaction --hex-blob "$database" > "$backup"',
    restore: 'mariadb --defaults-extra-file="$login" "$restored" < "$backup"',
  },
} as const;
const END_SESSIONS = 'DELETE FROM host_sessions;';

const PORTAL = path.join(ROOT, 'examples', 'portal');
const WORKERS = 4;

let portal: RunningPortal;
let folder: string;
let restoredDatabase: TestDatabase;

beforeAll(async () => {
  portal = await startPortal();
  folder = await mkdtemp(path.join(tmpdir(), 'portico-backup-'));
  restoredDatabase = await createDatabase(folder);
});
afterAll(async () => {
  await portal.close();
  await restoredDatabase.drop();
  await rm(folder, { recursive: true });
});

/** Runs a command of the page in a separate process, as an operator does. */
async function run(command: string): Promise<void> {
  const { dialect } = portal.application.database;
  const [database, restored] = [portal.env['DATABASE_URL'] ?? '', restoredDatabase.url];
  const backup = path.join(folder, 'backup');
  if (command.startsWith('npx portico')) {
    const { code, stderr } = await portico(['db:backup', backup], { cwd: PORTAL, env: portal.env });
    if (code !== 0) throw new Error(stderr);
    return;
  }
  const named = {
    sqlite: (url: string) => url.replace(/^sqlite:/, ''),
    postgres: (url: string) => url,
    mysql: (url: string) => new URL(url).pathname.slice(1),
  }[dialect];
  const login = path.join(folder, 'login.cnf');
  if (dialect === 'mysql') {
    const { hostname, port, username } = new URL(database);
    await writeFile(login, `[client]\nhost=${hostname}\nport=${port}\nuser=${username}\n`, {
      mode: 0o600,
    });
  }
  const PATH = `/usr/lib/postgresql/15/bin:${process.env['PATH'] ?? ''}`;
  const env = { PATH, login, backup, database: named(database), restored: named(restored) };
  await promisify(execFile)('sh', ['-ec', command], { env });
}

/** Serves the restored database at another URL, with the same signing keys. */
async function serveRestored(): Promise<{
  readonly at: RunningPortal;
  readonly process: RunningProcess;
}> {
  const storage = path.join(folder, 'storage');
  await cp(portal.server.config.key_path, path.join(storage, 'oauth', 'keys'), { recursive: true });
  const port = String(await freePort());
  const env = {
    ...portal.env,
    STORAGE_DIR: storage,
    DATABASE_URL: restoredDatabase.url,
    PORT: port,
  };
  const process = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
    cwd: PORTAL,
    env,
  });
  await process.says('Listening on');
  const url = `http://localhost:${port}`;
  const signedIn = async (email: string) => {
    const visitor = createVisitor(url);
    await signIn(visitor, await visitor.get('/login'), email);
    return visitor;
  };
  return { at: { ...portal, url, env, signedIn }, process };
}

/** Clients that exchange, refresh and revoke until they are stopped. */
function load(client: TestClient) {
  const state = { goesOn: true, answered: 0 };
  const hearing = new Set<() => void>();
  const work = async () => {
    const worker = await createWorker(portal, client, portal.url);
    while (state.goesOn) {
      expect(await worker.step()).toBe('answered');
      state.answered += 1;
      for (const hear of hearing) hear();
    }
  };
  const all = Promise.all(Array.from({ length: WORKERS }, work));
  return {
    async goOn(steps: number) {
      const enough = state.answered + steps;
      while (state.answered < enough)
        await Promise.race([all, new Promise<void>((resolve) => hearing.add(resolve))]);
    },
    async stop() {
      state.goesOn = false;
      await all;
    },
  };
}

const kidOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string })
    .kid;
const subjectOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string })
    .sub;
const tokensOf = async (response: Response) => (await response.json()) as Tokens;

describe('a backup taken under load and restored elsewhere', () => {
  // @shows AS-31.9
  test('contains everything that was confirmed before it began, and oauth:restored ends the rest', async () => {
    const client = await registerClient(portal);
    const robot = await registerClient(portal, {
      redirectUris: [],
      scopes: ['notes:read'],
      grants: ['client_credentials'],
    });
    const api = await registerClient(portal, {
      redirectUris: [],
      scopes: [],
      grants: ['introspection'],
    });
    const obtain = () => obtainTokens(portal, client, ADA);
    const idle = await obtain();
    const revokedSince = await obtain();
    const usedSince = await obtain();
    const alsoUsedSince = await obtain();
    const revokedBefore = await obtain();
    const revoke = (token: string) =>
      fetch(`${portal.url}/oauth/revoke`, {
        method: 'POST',
        body: new URLSearchParams({ token, client_id: client.id, client_secret: client.secret }),
      });
    await revoke(revokedBefore.refresh_token);
    const ada = await portal.signedIn(ADA);
    const code = await obtainCode(portal, client, ada);
    const own = await tokensOf(
      await requestToken(portal, robot, { grant_type: 'client_credentials' }),
    );
    await portal.server.initialAccessTokens.create({ note: 'a developer' });

    const { backup, restore } = COMMANDS[portal.application.database.dialect];
    const loading = load(await registerClient(portal, { public: true }));
    await loading.goOn(20);
    const answeredLast = [await obtain(), await obtain()];
    await run(backup);
    await loading.goOn(20);
    await loading.stop();

    await revoke(revokedSince.refresh_token);
    expect((await refresh(portal, client, usedSince.refresh_token)).status).toBe(200);
    expect((await refresh(portal, client, alsoUsedSince.refresh_token)).status).toBe(200);
    expect((await exchangeCode(portal, client, code)).status).toBe(200);

    await run(restore);
    const { at, process: serving } = await serveRestored();
    try {
      const isActive = async ({ access_token: token }: Pick<Tokens, 'access_token'>) => {
        const form = new URLSearchParams({ token, client_id: api.id, client_secret: api.secret });
        const answer = await fetch(`${at.url}/oauth/introspect`, { method: 'POST', body: form });
        return ((await answer.json()) as { active: boolean }).active;
      };
      expect(await Promise.all([idle, revokedBefore].map(isActive))).toEqual([true, false]);
      expect(await Promise.all(answeredLast.map(isActive))).toEqual([true, true]);

      // The page warns of this.
      expect(await isActive(revokedSince)).toBe(true);
      const stolen = await refresh(at, client, usedSince.refresh_token);
      const byCode = await exchangeCode(at, client, code);
      expect([stolen.status, byCode.status]).toEqual([200, 200]);
      const taken = await Promise.all([stolen, byCode].map(tokensOf));

      const command = await porticoHere(['oauth:restored', '--yes', '--json'], {
        cwd: PORTAL,
        env: at.env,
      });
      expect(command.code, command.stderr).toBe(0);
      const ended = JSON.parse(command.stdout) as Record<string, number>;
      expect(ended).toMatchObject({ client_tokens: 1, initial_access_tokens: 1 });
      expect(ended['authorizations']).toBeGreaterThanOrEqual(7);

      const all = [idle, ...answeredLast, revokedSince, usedSince, alsoUsedSince, own, ...taken];
      expect(await Promise.all(all.map(isActive))).toEqual(all.map(() => false));
      for (const token of [idle, revokedSince, alsoUsedSince, ...taken].map(
        (each) => each.refresh_token,
      ))
        expect((await refresh(at, client, token)).status).toBe(400);

      const page = async () =>
        (
          await fetch(`${at.url}/oauth/applications`, {
            headers: { cookie: ada.cookies() },
            redirect: 'manual',
          })
        ).status;
      expect(await page()).toBe(200);
      const opened = openDatabase(restoredDatabase.url, { directory: folder });
      await opened.execute(END_SESSIONS.replace(';', ''));
      await opened.close();
      expect(await page()).toBe(302);

      const again = await obtainTokens(at, client, ADA);
      expect((await callApi(at, '/api/whoami', again.access_token)).status).toBe(200);
      expect(subjectOf(again.id_token)).toBe(subjectOf(idle.id_token));
      expect(kidOf(again.id_token)).toBe(kidOf(idle.id_token));
      const refreshed = await tokensOf(await refresh(at, client, again.refresh_token));
      expect(await isActive(refreshed)).toBe(true);
      const renewed = await tokensOf(
        await requestToken(at, robot, { grant_type: 'client_credentials' }),
      );
      expect(await isActive(renewed)).toBe(true);
    } finally {
      await serving.stop();
    }
  });
});

describe('oauth:restored', () => {
  // @shows AS-31.9
  test('ends everything open in batches, is audited, and does not change later authorizations', async () => {
    const client = await registerClient(portal);
    const tokens = await obtainTokens(portal, client, ADA);
    const { database } = portal.application;
    const COUNT = 1100;
    const columns =
      'id, client_id, user_provider, user_id, subject, scope, created_at, expires_at, prune_after';
    for (let from = 0; from < COUNT; from += 100) {
      const rows = Array.from({ length: 100 }, (_, index) => from + index);
      await database.execute(
        `INSERT INTO oauth_families (${columns}) VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
        // The clock of the machine that issued them was ahead.
        rows.flatMap((row) => {
          const time = Date.now() + 86_400_000;
          return [
            `f${String(row).padStart(31, '0')}`,
            client.id,
            'p',
            `${row}`,
            `${row}`,
            '',
            time,
            time,
            time,
          ];
        }),
      );
    }
    const living = (await portal.server.access.list({}, { limit: 1000 })).items.length;
    expect(living).toBe(1000);

    const events: AuditEvent[] = [];
    portal.application.events.on(AUDIT, (event) => void events.push(event));
    const reported: number[] = [];
    const by = { provider: 'accounts', id: 'the administrator' };
    const { access } = portal.server;
    const ended = await access.endAll({ by, report: (count) => void reported.push(count) });
    expect(ended.authorizations).toBeGreaterThan(COUNT);
    expect(reported.length).toBeGreaterThanOrEqual(2);
    expect(reported[0]).toBeLessThanOrEqual(500);
    expect((await access.list()).items).toEqual([]);
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(400);
    expect(events).toContainEqual({ type: 'access_ended', ...ended, by });

    const later = await obtainTokens(portal, client, ADA);
    expect(await access.endAll()).toMatchObject({ authorizations: 1, clientTokens: 0 });
    expect((await callApi(portal, '/api/whoami', later.access_token)).status).toBe(401);
    expect(await access.endAll()).toEqual({
      authorizations: 0,
      clientTokens: 0,
      requests: 0,
      initialAccessTokens: 0,
    });
  });

  test('ends nothing without --yes if it cannot ask for confirmation', async () => {
    const client = await registerClient(portal);
    const tokens = await obtainTokens(portal, client, ADA);
    const { code, stderr } = await portico(['oauth:restored'], { cwd: PORTAL, env: portal.env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('To confirm, add --yes')]);
    expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(200);
  });
});

describe('db:backup', () => {
  const isServer = inject('databaseServer') !== undefined;
  const target = () => path.join(folder, 'a copy');
  const backUp = async (file: string) => {
    const { code, stderr } = await porticoHere(['db:backup', file], {
      cwd: PORTAL,
      env: portal.env,
    });
    return { code, stderr };
  };
  const refused = (why: RegExp) => ({ code: 1, stderr: expect.stringMatching(why) as string });
  const nothing = { mode: null };
  const written = () => stat(target()).catch(() => nothing);

  test('writes a file that only its owner can read, or names the tool for a database server', async () => {
    expect(await backUp(target())).toEqual(
      isServer ? refused(/use (?:pg_dump|mariadb-dump)/) : { code: 0, stderr: '' },
    );
    const { mode } = await written();
    expect(mode === null ? mode : mode & 0o777).toBe(isServer ? null : 0o600);
  });

  test('removes no file that a different backup is being written to', async () => {
    const file = path.join(folder, 'at once');
    await writeFile(`${file}.part`, 'of another copy', { mode: 0o600 });
    expect(await backUp(file)).toEqual(
      refused(isServer ? /copies only SQLite/ : /at once\.part already exists/),
    );
    expect(await readFile(`${file}.part`, 'utf8')).toBe('of another copy');
  });

  test.each(isServer ? [] : ['SQLite'])(
    'makes no copy of a database that was never migrated, such as a wrong file, on %s',
    async () => {
      const file = path.join(folder, 'of nothing');
      const { code, stderr } = await porticoHere(['db:backup', file], {
        cwd: PORTAL,
        env: { ...portal.env, DATABASE_URL: `sqlite:${path.join(folder, 'a wrong name.sqlite')}` },
      });
      expect({ code, stderr }).toEqual(refused(/^The database contains no data of Portico/));
      await expect(stat(file)).rejects.toThrow('ENOENT');
    },
  );

  test('overwrites nothing and creates no folder', async () => {
    await writeFile(target(), 'of before', { mode: 0o600 });
    expect(await backUp(target())).toEqual(
      refused(isServer ? /copies only SQLite/ : /already exists; choose another name/),
    );
    expect(await readFile(target(), 'utf8')).toBe('of before');
    const nowhere = await backUp(path.join(folder, 'missing', 'copy'));
    expect(nowhere).toEqual(
      refused(isServer ? /copies only SQLite/ : /The folder .* does not exist/),
    );
  });
});
