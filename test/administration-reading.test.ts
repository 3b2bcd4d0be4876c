// @engines sqlite: pages are the same on every database
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { formDoing, mainOf, PAGES, rowsOf } from './support/administration.ts';
import {
  prepareHosts,
  type AdministeredHost,
  type AdministeredHosts,
} from './support/administered-host.ts';

/** Tests what an administrator reads on the pages of a server that contains nothing else. */

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

const minute = (later = 0) => host.clock.minute(later);

/** Adds applications with these ids and a new name, as copies of one that is registered. */
async function addClients(count: number, changes: string): Promise<void> {
  const { database, register } = host;
  const id = await register('Copied');
  const { rows } = await database.execute('SELECT * FROM oauth_clients');
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'client_id');
  await database.execute(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO oauth_clients (client_id, ${names.join(', ')})
    SELECT printf('%06d', i), ${names.join(', ')} FROM n, oauth_clients WHERE client_id = '${id}'`);
  await database.execute(`DELETE FROM oauth_clients WHERE client_id = '${id}'`);
  await database.execute(`UPDATE oauth_clients SET ${changes}`);
}

describe('the frame of a page', () => {
  const ENTRIES = [
    ['Overview', ''],
    ['Applications', '/clients'],
    ['Who holds access', '/access'],
    ['Open rotations', '/rotations'],
    ['Signing keys', '/keys'],
    ['Registration', '/registration'],
    ['Audit', '/audit'],
    ['Doctor', '/doctor'],
  ] as const;
  /** The title in the window and on the page, the entries of the menu, and the current one. */
  async function frameOf(at: string) {
    const html = await (await host.page(at)).text();
    const menu = /<nav[^>]*>(.*?)<\/nav>/s.exec(html)?.[1] ?? '';
    const links = [...menu.matchAll(/<a href="([^"]*)"([^>]*)>([^<]*)</g)];
    return {
      titles: [/<title>([^<]*)</.exec(html)?.[1], /<h1>([^<]*)</.exec(html)?.[1]],
      entries: links.map(([, href = '', , text]) => [text, href.replace(PAGES, '')]),
      current: links
        .filter(([, , more]) => more === ' aria-current="page"')
        .map(([, , , it]) => it),
    };
  }

  test('has its title, a menu of all pages, and the current entry', async () => {
    await start();
    for (const [text, at] of ENTRIES)
      expect(await frameOf(at)).toEqual({
        titles: [`${text} · Host`, text],
        entries: ENTRIES,
        current: [text],
      });
  });

  test('marks the list of applications and the list of people on the pages of one of them', async () => {
    const { register } = await start();
    const id = await register('Notebook');
    expect((await frameOf(`/client?id=${id}`)).current).toEqual(['Applications']);
    expect((await frameOf('/person?provider=staff&id=ada')).current).toEqual(['Who holds access']);
  });

  test('has no entry for initial access tokens if they cannot be used', async () => {
    const { read } = await start({}, { registration: 'off' });
    expect((await frameOf('')).entries).toEqual(
      ENTRIES.filter(([text]) => text !== 'Registration'),
    );
    expect(await rowsOf(await host.page())).toEqual([
      'Audit what happened and who did it (kept events only)',
      'Doctor checks every part of this server; changes nothing',
    ]);
    expect(await read('/registration')).toContain(
      'Registration oauth_server:registration is off, so these tokens cannot be used. ' +
        'There is no initial access token.',
    );
  });

  test.each([
    ['no logo', {}, 'Host: administration'],
    [
      'a logo',
      { logo: { path: '/logo.svg' } },
      '<picture><img class="brand" src="/logo.svg" alt=""></picture><span>Host: administration</span>',
    ],
    [
      'a logo that shows the name, and another one for dark mode',
      { logo: { path: '/a.svg' }, logo_dark: { path: '/b.svg?c&d' }, logo_shows_name: true },
      '<picture><source srcset="/b.svg?c&amp;d" media="(prefers-color-scheme: dark)">' +
        '<img class="brand" src="/a.svg" alt="Host"></picture><span>administration</span>',
    ],
  ])('names the server once: %s', async (_, branding, expected) => {
    const { page } = await start({}, { branding: { ...branding, accent: '#1f5c4d' } });
    const html = await (await page()).text();
    expect(/<p class="host">(.*?)<\/p>/s.exec(html)?.[1]).toBe(expected);
    expect(html).toContain('--brand: #1f5c4d;');
  });
});

describe('the overview', () => {
  const BEGINS = 'Register an application Find a person Registration tokens that let applications';

  test('shows the counts, the other pages and how applications register', async () => {
    const { server, read, clock } = await start();
    await server.keys.generate();
    await server.keys.rotate();
    const rest =
      `${BEGINS} register themselves Audit what happened and who did it (kept events only) ` +
      'Doctor checks every part of this server; changes nothing This server ' +
      'Issuer https://host.example How applications register by an operator; by themselves, ' +
      'with an initial access token; as documents The console can do the same: ' +
      'npx portico --help . The audit log records what you do here, with your account.';
    expect(await read()).toBe(
      'Overview 0 Applications 0 People with access 0 Authorizations 0 Open rotations ' +
        `1 Keys that sign 0 Keys that no longer sign ${rest}`,
    );
    clock.advance(30 * 86_400);
    expect(await read()).toContain(' 1 Keys that sign 1 Keys that no longer sign ');
  });

  // @shows AS-33.13
  test('counts up to five thousand of each, and says if there are more', async () => {
    const { read, clock } = await start();
    await addClients(5001, `previous_secret_expires_at = ${clock.now() + 1}`);
    expect(await read()).toContain(
      'Overview 5,000 + or more Applications 0 People with access 0 Authorizations ' +
        '5,000 + or more Open rotations 0 Keys that sign 0 Keys that no longer sign ',
    );
    clock.advance(1);
    expect(await read()).toContain(' 0 + or more Open rotations ');
  });
});

describe('the list of applications', () => {
  test('says that there are none, or no more', async () => {
    const { read } = await start();
    expect(await read('/clients')).toMatch(/ There are no applications\.$/);
    expect(await read('/clients?after=z')).toMatch(/ There are no more applications\.$/);
  });

  test('shows the kind, the origin and the secrets of each application', async () => {
    const { server, register, registerItself, page, clock } = await start();
    const since = minute();
    const url = 'https://app.example.org/client.json';
    await server.clients.revoke(url);
    const ids = {
      plain: await register('Plain'),
      itself: await registerItself('Shop'),
      native: await register('Native', { public: true, applicationType: 'native' }),
      open: await register('Open'),
      ended: await register('Ended'),
      revoked: await register('Revoked'),
    };
    await server.clients.rotateSecret(ids.ended, 60);
    await server.clients.rotateSecret(ids.open, 61);
    await server.clients.rotateSecret(ids.revoked, 3600);
    await server.clients.revoke(ids.revoked);
    clock.advance(60);
    const open = `the previous secret is accepted until ${minute(1)}`;
    expect(await rowsOf(await page('/clients'))).toEqual(
      [
        [ids.plain, `Plain confidential ${ids.plain} , since ${since}`],
        [ids.itself, `"Shop" confidential registered itself ${ids.itself} , since ${since}`],
        [ids.native, `Native public native ${ids.native} , since ${since}`],
        [ids.open, `Open confidential ${ids.open} , since ${since} ; ${open}`],
        [ids.ended, `Ended confidential ${ids.ended} , since ${since}`],
        [ids.revoked, `Revoked confidential revoked ${ids.revoked} , since ${since}`],
        [url, `"app.example.org" public a document blocked ${url} , since ${since}`],
      ]
        .toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1))
        .map(([, row]) => row),
    );
    expect(await rowsOf(await page('/rotations'))).toEqual([`Open ${ids.open} : ${open}`]);
  });
});

describe('the open rotations', () => {
  const BEGINS =
    'Open rotations Applications whose previous secret is still accepted To end the previous ' +
    'secret sooner, give the application another new secret and choose not to accept the ' +
    'previous one.';

  test('are none, or the keys that wait and do not sign yet', async () => {
    const { server, read, clock } = await start();
    const none = `${BEGINS} None. Signing keys that do not sign yet None. All signing keys`;
    expect(await read('/rotations')).toBe(none);
    await server.keys.generate();
    expect(await read('/rotations')).toBe(none);
    await server.keys.rotate();
    const keys = await server.keys.list();
    const kid = keys.find(({ state }) => state === 'staged')?.kid ?? '';
    expect(await rowsOf(await host.page('/rotations'))).toEqual([
      `${kid} published, signs later RS256, made ${minute()} , signs from ${minute(15 * 60)}`,
    ]);
    expect(await read('/rotations')).toContain(
      `${BEGINS} None. Signing keys that do not sign yet ${kid} `,
    );
    clock.advance(30 * 86_400);
    expect(await read('/rotations')).toBe(none);
  });

  test('are searched in five thousand applications at a time', async () => {
    const { page, read } = await start();
    await addClients(5001, 'previous_secret_expires_at = NULL');
    const first = await page('/rotations');
    expect(await mainOf(first)).toContain(
      `${BEGINS} No matches so far. There are more applications to search. Next Signing keys`,
    );
    const [, next = ''] = /href="([^"]*after=[^"]*)">Next</.exec(await first.text()) ?? [];
    expect(await read(next.replace(PAGES, ''))).toContain(`${BEGINS} None. Signing keys`);
  });
});

describe('the initial access tokens', () => {
  const CREATE =
    'A new initial access token Who it is for How many applications may register with it ' +
    'Lifetime in seconds 86400 is a day. Create token';

  test('are valid until they are used up or expire', async () => {
    const { server, page, read, clock } = await start();
    const create = async (note: string, uses: number, lifetime: number) =>
      (await server.initialAccessTokens.create({ note, uses, lifetime })).id;
    expect(await read('/registration')).toBe(
      'Registration Applications register themselves with one of these tokens. ' +
        `There is no initial access token. ${CREATE}`,
    );
    const valid = await create('', 2, 62);
    clock.advance(1);
    const expired = await create('For the <shop>', 1, 60);
    clock.advance(1);
    const used = await create('Used up', 1, 3600);
    await host.database.execute(
      'UPDATE oauth_initial_access_tokens SET uses_left = 0 WHERE id = ?',
      [used],
    );
    const [untilValid, untilUsed] = [minute(60), minute(3600)];
    clock.advance(58);
    expect(await rowsOf(await page('/registration'))).toEqual([
      `Used up ended ${used} : 0 of 1 uses left, until ${untilUsed} Revoke Used up`,
      `For the <shop> valid ${expired} : 1 of 1 uses left, until ${minute(1)} Revoke For the <shop>`,
      `${valid} valid ${valid} : 2 of 2 uses left, until ${untilValid} Revoke ${valid}`,
    ]);
    clock.advance(1);
    expect(
      (await rowsOf(await page('/registration'))).map((row) => / (ended|valid) /.exec(row)?.[1]),
    ).toEqual(['ended', 'ended', 'valid']);
  });

  // @shows AS-33.4, AS-33.5
  test('are created with the values of the form, and revoked', async () => {
    const { server, send, page, read, clock } = await start();
    const create = async (changes: Readonly<Record<string, string>>, without = '') => {
      const { action, fields } = await formDoing(await page('/registration'), 'create');
      expect(fields).toMatchObject({ note: '', uses: '1', lifetime: '86400' });
      clock.advance(1);
      const { [without]: _, ...sent } = { ...fields, ...changes };
      return send(action, sent);
    };
    expect(await mainOf(await create({ note: 'For the shop', uses: '2', lifetime: '60' }))).toMatch(
      /^A new initial access token It can register 2 applications\. Copy it now\. It is not shown again: only its hash is stored\. \S+ I have copied it: back to the list$/,
    );
    expect(await mainOf(await create({}, 'note'))).toContain(' It can register one application. ');
    const tokens = await server.initialAccessTokens.list();
    expect(tokens.map(({ note, uses }) => [note, uses])).toEqual([
      ['For the shop', 2],
      ['', 1],
    ]);
    const [kept, ended] = tokens;
    const revoke = await formDoing(await page('/registration'), 'revoke', ended?.id);
    const location = (await send(revoke.action, revoke.fields)).headers.get('location') ?? '';
    expect(await read(location.replace(PAGES, ''))).toContain(
      'Registration Done. The token is revoked. Applications that used it stay registered. ' +
        'Applications register themselves with one of these tokens. For the shop valid ',
    );
    expect(await server.initialAccessTokens.list()).toEqual([kept]);
    const refused = await create({ note: '"A <note>', uses: '0', lifetime: '5' });
    expect(refused.status).toBe(400);
    expect((await formDoing(refused, 'create')).fields).toMatchObject({
      note: '"A <note>',
      uses: '0',
      lifetime: '5',
    });
  });
});

describe('the doctor', () => {
  // @shows AS-33.10
  test('examines the store, and warns of each scope with the permission of administrators', async () => {
    const scope = (permission?: string) => ({ label: 'A scope', permission });
    const about = async (scopes: object) => {
      const { page } = await start({}, { scopes });
      const rows = await rowsOf(await page('/doctor'));
      await host.close();
      expect(rows).toContain('store ok sqlite answers and accepts writes');
      expect(rows).toContain('schema ok all database migrations are applied');
      return rows.filter((row) => row.startsWith('administration'));
    };
    expect(
      await about({
        a: scope('administer'),
        b: scope('write'),
        c: scope(),
        d: scope('administer'),
      }),
    ).toEqual([
      'administration warning oauth_server:admin_permission: the scope a, d requires the same ' +
        'permission (administer), so everyone who can use that scope can also administer this ' +
        'server What to do: use a separate permission that no scope requires ' +
        '(docs/administration.md)',
    ]);
    expect(await about({ a: scope('write'), b: scope() })).toEqual([]);
    await start();
  });
});

describe('the access that people have allowed', () => {
  test('is summarized from all authorizations of a row', async () => {
    const { database, server, register, allow, page, clock } = await start();
    const client = await register('Notebook');
    const [now, first] = [clock.now(), minute()];
    await allow(client);
    await allow(client);
    const ids = (await server.access.list()).items.map(({ id }) => id);
    const set = (id: string | undefined, changes: string) =>
      database.execute(`UPDATE oauth_families SET ${changes} WHERE id = ?`, [id ?? '']);
    const [newer, older] = ids;
    await set(newer, `created_at = ${now + 120_000}, expires_at = ${now + 7_200_000}`);
    await set(newer, `scope = 'notes:write notes:read', audience = 'https://api.example'`);
    await set(older, `created_at = ${now}, expires_at = ${now + 3_600_000}, scope = 'notes:read'`);
    const used = async (one: string, other: string) => {
      await set(newer, one);
      await set(older, other);
      const [row = '', ...more] = await rowsOf(await page('/access'));
      expect(more).toEqual([]);
      const [before = '', shown = '', after] = row.split(/ , last refreshed |, until /);
      expect(before).toBe(
        'Notebook 2 authorizations ada ( staff ) ' +
          `notes:write notes:read at https://api.example Since ${first}`,
      );
      expect(after).toBe(`${minute(7200)} . Revoke all 2 of ${client} for ada`);
      return shown.trim();
    };
    const never = 'used_at = NULL, refresh_generation = NULL';
    const unknown = 'used_at = NULL, refresh_generation = 1';
    const at = (seconds: number) => `refresh_generation = 1, used_at = ${now + seconds * 1000}`;
    expect(await used(never, never)).toBe('never');
    expect(await used(never, unknown)).toBe('unknown');
    expect(await used(unknown, at(60))).toBe(minute(60));
    expect(await used(at(60), at(180))).toBe(minute(180));
    expect(await used(at(180), never)).toBe(minute(180));
  });
});

describe('the filters of a list', () => {
  const formIn = async (at: string) =>
    /<form method="get"[^>]*class="filters">.*?<\/form>/s.exec(
      await (await host.page(at)).text(),
    )?.[0] ?? '';

  test('are filled with the values in the URL', async () => {
    await start();
    const form = await formIn('/audit?type=secret_rotated&client=%22%3Cb%3E&since=2026-01-31');
    const options = [...form.matchAll(/<option value="([^"]*)"( selected)?>([^<]*)<\/option>/g)];
    expect(options[0]?.slice(1)).toEqual(['', undefined, 'all']);
    expect(
      options.filter(([, , selected]) => selected !== undefined).map((each) => each[1]),
    ).toEqual(['secret_rotated']);
    expect(options.every(([, value, , text]) => value === text || value === '')).toBe(true);
    const inputs = [
      ...form.matchAll(/<input id="([^"]*)" name="\1" type="([^"]*)" value="([^"]*)"/g),
    ];
    expect(inputs.map((each) => each.slice(1))).toEqual([
      ['client', 'text', '&quot;&lt;b&gt;'],
      ['provider', 'text', ''],
      ['person', 'text', ''],
      ['authorization', 'text', ''],
      ['since', 'date', '2026-01-31'],
      ['until', 'date', ''],
    ]);
    expect(await formIn('/audit')).toContain('<option value="" selected>all</option>');
  });

  test.each(['since=2026-02-31', 'until=2026-13-01', 'since=today'])(
    'are refused if a date does not exist: %s',
    async (query) => {
      const { page } = await start();
      const refused = await page(`/audit?${query}`);
      expect([refused.status, await mainOf(refused)]).toEqual([
        400,
        expect.stringContaining('Enter a date such as 2026-01-31'),
      ]);
    },
  );

  test.each(['provider=staff', 'person=ada'])(
    'are refused if only one of provider and person is given: %s',
    async (query) => {
      const { page } = await start();
      for (const list of ['/access', '/audit']) {
        const refused = await page(`${list}?${query}`);
        expect([refused.status, await mainOf(refused)]).toEqual([
          400,
          expect.stringContaining("Enter both the provider and the person's id ."),
        ]);
      }
    },
  );
});
