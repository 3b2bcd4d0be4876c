// @engines all, long: several processes race
import type { PersonReference } from 'portico';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startBeside } from './support/beside.ts';
import type { RunningProcess } from './support/console.ts';
import { begin, decide, DEVICES, enter, poll, registerDevice, tokensOf } from './support/device.ts';
import {
  ADA,
  callApi,
  errorOf,
  refresh,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';
import type { Visitor } from './support/visitor.ts';

/** One device code, and two server processes on one database. */

let one: RunningPortal;
let other: RunningPortal;
let process2: RunningProcess;
let tv: TestClient;
let ada: Visitor;

beforeAll(async () => {
  one = await startPortal({ config: DEVICES });
  ({ other, process: process2 } = await startBeside(one, {}, DEVICES));
  tv = await registerDevice(one, { scopes: ['notes:read'] });
});
afterAll(async () => {
  await process2.stop();
  await one.close();
});
beforeEach(async () => {
  ada = await one.signedIn(ADA);
});

const scope = { scope: 'notes:read' };
/** At the same time, in both processes. */
const both = <T>(work: (at: RunningPortal) => Promise<T>) =>
  Promise.all([one, other, one, other].map(work));

// @shows AS-48.2
test('exactly one of several simultaneous device polls in two processes gets tokens', async () => {
  for (let round = 0; round < SCALE.deviceRounds; round += 1) {
    const begun = await begin(round % 2 === 0 ? one : other, tv, scope);
    await decide(ada, begun);
    const answers = await both((at) => poll(at, tv, begun));
    const granted = answers.find(({ status }) => status === 200);
    const refused = await Promise.all(answers.filter((each) => each !== granted).map(errorOf));
    expect(refused).toEqual(['invalid_grant', 'invalid_grant', 'invalid_grant']);
    const tokens = await tokensOf(granted as Response);
    expect((await callApi(other, '/api/whoami', tokens.access_token)).status).toBe(200);
    await tokensOf(await refresh(one, tv, tokens.refresh_token));
  }
});

// @shows AS-48.2, AS-48.5
test('one of two simultaneous answers counts, and a poll gets tokens only if it is Allow', async () => {
  for (let round = 0; round < SCALE.mixedRaceRounds; round += 1) {
    const begun = await begin(one, tv, scope);
    const asked = await enter(ada, begun.user_code);
    const [allowed, denied, polled] = await Promise.all([
      ada.submit(asked, { decision: 'allow' }),
      ada.submit(asked, { decision: 'deny' }),
      poll(other, tv, begun),
    ]);
    expect(new Set([allowed.status, denied.status])).toEqual(new Set([200, 400]));
    const last = polled.status === 200 ? polled : await poll(other, tv, begun);
    const outcome = last.status === 200 ? 'tokens' : await errorOf(last);
    expect(outcome).toBe(allowed.status === 200 ? 'tokens' : 'access_denied');
  }
});

// @shows AS-48.2
test('a device that polls two processes in turn is slowed down by both', async () => {
  const begun = await begin(one, tv, scope);
  const answers = [];
  for (const at of [one, other, one]) answers.push(await errorOf(await poll(at, tv, begun)));
  expect(answers).toEqual(['authorization_pending', 'slow_down', 'slow_down']);
});

// @shows AS-31.6, AS-31.8, AS-31.9
test.each(['revokePerson', 'erasePerson', 'endAll'] as const)(
  'a device gets no tokens if the access ends after the person saw the page: %s',
  async (end) => {
    for (let round = 0; round < SCALE.mixedRaceRounds; round += 1) {
      const earlier = await begin(one, tv, scope);
      await decide(ada, earlier);
      const [held] = (await one.server.access.list()).items;
      const begun = await begin(other, tv, scope);
      const asked = await enter(ada, begun.user_code);
      const answering = ada.submit(asked, { decision: 'allow' });
      // In every second round, access ends after the answer.
      if (round % 2 === 1) await answering;
      const { access } = one.server;
      await (end === 'endAll' ? access.endAll() : access[end](held?.person as PersonReference));
      expect([200, 400]).toContain((await answering).status);
      for (const each of [earlier, begun])
        for (const at of [one, other]) expect((await poll(at, tv, each)).status).toBe(400);
      expect((await access.list()).items).toEqual([]);
    }
  },
);
