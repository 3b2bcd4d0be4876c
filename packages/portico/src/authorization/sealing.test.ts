import { expect, test } from 'vitest';
import type { Clients } from '../clients/clients.ts';
import { Speaking } from '../pages/speaking.ts';
import type { Server } from '../server.ts';
import { startSealing } from './sealing.fixture.ts';
import { SignInNotes } from './sign-in-notes.ts';
import type { CookieKeyRecords } from '../store/sql/cookie-keys.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';

const START = 1_800_000_000_000;
const LIFETIME = 600_000;

/** Returns processes that share one store of keys and one clock. */
function installation() {
  let now = START;
  const keys = new Map<number, string>();
  const store = {
    async cookieKey(period: number, candidate: string) {
      if (!keys.has(period)) keys.set(period, candidate);
      return keys.get(period) ?? candidate;
    },
    findCookieKey: async (period: number) => keys.get(period) ?? null,
  } satisfies Partial<CookieKeyRecords> as unknown as CookieKeyRecords;
  const clock = () => now;
  return {
    pass: (milliseconds: number) => void (now += milliseconds),
    keys,
    start: () => startSealing(store, clock, LIFETIME),
  };
}

// @shows MCP-15.9
test('sealed text is opened by any process, for the same purpose, until it is too old', async () => {
  const { start, pass } = installation();
  const [one, other] = [start().sealing, start().sealing];
  const sealed = await one.seal('a purpose', 'what was said');
  expect(sealed).not.toContain('what was said');
  expect(await other.open('a purpose', sealed)).toBe('what was said');
  expect(await other.open('another purpose', sealed)).toBeNull();
  pass(LIFETIME - 1);
  expect(await other.open('a purpose', sealed)).toBe('what was said');
  pass(1);
  expect(await other.open('a purpose', sealed)).toBeNull();
});

test('sealed text is different each time, and a forged one cannot be opened', async () => {
  const { start } = installation();
  const { sealing } = start();
  const [one, two] = [await sealing.seal('p', 'text'), await sealing.seal('p', 'text')];
  expect(one).not.toBe(two);
  expect(await installation().start().sealing.open('p', one)).toBeNull();
  for (let place = one.indexOf('.') + 1; place < one.length; place += 1) {
    const changed = `${one.slice(0, place)}${one[place] === 'A' ? 'B' : 'A'}${one.slice(place + 1)}`;
    expect(await sealing.open('p', changed)).toBeNull();
  }
});

test('sealed text can be opened only with its exact spelling', async () => {
  const { sealing } = installation().start();
  const sealed = await sealing.seal('p', 'text');
  expect(await sealing.open('p', sealed)).toBe('text');
  for (const other of [`0${sealed}`, `${sealed}A`, `${sealed}-`])
    expect(await sealing.open('p', other)).toBeNull();
});

test('sealed text cannot be used as a cookie, nor a cookie as sealed text', async () => {
  const { sealer, sealing } = installation().start();
  expect(
    await sealer.open('portico_request_a', await sealing.seal('portico_request_a', 'text')),
  ).toBeNull();
  expect(
    await sealing.open('portico_request_a', await sealer.seal('portico_request_a', '[0,"text"]')),
  ).toBeNull();
});

test('sealed text from the future cannot be opened, apart from the allowed clock difference', async () => {
  const { start, pass } = installation();
  const { sealing } = start();
  const sealed = await sealing.seal('p', 'text');
  pass(-200_000);
  expect(await sealing.open('p', sealed)).toBe('text');
  pass(-200_000);
  expect(await sealing.open('p', sealed)).toBeNull();
});

test('sealed text cannot be opened without its key, and an invented key number creates no key', async () => {
  const { start, keys } = installation();
  const sealed = await start().sealing.seal('p', 'text');
  const [, text = ''] = sealed.split('.');
  for (const period of ['0', '1', '999999999']) {
    expect(await start().sealing.open('p', `${period}.${text}`)).toBeNull();
  }
  expect(keys.size).toBe(1);
  keys.clear();
  expect(await start().sealing.open('p', sealed)).toBeNull();
});

test('the sign-in page finds the waiting client next to other sealed cookies', async () => {
  const { sealer } = installation().start();
  const server = {
    sealer,
    clock: () => START,
    config: { consent_ttl: 600, name: 'A server' },
    issuer: 'https://as.example',
    origin: 'https://as.example',
    basePath: '',
    paths: { authorize: '/oauth/authorize' },
  } as unknown as Server;
  const client = storedClient('app', 0);
  const clients = { find: async () => client } as unknown as Clients;
  const notes = new SignInNotes(server, clients, null);
  const [note = ''] = await notes.cookies({
    loginUrl: '/login',
    requestId: 'id',
    sent: [['client_id', client.id]],
    client: null,
    words: await new Speaking({}).of(new Request('https://as.example/')),
  });
  const other = await sealer.seal('other', 'text that is not JSON');
  const headers = new Headers({ cookie: `other=${other}; ${note.split(';')[0]}` });
  const found = (returnTo: string) => notes.find({ headers }, returnTo);
  const returnTo = '/oauth/authorize?request_id=id&more=';
  const waiting = { clientName: client.name, isVerified: true, loginHint: null, uiLocales: [] };
  expect(await found(returnTo)).toEqual(waiting);
  expect(await found(returnTo.padEnd(4000, 'x'))).toEqual(waiting);
  expect(await found(returnTo.padEnd(4001, 'x'))).toBeNull();
});
