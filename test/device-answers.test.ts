// @engines sqlite: pages and log lines are the same on every engine
import path from 'node:path';
import {
  configurationWith,
  createAuthorizationServer,
  type AuthorizationServer,
  type Host,
  type PersonReference,
} from 'portico';
import { createHandler } from 'portico/fetch';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startAdministered, type Administered } from './support/administration.ts';
import { ROOT } from './support/console.ts';
import { createClock } from './support/clock.ts';
import {
  begin,
  decide,
  DEVICE_GRANT,
  DEVICES,
  enter,
  poll,
  registerDevice,
  tokensOf,
  type Begun,
} from './support/device.ts';
import { post, registerBanker } from './support/fapi2.ts';
import { createHostLog } from './support/host-log.ts';
import { openStore, withExecute } from './support/opened-store.ts';
import {
  ADA,
  errorOf,
  GRACE,
  refresh,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { png } from './support/png.ts';
import { formOf, locationOf, type Visitor } from './support/visitor.ts';

/** What a person answers for a device (RFC 8628), at a clock that stands still. */

const clock = createClock();
let administered: Administered;
let portal: RunningPortal;
let tv: TestClient;
let ada: Visitor;

beforeAll(async () => {
  const config = { oauth_server: { ...DEVICES.oauth_server, client_logos: true } };
  administered = await startAdministered({ clock: clock.now, config });
  ({ portal } = administered);
  tv = await registerDevice(portal);
});
afterAll(() => portal.close());
beforeEach(async () => {
  // No wrong code of an earlier test counts any more.
  clock.advance(3600);
  ada = await portal.signedIn(ADA);
  administered.events.length = 0;
});

const HOUR = 3600;
const scope = { scope: 'notes:read' };
const allow = (visitor: Visitor, page: Response) => visitor.submit(page, { decision: 'allow' });
const deny = (visitor: Visitor, page: Response) => visitor.submit(page, { decision: 'deny' });
const refusalOf = async (response: Response) => [response.status, await errorOf(response)];
/** Returns the only line that the log has about this request. */
async function lineOf(response: Response) {
  const [line, ...more] = await administered.linesOf(response);
  expect(more).toEqual([]);
  return line;
}
/** Returns the code in the field of the page, and whether the page asks to compare it. */
async function fieldOf(response: Response) {
  const html = await response.clone().text();
  return {
    status: response.status,
    code: /name="user_code" value="([^"]*)" required/.exec(html)?.[1],
    compares: html.includes('Does your device show this code now?'),
  };
}
const unknown = async (visitor: Visitor, code: string) => {
  const page = await enter(visitor, code);
  expect(page.status).toBe(400);
  expect(await page.text()).toContain('This code is unknown or has expired');
};

describe('a device code', () => {
  // @shows AS-48.2
  test('expires exactly ten minutes after the device requested it, allowed or not', async () => {
    const [waiting, early, late] = [
      await begin(portal, tv),
      await begin(portal, tv),
      await begin(portal, tv),
    ];
    await decide(ada, early);
    await decide(ada, late);
    clock.advance(599.999);
    expect((await enter(ada, waiting.user_code)).status).toBe(200);
    await tokensOf(await poll(portal, tv, early));
    clock.advance(0.001);
    await unknown(ada, waiting.user_code);
    for (const begun of [waiting, late]) {
      const answer = await poll(portal, tv, begun);
      expect(await refusalOf(answer)).toEqual([400, 'expired_token']);
      const at = new Date(clock.now()).toISOString();
      expect(await lineOf(answer)).toMatchObject({ detail: `the device code expired at ${at}` });
    }
  });

  // @shows AS-48.2
  test.each<[string, (client: TestClient) => Promise<unknown>]>([
    ['was revoked', ({ id }) => portal.server.clients.revoke(id)],
    [
      'lost the grant',
      ({ id }) =>
        portal.server.clients.update(id, {
          removeGrants: [DEVICE_GRANT, 'refresh_token'],
          addGrants: ['client_credentials'],
        }),
    ],
  ])('of a client that %s can no longer be entered or allowed', async (_, end) => {
    const client = await registerDevice(portal, { scopes: ['notes:read'] });
    const begun = await begin(portal, client, scope);
    const asked = await enter(ada, begun.user_code);
    await end(client);
    await unknown(ada, begun.user_code);
    expect((await allow(ada, asked)).status).toBe(400);
    expect(administered.events.map(({ type }) => type)).not.toContain('consent_granted');
  });

  // @shows AS-48.4
  test('gives tokens to one of two simultaneous polls, and these tokens stay valid', async () => {
    const opened = await openStore();
    onTestFinished(() => opened.close());
    let meanwhile: (() => Promise<unknown>) | null = null;
    const database = withExecute(opened.inner, async (sql, ...rest) => {
      const result = await opened.inner.execute<never>(sql, ...rest);
      const act = /^SELECT [^]* FROM oauth_families/.test(sql) ? meanwhile : null;
      if (act !== null) meanwhile = null;
      await act?.();
      return result;
    });
    const own = await startPortal({ config: DEVICES, database });
    onTestFinished(() => own.close());
    const box = await registerDevice(own);
    const begun = await begin(own, box);
    await decide(await own.signedIn(ADA), begun);
    let faster: Response | undefined;
    meanwhile = async () => {
      faster = await poll(own, box, begun);
    };
    expect(await refusalOf(await poll(own, box, begun))).toEqual([400, 'invalid_grant']);
    const { refresh_token: token } = await tokensOf(faster as unknown as Response);
    expect((await refresh(own, box, token)).status).toBe(200);
  });
});

describe('the answer of a person to a device request', () => {
  // @shows AS-48.5
  test('is refused if the person lost the permission after the page was shown', async () => {
    const grace = await portal.signedIn(GRACE);
    await portal.grant(GRACE, 'notes:read');
    onTestFinished(() => portal.deny(GRACE, 'notes:read'));
    const begun = await begin(portal, tv, scope);
    const asked = await enter(grace, begun.user_code);
    await portal.deny(GRACE, 'notes:read');
    expect((await allow(grace, asked)).status).toBe(400);
    expect(await refusalOf(await poll(portal, tv, begun))).toEqual([400, 'authorization_pending']);
    await decide(ada, begun);
    await tokensOf(await poll(portal, tv, begun));
  });

  // @shows AS-48.5
  test('is final: a second window cannot change it', async () => {
    const [allowed, denied] = [await begin(portal, tv), await begin(portal, tv)];
    const [first, second] = [
      await enter(ada, allowed.user_code),
      await enter(ada, allowed.user_code),
    ];
    expect((await allow(ada, first)).status).toBe(200);
    expect((await deny(ada, second)).status).toBe(400);
    await tokensOf(await poll(portal, tv, allowed));
    const [third, fourth] = [
      await enter(ada, denied.user_code),
      await enter(ada, denied.user_code),
    ];
    for (let time = 0; time < 2; time += 1)
      expect(await (await deny(ada, third)).text()).toContain('Access denied');
    expect((await allow(ada, fourth)).status).toBe(400);
    expect(await refusalOf(await poll(portal, tv, denied))).toEqual([400, 'access_denied']);
    const types = administered.events.map(({ type }) => type);
    expect(types).toEqual(['consent_granted', 'tokens_issued', 'consent_denied']);
  });

  // @shows AS-48.5
  test('is refused if a different person has already allowed the device', async () => {
    const grace = await portal.signedIn(GRACE);
    const begun = await begin(portal, tv, { scope: 'openid' });
    const [first, second] = [
      await enter(ada, begun.user_code),
      await enter(grace, begun.user_code),
    ];
    expect((await allow(ada, first)).status).toBe(200);
    expect((await allow(grace, second)).status).toBe(400);
    expect(administered.events.map(({ type }) => type)).toEqual(['consent_granted']);
  });

  // @shows AS-48.5, AS-31.8
  test('is refused after the request or the data of the person was removed', async () => {
    const [open, allowed] = [await begin(portal, tv), await begin(portal, tv)];
    const [asked, answered] = [
      await enter(ada, open.user_code),
      await enter(ada, allowed.user_code),
    ];
    expect((await allow(ada, answered)).status).toBe(200);
    const [held] = (await portal.server.access.list({ clientId: tv.id })).items;
    await portal.server.access.erasePerson(held?.person ?? { provider: '', id: '' });
    for (const page of [asked, answered])
      for (const answer of [allow, deny]) expect((await answer(ada, page)).status).toBe(400);
    const removed = await enter(ada, open.user_code);
    clock.advance(600 + HOUR);
    await portal.server.prune();
    for (const answer of [allow, deny]) expect((await answer(ada, removed)).status).toBe(400);
  });

  // @shows AS-48.5
  test('is refused on a page of a different person in the same browser', async () => {
    const begun = await begin(portal, tv, { scope: 'openid' });
    const form = await ada.get('/oauth/device');
    const asked = await enter(ada, begun.user_code);
    const away = await ada.submit(form, { decision: 'switch' });
    expect((await ada.get('/oauth/device')).status).toBe(302);
    await signIn(ada, await ada.visit(locationOf(away).href), GRACE);
    const answers = [
      await ada.submit(form, { user_code: begun.user_code }),
      await allow(ada, asked),
      await deny(ada, asked),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(await refusalOf(await poll(portal, tv, begun))).toEqual([400, 'authorization_pending']);
  });
});

describe('the device page', () => {
  // @shows AS-48.3
  test('fills in the code from a link or from the input, up to 40 characters', async () => {
    const { user_code: code } = await begin(portal, tv);
    const typed = (text: string) => ({ status: 400, code: text, compares: false });
    const shown = async (query: string) => fieldOf(await ada.get(`/oauth/device${query}`));
    expect(await shown('')).toEqual({ status: 200, code: '', compares: false });
    const twice = `?user_code=${code}&user_code=${code}`;
    expect(await shown(twice)).toEqual({ status: 200, code: '', compares: false });
    expect(await shown('?user_code=bbb')).toEqual({ status: 200, code: 'bbb', compares: false });
    expect(await shown(`?user_code=${code}`)).toEqual({ status: 200, code, compares: true });
    const form = await ada.get('/oauth/device');
    const empty = await ada.submit(form);
    expect(await fieldOf(empty)).toEqual(typed(''));
    expect(await fieldOf(await enter(ada, 'bbb-bbb-bbc'))).toEqual(typed('bbb-bbb-bbc'));
    expect(await fieldOf(await enter(ada, 'BBB-BBB-BBB'))).toEqual(typed('BBB-BBB-BBB'));
    expect(await fieldOf(await enter(ada, 'b'.repeat(60)))).toEqual(typed('b'.repeat(40)));
  });

  // @shows AS-48.5
  test('shows the client logo, the time of the request, and where the person can end the access', async () => {
    const client = await registerDevice(portal, { logo: png(48, 48, 200) });
    const { user_code: code } = await begin(portal, client);
    const html = await (await enter(ada, code)).text();
    expect(html).toContain(`src="/oauth/logo?client_id=${client.id}`);
    expect(html).toMatch(/started <time datetime="[^"]+">this minute<\/time>/);
    expect(html).toContain('href="/oauth/applications"');
  });

  // @shows AS-29.10, AS-48.3
  test('reports the reason for a refusal, like the log: the code, the form, or the permissions', async () => {
    const grace = await portal.signedIn(GRACE);
    const { user_code: code } = await begin(portal, tv, scope);
    const asked = await enter(ada, code);
    await deny(ada, asked);
    await portal.deny(GRACE, 'notes:read');
    const other = await begin(portal, tv, scope);
    const refused: readonly (readonly [Response, object])[] = [
      [
        await enter(ada, 'BBB-BBB-BBC'),
        { error: 'user_code_mistyped', detail: 'the code is not valid' },
      ],
      [
        await enter(ada, 'BBB-BBB-BBB'),
        { error: 'user_code_unknown', detail: 'no device is waiting for this code' },
      ],
      [
        await enter(grace, other.user_code),
        { clientId: tv.id, detail: 'the person has no permission for the requested scopes' },
      ],
      [
        await allow(ada, asked),
        {
          detail: expect.stringContaining(
            'the request of the device was already answered',
          ) as unknown,
        },
      ],
      [
        await ada.submit(await ada.get('/oauth/device'), { csrf_token: 'x', user_code: code }),
        { detail: expect.stringContaining('the csrf_token is not valid for') as unknown },
      ],
    ];
    for (const [answer, line] of refused) {
      expect(answer.status).toBe(400);
      expect(await lineOf(answer)).toMatchObject({
        endpoint: 'oauth_server_answer_device',
        ...line,
      });
    }
    expect(await refused[2]?.[0].text()).toContain('Television');
  });

  // @shows AS-48.3, RFC8628-5.1
  test('slows down a person who sends many wrong codes, logs it once, and slows no other person', async () => {
    for (let count = 0; count < 10; count += 1) await unknown(ada, 'BBB-BBB-BBB');
    const slowed = [await enter(ada, 'BBB-BBB-BBB'), await enter(ada, 'BBB-BBB-BBB')];
    for (const each of slowed) {
      expect([each.status, each.headers.get('retry-after')]).toEqual([429, '1']);
      expect(each.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    }
    const lines = await Promise.all(slowed.map((each) => administered.linesOf(each)));
    const refused = expect.objectContaining({ error: 'user_code_slowed' }) as unknown;
    const warning = expect.objectContaining({
      message: expect.stringContaining('A person sent many wrong device codes') as unknown,
      person: expect.objectContaining({ provider: 'accounts' }) as unknown,
    }) as unknown;
    expect(lines).toEqual([[warning, refused], [refused]]);
    const grace = await portal.signedIn(GRACE);
    const begun = await begin(portal, tv, { scope: 'openid' });
    await decide(grace, begun);
    clock.advance(1);
    expect((await enter(ada, 'BBB-BBB-BBB')).status).toBe(400);
  });
});

describe('the device page on a minimal host', () => {
  let person = '7';
  const host = {
    signedIn: async () => ({ provider: 'staff', id: person }),
    loadAccount: async (reference: PersonReference) => ({
      reference,
      isActive: () => true,
      getProfile: () => ({}),
    }),
    holdsPermission: async () => true,
    browserSecret: async () => 'the secret of this browser',
    loginUrl: '/sign-in',
    log: createHostLog().log,
  };
  const serverOf = (more: Partial<Host> = {}) =>
    createAuthorizationServer({
      publicUrl: 'https://host.example',
      config: configurationWith([]).parse({
        ...DEVICES.oauth_server,
        name: 'Host',
        scopes: { 'notes:read': 'Read your notes' },
        key_path: path.join(ROOT, 'keys'),
      }),
      database: portal.application.database,
      host: { ...host, ...more },
    });
  const send = async (
    server: AuthorizationServer,
    form?: Readonly<Record<string, string>>,
    at = '/oauth/device',
  ): Promise<Response> => {
    const init = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
    const url = `https://host.example${at}`;
    return (await createHandler(server)(new Request(url, init), undefined)) as Response;
  };
  beforeEach(() => {
    person = '7';
  });

  // @shows AS-48.5
  test('"Not you?" leads to a page that explains how a different person can continue with the code', async () => {
    const server = serverOf();
    const { fields } = formOf(await (await send(server)).text());
    for (const [code, link] of [
      ['BBB-BBB-BBB', '/oauth/device?user_code=BBB-BBB-BBB'],
      ['', '/oauth/device'],
    ] as const) {
      const page = await send(server, { ...fields, user_code: code, decision: 'switch' });
      const html = await page.text();
      expect([page.status, html]).toEqual([
        200,
        expect.stringContaining('Sign out of Host first') as unknown,
      ]);
      expect(html).toMatch(
        new RegExp(`href="${link.replace('?', '\\?')}"[^>]*>Continue as another person<`),
      );
    }
  });

  // @shows AS-48.5
  test('refuses the form of one person to the next person, even if the browser keeps its secret', async () => {
    const server = serverOf();
    const { fields } = formOf(await (await send(server)).text());
    const form = { ...fields, user_code: 'BBB-BBB-BBC' };
    expect(await (await send(server, form)).text()).toContain('not a valid code');
    person = '8';
    const refused = await send(server, form);
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.not.stringContaining('not a valid code') as unknown,
    ]);
  });

  // @shows AS-48.5
  test('passes the code and the request to a custom view, and asks only after the code is entered', async () => {
    const server = serverOf({ render: async (_, data) => JSON.stringify(data) });
    const { client } = await server.clients.create({
      name: 'Television',
      redirectUris: [],
      scopes: ['notes:read'],
      grants: [DEVICE_GRANT],
      public: true,
    });
    const begun = await send(server, { client_id: client.id }, '/oauth/device_authorization');
    const { user_code: code } = (await begun.json()) as Begun;
    const link = (await (
      await send(server, undefined, `/oauth/device?user_code=${code}`)
    ).json()) as {
      readonly csrfToken: string;
    };
    expect(link).toMatchObject({ userCode: code, isFromLink: true, problem: null, question: null });
    const asked = await send(server, { csrf_token: link.csrfToken, user_code: code });
    expect(await asked.json()).toMatchObject({
      userCode: code,
      isFromLink: false,
      problem: null,
      question: { clientName: 'Television', scope: 'notes:read', address: null, logo: null },
    });
  });
});

describe('a server with the device grant', () => {
  // @shows AS-22.2, AS-48.1
  test('below a base path publishes its URLs, and gives the grant to no self-registered client', async () => {
    const own = await startPortal({
      config: {
        base_path: '/auth',
        oauth_server: { ...DEVICES.oauth_server, registration: 'open' },
      },
    });
    onTestFinished(() => own.close());
    const { issuer } = own.server;
    const metadata = await fetch(`${own.url}/.well-known/oauth-authorization-server/auth`);
    expect(await metadata.json()).toMatchObject({
      device_authorization_endpoint: `${own.url}/auth/oauth/device_authorization`,
      grant_types_supported: expect.arrayContaining([DEVICE_GRANT]) as unknown,
    });
    const box = await registerDevice(own);
    const begun = await begin({ ...own, url: issuer }, box);
    expect(begun.verification_uri).toBe(`${own.url}/auth/oauth/device`);
    const person = own.visitor();
    const login = await person.get(begun.verification_uri_complete);
    const back = `/auth/oauth/device?user_code=${begun.user_code}`;
    expect(decodeURIComponent(locationOf(login).search)).toContain(`return_to=${back}`);
    await signIn(person, await person.visit(locationOf(login).href), ADA);
    const form = await person.get(begun.verification_uri_complete);
    expect(formOf(await form.clone().text()).action).toBe('/auth/oauth/device');
    expect((await person.submit(form)).status).toBe(400);
    const asked = await person.submit(form, { user_code: begun.user_code });
    expect((await allow(person, asked)).status).toBe(200);
    await tokensOf(await poll({ ...own, url: issuer }, box, begun));
    const registered = await fetch(`${issuer}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: ['https://client.example/callback'],
        grant_types: ['authorization_code', DEVICE_GRANT],
      }),
    });
    expect(await registered.json()).toMatchObject({ grant_types: ['authorization_code'] });
  });

  // @shows AS-48.3, AS-31.9
  test('removes a request an hour after it expired, and waiting requests when all access ends', async () => {
    const own = await startAdministered({ clock: clock.now, config: DEVICES });
    onTestFinished(() => own.portal.close());
    const box = await registerDevice(own.portal);
    await begin(own.portal, box);
    clock.advance(600 + HOUR - 0.001);
    expect(await own.portal.server.prune()).toMatchObject({ deviceRequests: 0 });
    clock.advance(0.001);
    expect(await own.portal.server.prune()).toMatchObject({ deviceRequests: 1 });
    const begun = await begin(own.portal, box);
    await own.portal.server.access.endAll();
    const answer = await poll(own.portal, box, begun);
    expect(await refusalOf(answer)).toEqual([400, 'expired_token']);
    const [line] = await own.linesOf(answer);
    expect(line).toMatchObject({ detail: 'oauth:restored ended the request' });
  });

  // @shows AS-48.1
  test('gives no codes and no tokens to a client with a security profile', async () => {
    const own = await startPortal({
      config: {
        oauth_server: {
          ...DEVICES.oauth_server,
          private_key_jwt: true,
          dpop: 'accept',
          pushed_authorization_requests: 'accept',
        },
      },
    });
    onTestFinished(() => own.close());
    await own.server.keys.generate('ES256');
    const grants = ['authorization_code', 'refresh_token', DEVICE_GRANT];
    const banker = await registerBanker(own, { profile: 'fapi2', grants });
    const at = { portal: own, now: Date.now };
    const answers = [
      await post(at, '/oauth/device_authorization', banker, { scope: 'openid' }),
      await post(at, '/oauth/token', banker, { grant_type: DEVICE_GRANT, device_code: 'x' }),
    ];
    for (const answer of answers)
      expect(await refusalOf(answer)).toEqual([400, 'unauthorized_client']);
  });
});
