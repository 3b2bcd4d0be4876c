import { expect, test } from 'vitest';
import { LastUse } from './last-use.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { ClientRecords } from '../store/sql/clients.ts';

const DAY = 86_400_000;
const NOW = 1_795_240_016_123;

/** Records uses in a store that the test can make fail. */
function start() {
  const noted: (readonly [string, number])[] = [];
  const warnings: (readonly [string, unknown])[] = [];
  const state = { problem: null as Error | null };
  const log = { warning: (text: string, fields?: unknown) => void warnings.push([text, fields]) };
  const clients = {
    async noteClientUse(id: string, now: number) {
      if (state.problem !== null) throw state.problem;
      noted.push([id, now]);
    },
  } satisfies Partial<ClientRecords>;
  const server = { store: { clients }, host: { log }, clock: () => NOW } as unknown as Server;
  const lastUse = new LastUse(server);
  const recordUse = (client: Partial<Client>) => lastUse.record(client as Client);
  const recordAllowed = (client: Partial<Client>) => lastUse.recordAllowed(client as Client);
  return { noted, warnings, state, recordUse, recordAllowed };
}

test.each(['registration', 'document'] as const)(
  'the use of a client created by a %s is recorded, and again after a day',
  async (registeredBy) => {
    const { noted, recordUse } = start();
    await recordUse({ id: 'new', registeredBy, usedAt: null });
    await recordUse({ id: 'a-day-ago', registeredBy, usedAt: NOW - DAY });
    expect(recordUse({ id: 'today', registeredBy, usedAt: NOW - DAY + 1 })).toBeNull();
    expect(noted).toEqual([
      ['new', NOW],
      ['a-day-ago', NOW],
    ]);
  },
);

test('the use of a client registered by an operator is not recorded', () => {
  const { noted, recordUse } = start();
  for (const usedAt of [null, NOW - 2 * DAY])
    expect(recordUse({ id: 'ours', registeredBy: 'operator', usedAt })).toBeNull();
  expect(noted).toEqual([]);
});

test('a use that cannot be recorded is logged with the client and the error, and fails no request', async () => {
  const { warnings, state, recordUse } = start();
  const exception = new Error('out of order');
  state.problem = exception;
  await recordUse({ id: 'one', registeredBy: 'registration', usedAt: null });
  expect(warnings).toEqual([
    [
      'The last use of the client {clientId} could not be stored: {exception}',
      { clientId: 'one', exception },
    ],
  ]);
});

test('the first consent for a client fails if the use of the client cannot be recorded', async () => {
  const { noted, state, recordAllowed } = start();
  state.problem = new Error('out of order');
  const first = { id: 'new', registeredBy: 'registration', usedAt: null } as const;
  await expect(recordAllowed(first)).rejects.toBe(state.problem);
  await recordAllowed({ ...first, usedAt: NOW - DAY });
  expect(recordAllowed({ ...first, registeredBy: 'operator' })).toBeNull();
  state.problem = null;
  await recordAllowed(first);
  expect(noted).toEqual([['new', NOW]]);
});
