// @engines all, long: several processes race
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBeside } from './support/beside.ts';
import type { RunningProcess } from './support/console.ts';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  obtainCode,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';
import { isRedirect, locationOf, type Visitor } from './support/visitor.ts';

/** Access ends while two processes start more authorizations for it without a question. */

const CONFIG = { oauth_server: { remember_consent: true } } as const;
const READ = { scope: 'notes:read' };

let one: RunningPortal;
let other: RunningPortal;
let process2: RunningProcess;
let client: TestClient;
let ada: Visitor;

beforeAll(async () => {
  one = await startPortal({ config: CONFIG });
  ({ other, process: process2 } = await startBeside(one, {}, CONFIG));
  client = await registerClient(one, { metadata: { first_party: ['true'] } });
  ada = await one.signedIn(ADA);
});
afterAll(async () => {
  await process2.stop();
  await one.close();
});

const open = (at: RunningPortal) => ada.get(authorizationUrl(at, client, READ));

/**
 * Returns the code that was issued without a question. Null if the person sees the question, or if
 * the request ended together with the access.
 */
function codeOf(response: Response): string | null {
  if (isRedirect(response)) return locationOf(response).searchParams.get('code');
  expect([200, 400]).toContain(response.status);
  return null;
}

/**
 * The ways to end the access. Each one ends everything that the server remembers for the client.
 */
const ENDS: Readonly<Record<string, (ids: readonly string[]) => Promise<unknown>>> = {
  'the applications page': async () => {
    const page = await ada.get(`${one.url}/oauth/applications`);
    expect((await ada.submit(page)).status).toBe(303);
  },
  'an administrator': async ([id = '']) => one.server.access.revokeAuthorization(id),
  revokePerson: async () => one.server.access.revokePerson(await person()),
  endAll: async () => one.server.access.endAll(),
};

async function person() {
  const { items } = await one.server.access.list();
  return items[0]?.person ?? { provider: '', id: '' };
}

// @shows AS-52.6
test.each(Object.keys(ENDS))(
  'no code works and no consent is remembered after the access was ended by %s',
  async (name) => {
    let [given, asked] = [0, 0];
    for (let round = 0; round < SCALE.rememberedRounds / 4; round += 1) {
      const first = await exchangeCode(one, client, await obtainCode(one, client, ada, READ));
      expect(first.status).toBe(200);
      const second = codeOf(await open(other)) ?? '';
      expect((await exchangeCode(one, client, second)).status).toBe(200);
      const ids = (await one.server.access.list()).items.map(({ id }) => id);
      const end = () => ENDS[name]?.(ids);
      // The access ends before, between or after the requests. The first and the last place in this
      // order are certain, the others depend on the processes.
      const place = round % 5;
      const responses: Promise<Response>[] = [];
      let ending: Promise<unknown> | undefined;
      if (place === 0) await end();
      if (place === 1) ending = end();
      responses.push(...[one, other, one].map(open));
      if (place === 2) ending = end();
      responses.push(...[other, one].map(open));
      if (place === 3) ending = responses[0]?.then(end);
      await ending;
      await Promise.all(responses);
      if (place === 4) await end();

      const left = (await one.server.access.list()).items;
      expect(left.map(({ id }) => id)).toEqual([]);
      const answers = (await Promise.all(responses)).map(codeOf);
      const codes = answers.filter((code) => code !== null);
      given += codes.length;
      asked += answers.length - codes.length;
      for (const code of codes) expect((await exchangeCode(other, client, code)).status).toBe(400);
      expect(codeOf(await open(round % 2 === 0 ? one : other))).toBeNull();
    }
    process.stdout.write(`${name}: ${given} codes, ${asked} questions\n`);
    expect(Math.min(given, asked)).toBeGreaterThan(0);
  },
);

async function revokeByClient({ refresh_token: token }: Tokens): Promise<void> {
  const credentials = Buffer.from(`${client.id}:${client.secret}`).toString('base64');
  const response = await fetch(`${one.url}/oauth/revoke`, {
    method: 'POST',
    headers: { Authorization: `Basic ${credentials}` },
    body: new URLSearchParams({ token }),
  });
  expect(response.status).toBe(200);
}

/** Answers the consent page at a time when the server would skip the question. */
async function answer(at: RunningPortal, decision: 'allow' | 'deny'): Promise<Response> {
  const page = await ada.get(authorizationUrl(at, client, { ...READ, prompt: 'consent' }));
  return ada.submit(page, { decision });
}

// @shows AS-52.3
test('a denial is kept while two processes allow the client and skip the consent page', async () => {
  let given = 0;
  for (let round = 0; round < SCALE.rememberedRounds / 4; round += 1) {
    expect((await exchangeCode(one, client, await obtainCode(one, client, ada, READ))).status).toBe(
      200,
    );
    const [refusing, allowing] = round % 2 === 0 ? [one, other] : [other, one];
    const before = round % 3 === 0 ? [open(one)] : [];
    const denied = answer(refusing, 'deny');
    const allowed = answer(allowing, 'allow');
    const opened = [...before, open(one), open(other), open(one)];
    await Promise.all([denied, allowed, ...opened]);

    const code = locationOf(await allowed).searchParams.get('code') ?? '';
    const codes = (await Promise.all(opened)).map(codeOf).filter((each) => each !== null);
    given += codes.length;
    for (const each of codes) await exchangeCode(other, client, each);
    const own = (await (await exchangeCode(one, client, code)).json()) as Tokens;
    // An authorization from the same moment may still apply. Without it, the client has only what
    // the person denied.
    await revokeByClient(own);
    expect(codeOf(await open(round % 2 === 0 ? one : other))).toBeNull();
    await one.server.access.endAll();
  }
  process.stdout.write(`a refusal: ${given} codes\n`);
  expect(given).toBeGreaterThan(0);
});
