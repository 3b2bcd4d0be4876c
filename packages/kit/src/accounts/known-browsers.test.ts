// @engines sqlite: what each cookie proves; test/sign-in.test.ts shows its effect
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate, openDatabase, type OpenedDatabase } from '@portico/sql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KnownBrowsers, secretsMigration } from './known-browsers.ts';

const LIFETIME = 180 * 86_400_000;
const START = 1_795_240_016_000;
const COOKIE = '__Host-portico_known';

let folder: string;
let database: OpenedDatabase;
let now = START;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-known-'));
  database = openDatabase('sqlite:known.db', { directory: folder });
  await migrate(database, [secretsMigration]);
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const browsers = (of: OpenedDatabase = database) =>
  new KnownBrowsers(of, { secure: true, basePath: '' }, ['DPoP'], () => now);
const visit = (cookie: string, headers: Record<string, string> = {}, of = browsers()) =>
  of.of(
    new Request('https://app.example', { headers: { Cookie: `${COOKIE}=${cookie}`, ...headers } }),
  );
/** Returns the cookie after a sign-in to this account. */
async function remembered(account: string, before = ''): Promise<string> {
  const browser = visit(before);
  await browser.remember(account);
  return /^__Host-portico_known=([^;]*);/.exec(browser.setCookie() ?? '')?.[1] ?? '';
}

describe('a known browser', () => {
  test('is recognized for half a year after the sign-in, to the millisecond', async () => {
    now = START;
    const cookie = await remembered('ada');
    for (const [at, known] of [
      [START - 1, false],
      [START, true],
      [START + LIFETIME - 1, true],
      [START + LIFETIME, false],
    ] as const) {
      now = at;
      expect([at - START, await visit(cookie).knows('ada')]).toEqual([at - START, known]);
    }
  });

  test('is recognized by every process, and only for its account', async () => {
    now = START;
    const cookie = await remembered('ada');
    expect(await visit(cookie).knows('ada')).toBe(true);
    expect(await visit(cookie).knows('grace')).toBe(false);
    expect(await visit('').knows('ada')).toBe(false);
    expect(visit(cookie).setCookie()).toBeNull();
  });

  test.each(['Bearer x', 'DPoP x'])(
    'is not recognized in a request with %s',
    async (authorization) => {
      now = START;
      const cookie = await remembered('ada');
      expect(await visit(cookie, { Authorization: authorization }).knows('ada')).toBe(false);
    },
  );

  test('is not recognized by a changed cookie', async () => {
    now = START;
    const cookie = await remembered('ada');
    const [at = '', proof = ''] = cookie.split(/-(.*)/);
    for (const changed of [
      `${Number(at) - 1}-${proof}`,
      `${at}-${proof.slice(1)}`,
      `${at}-${proof}x`,
      `${at}-${'A'.repeat(43)}`,
      `x${cookie}`,
      at,
      '-',
    ])
      expect([changed, await visit(changed).knows('ada')]).toEqual([changed, false]);
  });

  test('remembers the last four accounts, and further entries of its cookie are ignored', async () => {
    now = START;
    let cookie = '';
    for (const account of ['a', 'b', 'c', 'd', 'e', 'd'])
      cookie = await remembered(account, cookie);
    expect(cookie.split('.')).toHaveLength(4);
    const knows = (sent: string) =>
      Promise.all(['a', 'b', 'c', 'd', 'e'].map((account) => visit(sent).knows(account)));
    expect(await knows(cookie)).toEqual([false, true, true, true, true]);
    const fifth = await remembered('a');
    expect(await knows(`${cookie}.${fifth}`)).toEqual([false, true, true, true, true]);
    expect(await knows(`x.${fifth}.${fifth}-`)).toEqual([true, false, false, false, false]);
  });

  test('is recognized again after a failure of the store', async () => {
    now = START;
    const cookie = await remembered('ada');
    let isAway = true;
    const execute = (async (...asked: Parameters<OpenedDatabase['execute']>) => {
      if (isAway) throw new Error('the store is away');
      return database.execute(...asked);
    }) as OpenedDatabase['execute'];
    const same = browsers({ ...database, execute });
    await expect(visit(cookie, {}, same).knows('ada')).rejects.toThrow('the store is away');
    isAway = false;
    expect(await visit(cookie, {}, same).knows('ada')).toBe(true);
  });
});
