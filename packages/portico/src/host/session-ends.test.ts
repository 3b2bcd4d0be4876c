// @engines sqlite: test/back-channel-logout.test.ts runs on every engine
import type { Database, SqlConnection } from '@portico/sql';
import { expect, test } from 'vitest';
import { QUIET_LOG } from '../../../../test/support/quiet-log.ts';
import { isSessionId, SessionEnds, type EndedSessions, type OnSessionEnd } from './session-ends.ts';

const ADA = { provider: 'users', id: '1' };
const CONNECTION = {} as SqlConnection;

/** What happens in order, with these listeners. A listener's text is what it says. */
function opened(...listeners: readonly string[]) {
  const did: unknown[] = [];
  const exception = new Error('away');
  const database = {
    async transaction<T>(work: (connection: SqlConnection) => Promise<T>) {
      did.push('begin');
      const result = await work(CONNECTION);
      did.push('commit');
      return result;
    },
  } as Partial<Database> as Database;
  const heard = listeners.map((name): OnSessionEnd => async (connection, ended) => {
    did.push([name, connection === CONNECTION, ended]);
    return async () => {
      did.push(`after ${name}`);
      if (name === 'fails') throw exception;
    };
  });
  const warning = (...line: unknown[]) => void did.push(line);
  const sessions = new SessionEnds(
    database,
    () => heard,
    () => ({ ...QUIET_LOG, warning }),
  );
  return { sessions, did, exception };
}

test('each listener hears of the end in one transaction, and continues after its commit', async () => {
  const { sessions, did } = opened('a', 'b');
  expect(sessions.isHeard).toBe(true);
  const ended = { session: 'one' };
  await sessions.ended(ended);
  const [a, b] = [
    ['a', true, ended],
    ['b', true, ended],
  ];
  expect(did).toEqual(['begin', a, b, 'commit', 'after a', 'after b']);
});

test('in a transaction of the application, the rest happens when it says so', async () => {
  const { sessions, did } = opened('a');
  const committed = await sessions.endedIn(CONNECTION, { person: ADA });
  expect(did).toEqual([['a', true, { person: ADA }]]);
  await committed();
  expect(did.slice(1)).toEqual(['after a']);
});

test('a listener that fails after the commit is logged, and the next one continues', async () => {
  const { sessions, did, exception } = opened('fails', 'b');
  await sessions.ended({ session: 'one' });
  const warning = 'Sessions have ended, but a step after the commit failed: {exception}';
  expect(did.slice(-3)).toEqual(['after fails', [warning, { exception }], 'after b']);
});

test('without a listener, no transaction begins', async () => {
  const { sessions, did } = opened();
  expect(sessions.isHeard).toBe(false);
  await sessions.ended({ session: 'one' });
  expect(did).toEqual([]);
});

test.each<[EndedSessions, string]>([
  [{ session: '' }, 'sessionEnded needs the session id as a non-empty string'],
  [{ session: 7 as unknown as string }, 'sessionEnded needs the session id'],
  [{ person: ADA, except: '' }, 'sessionEnded needs the session id as a non-empty string'],
  [{ person: { ...ADA, id: '' } }, 'sessionEnded needs a person: The id of a person must not'],
  [{ person: undefined as never }, 'sessionEnded needs a person: The provider of a person must'],
])('an end without a session or person is refused: %o', async (ended, problem) => {
  for (const { sessions, did } of [opened('a'), opened()]) {
    await expect(sessions.ended(ended)).rejects.toThrow(problem);
    await expect(sessions.endedIn(CONNECTION, ended)).rejects.toThrow(problem);
    expect(did).toEqual([]);
  }
});

test('all sessions of a person can end, or all except one', async () => {
  const { sessions, did } = opened('a');
  for (const ended of [{ person: ADA }, { person: ADA, except: 'one' }])
    await sessions.ended(ended);
  expect(did).toHaveLength(8);
});

test('a session id is a text that is not empty', () => {
  expect(['one', '', null, 7].map(isSessionId)).toEqual([true, false, false, false]);
});
