import { auth, session, defineApplication, type AccountProvider } from '@portico/kit';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { startExample, type RunningApplication } from './support/application.ts';
import { createVisitor, type Visitor } from './support/visitor.ts';

/** An account provider in which every id has an account. */
const everyone: AccountProvider = {
  name: 'own',
  find: async (id) => ({
    reference: { provider: 'own', id },
    isActive: () => true,
    getProfile: () => ({ name: id }),
  }),
  authenticate: async () => null,
  holdsPermission: async () => false,
};

/** Called by requests to `/paused/…` after they have read the session. They continue after it. */
let afterRead: () => Promise<unknown> = async () => {};

const WORK: Readonly<Record<string, (value: string) => Promise<unknown>>> = {
  'sign-in': (id) => auth().signIn({ provider: 'own', id }),
  'sign-out': () => auth().signOut(),
  set: (value) => session().set(value, value),
};

const definition = defineApplication({
  directory: import.meta.dirname,
  config: (env) => ({ public_url: `http://localhost:${env['PORT'] ?? ''}` }),
  accounts: () => [everyone],
  register(application) {
    const answer = async () =>
      Response.json({
        person: (await auth().person())?.id ?? null,
        basket: (await session().get('basket')) ?? null,
        late: (await session().get('late')) ?? null,
      });
    const handlers = {
      paused: async ({ work = '', value = '' }: Readonly<Record<string, string>>) => {
        await auth().person();
        await afterRead();
        await WORK[work]?.(value);
        return answer();
      },
      now: async ({ work = '', value = '' }: Readonly<Record<string, string>>) => {
        await WORK[work]?.(value);
        return answer();
      },
    };
    for (const [name, handler] of Object.entries(handlers))
      application.route({ name, methods: ['GET'], path: `/${name}/{work}/{value}`, handler });
  },
});

let running: RunningApplication;
beforeAll(async () => {
  running = await startExample(definition);
  await running.application.migrate();
});
afterAll(() => running.close());
beforeEach(async () => {
  await running.application.database.execute('DELETE FROM host_sessions');
  afterRead = async () => {};
});

const secrets = async () => {
  const { rows } = await running.application.database.execute<{ secret: string }>(
    'SELECT secret FROM host_sessions',
  );
  return rows.map(({ secret }) => secret);
};
/** Creates two browsers with the same cookies, like two tabs whose requests are sent together. */
async function twoTabs(...before: readonly string[]): Promise<readonly [Visitor, Visitor]> {
  const tabs = [createVisitor(running.url), createVisitor(running.url)] as const;
  for (const path of ['/now/set/basket', ...before]) {
    const { headers } = await tabs[0].get(path);
    for (const cookie of headers.getSetCookie()) tabs[1].accept(cookie);
  }
  return tabs;
}
const shown = async (response: Promise<Response>) => (await response).json();
const state = (tab: Visitor) => shown(tab.get('/now/nothing/x'));
const NO_ONE = { person: null, basket: null, late: null };
const ADA = { person: 'ada', basket: 'basket', late: null };

/** Before the requests: a visitor with a basket, or a person who signs in again. */
const BEFORE: readonly [string, readonly string[]][] = [
  ['a visitor', []],
  ['a signed-in person', ['/now/sign-in/ada']],
];

test.each(BEFORE)(
  'two parallel sign-ins of %s leave one session, which keeps the data',
  async (_, before) => {
    const [first, second] = await twoTabs(...before);
    afterRead = () => first.get('/now/sign-in/ada');
    expect(await shown(second.get('/paused/sign-in/ada'))).toEqual(ADA);
    expect(await state(second)).toEqual(ADA);
    expect(await secrets()).toHaveLength(1);
    await second.get('/now/sign-out/x');
    expect([await secrets(), await state(first)]).toEqual([[], NO_ONE]);
  },
);

test.each(BEFORE)(
  'a sign-out of %s also ends the session that a parallel sign-in has given a new id',
  async (_, before) => {
    const [first, second] = await twoTabs(...before);
    afterRead = () => first.get('/now/sign-in/ada');
    await second.get('/paused/sign-out/x');
    expect([await secrets(), await state(first)]).toEqual([[], NO_ONE]);
  },
);

test.each(BEFORE)(
  'a sign-in of %s after a parallel sign-out begins a new session without data',
  async (_, before) => {
    const [first, second] = await twoTabs(...before);
    const ended = await secrets();
    afterRead = () => first.get('/now/sign-out/x');
    await second.get('/paused/sign-in/ada');
    expect(await state(second)).toEqual({ ...ADA, basket: null });
    const left = await secrets();
    expect([ended.length, left.length]).toEqual([1, 1]);
    expect(left).not.toEqual(ended);
  },
);

// @shows HOST-2.2
test('parallel sign-ins as two persons share neither the data nor the secret', async () => {
  const [first, second] = await twoTabs();
  const before = await secrets();
  afterRead = () => first.get('/now/sign-in/ada');
  await second.get('/paused/sign-in/grace');
  expect(await state(second)).toEqual({ ...NO_ONE, person: 'grace' });
  expect(await state(first)).toEqual(NO_ONE);
  expect(await secrets()).not.toEqual(before);
});

test('a sign-in keeps a value that was stored after it had read the session', async () => {
  const [first, second] = await twoTabs();
  afterRead = () => first.get('/now/set/late');
  expect(await shown(second.get('/paused/sign-in/ada'))).toEqual({ ...ADA, late: 'late' });
  expect(await state(second)).toEqual({ ...ADA, late: 'late' });
});

test.each(BEFORE)(
  'a value that %s stores is kept if a parallel sign-in has given the session a new id',
  async (_, before) => {
    const [first, second] = await twoTabs(...before);
    afterRead = () => first.get('/now/sign-in/ada');
    expect(await shown(second.get('/paused/set/late'))).toMatchObject({ late: 'late' });
    expect(await state(first)).toEqual({ ...ADA, late: 'late' });
  },
);

test('a value that a visitor stores reveals no data that was stored after a parallel sign-in', async () => {
  const [first, second] = await twoTabs();
  afterRead = async () => {
    await first.get('/now/sign-in/ada');
    await first.get('/now/set/late');
  };
  expect(await shown(second.get('/paused/set/basket'))).toEqual({ ...NO_ONE, basket: 'basket' });
  expect(await state(first)).toEqual({ ...ADA, late: 'late' });
});

test.each([
  ['a sign-out', '/now/sign-out/x', NO_ONE],
  ['a sign-in of a different person', '/now/sign-in/grace', { ...NO_ONE, person: 'grace' }],
])('a value that is stored after %s in parallel has no effect', async (_, ending, left) => {
  const [first, second] = await twoTabs('/now/sign-in/ada');
  afterRead = () => first.get(ending);
  expect(await shown(second.get('/paused/set/late'))).toEqual(NO_ONE);
  expect(await state(first)).toEqual(left);
});

test.each(inject('databaseServer')?.startsWith('postgres') === true ? ['PostgreSQL'] : [])(
  'ending all sessions of a person includes one that gets a new id in parallel, on %s',
  async () => {
    const { application } = running;
    const { database } = application;
    const [first] = await twoTabs('/now/sign-in/ada');
    const [moved, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const signIn = database.transaction(async (connection) => {
      await connection.execute(
        `INSERT INTO host_sessions
          SELECT 'new', data, secret, user_provider, user_id, authentication, created_at, expires_at
          FROM host_sessions`,
      );
      await connection.execute("DELETE FROM host_sessions WHERE id_hash <> 'new'");
      moved.resolve();
      await commit.promise;
    });
    await moved.promise;
    const ended = application.endSessions({ provider: 'own', id: 'ada' });
    const waits = async () => {
      const { rows } = await database.execute(
        `SELECT pid FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rows.length;
    };
    await expect.poll(waits).toBe(1);
    commit.resolve();
    await signIn;
    expect([await ended, await secrets(), await state(first)]).toEqual([1, [], NO_ONE]);
  },
);

test.each(BEFORE)(
  'of many parallel sign-ins and sign-outs of %s, no two sessions have one secret',
  async (_, before) => {
    for (let round = 0; round < 5; round += 1) {
      const tabs = await twoTabs(...before);
      const [visitor] = tabs;
      await Promise.all(
        ['in', 'out', 'in', 'out', 'in', 'in'].map((way) =>
          fetch(`${running.url}/now/sign-${way}/ada`, {
            headers: { Cookie: visitor.cookies() },
          }),
        ),
      );
      const left = await secrets();
      expect(new Set(left).size).toBe(left.length);
    }
  },
);
