// @engines all, long: several processes race
import type { ConfigMap } from 'portico';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBeside } from './support/beside.ts';
import type { RunningProcess } from './support/console.ts';
import {
  ADA,
  callApi,
  errorOf,
  exchangeCode,
  obtainCode,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';
import type { Visitor } from './support/visitor.ts';

/**
 * Two server processes with `refresh_retry_seconds`, and five programs that use the same refresh
 * token.
 */
const ROUNDS = SCALE.retryRounds;
const ROUNDS_PER_AUTHORIZATION = 10;
const WINDOW = 60;
const config = { oauth_server: { refresh_retry_seconds: WINDOW } };

let one: RunningPortal;
let other: RunningPortal;
let process2: RunningProcess;
let client: TestClient;
let ada: Visitor;
/** How far the clock of the first process is ahead, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  one = await startPortal({ clock: () => Date.now() + ahead, config });
  ({ other, process: process2 } = await startBeside(one, {}, config));
  client = await registerClient(one);
  ada = await one.signedIn(ADA);
});
afterAll(async () => {
  await process2.stop();
  await one.close();
});

const use = (at: RunningPortal, { refresh_token: token }: Tokens) => refresh(at, client, token);
const opens = async ({ access_token: token }: Tokens) =>
  Promise.all([one, other].map(async (at) => (await callApi(at, '/api/whoami', token)).status));

async function tokensOf(response: Response): Promise<Tokens> {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

/** How many access tokens were issued for the authorization. */
async function issuedTo({ refresh_token: token }: Tokens): Promise<number> {
  const { rows } = await one.application.database.execute(
    'SELECT id FROM oauth_access_tokens WHERE family_id = ?',
    [token.split('.')[0] ?? ''],
  );
  return rows.length;
}

/**
 * Sends one token five times, at the same moment or slightly apart, to either process. Every
 * request gets a response with the same tokens.
 */
async function useFiveTimes(tokens: Tokens, round: number): Promise<Tokens> {
  const atOnce = 2 + (round % 4);
  const at = (index: number) => ((index + round) % 2 === 0 ? one : other);
  const send = (from: number, to: number) =>
    Promise.all(Array.from({ length: to - from }, (_, index) => use(at(from + index), tokens)));
  const responses = [...(await send(0, atOnce)), ...(await send(atOnce, 5))];
  const answers = await Promise.all(responses.map(tokensOf));
  const [answer] = answers;
  if (answer === undefined) throw new Error('No request was answered');
  for (const { access_token: access, refresh_token: token } of answers)
    expect([access, token]).toEqual([answer.access_token, answer.refresh_token]);
  return answer;
}

// @shows AS-5.18, AS-18.2, AS-18.6
test('concurrent uses of a refresh token get the same tokens, and a replay revokes them all', async () => {
  const found = { issued: 0, answers: 0, thieves: 0 };
  for (let round = 0; round < ROUNDS;) {
    const held = [
      await tokensOf(await exchangeCode(one, client, await obtainCode(one, client, ada))),
    ];
    for (let each = 0; each < ROUNDS_PER_AUTHORIZATION && round < ROUNDS; each += 1, round += 1) {
      const next = await useFiveTimes(held.at(-1) as Tokens, round);
      expect(await opens(next)).toEqual([200, 200]);
      held.push(next);
      found.answers += 5;
    }
    found.issued += held.length;
    expect(await issuedTo(held[0] as Tokens)).toBe(held.length);
    const isLate = found.thieves % 2 === 0;
    await replay(held.at(isLate ? -2 : -3) as Tokens, isLate);
    found.thieves += 1;
    for (const tokens of held.slice(-3)) {
      expect(await opens(tokens)).toEqual([401, 401]);
      for (const at of [one, other]) expect((await use(at, tokens)).status).toBe(400);
    }
  }
  process.stdout.write(
    `${ROUNDS} rounds of five uses of one refresh token: ${JSON.stringify(found)}\n`,
  );
});

// @shows AS-5.18
test('a use after its access token was revoked never returns that token, nor revokes the rest', async () => {
  let held = await tokensOf(await exchangeCode(one, client, await obtainCode(one, client, ada)));
  for (let round = 0; round < Math.min(ROUNDS, 100); round += 1) {
    const next = await tokensOf(await use(one, held));
    const revoke = () =>
      fetch(`${other.url}/oauth/revoke`, {
        method: 'POST',
        body: new URLSearchParams({
          client_id: client.id,
          client_secret: client.secret,
          token: next.access_token,
        }),
      });
    const [revoked, ...atOnce] = await Promise.all([revoke(), use(one, held), use(other, held)]);
    expect(revoked.status).toBe(200);
    for (const response of atOnce) expect([200, 400]).toContain(response.status);
    for (const at of [one, other]) {
      const response = await use(at, held);
      expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_grant']);
    }
    expect(await opens(next)).toEqual([401, 401]);
    held = next;
  }
  expect(await opens(await tokensOf(await use(other, held)))).toEqual([200, 200]);
});

// @shows AS-5.18, AS-18.5
test.each<[string, ConfigMap | null, boolean]>([
  ['with a window it continues', config, true],
  ['without a window the person is asked again', null, false],
])(
  'a client that gets no response because the process was killed: %s',
  async (_, given, goesOn) => {
    const { other: dying } = await startBeside(one, { DIES_AT: 'refresh_token' }, given ?? {});
    const first = await tokensOf(
      await exchangeCode(one, client, await obtainCode(one, client, ada)),
    );
    await expect(use(dying, first)).rejects.toThrow('fetch failed');
    expect(await issuedTo(first)).toBe(2);
    const again = await use(one, first);
    expect(again.status).toBe(goesOn ? 200 : 400);
    expect(await opens(first)).toEqual(goesOn ? [200, 200] : [401, 401]);
    if (!goesOn) return;
    const second = (await again.json()) as Tokens;
    expect(await opens(second)).toEqual([200, 200]);
    await tokensOf(await use(other, second));
  },
);

/** An attacker uses the token after the window, or within it. */
async function replay(tokens: Tokens, isLate: boolean): Promise<void> {
  ahead = isLate ? WINDOW * 1000 : 0;
  try {
    const response = await use(one, tokens);
    expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_grant']);
  } finally {
    ahead = 0;
  }
}
