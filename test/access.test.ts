import path from 'node:path';
import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { porticoHere, ROOT, type ConsoleResult } from './support/console.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  GRACE,
  obtainCode,
  obtainTokens,
  refresh,
  REDIRECT_URI,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

/** The server's clock is twenty days behind. The console uses the real time. */
const DAYS = 20;
const DAY = 86_400;
const ERASED = [
  'oauth_families',
  'oauth_subjects',
  'oauth_consent_requests',
  'oauth_waiting_requests',
  'oauth_audit',
  'oauth_access_tokens',
];
const PERSONAL = ['openid', 'profile', 'email'];
const clock = createClock();
clock.advance(-DAYS * DAY);

let portal: RunningPortal;
let notes: TestClient;
let diary: TestClient;
let ada: string;
const events: AuditEvent[] = [];

beforeAll(async () => {
  portal = await startPortal({
    clock: clock.now,
    config: { oauth_server: { refresh_retry_seconds: 60, audit: { keep: true } } },
  });
  portal.application.events.on(AUDIT, (event: AuditEvent) => void events.push(event));
});
afterAll(() => portal.close());
beforeEach(async () => {
  const { database } = portal.application;
  for (const table of [
    'oauth_families',
    'oauth_subjects',
    'oauth_consent_requests',
    'oauth_clients',
    'oauth_audit',
  ])
    await database.execute(`DELETE FROM ${table}`);
  notes = await registerClient(portal, { name: 'Notes' });
  diary = await registerClient(portal, { name: 'Diary' });
  events.length = 0;
});

const run = (...args: readonly string[]): Promise<ConsoleResult> =>
  porticoHere(args, { cwd: path.join(ROOT, 'examples', 'portal'), env: portal.env });

interface Listed {
  readonly items: readonly {
    readonly id: string;
    readonly client_id: string;
    readonly person: { readonly provider: string; readonly id: string };
    readonly scopes: readonly string[];
    readonly used: string;
    readonly used_at: string | null;
    readonly created_at: string;
    readonly expires_at: string;
    readonly subject: string;
  }[];
  readonly next: string | null;
}

async function list(...args: readonly string[]): Promise<Listed> {
  const { code, stdout, stderr } = await run('oauth:authorization:list', '--json', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Listed;
}

async function newest(): Promise<string> {
  const { items } = await portal.server.access.list();
  return items[0]?.id ?? '';
}

const livesFor = async (tokens: Tokens) =>
  (await callApi(portal, '/api/whoami', tokens.access_token)).status === 200;

type Row = Readonly<Record<string, string | number | null>>;

/** A row as the server writes it. */
function rowOf(changes: Row): Row {
  const now = clock.now();
  return {
    client_id: notes.id,
    user_provider: 'accounts',
    user_id: 'somebody',
    subject: 'a subject',
    scope: 'openid',
    created_at: now,
    expires_at: now + 30 * DAY * 1000,
    prune_after: now + 30 * DAY * 1000,
    ...changes,
  };
}

const inserted = (id: string, changes: Row = {}) => insertedMany(1, () => ({ id, ...changes }));

/** Inserts this many rows, some hundred per statement. */
async function insertedMany(count: number, changes: (index: number) => Row): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => rowOf(changes(index)));
  const columns = Object.keys(rows[0] ?? {});
  const row = `(${columns.map(() => '?').join(', ')})`;
  for (let first = 0; first < count; first += 500) {
    const some = rows.slice(first, first + 500);
    await portal.application.database.execute(
      `INSERT INTO oauth_families (${columns.join(', ')}) VALUES ${some.map(() => row).join(', ')}`,
      some.flatMap((each) => Object.values(each)),
    );
  }
}

const idAt = (time: number, index = 0) =>
  time.toString(16).padStart(12, '0') + index.toString(16).padStart(20, '0');

describe('the list of access', () => {
  // @shows AS-31.1
  test('is sorted newest first, with person, scopes, time of the grant and last refresh', async () => {
    const first = await obtainTokens(portal, notes, ADA, { scope: 'openid notes:read' });
    const since = clock.now();
    clock.advance(60);
    await refresh(portal, notes, first.refresh_token);
    const used = clock.now();
    await inserted(idAt(used + 1), { client_id: diary.id });
    const { items, next } = await list();
    expect(next).toBeNull();
    expect(items.map((each) => each.client_id)).toEqual([diary.id, notes.id]);
    const iso = (time: number) => new Date(time).toISOString();
    expect(items[0]).toMatchObject({ used: 'never', used_at: null, registered_by: 'operator' });
    expect(items[1]).toMatchObject({
      client_name: 'Notes',
      scopes: ['openid', 'notes:read'],
      audience: null,
      created_at: iso(since),
      used: 'known',
      used_at: iso(used),
      expires_at: iso(used + 30 * DAY * 1000),
    });
    const { stdout } = await run('oauth:authorization:list');
    expect(stdout.split('\n\n')).toHaveLength(2);
    expect(stdout).toContain(`Notes  (${notes.id})`);
    expect(stdout).toContain(`refreshed  ${iso(used)}`);
    expect(stdout).toContain('refreshed  never');
  });

  // @shows AS-31.1
  test('excludes access that was revoked, expired or replayed, or whose client cannot use it', async () => {
    await obtainTokens(portal, notes, ADA);
    await portal.server.access.revokeAuthorization(await newest());
    await inserted(idAt(clock.now()), { expires_at: clock.now() });
    const { refresh_token: token } = await obtainTokens(portal, notes, ADA);
    await refresh(portal, notes, token);
    clock.advance(61);
    await refresh(portal, notes, token);
    await obtainTokens(portal, diary, ADA);
    await portal.server.clients.revoke(diary.id);
    const narrowed = await registerClient(portal, {
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
    await obtainTokens(portal, narrowed, ADA);
    await portal.server.clients.update(narrowed.id, {
      removeGrants: ['authorization_code', 'refresh_token'],
      removeRedirectUris: [REDIRECT_URI],
      removeScopes: PERSONAL,
    });
    const living = await registerClient(portal);
    await obtainTokens(portal, living, ADA);
    expect((await list()).items.map((each) => each.client_id)).toEqual([living.id]);
    for (const filter of [
      ['--client', notes.id],
      ['--client', diary.id],
    ]) {
      expect(await list(...filter), filter.join(' ')).toEqual({ items: [], next: null });
    }
  });

  // @shows AS-31.2
  test('can be filtered by client, person and scope, compared byte by byte', async () => {
    const time = clock.now();
    const rows = [
      { user_id: 'a', scope: 'openid notes:read' },
      { user_id: 'a ', scope: 'notes:read:all openid' },
      { user_id: 'A', scope: 'openid Notes:read' },
      { user_id: 'a', client_id: diary.id, scope: 'notes%read' },
      { user_id: 'a', user_provider: 'Accounts', scope: 'notes:read' },
      { user_id: '\u00c9', scope: 'openid' },
      { user_id: '\u00e9', scope: 'openid' },
      { user_id: 'E\u0301', scope: 'openid' },
    ];
    for (const [index, row] of rows.entries()) await inserted(idAt(time, index), row);
    const found = async (...args: string[]) =>
      (await list(...args)).items.map(({ id }) => Number.parseInt(id.slice(12), 16));
    expect(await found('--person', 'accounts', 'a')).toEqual([3, 0]);
    expect(await found('--person', 'accounts', 'a ')).toEqual([1]);
    expect(await found('--person', 'accounts', 'A')).toEqual([2]);
    expect(await found('--person', 'Accounts', 'a')).toEqual([4]);
    expect(await found('--person', 'accounts', '\u00c9')).toEqual([5]);
    expect(await found('--person', 'accounts', 'E\u0301')).toEqual([7]);
    expect(await found('--client', diary.id)).toEqual([3]);
    expect(await found('--scope', 'notes:read')).toEqual([4, 0]);
    expect(await found('--scope', 'notes_read')).toEqual([]);
    expect(await found('--scope', 'notes%read')).toEqual([3]);
    expect(
      await found('--person', 'accounts', 'a', '--client', notes.id, '--scope', 'openid'),
    ).toEqual([0]);
    expect(await found('--client', notes.id, '--scope', 'notes:read')).toEqual([4, 0]);
  });

  test('counts a fraction of a millisecond without use as the next whole one', async () => {
    await inserted(idAt(1000), { created_at: 1000 });
    await inserted(idAt(1001), { created_at: 1001 });
    const idsSince = async (unusedSince: number) =>
      (await portal.server.access.list({ unusedSince })).items.map(({ id }) => id);
    expect(await idsSince(1000.5)).toEqual([idAt(1000)]);
    expect(await idsSince(-0.5)).toEqual([]);
  });

  // @shows AS-31.3
  test('can be filtered by the days without use, since the grant if there was no use', async () => {
    const now = Date.now();
    const days = (count: number) => now - count * DAY * 1000;
    const [old, used, unknown, unused, fresh] = [15, 14, 13, 12, 2].map((count) =>
      idAt(days(count)),
    );
    await inserted(old ?? '', { created_at: days(15), refresh_generation: 1, used_at: days(15) });
    await inserted(used ?? '', { created_at: days(14), refresh_generation: 4, used_at: days(1) });
    await inserted(unknown ?? '', { created_at: days(13), refresh_generation: 4 });
    await inserted(unused ?? '', { created_at: days(12) });
    await inserted(fresh ?? '', { created_at: days(2) });
    await inserted('ffee', { created_at: days(16), refresh_generation: 1, used_at: days(16) });
    await inserted('ffff', { created_at: days(16), refresh_generation: 1, used_at: days(1) });
    const found = (await list('--unused-since', '10d')).items;
    expect(found.map(({ id }) => id)).toEqual(['ffee', unused, unknown, old]);
    expect(found.map((each) => each.used)).toEqual(['known', 'never', 'unknown', 'known']);
    const since = new Date(days(13) + 1).toISOString();
    expect((await list('--unused-since', since)).items.map(({ id }) => id)).toEqual([
      'ffee',
      unknown,
      old,
    ]);
    const exactly = new Date(days(13)).toISOString();
    expect((await list('--unused-since', exactly)).items.map(({ id }) => id)).toEqual([
      'ffee',
      old,
    ]);
    // The pages together contain the same result.
    const pages: (string | undefined)[] = [];
    for (let after: string[] = []; ;) {
      const { items, next } = await list('--unused-since', '10d', '--limit', '1', ...after);
      pages.push(items[0]?.id);
      if (next === null) break;
      after = ['--after', next];
    }
    expect(pages.filter((id) => id !== undefined)).toEqual(['ffee', unused, unknown, old]);
    expect((await run('oauth:authorization:list', '--unused-since', '10d')).stdout).toContain(
      'refreshed  unknown',
    );
  });

  // @shows AS-31.4
  test('shows each authorization once across its pages, even while others are added', async () => {
    const time = clock.now();
    for (let index = 0; index < 7; index += 1) await inserted(idAt(time, index));
    const seen: string[] = [];
    let after: readonly string[] = [];
    for (let pages = 1; ; pages += 1) {
      const { items, next } = await list('--limit', '3', ...after);
      seen.push(...items.map(({ id }) => id));
      await inserted(idAt(time + 1000, pages));
      if (next === null) break;
      after = ['--after', next];
    }
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => idAt(time, index)));
    const { stderr } = await run('oauth:authorization:list', '--limit', '2');
    expect(stderr).toMatch(/--after [0-9a-f]{32}/);
  });

  // @shows AS-31.4
  test('searches a limited number of rows per page, even if nothing matches', async () => {
    const time = clock.now() - 1000;
    await insertedMany(5500, (index) => ({ id: idAt(time, index) }));
    await inserted(idAt(time - 1), { scope: 'rare' });
    const first = await list('--scope', 'rare');
    expect(first).toEqual({ items: [], next: idAt(time, 500) });
    const second = await list('--scope', 'rare', '--after', first.next ?? '');
    expect(second).toMatchObject({ items: [{ id: idAt(time - 1) }], next: null });
    const { stdout, stderr, code } = await run('oauth:authorization:list', '--scope', 'rare');
    expect({ stdout, code }).toEqual({ stdout: '', code: 0 });
    expect(stderr).toContain(`--after ${first.next ?? ''}`);
  });

  // @shows AS-31.2
  test.each([
    [['--limit', '0'], 'from 1 to 1000'],
    [['--limit', '1001'], 'from 1 to 1000'],
    [['--limit', 'ten'], 'from 1 to 1000'],
    [['--after', "x' OR 1=1"], 'cursor'],
    [['--person', 'accounts'], 'needs two values'],
    [['--person', 'accounts', 'a', 'b'], 'needs two values'],
    [['--person', 'accounts', ''], 'must not be empty'],
    [['--person', 'accounts', 'x'.repeat(256)], 'at most 255'],
    [['--client', 'unknown'], 'No client has this id'],
    [['--scope', 'two scopes'], 'scope'],
    [['--unused-since', 'yesterday'], '30d'],
    [['--unused-since', '2999-01-01'], 'must be in the past'],
    [['--unused-since', '2026-13-01'], '30d'],
    [['--unused-since', '2026-02-31'], '30d'],
    [['--unused-since', '2026-02-30T12:00:00Z'], '30d'],
  ])('is refused for a malformed option: %j', async (args, message) => {
    const { code, stdout, stderr } = await run('oauth:authorization:list', '--json', ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('is printed without terminal control or bidirectional characters, also as JSON', async () => {
    const id = 'x\u{1b}[2J\u{202e}evil\u{9b}\n"';
    await inserted(idAt(clock.now()), { user_id: id });
    const { stdout } = await run('oauth:authorization:list');
    expect(stdout).not.toMatch(/[^\P{C}\n]/u);
    expect(stdout).toContain('\\u{1b}[2J\\u{202e}evil');
    const json = await run('oauth:authorization:list', '--json');
    expect(json.stdout).not.toMatch(/[^\P{C}\n]/u);
    expect((JSON.parse(json.stdout) as Listed).items[0]?.person.id).toBe(id);
  });
});

describe('an authorization that is revoked', () => {
  // @shows AS-31.5
  test('ends with its tokens, and a second revocation reports that it has already ended', async () => {
    const one = await obtainTokens(portal, notes, ADA);
    clock.advance(1);
    const other = await obtainTokens(portal, notes, ADA);
    const { items } = await list();
    const id = items[1]?.id ?? '';
    const first = await run('oauth:authorization:revoke', id, '--json');
    expect(JSON.parse(first.stdout)).toEqual({
      items: [{ id, client_id: notes.id, person: items[1]?.person, revoked: true }],
    });
    expect(await livesFor(one)).toBe(false);
    expect((await refresh(portal, notes, one.refresh_token)).status).toBe(400);
    expect(await livesFor(other)).toBe(true);
    const again = await run('oauth:authorization:revoke', id);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toContain('was already revoked');
  });

  // @shows AS-31.5
  test('is not found if one of the ids is unknown', async () => {
    const tokens = await obtainTokens(portal, notes, ADA);
    const { code, stdout, stderr } = await run(
      'oauth:authorization:revoke',
      await newest(),
      'f'.repeat(32),
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`No authorization has the id "${'f'.repeat(32)}"`);
    expect(await livesFor(tokens)).toBe(true);
  });

  // @shows AS-31.7
  test('is audited with the person who did it', async () => {
    await obtainTokens(portal, notes, ADA);
    const id = await newest();
    events.length = 0;
    const by = { provider: 'accounts', id: 'the administrator' };
    await portal.server.access.revokeAuthorization(id, { by });
    await portal.server.access.revokeAuthorization(id, { by });
    expect(events).toMatchObject([
      { type: 'family_revoked', reason: 'operator', authorization: id, clientId: notes.id, by },
    ]);
  });
});

describe('a person whose access is revoked', () => {
  const personOf = async () => {
    ada = (await portal.server.access.list()).items[0]?.person.id ?? '';
    return ada;
  };

  // @shows AS-31.6
  test('has no access left: tokens, codes, consent requests and stored responses all end', async () => {
    const visitor = await portal.signedIn(ADA);
    const grace = await obtainTokens(portal, notes, GRACE);
    clock.advance(1);
    const tokens = [
      await obtainTokens(portal, notes, ADA),
      await obtainTokens(portal, diary, ADA),
    ] as const;
    const refreshed = (await (
      await refresh(portal, notes, tokens[0].refresh_token)
    ).json()) as Tokens;
    const code = await obtainCode(portal, notes, visitor);
    const page = await visitor.visit(authorizationUrl(portal, diary));
    expect(page.status).toBe(200);
    const id = await personOf();
    const { stdout } = await run('oauth:person:revoke', 'accounts', id, '--json');
    // By the clock of the console, the code has expired. So it ends, but does not count.
    expect(JSON.parse(stdout)).toEqual({
      person: { provider: 'accounts', id },
      authorizations: 2,
      requests: 1,
    });

    expect((await visitor.visit(authorizationUrl(portal, diary))).status).toBe(200);
    const waiting = await run('oauth:person:revoke', 'accounts', id);
    expect(waiting.stdout).toBe(
      `Ended 0 authorizations of "accounts" "${id}", and 1 open consent requests.\n`,
    );

    for (const each of [...tokens, refreshed]) expect(await livesFor(each)).toBe(false);
    expect((await exchangeCode(portal, notes, code)).status).toBe(400);
    // Within refresh_retry_seconds, and with the current token.
    expect((await refresh(portal, notes, tokens[0].refresh_token)).status).toBe(400);
    expect((await refresh(portal, notes, refreshed.refresh_token)).status).toBe(400);
    expect((await refresh(portal, diary, tokens[1].refresh_token)).status).toBe(400);
    expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(400);
    expect(await livesFor(grace)).toBe(true);
    expect((await list()).items).toHaveLength(1);
    // They can allow applications again, and keep their subject.
    const again = await obtainTokens(portal, notes, ADA);
    expect(await livesFor(again)).toBe(true);
  });

  // @shows AS-31.6, AS-31.7
  test('is revoked in batches and audited, and a second time nothing is left to revoke', async () => {
    const time = clock.now();
    await insertedMany(1100, (index) => ({
      id: idAt(time, index),
      user_id: index % 11 === 0 ? 'few ' : 'few',
    }));
    const by = { provider: 'accounts', id: 'the administrator' };
    const person = { provider: 'accounts', id: 'few' };
    const reported: number[] = [];
    const report = (count: number) => void reported.push(count);
    expect(await portal.server.access.revokePerson(person, { by, report })).toEqual({
      authorizations: 1000,
      requests: 0,
    });
    expect(reported[0]).toBe(500);
    expect((await list('--person', 'accounts', 'few')).items).toEqual([]);
    expect((await list('--person', 'accounts', 'few ', '--limit', '1000')).items).toHaveLength(100);
    const again = await run('oauth:person:revoke', 'accounts', 'few');
    expect(again).toMatchObject({ code: 0, stdout: '"accounts" "few" had no access to revoke.\n' });
    expect(events).toEqual([{ type: 'person_revoked', person, authorizations: 1000, by }]);
  });

  // @shows AS-31.2
  test('must be known, and otherwise the command prints the id that it searched for', async () => {
    await obtainTokens(portal, notes, ADA);
    const id = await personOf();
    for (const other of [`${id} `, id.toUpperCase(), 'unknown']) {
      if (other === id) continue;
      const { code, stdout, stderr } = await run('oauth:person:revoke', 'accounts', other);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('Nothing is stored about the person');
      expect(stderr).toContain('must match exactly');
    }
    expect((await list()).items).toHaveLength(1);
  });
});

describe('a person who is erased', () => {
  const subjectOf = async (tokens: Tokens) =>
    (
      (await (await callApi(portal, '/oauth/userinfo', tokens.access_token)).json()) as {
        sub: string;
      }
    ).sub;

  /** The rows of all tables of the server, as text. */
  async function kept(): Promise<string> {
    const { database } = portal.application;
    const contents: unknown[] = [];
    for (const table of ERASED)
      contents.push((await database.execute(`SELECT * FROM ${table}`)).rows);
    return JSON.stringify(contents);
  }

  // @shows AS-31.8
  test('leaves no data, and gets a new subject in applications afterwards', async () => {
    const visitor = await portal.signedIn(ADA);
    const grace = await obtainTokens(portal, notes, GRACE);
    clock.advance(1);
    const tokens = await obtainTokens(portal, notes, ADA);
    const refreshed = (await (await refresh(portal, notes, tokens.refresh_token)).json()) as Tokens;
    const code = await obtainCode(portal, diary, visitor);
    const page = await visitor.visit(authorizationUrl(portal, diary));
    const subject = await subjectOf(refreshed);
    const { id } = (await portal.server.access.list()).items[0]?.person ?? { id: '' };
    expect(await kept()).toContain(id);

    const {
      stdout,
      stderr,
      code: exit,
    } = await run('oauth:person:erase', 'accounts', id, '--yes', '--json');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ authorizations: 2, requests: 3, subject: true });
    const left = await kept();
    expect(left).not.toContain(id);
    expect(left).not.toContain(subject);
    expect(left).toContain('erased-');

    for (const each of [tokens, refreshed]) expect(await livesFor(each)).toBe(false);
    expect((await refresh(portal, notes, refreshed.refresh_token)).status).toBe(400);
    expect((await refresh(portal, notes, tokens.refresh_token)).status).toBe(400);
    expect((await exchangeCode(portal, diary, code)).status).toBe(400);
    expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(400);
    expect(await livesFor(grace)).toBe(true);

    const again = await obtainTokens(portal, notes, ADA);
    expect(await subjectOf(again)).not.toBe(subject);
    expect(await subjectOf(grace)).toMatch(/^[0-9a-f]{32}$/);
  });

  // @shows AS-31.2, AS-31.8
  test('is matched exactly, so that an id with a different case, accent or space is kept', async () => {
    const time = clock.now();
    const ids = [
      'a',
      'A',
      'a ',
      ' a',
      'a\t',
      '\u00c9',
      '\u00e9',
      'E\u0301',
      'e',
      'ss',
      '\u00df',
      'a\u00ad',
      '\u{1f600}',
    ];
    const { database } = portal.application;
    for (const [index, id] of ids.entries()) {
      await inserted(idAt(time, index), { user_id: id });
      await database.execute(
        'INSERT INTO oauth_subjects (user_provider, user_id, subject) VALUES (?, ?, ?)',
        ['accounts', id, `subject ${index}`],
      );
      await database.execute(
        `INSERT INTO oauth_consent_requests (id_hash, browser_hash, client_id, parameters, user_provider, user_id, asked_scope, expires_at)
        VALUES (?, '', ?, '{}', 'accounts', ?, 'openid', ?)`,
        [`request ${index}`, notes.id, id, time + 600_000],
      );
    }
    const left = async (table: string) =>
      (await database.execute<{ user_id: string }>(`SELECT user_id FROM ${table}`)).rows.map(
        (row) => row.user_id,
      );
    const rest = new Set(ids);
    for (const id of ids) {
      const erased = await portal.server.access.erasePerson({ provider: 'accounts', id });
      expect(erased).toMatchObject({ authorizations: 1, requests: 1, subject: true });
      rest.delete(id);
      for (const table of ['oauth_families', 'oauth_subjects', 'oauth_consent_requests']) {
        expect(new Set(await left(table)), table).toEqual(rest);
      }
    }
  });

  // @shows AS-31.7, AS-31.8
  test('is erased in batches and audited under a pseudonym, even as the one who did it', async () => {
    const time = clock.now();
    await insertedMany(1100, (index) => ({
      id: idAt(time, index),
      user_id: index % 11 === 0 ? 'few ' : 'few',
      revoked_at: index % 2 === 0 ? time : null,
    }));
    const person = { provider: 'accounts', id: 'few' };
    await portal.server.access.revokePerson(person, { by: person });
    events.length = 0;
    const reported: number[] = [];
    const report = (count: number) => void reported.push(count);
    const erased = await portal.server.access.erasePerson(person, { by: person, report });
    expect(erased).toMatchObject({ authorizations: 1000, requests: 0, subject: false });
    expect(erased.events).toBeGreaterThan(0);
    expect(reported.slice(0, 2)).toEqual([500, 1000]);
    expect((await list('--person', 'accounts', 'few ', '--limit', '1000')).items).toHaveLength(50);
    const [event] = events;
    expect(event).toMatchObject({ type: 'person_erased', authorizations: 1000 });
    expect(JSON.stringify(events)).not.toContain('few');
    expect(event?.type === 'person_erased' ? event.by : null).toEqual(
      event?.type === 'person_erased' ? event.person : undefined,
    );
    expect(await kept()).not.toContain('"few"');
  });

  // @shows AS-31.8
  test('must be known and confirmed, with --yes if there is no terminal', async () => {
    const tokens = await obtainTokens(portal, notes, ADA);
    const { id } = (await portal.server.access.list()).items[0]?.person ?? { id: '' };
    const unasked = await run('oauth:person:erase', 'accounts', id);
    expect(unasked).toMatchObject({ code: 1, stdout: '' });
    expect(unasked.stderr).toContain('To confirm, add --yes');
    const unknown = await run('oauth:person:erase', 'accounts', `${id} `, '--yes');
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain('Nothing is stored about the person');
    expect(await livesFor(tokens)).toBe(true);
    const erased = await run('oauth:person:erase', 'accounts', id, '--yes');
    expect(erased.stdout).toMatch(
      /^Removed 1 authorizations, \d+ requests and the subject of the person /,
    );
    expect(erased.code).toBe(0);
    expect((await run('oauth:person:erase', 'accounts', id, '--yes')).stderr).toContain(
      'Nothing is stored',
    );
  });
});
