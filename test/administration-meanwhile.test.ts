// @engines sqlite: the host or another process acts, in the same way on every engine
import { registerHooks } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { PersonReference } from 'portico';
import { formDoing, mainOf, PAGES, rowsOf } from './support/administration.ts';
import {
  prepareHosts,
  type AdministeredHost,
  type AdministeredHosts,
} from './support/administered-host.ts';
import { REDIRECT_URI } from './support/portal.ts';

let hosts: AdministeredHosts;
let host: AdministeredHost;
beforeAll(async () => {
  hosts = await prepareHosts();
});
afterAll(() => hosts.remove());
afterEach(() => host.close());

const start = async (...options: Parameters<AdministeredHosts['start']>) => {
  host = await hosts.start(...options);
  return host;
};
const never = () => new Promise<never>(() => {});
/** People who have ids from 0. */
const people = (count: number): readonly PersonReference[] =>
  Array.from({ length: count }, (_, index) => ({ provider: 'crowd', id: `p-${index}` }));

/** Each of these people allows one application something. The last one does it last. */
async function allowed(crowd: readonly PersonReference[]): Promise<string> {
  const { database, register, allow } = host;
  const client = await register('Notebook');
  await allow(client);
  const { rows } = await database.execute<Record<string, string | number>>(
    'SELECT * FROM oauth_families',
  );
  const names = Object.keys(rows[0] ?? {});
  await database.execute('DELETE FROM oauth_families');
  const insert = `INSERT INTO oauth_families (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  for (const [index, { provider, id }] of crowd.entries()) {
    const family = String(index).padStart(32, '0');
    const row = { ...rows[0], id: family, user_provider: provider, user_id: id };
    await database.execute(insert, Object.values(row));
  }
  return client;
}
/** The people in the rows of a page, and the link to the next page. */
async function listed(at: string) {
  const page = await host.page(at);
  expect(page.status).toBe(200);
  const shown = (await rowsOf(page)).map((row) => /\bp-\d+/.exec(row)?.[0]);
  const [, next] = /href="([^"]*)">Show older ones</.exec(await page.text()) ?? [];
  return { shown, next: next?.replaceAll('&amp;', '&').replace(PAGES, '') };
}

describe('a host that does not answer within three seconds', () => {
  /** Opens the page, and lets three seconds pass as soon as the page waits for the host. */
  async function opened(at: string, isWaiting: Promise<void>): Promise<Response> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let isThere = false;
      const answer = host.page(at).finally(() => (isThere = true));
      await isWaiting;
      await vi.advanceTimersByTimeAsync(2999);
      expect(isThere).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      return await answer;
    } finally {
      vi.useRealTimers();
    }
  }

  // @shows AS-33.2
  test.each([
    ['holdsPermission', '/clients'],
    ['findPeople', '/access?q=ada'],
  ])('causes a 503, and the log names the function: %s', async (name, at) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await start({ [name]: () => (resolve(), never()) });
    const page = await opened(at, promise);
    expect([page.status, host.logged]).toEqual([503, [expect.objectContaining({})]]);
    const message = `Host.${name} did not respond within 3000 ms`;
    expect(host.logged[0]?.['exception']).toMatchObject({ message });
  });

  // @shows AS-33.11
  test('about people leaves only their ids on the page, and is asked about no others', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting: (() => void)[] = [];
    await start({
      async loadAccount(reference) {
        if (reference.provider === 'crowd')
          await new Promise<void>((go) => {
            waiting.push(go);
            resolve();
          });
        return { reference, isActive: () => true, getProfile: () => ({ name: 'Grace' }) };
      },
    });
    await allowed(people(20));
    const page = await opened('/access', promise);
    const rows = await rowsOf(page);
    expect(rows.filter((row) => /Notebook p-\d+ \( crowd \) notes:read /.test(row))).toHaveLength(
      20,
    );
    const asked = waiting.length;
    expect(asked).toBeLessThan(20);
    for (const go of waiting) go();
    await new Promise((go) => setImmediate(go));
    expect(waiting).toHaveLength(asked);
  });
});

// @shows AS-33.8
test('a person who is refused several times in a minute causes one event for them', async () => {
  const { server, page, clock } = await start(
    { holdsPermission: async () => false },
    { audit: { keep: true } },
  );
  for (const later of [0, 30, 29.999, 0.001, 59.999]) {
    clock.advance(later);
    expect((await page()).status).toBe(403);
  }
  const { items } = await server.audit.list({ type: 'admin_refused' });
  expect(items.map(({ details }) => details['refusals'])).toEqual([3, 1]);
});

describe('the list of who has access', () => {
  // @shows AS-33.12
  test('has a next page only if there are more than fifty rows', async () => {
    await start();
    const ids = people(51).map(({ id }) => id);
    await allowed(people(50));
    expect(await listed('/access')).toEqual({
      shown: ids.slice(0, 50).toReversed(),
      next: undefined,
    });
    await host.database.execute('DELETE FROM oauth_families');
    await allowed(people(51));
    const { shown, next } = await listed('/access');
    expect(shown).toEqual(ids.slice(1).toReversed());
    expect(await listed(next ?? '')).toEqual({ shown: ids.slice(0, 1), next: undefined });
  });

  // @shows AS-33.12
  test('has a person on one page only, even if the next page begins with an older authorization', async () => {
    await start();
    const [first, ...others] = people(51);
    const last = others.slice(-1);
    await allowed([...last, ...[first, first, ...others.slice(0, -1)].flatMap((it) => it ?? [])]);
    const { shown, next } = await listed('/access');
    expect(shown.at(-1)).toBe(first?.id);
    expect(shown).toHaveLength(50);
    expect(await listed(next ?? '')).toEqual({ shown: [last[0]?.id], next: undefined });
  });

  test('leaves out access that ends while the page reads it', async () => {
    await start();
    const { database } = host;
    const client = await allowed(people(3));
    const [newest] = (await host.server.access.list({ clientId: client })).items;
    const rest = `/access?after=${newest?.id ?? ''}`;
    expect((await listed(rest)).shown).toEqual(['p-1', 'p-0']);
    host.meanwhile = {
      before: /FROM oauth_families .*user_id = /s,
      act: () => database.execute("DELETE FROM oauth_families WHERE user_id = 'p-1'"),
    };
    expect((await listed(rest)).shown).toEqual(['p-0']);
    expect(host.meanwhile).toBeNull();
  });
});

describe('the form of an application', () => {
  const formAt = async (at: string, does: string) => formDoing(await host.page(at), does);
  const updateAt = (id: string) =>
    formAt(`/client?${new URLSearchParams({ id, ask: 'update' })}`, 'update');

  // @shows AS-33.4
  test('without a name is refused, and changes or registers nothing', async () => {
    const { server, register, send } = await start();
    const id = await register('Notebook');
    for (const { action, fields } of [
      await updateAt(id),
      await formAt('/clients?ask=register', 'register'),
    ]) {
      const filled: Record<string, string> = { ...fields, redirect_uris: REDIRECT_URI };
      const { name: _, ...sent } = filled;
      const refused = await send(action, sent);
      expect([refused.status, await mainOf(refused)]).toEqual([
        400,
        expect.stringMatching(/name.*Nothing was changed\./) as string,
      ]);
    }
    expect((await server.clients.list()).map(({ name }) => name)).toEqual(['Notebook']);
  });

  // @shows AS-33.4
  test('registers an application with the grants and scopes that are ticked, and no others', async () => {
    const { server, send } = await start();
    const { action, fields } = await formAt('/clients?ask=register', 'register');
    const { grant_refresh_token: _, ...ticked } = fields;
    const scope = `scope_${Buffer.from('notes:write').toString('hex')}`;
    const sent = { ...ticked, [scope]: '1', name: 'Shop', redirect_uris: REDIRECT_URI };
    expect((await send(action, sent)).status).toBe(200);
    expect(await server.clients.list()).toMatchObject([
      { name: 'Shop', grants: ['authorization_code'], scopes: ['notes:write'] },
    ]);
  });

  // @shows AS-33.4
  test('changes only what the administrator changed, even if another process does so, too', async () => {
    const { server, register, send } = await start();
    const id = await register('Notebook');
    const { action, fields } = await updateAt(id);
    host.meanwhile = {
      before: /^(BEGIN|UPDATE oauth_clients)/,
      act: () => server.clients.update(id, { name: 'Renamed' }),
    };
    const uris = `${REDIRECT_URI}\nhttps://other.example/`;
    expect((await send(action, { ...fields, redirect_uris: uris })).status).toBe(303);
    expect(await server.clients.find(id)).toMatchObject({
      name: 'Renamed',
      redirectUris: uris.split('\n'),
    });
  });
});

test('a request loads the code of the pages again if it could not be loaded before', async () => {
  let isGone = true;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (isGone && /\/administration-[^/]*\.js$/.test(specifier)) throw new Error('it is gone');
      return next(specifier, context);
    },
  });
  onTestFinished(() => hooks.deregister());
  const { page } = await start();
  expect((await page()).status).toBe(500);
  expect((await page()).status).toBe(500);
  isGone = false;
  expect((await page()).status).toBe(200);
});

test('the ids of sent forms are removed from the store after the forms have expired', async () => {
  const { database, clock, page, send } = await start();
  const stored = async () =>
    (await database.execute('SELECT * FROM oauth_single_uses')).rows.length;
  const create = async () => {
    const { action, fields } = await formDoing(await page('/registration'), 'create');
    expect((await send(action, fields)).status).toBe(200);
  };
  for (let sent = 0; sent < 49; sent += 1) await create();
  expect(await stored()).toBe(49);
  clock.advance(86_400);
  await create();
  expect(await stored()).toBe(1);
});
