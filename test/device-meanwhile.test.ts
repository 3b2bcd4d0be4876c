import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  onTestFinished,
  test,
} from 'vitest';
import { createClock } from './support/clock.ts';
import {
  begin,
  decide,
  DEVICE_GRANT,
  DEVICES,
  enter,
  poll,
  registerDevice,
  requestCodes,
  tokensOf,
} from './support/device.ts';
import { openStore, withExecute, type OpenedStore } from './support/opened-store.ts';
import {
  ADA,
  authorizationUrl,
  errorOf,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import type { Visitor } from './support/visitor.ts';

/** Changes while the server handles the request of a device, and the limits of open requests. */

const clock = createClock();
let opened: OpenedStore;
let portal: RunningPortal;
let tv: TestClient;
let ada: Visitor;
/** Runs once, after the next statement that matches. The request waits for it. */
let next: { readonly after: RegExp; readonly act: () => Promise<unknown> } | null = null;
type Insert = (deviceHash: string) => Promise<unknown>;
/** Runs before the codes of a device are inserted. Its parameter inserts the same user code. */
let inserting: ((insert: Insert) => unknown) | null = null;

beforeAll(async () => {
  opened = await openStore();
  const { inner } = opened;
  const database = withExecute(inner, async (sql, values, ...rest) => {
    if (/INTO oauth_device_codes/.test(sql))
      await inserting?.((hash) => inner.execute(sql, [hash, ...(values ?? []).slice(1)]));
    const result = await inner.execute<never>(sql, values, ...rest);
    const now = next?.after.test(sql) === true ? next : null;
    if (now !== null) next = null;
    await now?.act();
    return result;
  });
  portal = await startPortal({
    clock: clock.now,
    database,
    config: { ...DEVICES, trusted_proxies: 1 },
  });
  tv = await registerDevice(portal);
});
afterAll(async () => {
  await portal.close();
  await opened.close();
});
beforeEach(async () => {
  // No code of an earlier test is still waiting.
  clock.advance(601);
  next = null;
  inserting = null;
  ada = await portal.signedIn(ADA);
});

const refusalOf = async (response: Response) => [response.status, await errorOf(response)];

describe('a device client that gets the grant refresh_token later', () => {
  // @shows AS-40.2
  test('gets no refresh token if the page had shown that the access ends', async () => {
    for (const when of ['while the page is open', 'after the answer']) {
      const device = await registerDevice(portal, { grants: [DEVICE_GRANT] });
      const renew = () => portal.server.clients.update(device.id, { addGrants: ['refresh_token'] });
      const begun = await begin(portal, device);
      const asked = await enter(ada, begun.user_code);
      if (when === 'while the page is open') await renew();
      expect((await ada.submit(asked, { decision: 'allow' })).status).toBe(200);
      if (when === 'after the answer') await renew();
      expect(await tokensOf(await poll(portal, device, begun))).not.toHaveProperty('refresh_token');
      // The next page says that the access continues.
      const again = await begin(portal, device);
      await decide(ada, again);
      expect(await tokensOf(await poll(portal, device, again))).toHaveProperty('refresh_token');
    }
  });
});

describe('while a device polls', () => {
  const READ = /FROM oauth_device_codes WHERE device_hash/;

  // @shows AS-48.2
  test('a person can answer at the same time: the device gets the answer', async () => {
    const [allowed, denied] = [await begin(portal, tv), await begin(portal, tv)];
    next = { after: READ, act: () => decide(ada, allowed) };
    await tokensOf(await poll(portal, tv, allowed));
    next = { after: READ, act: () => decide(ada, denied, 'deny') };
    expect(await refusalOf(await poll(portal, tv, denied))).toEqual([400, 'access_denied']);
  });

  // @shows AS-48.2
  test('a different process can remove the request: the device gets invalid_grant', async () => {
    const begun = await begin(portal, tv);
    next = {
      after: READ,
      act: () => opened.inner.execute('DELETE FROM oauth_device_codes'),
    };
    expect(await refusalOf(await poll(portal, tv, begun))).toEqual([400, 'invalid_grant']);
  });
});

// @shows AS-31.8, AS-48.5
test('denying a device is refused if the data of the person are erased at the same time', async () => {
  const { access } = portal.server;
  const earlier = await begin(portal, tv);
  await decide(ada, earlier);
  const [held] = (await access.list({ clientId: tv.id })).items;
  const begun = await begin(portal, tv);
  const asked = await enter(ada, begun.user_code);
  next = {
    after: /^UPDATE oauth_consent_requests/,
    act: () => access.erasePerson(held?.person ?? { provider: '', id: '' }),
  };
  expect((await ada.submit(asked, { decision: 'deny' })).status).toBe(400);
  expect(next).toBeNull();
});

describe('erasing a person while they allow a request', () => {
  const ANSWERS: Readonly<Record<string, () => Promise<() => Promise<Response>>>> = {
    'a device': async () => {
      const page = await enter(ada, (await begin(portal, tv)).user_code);
      return () => ada.submit(page, { decision: 'allow' });
    },
    'an application': async () => {
      const client = await registerClient(portal);
      const page = await ada.visit(authorizationUrl(portal, client));
      return () => ada.submit(page, { decision: 'allow' });
    },
  };
  let erase: () => Promise<unknown>;
  beforeEach(async () => {
    await decide(ada, await begin(portal, tv));
    const [held] = (await portal.server.access.list({ clientId: tv.id })).items;
    erase = () => portal.server.access.erasePerson(held?.person ?? { provider: '', id: '' });
  });
  const isErased = async () => {
    for (const table of ['oauth_subjects', 'oauth_families', 'oauth_consent_requests'])
      expect((await opened.inner.execute(`SELECT user_id FROM ${table}`)).rows).toEqual([]);
  };

  // @shows AS-31.8
  test.each(Object.keys(ANSWERS))(
    'leaves no subject if the answer for %s is slower',
    async (for_) => {
      const answer = await ANSWERS[for_]?.();
      // The person is erased after the answer has found no subject, and before it assigns one.
      await opened.inner.execute('DELETE FROM oauth_subjects');
      next = { after: /^SELECT .* FROM oauth_subjects/, act: () => erase() };
      const response = await answer?.();
      expect(next).toBeNull();
      expect(response?.status).toBe(400);
      await isErased();
    },
  );

  // @shows AS-31.8
  test.each(Object.keys(ANSWERS))(
    'leaves no subject if the answer for %s is quicker',
    async (for_) => {
      const answer = await ANSWERS[for_]?.();
      next = { after: /^DELETE FROM oauth_subjects/, act: async () => answer?.() };
      await erase();
      expect(next).toBeNull();
      await isErased();
    },
  );

  // @shows AS-31.8
  test.each(inject('databaseServer')?.startsWith('postgres') === true ? ['PostgreSQL'] : [])(
    'waits for an answer whose subject takes long to store, on %s',
    async () => {
      const { inner } = opened;
      const waiting = async () => {
        const { rows } = await inner.execute(
          `SELECT pid FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        );
        return rows.length;
      };
      const answer = await ANSWERS['an application']?.();
      const { rows } = await inner.execute<{ user_provider: string; user_id: string }>(
        'DELETE FROM oauth_subjects RETURNING user_provider, user_id',
      );
      const [inserted, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const occupied = inner.transaction(async (connection) => {
        await connection.execute('INSERT INTO oauth_subjects VALUES (?, ?, ?)', [
          rows[0]?.user_provider ?? '',
          rows[0]?.user_id ?? '',
          'other',
        ]);
        inserted.resolve();
        await goesOn.promise;
        throw new Error('rolled back');
      });
      await inserted.promise;
      const answered = answer?.();
      await expect.poll(waiting).toBe(1);
      let isDone = false;
      const erased = erase().finally(() => (isDone = true));
      await expect.poll(async () => isDone || (await waiting()) === 2).toBe(true);
      goesOn.resolve();
      await expect(occupied).rejects.toThrow('rolled back');
      await Promise.all([answered, erased]);
      await isErased();
    },
  );
});

// @shows AS-48.5
test('denying a device is refused if a different process removes the request at the same time', async () => {
  const begun = await begin(portal, tv);
  const asked = await enter(ada, begun.user_code);
  next = {
    after: /^UPDATE oauth_consent_requests/,
    act: () => opened.inner.execute('DELETE FROM oauth_device_codes'),
  };
  expect((await ada.submit(asked, { decision: 'deny' })).status).toBe(400);
  expect(next).toBeNull();
});

describe('a new user code that already exists', () => {
  // @shows AS-48.3
  test('is not issued again: the device gets a different code', async () => {
    let tries = 0;
    inserting = async (insert) => {
      tries += 1;
      if (tries < 3) await insert(`${clock.now()} ${tries}`);
    };
    const begun = await begin(portal, tv);
    expect(tries).toBe(3);
    await decide(ada, begun);
    await tokensOf(await poll(portal, tv, begun));
  });

  // @shows AS-48.1
  test('leads to an error after three attempts: the device must try again later', async () => {
    let tries = 0;
    inserting = (insert) => insert(`${clock.now()} ${(tries += 1)}`);
    const answer = await requestCodes(portal, tv);
    expect([answer.status, answer.headers.get('retry-after'), tries]).toEqual([429, '60', 3]);
  });
});

describe('the device codes of public clients', () => {
  let box: TestClient;
  beforeAll(async () => {
    box = await registerDevice(portal, { public: true });
  });
  const from = (address: string) =>
    fetch(`${portal.url}/oauth/device_authorization`, {
      method: 'POST',
      headers: { 'X-Forwarded-For': address },
      body: new URLSearchParams({ client_id: box.id }),
    });
  /** Returns the status, and how many codes the server tried to store. */
  const statusAndInserts = async (ask: () => Promise<Response>) => {
    let inserted = 0;
    inserting = () => (inserted += 1);
    return [(await ask()).status, inserted];
  };
  const statusesOf = async (addresses: readonly string[]) => {
    const statuses = [];
    for (const address of addresses) statuses.push((await from(address)).status);
    return statuses;
  };

  // @shows AS-48.1
  test('are counted for each network: an IPv4 address, or an IPv6 /64', async () => {
    const hosts = Array.from({ length: 100 }, (_, index) => `2001:db8::${index + 1}`);
    expect(new Set(await statusesOf(hosts))).toEqual(new Set([200]));
    const others = ['2001:db8::ffff', '2001:db8:0:1::1', '192.0.2.1', '192.0.2.2'];
    expect(await statusesOf(others)).toEqual([429, 200, 200, 200]);
  });

  // @shows AS-48.1
  test('beyond the limit are removed, also if two requests take the last place simultaneously', async () => {
    const begun = await begin(portal, box);
    for (let count = 1; count < 99; count += 1) await begin(portal, box);
    let faster: Response | undefined;
    inserting = async () => {
      inserting = null;
      faster = await requestCodes(portal, box);
    };
    expect((await requestCodes(portal, box)).status).toBe(429);
    expect(faster?.status).toBe(200);
    await decide(ada, begun, 'deny');
    expect(await statusAndInserts(() => requestCodes(portal, box))).toEqual([200, 1]);
    expect(await statusAndInserts(() => requestCodes(portal, box))).toEqual([429, 0]);
  });

  // @shows AS-48.1
  test('are limited to 20,000 in total; expired and answered codes do not count', async () => {
    const begun = await begin(portal, box);
    const { inner } = opened;
    const same = `client_id, scope, audience, address, network, begun_at, expires_at, poll_after,
      poll_interval`;
    // The codes of other networks, until only two places are left.
    await inner.execute(`UPDATE oauth_device_codes SET network = 'elsewhere'`);
    for (let codes = 1; codes < 19_998; codes *= 2) {
      const [device, user] = ['device', 'user'].map((of) => `CONCAT(${of}_hash, ' ${codes}')`);
      await inner.execute(
        `INSERT INTO oauth_device_codes (device_hash, user_hash, ${same})
          SELECT ${device}, ${user}, ${same} FROM oauth_device_codes WHERE expires_at > ?
          LIMIT ${Math.min(codes, 19_998 - codes)}`,
        [clock.now()],
      );
    }
    onTestFinished(() => void inner.execute('DELETE FROM oauth_device_codes'));
    const another = () => statusAndInserts(() => from('192.0.2.1'));
    expect([await another(), await another(), await another()]).toEqual([
      [200, 1],
      [200, 1],
      [429, 0],
    ]);
    await decide(ada, begun, 'deny');
    expect([await another(), await another()]).toEqual([
      [200, 1],
      [429, 0],
    ]);
    clock.advance(600);
    expect(await another()).toEqual([200, 1]);
  });
});
