// @engines sqlite: a form id is used once, in the same way for every form
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import { administration } from '@portico/admin';
import {
  configurationWith,
  createAuthorizationServer,
  migrate,
  oauthServerMigrations,
  type Database,
  type Host,
  type LogContext,
  type PersonReference,
} from 'portico';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { formDoing, PAGES, textOf, type PageForm } from './support/administration.ts';
import { createDatabase } from './support/database.ts';
import { CHEAP } from './support/hashers.ts';
import { openOwnStore, type OwnStore } from './support/own-store.ts';
import { createClock } from './support/clock.ts';
import { REDIRECT_URI, codeRequest } from './support/portal.ts';
import { formOf } from './support/visitor.ts';

/**
 * The browsers of this host keep one secret for all people who sign in. So only the form itself is
 * bound to the person.
 */

/** What the host's framework knows about the browser of a request. */
interface Browser {
  readonly person: PersonReference | null;
  readonly secret: string;
}

const ADA: PersonReference = { provider: 'staff', id: 'ada' };
const BROWSER: Browser = { person: ADA, secret: 'the secret of this browser' };
const ORIGIN = 'https://host.example';
const [MINUTE, HALF_AN_HOUR] = [60, 1800];

let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let database: OwnStore;
let clock: ReturnType<typeof createClock>;
let details: unknown[];
let tests = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-forms-'));
  created = await createDatabase(folder);
  database = openOwnStore(created.url);
  // No fsync: a crash does not matter here.
  await database.execute('PRAGMA synchronous = OFF');
  await migrate(database, oauthServerMigrations);
});
afterAll(async () => {
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  clock = createClock();
  details = [];
  tests += 1;
});

/** One process of the host, with its own clock, host and configuration if they are given. */
function start(
  now = clock.now,
  others: Partial<Host<Browser>> = {},
  changes: object = {},
  store: Database = database,
) {
  const line = (_: string, { detail }: LogContext = {}) => {
    if (detail !== undefined) details.push(detail);
  };
  const host: Host<Browser> = {
    signedIn: async (_, { person }) => person,
    browserSecret: async (_, { secret }) => secret,
    loadAccount: async (reference) => ({ reference, isActive: () => true, getProfile: () => ({}) }),
    holdsPermission: async () => true,
    loginUrl: '/sign-in',
    passwordHasher: CHEAP,
    log: { debug: line, info: line, warning: line, error: line },
    ...others,
  };
  const features = [administration];
  const config = configurationWith(features).parse({
    name: 'Host',
    scopes: { 'notes:read': 'Read your notes' },
    key_path: path.join(folder, `keys-${tests}`),
    admin_permission: 'administer',
    registration: 'initial_access_token',
    ...changes,
  });
  const server = createAuthorizationServer({
    publicUrl: ORIGIN,
    config,
    host,
    database: store,
    features,
    clock: now,
  });
  const handle = createHandler<Browser>(server);
  const send = async (at: string, browser: Browser, fields?: Readonly<Record<string, string>>) => {
    const form = fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) };
    const response = await handle(
      new Request(new URL(at, ORIGIN), { headers: { Accept: 'text/html' }, ...form }),
      browser,
    );
    if (response === null) throw new Error(`${at} is the path of no endpoint`);
    return response;
  };
  const register = async () => {
    const registration = { name: 'App', redirectUris: [REDIRECT_URI], scopes: ['notes:read'] };
    return (await server.clients.create(registration)).client.id;
  };
  const revokedAt = async (id: string) => (await server.clients.find(id))?.revokedAt;
  return { server, send, register, revokedAt };
}

const pageOf = (id: string, ask: string) => `${PAGES}/client?${new URLSearchParams({ id, ask })}`;
const formAt = async ({ send }: ReturnType<typeof start>, id: string, ask = 'revoke') =>
  formDoing(await send(pageOf(id, ask), BROWSER), ask);

describe('a form of an administrator is bound', () => {
  /**
   * The form does nothing, and the log contains the reason. The same form still works for its
   * intended action.
   */
  async function expectGoodForNothingElse(
    browser: Browser,
    change: (form: PageForm) => PageForm = (form) => form,
  ): Promise<void> {
    const process = start();
    const id = await process.register();
    const form = await formAt(process, id);
    const sent = change(form);
    expect((await process.send(sent.action, browser, sent.fields)).status).toBe(400);
    expect(details).toEqual([
      'the csrf_token is not valid for this form, person and browser session',
    ]);
    expect(await process.revokedAt(id)).toBeNull();
    expect((await process.send(form.action, BROWSER, form.fields)).status).toBe(303);
    expect(await process.revokedAt(id)).not.toBeNull();
  }

  // @shows AS-33.3
  test.each([
    ['the id', { provider: 'staff', id: 'grace' }],
    ['the provider', { provider: 'customers', id: 'ada' }],
    ['the boundary between provider and id', { provider: 'staffa', id: 'da' }],
  ])('to the person, by %s, even if the browser session is the same', async (_, person) => {
    await expectGoodForNothingElse({ ...BROWSER, person });
  });

  // @shows AS-33.3
  test('to the browser session', async () => {
    await expectGoodForNothingElse({ ...BROWSER, secret: 'the secret of another browser' });
  });

  // @shows AS-33.3
  test.each(['update', 'rotate-secret'])('to its action, and is not valid for %s', async (does) => {
    await expectGoodForNothingElse(BROWSER, (form) => ({
      ...form,
      fields: { ...form.fields, do: does },
    }));
  });

  // @shows AS-33.3
  test('to the client that it changes', async () => {
    const other = await start().register();
    await expectGoodForNothingElse(BROWSER, (form) => ({
      ...form,
      action: pageOf(other, 'revoke'),
    }));
    expect(await start().revokedAt(other)).toBeNull();
  });

  // @shows AS-33.3
  test.each(['form_id', 'shown_at', 'state'])('to its own %s', async (name) => {
    const process = start();
    const id = await process.register();
    const earlier = await formAt(process, id);
    clock.advance(1);
    await process.server.clients.update(id, { name: 'Another name' });
    details = [];
    await expectGoodForNothingElse(BROWSER, (form) => ({
      ...form,
      fields: { ...form.fields, [name]: earlier.fields[name] ?? '' },
    }));
  });
});

describe('a form of an administrator', () => {
  // @shows AS-33.3
  test.each([
    ['as soon as it is shown', 0, 303],
    ['half an hour later', HALF_AN_HOUR, 303],
    ['half an hour and a second later', HALF_AN_HOUR + 1, 400],
    ['to a machine whose clock is a minute behind', -MINUTE, 303],
    ['to a machine whose clock is more than a minute behind', -MINUTE - 1, 400],
  ])('is accepted or refused by its age: sent %s', async (_, later, status) => {
    const process = start();
    const id = await process.register();
    const { action, fields } = await formAt(process, id);
    clock.advance(later);
    expect((await process.send(action, BROWSER, fields)).status).toBe(status);
    expect((await process.revokedAt(id)) === null).toBe(status === 400);
  });

  // @shows AS-33.3
  test('works once across all processes, until it expires', async () => {
    const [one, other] = [start(), start(() => clock.now() - MINUTE * 1000)];
    const form = await formDoing(await one.send(`${PAGES}/registration`, BROWSER), 'create');
    expect((await one.send(form.action, BROWSER, form.fields)).status).toBe(200);
    clock.advance(HALF_AN_HOUR + MINUTE);
    await one.server.prune();
    expect((await other.send(form.action, BROWSER, form.fields)).status).toBe(400);
    expect(details).toEqual(['the form was already sent']);
  });

  // @shows AS-33.3
  test('does nothing if anything changed since it was shown', async () => {
    const process = start();
    const id = await process.register();
    const { action, fields } = await formAt(process, id);
    await process.server.clients.update(id, { name: 'Another name' });
    expect((await process.send(action, BROWSER, fields)).status).toBe(400);
    expect(details).toEqual(['the data has changed since the form was shown']);
    expect(await process.revokedAt(id)).toBeNull();
  });
});

describe('the page of an administrator', () => {
  // @shows AS-33.11
  test('shows filters and refuses a search if the host has no search', async () => {
    const { send } = start();
    const list = await (await send(`${PAGES}/access`, BROWSER)).text();
    expect(list).toMatch(/host has no <code>findPeople<.*<details class="more" open>/s);
    expect(list).not.toContain('name="q"');
    const found = await send(`${PAGES}/access?q=ada`, BROWSER);
    expect([found.status, await found.text()]).toEqual([
      400,
      expect.stringContaining('This application does not support search by name'),
    ]);
  });

  // @shows AS-33.11
  test('hides the filters until one is used if the host has a search', async () => {
    const { send } = start(clock.now, { findPeople: async () => [] });
    const isOpen = async (asked: string) =>
      (await (await send(`${PAGES}/access${asked}`, BROWSER)).text()).includes(
        '<details class="more" open>',
      );
    expect([await isOpen(''), await isOpen('?q=ada'), await isOpen('?scope=x')]).toEqual([
      false,
      false,
      true,
    ]);
    expect(await (await send(`${PAGES}/access?q=ada`, BROWSER)).text()).toContain('value="ada"');
  });

  test('responds to an error of the host with a server error', async () => {
    const findPeople = async () => Promise.reject(new TypeError('the secret of the host'));
    const answer = await start(clock.now, { findPeople }).send(`${PAGES}/access?q=ada`, BROWSER);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('the secret of the host');
  });

  // @shows AS-33.11
  test('asks the host only about people whom a stored event names', async () => {
    const asked: unknown[] = [];
    const loadAccount = async (reference: PersonReference) => {
      asked.push(reference);
      return { reference, isActive: () => true, getProfile: () => ({}) };
    };
    const { server, send, register } = start(clock.now, { loadAccount }, { audit: { keep: true } });
    const id = await register();
    await server.clients.update(id, { name: 'By an administrator' }, { by: ADA });
    await server.clients.update(id, { name: 'On the console' }, { by: 'console' });
    const text = await textOf(await send(`${PAGES}/audit?client=${id}`, BROWSER));
    expect(text).toMatch(/ by the console .* by ada \( staff \) /);
    for (const person of asked) expect(person).toEqual(ADA);
  });

  test('responds to an error of the store with a server error', async () => {
    const { send } = start(clock.now, {}, { audit: { keep: true } });
    await database.execute('ALTER TABLE oauth_audit RENAME TO oauth_audit_away');
    try {
      const answer = await send(`${PAGES}/audit`, BROWSER);
      expect(answer.status).toBe(500);
      expect(await answer.text()).not.toContain('oauth_audit');
    } finally {
      await database.execute('ALTER TABLE oauth_audit_away RENAME TO oauth_audit');
    }
  });

  test('offers to replace the signing keys only if there are any, and otherwise explains why not', async () => {
    const { send, server } = start();
    const offers = async () => (await (await send(`${PAGES}/keys`, BROWSER)).text()).match(/ask=/g);
    expect(await offers()).toBeNull();
    const form = await formDoing(await send(`${PAGES}/keys?ask=rotate`, BROWSER), 'rotate');
    const refused = await send(form.action, BROWSER, form.fields);
    expect([refused.status, await textOf(refused)]).toEqual([
      400,
      expect.stringMatching(/Replace the signing keys\? .* to replace\. First run npx portico/),
    ]);
    await server.keys.generate();
    expect(await offers()).toHaveLength(2);
  });

  test('warns if a scope requires the permission of administrators', async () => {
    const warned = async (permission: string) => {
      const scopes = {
        'notes:read': { label: 'Read your notes', permission },
        'notes:write': 'Write your notes',
      };
      const page = await start(clock.now, {}, { scopes }).send(`${PAGES}/doctor`, BROWSER);
      return /the scope (.*) requires the same permission \(administer\)/.exec(
        await textOf(page),
      )?.[1];
    };
    expect([await warned('administer'), await warned('read')]).toEqual(['notes:read', undefined]);
  });

  // @shows AS-33.1
  test.each(['', '  '])('does not start if its permission has the name %j', (name) => {
    expect(() => start(clock.now, {}, { admin_permission: name })).toThrow('is empty');
  });
});

const query = (id: string) => codeRequest(id, { scope: 'notes:read' });
const consentOf = async ({ send }: ReturnType<typeof start>, id: string, browser = BROWSER) => {
  const page = await send(`/oauth/authorize?${query(id)}`, browser);
  expect(page.status).toBe(200);
  return { ...formOf(await page.text()).fields, decision: 'allow' };
};
describe('after a different person signs in to the same browser', () => {
  const GRACE: Browser = { ...BROWSER, person: { provider: 'staff', id: 'grace' } };
  const held = async ({ server }: ReturnType<typeof start>, { person }: Browser) =>
    person === null ? 0 : (await server.access.list({ person })).items.length;

  test('an answer to the consent request of the first person is refused', async () => {
    const process = start();
    const id = await process.register();
    const form = await consentOf(process, id);
    const answer = await process.send('/oauth/authorize', GRACE, form);
    expect(answer.headers.get('location') ?? '').not.toContain('code=');
    expect([await held(process, BROWSER), await held(process, GRACE)]).toEqual([0, 0]);
  });

  test.each([
    ['the provider', { provider: 'customers', id: 'ada' }],
    ['the id', { provider: 'staff', id: 'grace' }],
  ])(
    'the page of applications of the first person ends no access of one who differs by %s',
    async (_, person) => {
      const process = start();
      const id = await process.register();
      const other = { ...BROWSER, person };
      const { access } = process.server;
      for (const each of [ADA, person])
        for (const earlier of (await access.list({ person: each })).items)
          await access.revokeAuthorization(earlier.id);
      for (const browser of [BROWSER, other]) {
        const allowed = await process.send(
          '/oauth/authorize',
          browser,
          await consentOf(process, id, browser),
        );
        expect(allowed.headers.get('location')).toContain('code=');
      }
      const one = formOf(await (await process.send('/oauth/applications', BROWSER)).text()).fields;
      const all = formOf(
        await (await process.send('/oauth/applications?remove=all', BROWSER)).text(),
      ).fields;
      for (const form of [one, all])
        expect((await process.send('/oauth/applications', other, form)).status).toBe(400);
      expect(await held(process, other)).toBe(1);
      expect((await process.send('/oauth/applications', BROWSER, one)).status).toBe(303);
      expect([await held(process, BROWSER), await held(process, other)]).toEqual([0, 1]);
    },
  );

  // @shows AS-33.3
  test('the page of administrators shows nothing that the first person did', async () => {
    const process = start();
    const id = await process.register();
    const { action, fields } = await formAt(process, id);
    const done = (await process.send(action, BROWSER, fields)).headers.get('location') ?? '';
    const tells = async (browser: Browser) =>
      (await (await process.send(done, browser)).text()).includes(
        'Done. The application is revoked',
      );
    expect(await tells(BROWSER)).toBe(true);
    expect(await tells(GRACE)).toBe(false);
    expect(await tells({ ...BROWSER, person: { provider: 'customers', id: 'ada' } })).toBe(false);
    expect(await tells({ ...BROWSER, secret: 'the secret of another browser' })).toBe(false);
    clock.advance(599);
    expect(await tells(BROWSER)).toBe(true);
    clock.advance(1);
    expect(await tells(BROWSER)).toBe(false);
  });
});

describe('a form of the pages that takes long', () => {
  const person = 'provider=staff';
  afterEach(() => vi.useRealTimers());

  /** The store, which is slow as soon as a form has been accepted. */
  function slowStore(begun: () => void, end: Promise<void>): Database {
    let isAccepted = false;
    const wait = async () => {
      if (!isAccepted) return;
      begun();
      await end;
    };
    return {
      ...database,
      async execute(sql, ...rest) {
        await wait();
        const result = await database.execute(sql, ...rest);
        isAccepted ||= sql.includes('oauth_single_uses');
        return result as never;
      },
      async transaction(...work) {
        await wait();
        return database.transaction(...work);
      },
    };
  }

  // @shows AS-33.4, AS-33.7
  test.each([
    ['revoke-all', `${PAGES}/person?${person}&id=ada&ask=revoke-all`],
    ['erase', `${PAGES}/person?${person}&id=ada&ask=erase`],
    ['revoke-group', `${PAGES}/person?${person}&id=ada`],
    ['revoke-group', `${PAGES}/access?${person}&person=ada`],
  ])('is answered in time, and %s continues in the background: %s', async (does, page) => {
    const process = start();
    const { send, server, register } = process;
    const id = await register();
    for (let count = 0; count < 2; count += 1)
      await send('/oauth/authorize', BROWSER, await consentOf(process, id));
    const left = async () => (await server.access.list({ clientId: id })).items.length;
    expect(await left()).toBe(2);
    const about = does === 'revoke-group' ? id : '';
    const form = await formDoing(await send(page, BROWSER), does, about);
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = start(clock.now, {}, {}, slowStore(begun.resolve, end.promise));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const answered = slow.send(form.action, BROWSER, form.fields);
      await Promise.race([begun.promise, answered]);
      await vi.advanceTimersByTimeAsync(3000);
      const answer = await answered;
      expect([answer.status, await left()]).toEqual([303, 2]);
      const done = await send(answer.headers.get('location') ?? '', BROWSER);
      expect(await textOf(done)).toContain('This takes longer and continues in the background.');
    } finally {
      vi.useRealTimers();
      end.resolve();
    }
    await vi.waitFor(async () => expect(await left()).toBe(0));
  });
});

describe('a form of the pages is accepted only as it was shown', () => {
  const GRACE: Browser = { ...BROWSER, person: { provider: 'staff', id: 'grace' } };

  /** The objects that an administrator manages, two of each. */
  async function prepare() {
    const process = start();
    const { server, send, register } = process;
    await server.keys.generate();
    const clients = [await register(), await register()];
    const held: string[] = [];
    for (const id of clients) {
      await send('/oauth/authorize', BROWSER, await consentOf(process, id));
      held.push((await server.access.list({ clientId: id })).items[0]?.id ?? '');
    }
    const tokens = [];
    for (const note of ['one', 'other'])
      tokens.push((await server.initialAccessTokens.create({ uses: 1, lifetime: 3600, note })).id);
    return { ...process, clients, held, tokens };
  }
  type Prepared = Awaited<ReturnType<typeof prepare>>;

  /** Everything that a form could change. */
  const shown = async ({ server }: Prepared) => {
    const clients = await server.clients.list();
    const { items } = await server.access.list({}, { limit: 1000 });
    const tokens = await server.initialAccessTokens.list();
    const keys = await server.keys.list();
    return [
      clients.map(({ id, name, secretHash, revokedAt }) =>
        [id, name, secretHash, revokedAt].join(),
      ),
      [...items, ...tokens].map(({ id }) => id),
      keys.map(({ kid }) => kid),
    ]
      .flat()
      .toSorted()
      .join('\n');
  };
  const person = new URLSearchParams({ provider: 'staff', id: 'ada' });
  const otherPerson = new URLSearchParams({ provider: 'staff', id: 'somebody' });
  const clientPage = ({ clients: [id = ''] }: Prepared, ask: string) => pageOf(id, ask);
  const another = ({ clients: [, id = ''] }: Prepared, ask: string) => ({
    action: pageOf(id, ask),
  });

  interface Row {
    readonly page: (prepared: Prepared) => string;
    readonly does: string;
    /** A text in the form, if the page has several. */
    readonly about?: (prepared: Prepared) => string;
    /** The same form for another object. */
    readonly other?: (prepared: Prepared) => { action?: string; fields?: Record<string, string> };
  }
  const ROWS: Readonly<Record<string, Row>> = {
    'an authorization': {
      page: () => `${PAGES}/access`,
      does: 'revoke',
      about: ({ held: [id = ''] }) => id,
      other: ({ held: [, id = ''] }) => ({ fields: { id } }),
    },
    'an authorization of a person': {
      page: () => `${PAGES}/person?${person}`,
      does: 'revoke',
      about: ({ held: [id = ''] }) => id,
      other: ({ held: [, id = ''] }) => ({ fields: { id } }),
    },
    'all of a person': {
      page: () => `${PAGES}/person?${person}&ask=revoke-all`,
      does: 'revoke-all',
      other: () => ({ action: `${PAGES}/person?${otherPerson}` }),
    },
    'a person': {
      page: () => `${PAGES}/person?${person}&ask=erase`,
      does: 'erase',
      other: () => ({ fields: { do: 'revoke-all' } }),
    },
    'a new initial access token': { page: () => `${PAGES}/registration`, does: 'create' },
    'an initial access token': {
      page: () => `${PAGES}/registration`,
      does: 'revoke',
      about: ({ tokens: [id = ''] }) => id,
      other: ({ tokens: [, id = ''] }) => ({ fields: { id } }),
    },
    'keys, in stages': {
      page: () => `${PAGES}/keys?ask=rotate`,
      does: 'rotate',
      other: () => ({ fields: { do: 'rotate-now' } }),
    },
    'keys, at once': {
      page: () => `${PAGES}/keys?ask=rotate-now`,
      does: 'rotate-now',
      other: () => ({ fields: { do: 'rotate' } }),
    },
    'a changed application': {
      page: (prepared) => clientPage(prepared, 'update'),
      does: 'update',
      other: (prepared) => another(prepared, 'update'),
    },
    'a new secret': {
      page: (prepared) => clientPage(prepared, 'rotate-secret'),
      does: 'rotate-secret',
      other: (prepared) => another(prepared, 'rotate-secret'),
    },
  };

  // @shows AS-33.3
  test.each(Object.entries(ROWS))('%s', async (_, { page, does, about = () => '', other }) => {
    const prepared = await prepare();
    const { send } = prepared;
    const form = await formDoing(await send(page(prepared), BROWSER), does, about(prepared));
    const { action } = form;
    const fields = does === 'update' ? { ...form.fields, name: 'Another name' } : form.fields;
    const before = await shown(prepared);
    const expectRefused = async (
      at: string,
      browser: Browser,
      sent: Readonly<Record<string, string>>,
    ) => {
      expect((await send(at, browser, sent)).status).toBe(400);
      expect((await shown(prepared)) === before).toBe(true);
    };
    await expectRefused(action, GRACE, fields);
    await expectRefused(action, { ...BROWSER, secret: 'the secret of another browser' }, fields);
    await expectRefused(action, BROWSER, { ...fields, csrf_token: '' });
    await expectRefused(action, BROWSER, { do: does });
    await expectRefused(action, BROWSER, { ...fields, do: 'anything' });
    const changed = other?.(prepared) ?? {};
    if (other !== undefined)
      await expectRefused(changed.action ?? action, BROWSER, { ...fields, ...changed.fields });
    expect([200, 303]).toContain((await send(action, BROWSER, fields)).status);
    const after = await shown(prepared);
    expect(after === before).toBe(false);
    expect((await send(action, BROWSER, fields)).status).toBe(400);
    expect((await shown(prepared)) === after).toBe(true);
  });
});
