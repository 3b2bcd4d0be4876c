import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { AUDIT, type AuditEvent } from 'portico';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** Scopes that a person leaves out or adds on the consent page. */

const SCOPES = ['openid', 'profile', 'email', 'notes:read', 'notes:write'];
const CHOICES = { optional_scopes: { leave_out: ['email', 'notes:write'], add: ['notes:write'] } };

let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;
const events: AuditEvent[] = [];

beforeAll(async () => {
  portal = await startPortal({ config: { oauth_server: CHOICES } });
  portal.application.events.on(AUDIT, (event: AuditEvent) => void events.push(event));
  ada = await portal.signedIn(ADA);
});
beforeEach(async () => {
  client = await registerClient(portal, { scopes: SCOPES });
  events.length = 0;
});
afterAll(() => portal.close());

/** Starts a portal with other settings on the same database. */
async function openBeside(settings: object): Promise<RunningPortal> {
  const databaseUrl = portal.env['DATABASE_URL'] ?? '';
  const beside = await startPortal({ databaseUrl, config: { oauth_server: settings } });
  onTestFinished(() => beside.close());
  return beside;
}

const ask = (scope: string, changes: Readonly<Record<string, string>> = {}) =>
  ada.visit(authorizationUrl(portal, client, { scope, ...changes }));

/** The boxes of the page, and whether they are checked at first. */
async function boxes(page: Response): Promise<Readonly<Record<string, boolean>>> {
  expect(page.status).toBe(200);
  const found = (await page.clone().text()).matchAll(
    /<input type="checkbox" name="scope\.([^"]+)"( checked)?>/g,
  );
  return Object.fromEntries(
    [...found].map(([, name = '', checked]) => [name, checked !== undefined]),
  );
}

/** Allows with these boxes checked, as a browser sends them. */
const allow = (
  page: Response,
  checked: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
) =>
  ada.submit(page, {
    decision: 'allow',
    ...Object.fromEntries(checked.map((name) => [`scope.${name}`, 'on'])),
    ...more,
  });

const codeOf = (answer: Response) => locationOf(answer).searchParams.get('code') ?? '';

async function tokensOf(answer: Response): Promise<Tokens> {
  const response = await exchangeCode(portal, client, codeOf(answer));
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

const scopesOf = ({ scope }: Pick<Tokens, 'scope'>) => scope.split(' ').toSorted();
const refusalOf = (answer: Response) => locationOf(answer).searchParams.get('error');

// @shows AS-8.23
test('without optional scopes the page has no checkboxes, and form fields for them are ignored', async () => {
  const off = await openBeside({});
  const there = await off.signedIn(ADA);
  const page = await there.visit(authorizationUrl(off, client, { scope: 'email notes:read' }));
  expect(await boxes(page)).toEqual({});
  expect(await page.clone().text()).not.toContain('li.choice');
  const answer = await there.submit(page, { decision: 'allow', 'scope.notes:write': 'on' });
  const response = await exchangeCode(off, client, codeOf(answer));
  expect(scopesOf((await response.json()) as Tokens)).toEqual(['email', 'notes:read']);
});

describe('a scope that the person may leave out', () => {
  // @shows AS-8.23
  test('has a checked checkbox, and a required scope has no checkbox', async () => {
    expect(await boxes(await ask('profile email notes:read notes:write'))).toEqual({
      email: true,
      'notes:write': true,
    });
  });

  // @shows AS-8.23
  test.each([
    [
      ['email', 'notes:write'],
      ['email', 'notes:read', 'notes:write'],
    ],
    [['email'], ['email', 'notes:read']],
    [[], ['notes:read']],
  ])('is granted only if its checkbox is checked: %j', async (checked, granted) => {
    const tokens = await tokensOf(await allow(await ask('email notes:read notes:write'), checked));
    expect(scopesOf(tokens)).toEqual(granted);
    const refreshed = (await (
      await refresh(portal, client, tokens.refresh_token)
    ).json()) as Tokens;
    expect(scopesOf(refreshed)).toEqual(granted);
    const consented = events.find(({ type }) => type === 'consent_granted');
    expect(consented).toMatchObject({ scopes: expect.arrayContaining(granted) as unknown });
    expect((consented as { scopes?: readonly string[] }).scopes).toHaveLength(granted.length);
  });

  // @shows AS-8.23
  test('cannot come back through a refresh', async () => {
    const tokens = await tokensOf(await allow(await ask('email notes:read')));
    const wider = await refresh(portal, client, tokens.refresh_token, {
      scope: 'email notes:read',
    });
    expect(wider.status).toBe(400);
  });

  // @shows AS-8.23
  test('leaves nothing to grant if it is the only scope, so the client gets an error', async () => {
    expect(refusalOf(await allow(await ask('email notes:write')))).toBe('access_denied');
  });
});

describe('a scope that the person may add', () => {
  // @shows AS-8.24
  test('has an empty checkbox if the client did not request it, and is granted if it is checked', async () => {
    const page = await ask('notes:read');
    expect(await boxes(page)).toEqual({ 'notes:write': false });
    expect(await page.clone().text()).toContain('You can also allow');
    expect(scopesOf(await tokensOf(await allow(page, ['notes:write'])))).toEqual([
      'notes:read',
      'notes:write',
    ]);
    expect(scopesOf(await tokensOf(await allow(await ask('notes:read'))))).toEqual(['notes:read']);
  });

  // @shows AS-8.24
  test('needs no scope that the person may leave out', async () => {
    const adding = await openBeside({ optional_scopes: { add: ['notes:write'] } });
    const there = await adding.signedIn(ADA);
    const url = authorizationUrl(adding, client, { scope: 'notes:read' });
    expect(await boxes(await there.visit(url))).toEqual({ 'notes:write': false });
  });

  // @shows AS-8.24
  test('is granted as the only scope if the person leaves out all others', async () => {
    const tokens = await tokensOf(await allow(await ask('email'), ['notes:write']));
    expect(scopesOf(tokens)).toEqual(['notes:write']);
  });

  // @shows AS-8.24
  test('is not shown for a client that is not registered for it', async () => {
    client = await registerClient(portal, { scopes: ['notes:read'] });
    const page = await ask('notes:read');
    expect(await boxes(page)).toEqual({});
    expect(scopesOf(await tokensOf(await allow(page, ['notes:write'])))).toEqual(['notes:read']);
  });

  // @shows AS-8.24
  test('is not shown to a person without its permission', async () => {
    await portal.deny(ADA, 'notes.edit');
    try {
      const page = await ask('notes:read');
      expect(await boxes(page)).toEqual({});
      expect(scopesOf(await tokensOf(await allow(page, ['notes:write'])))).toEqual(['notes:read']);
    } finally {
      await portal.grant(ADA, 'notes.edit');
    }
  });
});

describe('a scope that became unavailable is not granted, even if its checkbox is checked:', () => {
  // @shows AS-8.25
  test('the person has lost the permission', async () => {
    const page = await ask('notes:read');
    await portal.deny(ADA, 'notes.edit');
    try {
      expect(scopesOf(await tokensOf(await allow(page, ['notes:write'])))).toEqual(['notes:read']);
    } finally {
      await portal.grant(ADA, 'notes.edit');
    }
  });

  // @shows AS-8.25
  test.each(['notes:read', 'notes:read notes:write'])(
    'the client has lost the scope, and %s was requested',
    async (scope) => {
      const page = await ask(scope);
      await portal.server.clients.update(client.id, { removeScopes: ['notes:write'] });
      expect(scopesOf(await tokensOf(await allow(page, ['notes:write'])))).toEqual(['notes:read']);
    },
  );

  // @shows AS-8.25
  test('the person gained the permission after the page was shown', async () => {
    await portal.deny(ADA, 'notes.edit');
    const page = await ask('notes:read');
    await portal.grant(ADA, 'notes.edit');
    expect(scopesOf(await tokensOf(await allow(page, ['notes:write'])))).toEqual(['notes:read']);
  });
});

// @shows AS-8.25
test.each([
  { 'scope.openid': 'on' },
  { 'scope.profile': 'on', 'scope.nothing:known': 'on' },
  { scope: 'openid profile notes:write' },
  { 'scope.__proto__': 'on', 'scope.constructor': 'on' },
  { 'scope.': 'on', 'scope.notes:write ': 'on', 'SCOPE.notes:write': 'on' },
  { 'scope.notes:write': '' },
])('form fields that were not on the page grant nothing: %j', async (fields) => {
  expect(scopesOf(await tokensOf(await allow(await ask('notes:read'), [], fields)))).toEqual([
    'notes:read',
  ]);
});

// @shows AS-8.25
test('a repeated form field is refused, and the person can still answer', async () => {
  const page = await ask('notes:read notes:write');
  const html = await page.clone().text();
  const hidden = (name: string) =>
    new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? '';
  const form = new URLSearchParams({
    request_id: hidden('request_id'),
    csrf_token: hidden('csrf_token'),
    decision: 'allow',
  });
  form.append('scope.notes:write', 'on');
  form.append('scope.notes:write', 'on');
  const headers = { cookie: ada.cookies(), Origin: 'null' };
  const target = `${portal.url}/oauth/authorize`;
  const response = await fetch(target, { method: 'POST', headers, body: form, redirect: 'manual' });
  expect(response.status).toBe(400);
  expect(scopesOf(await tokensOf(await allow(page)))).toEqual(['notes:read']);
});

describe('the answer of the person', () => {
  // @shows AS-8.26
  test('sent twice with the same checkboxes gives one code, for the same scopes', async () => {
    const page = await ask('email notes:read');
    const [first, second] = await Promise.all([allow(page, ['email']), allow(page, ['email'])]);
    const results = await Promise.all(
      [first, second].map((answer) => exchangeCode(portal, client, codeOf(answer))),
    );
    const good = results.filter(({ status }) => status === 200);
    expect(good).toHaveLength(1);
    expect(scopesOf((await good[0]?.json()) as Tokens)).toEqual(['email', 'notes:read']);
    expect(events.filter(({ type }) => type === 'consent_granted')).toHaveLength(1);
  });

  // @shows AS-8.26
  test('sent again with other checkboxes changes nothing, and the page reports the first answer', async () => {
    const page = await ask('email notes:read');
    const first = await allow(page);
    const again = await allow(page, ['email', 'notes:write']);
    expect(again.status).toBe(400);
    expect(scopesOf(await tokensOf(first))).toEqual(['notes:read']);
  });

  // @shows AS-8.26
  test('sent twice at the same moment with different checkboxes gives one code', async () => {
    const page = await ask('email notes:read');
    const answers = await Promise.all([allow(page), allow(page, ['email'])]);
    const codes = answers.filter(({ status }) => status === 303);
    expect(codes).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'consent_granted')).toHaveLength(1);
  });

  // @shows AS-8.25
  test('uses the checkboxes that the person saw, also in a process with other settings', async () => {
    const page = await ask('email notes:read');
    const html = await page.clone().text();
    const hidden = (name: string) =>
      new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? '';
    const off = await openBeside({});
    const response = await fetch(`${off.url}/oauth/authorize`, {
      method: 'POST',
      headers: { cookie: ada.cookies(), Origin: 'null' },
      body: new URLSearchParams({
        request_id: hidden('request_id'),
        csrf_token: hidden('csrf_token'),
        decision: 'allow',
        'scope.notes:write': 'on',
      }),
      redirect: 'manual',
    });
    expect(response.status).toBe(303);
    expect(scopesOf(await tokensOf(response))).toEqual(['notes:read', 'notes:write']);
  });
});

// @shows AS-8.23
test('a page that is reloaded has the same checkboxes', async () => {
  const page = await ask('email notes:read');
  const id = /name="request_id" value="([^"]+)"/.exec(await page.clone().text())?.[1] ?? '';
  const again = await ada.visit(`${portal.url}/oauth/authorize?request_id=${id}`);
  expect(await boxes(again)).toEqual(await boxes(page));
  expect(scopesOf(await tokensOf(await allow(again, ['notes:write'])))).toEqual([
    'notes:read',
    'notes:write',
  ]);
});

// @shows AS-8.23
test('a scope that was allowed before can be left out of a new authorization', async () => {
  const stepping = await startPortal({
    config: (url) => ({ oauth_server: { ...CHOICES, challenge: true, audience: `${url}/api` } }),
  });
  try {
    const own = await registerClient(stepping, { scopes: SCOPES });
    const person = await stepping.signedIn(ADA);
    const asked = (scope: string) => person.visit(authorizationUrl(stepping, own, { scope }));
    const answer = async (page: Response, fields: Readonly<Record<string, string>>) => {
      const code = codeOf(await person.submit(page, { decision: 'allow', ...fields }));
      return (await (await exchangeCode(stepping, own, code)).json()) as Tokens;
    };
    const first = await answer(await asked('email notes:read'), { 'scope.email': 'on' });
    expect(scopesOf(first)).toEqual(['email', 'notes:read']);
    const page = await asked('notes:write');
    expect(await boxes(page)).toEqual({ email: true, 'notes:write': true });
    expect(scopesOf(await answer(page, { 'scope.notes:write': 'on' }))).toEqual([
      'notes:read',
      'notes:write',
    ]);
  } finally {
    await stepping.close();
  }
});

// @shows AS-2.32
test.each([
  [{ leave_out: ['openid'] }, 'oauth_server:optional_scopes:leave_out: cannot contain openid'],
  [
    { add: ['notes:delete'] },
    'oauth_server:optional_scopes:add: contains "notes:delete", which is not a scope',
  ],
  [{ leave_out: 'email' }, 'oauth_server:optional_scopes:leave_out: must be a list of scopes'],
  [true, 'oauth_server:optional_scopes: must be an object with leave_out, add or both'],
])('a setting that cannot work is refused: %j', async (optional_scopes, message) => {
  await expect(startPortal({ config: { oauth_server: { optional_scopes } } })).rejects.toThrow(
    message,
  );
});
