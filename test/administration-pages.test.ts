// @engines sqlite: pages are the same on every database
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPageClock } from './support/clock.ts';
import {
  doAt,
  formDoing,
  PAGES,
  startAdministered,
  mainOf,
  textOf,
  type Administered,
} from './support/administration.ts';
import {
  ADA,
  GRACE,
  obtainTokens,
  registerClient,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** What the administrator's pages say: whole texts, as a person reads them. */

const clock = createPageClock();
const { minute } = clock;
let administered: Administered;
let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;
let documents = 0;

beforeAll(async () => {
  administered = await startAdministered({
    clock: clock.now,
    random: () => 0,
    config: { oauth_server: { client_id_metadata_documents: true, audit: { keep: true } } },
  });
  ({ portal } = administered);
});
afterAll(() => portal.close());
beforeEach(async () => {
  // More than a minute passes, so that an event of this test does not count requests of the
  // previous test.
  clock.advance(61);
  client = await registerClient(portal, { name: 'Notebook' });
  ada = await portal.signedIn(ADA);
  administered.events.length = 0;
});

const pageOf = (id: string, ask = '') =>
  `${PAGES}/client?${new URLSearchParams({ id, ...(ask === '' ? {} : { ask }) })}`;
/** What a person reads in the main part of the page, without the filters. */
async function withoutFilters(page: Response): Promise<string> {
  const html = (await page.clone().text()).replaceAll(/<form method="get"[^]*?<\/form>/g, '');
  return mainOf(new Response(html));
}
const read = async (path: string) => withoutFilters(await ada.get(path));
/** The text and the kind of the button that does what a page asks about. */
async function buttonOf(path: string): Promise<readonly (string | undefined)[]> {
  const html = await (await ada.get(path)).text();
  return /<button class="([a-z]+)" type="submit">([^<]*)<\/button>/.exec(html)?.slice(1) ?? [];
}

/** The ids of the signing keys, the newest first. */
const kids = async () => (await portal.server.keys.list()).map(({ kid }) => kid);

describe('each page of an administrator', () => {
  test.each([
    ['', 'Overview'],
    ['/clients', 'Applications'],
    ['/access', 'Who holds access'],
    ['/rotations', 'Open rotations'],
    ['/keys', 'Signing keys'],
    ['/audit', 'Audit'],
    ['/doctor', 'Doctor'],
  ])('%s has its own heading, which is also the title of the window', async (path, heading) => {
    const html = await (await ada.get(`${PAGES}${path}`)).text();
    const [, shown] = /<h1>([^<]*)<\/h1>/.exec(html) ?? [];
    const [, title] = /<title>([^<]*) · [^<]*<\/title>/.exec(html) ?? [];
    expect([shown, title]).toEqual([heading, heading]);
  });

  test('has the heading "Application" if it shows one application', async () => {
    expect(await read(pageOf(client.id))).toMatch(/^Application Notebook /);
  });
});

describe('the question before an action on an application', () => {
  test('says what the action does and what stays, and the button repeats the action', async () => {
    const said = async (ask: string, id = client.id) => [
      await read(pageOf(id, ask)),
      ...(await buttonOf(pageOf(id, ask))),
    ];
    const head = `Notebook confidential ${client.id}`;
    expect(await said('revoke')).toEqual([
      `Revoke this application? ${head} All its tokens stop working immediately, for everyone. ` +
        'You cannot undo this: its developers need a new registration. ' +
        'Revoke it permanently Cancel',
      'danger',
      'Revoke it permanently',
    ]);
    const [update, ...save] = await said('update');
    expect(update).toContain(
      `Change this application ${head} All changes are saved, or none. The application keeps its ` +
        'id and its credentials. ',
    );
    expect(save).toEqual(['primary', 'Save']);
    const [rotate, ...create] = await said('rotate-secret');
    expect(rotate).toContain(
      `Give this application a new secret? ${head} The next page shows the new secret once. The ` +
        "application's tokens stay valid. ",
    );
    expect(create).toEqual(['primary', 'Create a new secret']);
  });

  test('about the URL of a document says that blocking it can be undone', async () => {
    const url = `https://app.example.org/asked-${(documents += 1)}.json`;
    await portal.server.clients.revoke(url);
    expect([await read(pageOf(url, 'unblock')), await buttonOf(pageOf(url, 'unblock'))]).toEqual([
      `Unblock this URL? "app.example.org" public a document blocked ${url} People can use this ` +
        'application again after Portico has fetched its document. Earlier access stays revoked: ' +
        'the application must ask everyone again. Unblock it Cancel',
      ['primary', 'Unblock it'],
    ]);
    await portal.server.clients.unblock(url);
    expect([await read(pageOf(url, 'revoke')), await buttonOf(pageOf(url, 'revoke'))]).toEqual([
      `Block this application? "app.example.org" public a document ${url} All its tokens stop ` +
        'working immediately, for everyone. People cannot use this application until you unblock ' +
        'its URL. Block it Cancel',
      ['danger', 'Block it'],
    ]);
  });
});

describe('the page of signing keys', () => {
  const page = `${PAGES}/keys`;
  const OFFERS = 'Replace them… Replace them at once…';

  test('shows for each key what it does, and since when or from when', async () => {
    await portal.server.keys.rotate({ now: true });
    const [first] = await kids();
    const made = minute();
    expect(await read(page)).toBe(
      `Signing keys ${first} signs RS256, made ${made} , signing since ${made} ${OFFERS}`,
    );
    clock.advance(3600);
    await portal.server.keys.rotate();
    const [next] = await kids();
    const [staged, from] = [minute(), minute(905)];
    expect(await read(page)).toBe(
      `Signing keys ${next} published, signs later RS256, made ${staged} , signs from ${from} ` +
        `${first} signs RS256, made ${made} , signing since ${made} ${OFFERS}`,
    );
    clock.advance(905);
    const [, retired] = await portal.server.keys.list();
    const removable = minute(((retired?.removableAt ?? 0) - clock.now()) / 1000);
    expect(await read(page)).toBe(
      `Signing keys ${next} signs RS256, made ${staged} , signing since ${from} ` +
        `${first} verifies only RS256, made ${made} , signed from ${made} , ` +
        `stopped signing ${from} , can be removed from ${removable} ${OFFERS}`,
    );
  });

  test('asks before it replaces them, and says that doing it at once has consequences', async () => {
    const [staged, now] = [`${page}?ask=rotate`, `${page}?ask=rotate-now`];
    expect(await read(staged)).toMatch(/^Replace the signing keys\? The next key of each /);
    expect(await buttonOf(staged)).toEqual(['primary', 'Replace them']);
    expect(await read(now)).toMatch(/^Replace the signing keys at once\? Do this if a key may /);
    expect(await buttonOf(now)).toEqual(['danger', 'Replace them at once']);
  });

  // @shows AS-33.3
  test('replaces no key if another key signs since the form was shown', async () => {
    await portal.server.keys.rotate({ now: true });
    const ask = `${page}?ask=rotate-now`;
    const { action, fields } = await formDoing(await ada.get(ask), 'rotate-now');
    const before = await kids();
    await portal.server.keys.rotate({ now: true });
    const after = await kids();
    expect([before.length, after.length, before[0] === after[0]]).toEqual([1, 1, false]);
    expect((await ada.post(action, fields)).status).toBe(400);
    expect(await kids()).toEqual(after);
  });
});

describe('the page of the stored audit', () => {
  const rows = async (filter: Readonly<Record<string, string>>) => {
    const html = await (await ada.get(`${PAGES}/audit?${new URLSearchParams(filter)}`)).text();
    return Promise.all(
      html
        .split('<h2 class="head">')
        .slice(1)
        .map(async (row) => (await textOf(new Response(row.split('</li>')[0] ?? ''))).trim()),
    );
  };

  test('says who did something on the console, and names no application or person without one', async () => {
    await portal.server.keys.rotate({ now: true, by: 'console' });
    const [kid] = await kids();
    const [created] = await rows({ type: 'signing_key_created' });
    expect(created).toBe(
      `signing_key_created ${minute()} by the console · details {"kid":"${kid}","algorithm":"RS256"}`,
    );
  });

  test('says why an administrator was refused, and names the person', async () => {
    const grace = await portal.signedIn(GRACE);
    await grace.get(PAGES);
    const [{ person } = {}] = (await portal.server.audit.list({ type: 'admin_refused' })).items;
    const [refused] = await rows({ type: 'admin_refused' });
    expect(refused).toMatch(
      new RegExp(
        `^admin_refused ${minute()} person Grace Hopper ${GRACE} ${person?.id} \\( accounts \\) ` +
          '· reason permission · address \\S+ · request \\S+ · details {.*}$',
      ),
    );
  });

  test('has no details of an event that has none', async () => {
    await obtainTokens(portal, client, ADA, { scope: 'openid' });
    const [held] = (await portal.server.access.list({ clientId: client.id })).items;
    await portal.server.access.revokeAuthorization(held?.id ?? '', { by: 'console' });
    expect(await rows({ client: client.id, type: 'family_revoked' })).toEqual([
      `family_revoked ${minute()} by the console ` +
        `· person Ada Lovelace ${ADA} ${held?.person.id} ( accounts ) · application ${client.id} ` +
        `· reason operator · authorization ${held?.id}`,
    ]);
  });
});

describe('the list of who holds access', () => {
  const list = (filter: Readonly<Record<string, string>> = {}) =>
    `${PAGES}/access?${new URLSearchParams({ client: client.id, ...filter })}`;

  test('filters by how many days an authorization was not used', async () => {
    await obtainTokens(portal, client, ADA, { scope: 'openid' });
    clock.advance(2 * 86_400);
    const none = async (days: string) => {
      const page = await ada.get(list({ unused_days: days }));
      return [page.status, (await textOf(page)).includes('No active authorization matches')];
    };
    expect(await none('1')).toEqual([200, false]);
    expect(await none('3')).toEqual([200, true]);
    expect(await none('90')).toEqual([200, true]);
    for (const days of ['1.5', '90 days', 'x1', '100000'])
      expect([days, await none(days)]).toEqual([days, [400, false]]);
  });

  test('says that access had already ended if it ended after the form was shown', async () => {
    await obtainTokens(portal, client, ADA, { scope: 'openid' });
    const { action, fields } = await formDoing(await ada.get(list()), 'revoke');
    await portal.server.access.revokeAuthorization(fields['id'] ?? '');
    administered.events.length = 0;
    const done = await ada.post(action, fields);
    expect(await read(locationOf(done).href)).toContain('This access had already ended.');
    expect(administered.events).toEqual([]);
  });

  // @shows AS-33.3
  test('ends nothing for a person whose access has all ended since the form was shown', async () => {
    for (let count = 0; count < 2; count += 1)
      await obtainTokens(portal, client, ADA, { scope: 'openid' });
    const { action, fields } = await formDoing(await ada.get(list()), 'revoke-group');
    const { items } = await portal.server.access.list({ clientId: client.id });
    await portal.server.access.revokeAuthorizations(items.map(({ id }) => id));
    administered.events.length = 0;
    const answer = await ada.post(action, fields);
    expect([answer.status, await textOf(answer)]).toEqual([
      400,
      expect.stringContaining('the data has changed. Nothing was changed.'),
    ]);
    expect(administered.events).toMatchObject([{ type: 'admin_refused', reason: 'form' }]);
  });
});

describe('the page of a person', () => {
  test.each(['?id=1', '?provider=accounts', ''])(
    'explains that it needs both the provider and the id: %j',
    async (query) => {
      const page = await ada.get(`${PAGES}/person${query}`);
      expect([page.status, await textOf(page)]).toEqual([
        400,
        expect.stringContaining('must not be empty'),
      ]);
    },
  );

  test('leads to the audit events of this person', async () => {
    await obtainTokens(portal, client, GRACE, { scope: 'openid' });
    const [{ person } = {}] = (await portal.server.access.list({ clientId: client.id })).items;
    const { provider = '', id = '' } = person ?? {};
    const html = await (
      await ada.get(`${PAGES}/person?${new URLSearchParams({ provider, id })}`)
    ).text();
    const [, link = ''] = /<a href="([^"]*)">Audit events of this person</.exec(html) ?? [];
    const { pathname, searchParams } = new URL(link.replaceAll('&amp;', '&'), portal.url);
    expect([pathname, Object.fromEntries(searchParams)]).toEqual([
      `${PAGES}/audit`,
      { provider, person: id },
    ]);
  });

  test.each([
    ['revoke-all', 'Revoke all access that this person allowed?'],
    ['erase', 'Erase everything stored about this person?'],
  ])('asks again and says why if it cannot do %s', async (does, title) => {
    const unknown = new URLSearchParams({ provider: 'accounts', id: 'no-account', ask: does });
    const answer = await doAt(ada, `${PAGES}/person?${unknown}`, does);
    expect([answer.status, await withoutFilters(answer)]).toEqual([
      400,
      expect.stringContaining(`${title} Nothing is stored about the person "no-account"`),
    ]);
  });
});

describe('a new secret', () => {
  // @shows AS-33.3
  test('is created once if two forms are sent at the same moment', async () => {
    const page = pageOf(client.id, 'rotate-secret');
    for (let round = 0; round < 5; round += 1) {
      const forms = [];
      for (let count = 0; count < 3; count += 1)
        forms.push(await formDoing(await ada.get(page), 'rotate-secret'));
      const answers = await Promise.all(
        forms.map(({ action, fields }) => ada.post(action, fields)),
      );
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
        200, 400, 400,
      ]);
    }
    expect(administered.events.filter(({ type }) => type === 'secret_rotated')).toHaveLength(5);
  });

  test('is shown with the name and the id of its application', async () => {
    const page = pageOf(client.id, 'rotate-secret');
    const shown = async (overlap: string) =>
      withoutFilters(await doAt(ada, page, 'rotate-secret', { overlap }));
    const head = `A new secret For Notebook ( ${client.id} ). This is the new secret. Copy it now.`;
    const [later, now] = [await shown('3600'), await shown('0')];
    for (const each of [later, now]) expect(each).toContain(head);
    expect(later).toContain(
      `The previous secret is accepted until ${minute(3600)} . I have copied`,
    );
    expect(now).toContain('The previous secret is no longer accepted.');
  });
});
