// @engines all, long: several processes race
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { portico, ROOT, start } from './support/console.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  obtainCode,
  obtainTokens,
  refresh,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';
import { startTwoProcesses, type TwoProcesses } from './support/two-processes.ts';

/**
 * Two server processes use one database. In one process, an administrator ends the access that a
 * person has granted. At the same time, the person's applications continue in both processes.
 */
let both: TwoProcesses;
let one: RunningPortal;
let other: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  both = await startTwoProcesses();
  ({ one, other, client } = both);
});
afterAll(() => both.close());

const tokensOf = async (response: Response): Promise<Tokens | null> => {
  expect([200, 400]).toContain(response.status);
  return response.status === 200 ? ((await response.json()) as Tokens) : null;
};

/**
 * Refreshes until the server refuses it. Returns all tokens, and the number of successful refreshes
 * that began after the end.
 */
async function refreshOn(portal: RunningPortal, first: Tokens, hasEnded: () => boolean) {
  const given = [first];
  let afterwards = 0;
  for (;;) {
    const isAfter = hasEnded();
    const tokens = await tokensOf(await refresh(portal, client, given.at(-1)?.refresh_token ?? ''));
    if (tokens === null) return { given, afterwards };
    given.push(tokens);
    if (isAfter) afterwards += 1;
  }
}

const subjectOf = async (tokens: Tokens) =>
  ((await (await callApi(one, '/oauth/userinfo', tokens.access_token)).json()) as { sub: string })
    .sub;

const countOf = async (subject: string) =>
  (
    await one.application.database.execute('SELECT 1 FROM oauth_families WHERE subject = ?', [
      subject,
    ])
  ).rows.length;

describe('access that is ended while requests run', () => {
  // @shows AS-31.6, AS-31.8, AS-31.9
  test.each(['revokePerson', 'erasePerson', 'endAll'] as const)(
    'gives no tokens afterwards, and none are accepted: %s',
    async (end) => {
      const visitor = await one.signedIn(ADA);
      let allowed = 0;
      for (let round = 0; round < SCALE.accessRounds; round += 1) {
        const refreshing = [
          await obtainTokens(one, client, ADA),
          await obtainTokens(one, client, ADA),
        ] as const;
        const { items } = await one.server.access.list();
        const person = items[0]?.person ?? { provider: '', id: '' };
        const subject = await subjectOf(refreshing[0]);
        const codes = [
          await obtainCode(one, client, visitor),
          await obtainCode(one, client, visitor),
        ] as const;
        const page = await visitor.visit(authorizationUrl(one, client));

        let ended = false;
        const refreshes = [
          refreshOn(one, refreshing[0], () => ended),
          refreshOn(other, refreshing[1], () => ended),
        ];
        const exchanged = codes.map((code, index) =>
          exchangeCode(index === 0 ? one : other, client, code),
        );
        // The access ends immediately, after the first exchange, or after the person's answer.
        const answering = visitor.submit(page, { decision: 'allow' });
        await [null, exchanged[0], answering][round % 3];
        await (end === 'endAll' ? one.server.access.endAll() : one.server.access[end](person));
        ended = true;
        const answered = await answering;

        const given = (await Promise.all((await Promise.all(exchanged)).map(tokensOf))).filter(
          (each) => each !== null,
        );
        for (const { given: more, afterwards } of await Promise.all(refreshes)) {
          expect(afterwards).toBe(0);
          given.push(...more.slice(-2));
        }
        const code = new URL(answered.headers.get('location') ?? one.url, one.url).searchParams.get(
          'code',
        );
        if (code !== null) allowed += 1;
        expect((await exchangeCode(other, client, code ?? 'none')).status).toBe(400);
        for (const tokens of given) await both.expectDead(tokens);
        expect((await one.server.access.list({ person })).items).toEqual([]);
        const left = end === 'erasePerson' ? await countOf(subject) : 0;
        expect(left).toBe(0);
      }
      process.stdout.write(
        `${end}: ${SCALE.accessRounds} rounds, the person's answer was the quicker one in ${allowed}\n`,
      );
    },
  );
});

describe('a command that ends access and is interrupted', () => {
  const person = { provider: 'accounts', id: 'somebody' };
  const cwd = path.join(ROOT, 'examples', 'portal');
  const CONSOLE = path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js');
  const COUNT = 5000;

  const remaining = async (condition: string) => {
    const { rows } = await one.application.database.execute<{ n: number }>(
      `SELECT COUNT(*) AS n FROM oauth_families WHERE user_id = ? AND ${condition}`,
      [person.id],
    );
    return Number(rows[0]?.n);
  };

  async function seed(): Promise<void> {
    const now = Date.now();
    const columns =
      'id, client_id, user_provider, user_id, subject, scope, created_at, expires_at, prune_after';
    for (let first = 0; first < COUNT; first += 500) {
      const rows = Array.from({ length: 500 }, (_, index) => {
        const id = `${now.toString(16).padStart(12, '0')}${(first + index).toString(16).padStart(20, '0')}`;
        const until = now + 3_600_000;
        return `('${id}', '${client.id}', '${person.provider}', '${person.id}', 's', 'openid', ${now}, ${until}, ${until})`;
      });
      await one.application.database.execute(
        `INSERT INTO oauth_families (${columns}) VALUES ${rows.join(', ')}`,
      );
    }
  }

  // @shows AS-31.6, AS-31.8, AS-31.9
  test.each([
    ['oauth:person:revoke', [person.provider, person.id], 'revoked_at IS NULL'],
    ['oauth:person:erase', [person.provider, person.id, '--yes'], '1 = 1'],
    ['oauth:restored', ['--yes'], 'revoked_at IS NULL'],
  ] as const)(
    'continues and completes when it is run again: %s',
    async (command, options, condition) => {
      await seed();
      const args = [command, ...options, '--json'];
      const cut = start([CONSOLE, ...args], { cwd, env: one.env });
      await expect
        .poll(() => remaining(condition), { timeout: 30_000, interval: 10 })
        .toBeLessThan(COUNT);
      await cut.stop('SIGKILL');
      const left = await remaining(condition);
      expect(left).toBeGreaterThan(0);
      const { code, stdout, stderr } = await portico(args, { cwd, env: one.env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { authorizations } = JSON.parse(stdout) as { authorizations: number };
      expect(authorizations).toBeGreaterThan(0);
      expect(authorizations).toBeLessThanOrEqual(left);
      expect(await remaining(condition)).toBe(0);
      await one.application.database.execute('DELETE FROM oauth_families WHERE user_id = ?', [
        person.id,
      ]);
    },
  );
});
