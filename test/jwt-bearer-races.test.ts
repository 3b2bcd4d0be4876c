// @engines all, long: several processes race
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBeside } from './support/beside.ts';
import type { RunningProcess } from './support/console.ts';
import {
  assertionFor,
  link,
  present,
  registerAssistant,
  startIdentityProvider,
  type IdentityProvider,
} from './support/identity-provider.ts';
import { ADA, startPortal, type RunningPortal, type TestClient } from './support/portal.ts';
import { SCALE } from './support/scale.ts';

/** One assertion, and two server processes on one database. */

let idp: IdentityProvider;
let one: RunningPortal;
let other: RunningPortal;
let process2: RunningProcess;
let assistant: TestClient;

beforeAll(async () => {
  idp = await startIdentityProvider();
  one = await startPortal({ config: idp.config });
  ({ other, process: process2 } = await startBeside(one, {}, idp.config));
  assistant = await registerAssistant(one);
  await link(one, ADA);
});
afterAll(async () => {
  await process2.stop();
  await one.close();
  await idp.close();
});

// @shows AS-49.2
test('exactly one of several simultaneous uses of an assertion in two processes gets a token', async () => {
  for (let round = 0; round < SCALE.deviceRounds; round += 1) {
    const assertion = assertionFor(one, assistant, idp.key);
    const answers = await Promise.all(
      [one, other, one, other].map((at) => present(at, assistant, assertion)),
    );
    const accepted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 400);
    expect([accepted.length, refused.length]).toEqual([1, 3]);
  }
});
