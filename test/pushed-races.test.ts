// @engines all, long: several processes race
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBeside } from './support/beside.ts';
import type { RunningProcess } from './support/console.ts';
import {
  ADA,
  exchangeCode,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';
import { pushedNow } from './support/pushing.ts';
import { SCALE } from './support/scale.ts';
import { isRedirect, locationOf, type Visitor } from './support/visitor.ts';

/**
 * One `request_uri`, opened at the same moment in several browsers, in two server processes on one
 * database.
 */
const ON = { oauth_server: { pushed_authorization_requests: 'require' } };

let one: RunningPortal;
let other: RunningPortal;
let process2: RunningProcess;
let browsers: readonly Visitor[];

beforeAll(async () => {
  one = await startPortal({ config: ON });
  ({ other, process: process2 } = await startBeside(one, {}, ON));
  browsers = await Promise.all([
    signedInAt(one),
    signedInAt(other),
    signedInAt(one),
    signedInAt(other),
  ]);
});
afterAll(async () => {
  await process2.stop();
  await one.close();
});

const urls = new Map<Visitor, string>();

/** A browser that connects to this process. */
async function signedInAt(at: RunningPortal): Promise<Visitor> {
  const visitor = at.visitor();
  await signIn(visitor, await visitor.get(`${at.url}/login`), ADA);
  urls.set(visitor, at.url);
  return visitor;
}

// @shows AS-25.6, RFC9126-4b
test('a pushed request opened by many browsers is shown in one of them, and its code works once', async () => {
  const client = await registerClient(one);
  for (let round = 0; round < SCALE.pushedRounds; round += 1) {
    const url = new URL(await pushedNow(one, client, { scope: 'notes:read' }));
    const open = (visitor: Visitor) =>
      visitor.get(`${urls.get(visitor) ?? ''}${url.pathname}${url.search}`);
    const opened = await Promise.all([...browsers, ...browsers].map(open));
    expect(
      opened.map(({ status }) => status).filter((status) => status !== 200 && status !== 400),
    ).toEqual([]);
    const shown = opened.flatMap(({ status }, place) =>
      status === 200 ? [place % browsers.length] : [],
    );
    expect(new Set(shown).size).toBe(1);
    const place = opened.findIndex(({ status }) => status === 200);
    const [page, visitor] = [opened[place], browsers[place % browsers.length]];
    if (page === undefined || visitor === undefined) throw new Error('No visitor got the question');
    const answers = await Promise.all(
      [1, 2, 3].map(() => visitor.submit(page.clone(), { decision: 'allow' })),
    );
    const codes = answers.filter(
      (answer) => isRedirect(answer) && locationOf(answer).searchParams.has('code'),
    );
    // Each equal answer redirects to the application. The last code replaces the others.
    const exchanged = await Promise.all(
      codes.map((answer) =>
        exchangeCode(one, client, locationOf(answer).searchParams.get('code') ?? ''),
      ),
    );
    expect(exchanged.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(
      1,
    );
    expect((await open(visitor)).status).toBe(400);
  }
});
