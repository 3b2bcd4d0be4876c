import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  callApi,
  exchangeCode,
  introspect,
  obtainCode,
  obtainTokens,
  refresh,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';
import { startTwoProcesses, type TwoProcesses } from './support/two-processes.ts';

/** Two server processes on one database and one key directory, used at the same moment. */
const ROUNDS = SCALE.raceRounds;

let both: TwoProcesses;
let one: RunningPortal;
let other: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  both = await startTwoProcesses();
  ({ one, other, client } = both);
});
afterAll(() => both.close());

/**
 * Sends the same request several times at the same moment, alternating between the two processes.
 */
async function atOnce(
  round: number,
  use: (portal: RunningPortal) => Promise<Response>,
): Promise<readonly Tokens[]> {
  const times = 2 + (round % 5);
  const responses = await Promise.all(
    Array.from({ length: times }, (_, index) => use(index % 2 === 0 ? one : other)),
  );
  const statuses = responses.map((response) => response.status);
  expect(statuses.filter((status) => status !== 200 && status !== 400)).toEqual([]);
  const answered = responses.filter((response) => response.status === 200);
  return Promise.all(answered.map(async (response) => (await response.json()) as Tokens));
}

function report(what: string, counts: Readonly<Record<number, number>>): void {
  const told = Object.entries(counts).map(
    ([answers, rounds]) => `${answers} answered with tokens: ${rounds}`,
  );
  process.stdout.write(
    `${ROUNDS} rounds of concurrent uses of one ${what}, two processes: ${told.join(', ')}\n`,
  );
}

describe('two processes with one database', () => {
  // @shows AS-5.5, AS-18.2, RFC9700-2.2.2, RFC9700-4.14.2b
  test('accept one of several concurrent uses of a refresh token, and revoke the whole family', async () => {
    const counts: Record<number, number> = {};
    const visitor = await one.signedIn(ADA);
    for (let round = 0; round < ROUNDS; round += 1) {
      const code = await obtainCode(one, client, visitor);
      const { refresh_token: token } = (await (
        await exchangeCode(one, client, code)
      ).json()) as Tokens;
      const answered = await atOnce(round, (portal) => refresh(portal, client, token));
      counts[answered.length] = (counts[answered.length] ?? 0) + 1;
      expect(answered.length).toBe(1);
      for (const tokens of answered) await both.expectDead(tokens);
    }
    report('refresh token', counts);
  });

  // @shows AS-18.2, AS-18.6, RFC6749-10.5, RFC9700-4.2.4b
  test('accept one of several concurrent uses of a code, and revoke the whole family', async () => {
    const counts: Record<number, number> = {};
    const visitor = await one.signedIn(ADA);
    for (let round = 0; round < ROUNDS; round += 1) {
      const code = await obtainCode(one, client, visitor);
      const answered = await atOnce(round, (portal) => exchangeCode(portal, client, code));
      counts[answered.length] = (counts[answered.length] ?? 0) + 1;
      expect(answered.length).toBe(1);
      for (const tokens of answered) await both.expectDead(tokens);
    }
    report('code', counts);
  });

  // @shows AS-1.8, AS-5.7
  test('stop tokens, ID tokens, UserInfo and introspection within a second of a suspension', async () => {
    for (let round = 0; round < 5; round += 1) {
      const tokens = await obtainTokens(one, client, ADA);
      const codes = [
        await obtainCode(one, client, await one.signedIn(ADA)),
        await obtainCode(one, client, await one.signedIn(ADA)),
      ];
      for (const portal of [one, other]) {
        expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(200);
      }
      await one.suspend(ADA);
      // The next calls, all at the same time: nothing works for even a moment longer.
      const refusals = [one, other].map(async (portal, index) => ({
        userinfo: (await callApi(portal, '/oauth/userinfo', tokens.access_token)).status,
        api: (await callApi(portal, '/api/notes', tokens.access_token)).status,
        introspection: await introspect(portal, tokens.access_token),
        refresh: (await refresh(portal, client, tokens.refresh_token)).status,
        code: (await exchangeCode(portal, client, codes[index] ?? '')).status,
      }));
      const refused = {
        userinfo: 401,
        api: 401,
        introspection: { active: false },
        refresh: 400,
        code: 400,
      };
      expect(await Promise.all(refusals)).toEqual([refused, refused]);
      await one.restore(ADA);
    }
  });

  // @shows AS-10.3, AS-12.4, AS-18.6
  test('refuse the next call after the other process revokes, suspends or demotes', async () => {
    const tokens = await obtainTokens(one, client, ADA);
    const status = async (at: string) => (await callApi(other, at, tokens.access_token)).status;
    expect(await status('/api/notes')).toBe(200);
    await one.deny(ADA, 'notes:read');
    expect(await status('/api/notes')).toBe(403);
    await one.grant(ADA, 'notes:read');
    await one.suspend(ADA);
    expect(await status('/oauth/userinfo')).toBe(401);
    await one.restore(ADA);
    expect(await status('/oauth/userinfo')).toBe(200);
    await one.server.clients.revoke(client.id);
    expect(await status('/api/notes')).toBe(401);
  });
});
