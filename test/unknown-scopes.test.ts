import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { begin, enter, poll, registerDevice, requestCodes, tokensOf } from './support/device.ts';
import {
  ADA,
  authorizationUrl,
  errorOf,
  exchangeCode,
  GRACE,
  introspect,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { push, pushedNow } from './support/pushing.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** Requests for scopes that the server or the client does not have. */

let portal: RunningPortal;
/** The same without the feature, on the same database. */
let off: RunningPortal;
let client: TestClient;
let ada: Visitor;

const CONFIG = { pushed_authorization_requests: 'accept', device_authorization: true };

beforeAll(async () => {
  portal = await startPortal({ config: { oauth_server: { ...CONFIG, unknown_scopes: 'ignore' } } });
  const databaseUrl = portal.env['DATABASE_URL'] ?? '';
  off = await startPortal({ config: { oauth_server: CONFIG }, databaseUrl });
  client = await registerClient(portal, {
    scopes: ['openid', 'email', 'notes:read'],
    grants: ['authorization_code', 'refresh_token', 'client_credentials'],
  });
  ada = await portal.signedIn(ADA);
});
afterAll(async () => {
  await off.close();
  await portal.close();
});

/** The scopes in the list of the consent page. */
async function shown(page: Response): Promise<readonly string[]> {
  expect(page.status).toBe(200);
  const html = await page.clone().text();
  const labels = {
    openid: 'Confirm who you are',
    email: 'See your email address',
    'notes:read': 'Read your notes',
    'notes:write': 'Write notes for you',
  };
  return Object.entries(labels).flatMap(([name, label]) => (html.includes(label) ? [name] : []));
}

async function granted(page: Response, visitor = ada): Promise<Tokens> {
  const code =
    locationOf(await visitor.submit(page, { decision: 'allow' })).searchParams.get('code') ?? '';
  return (await (await exchangeCode(portal, client, code)).json()) as Tokens;
}

const MANY = 'openid groups email address phone notes:read notes:write offline_access';

describe('an authorization request with unknown scopes', () => {
  // @shows AS-2.31
  test('is refused with the setting off, also for a scope that the client does not have', async () => {
    const there = await off.signedIn(ADA);
    for (const scope of [MANY, 'openid groups', 'openid notes:write']) {
      const { searchParams } = locationOf(
        await there.get(authorizationUrl(off, client, { scope })),
      );
      expect(searchParams.get('error')).toBe('invalid_scope');
    }
  });

  // @shows AS-7.24
  test('loses those scopes; the page shows the remaining ones, and the response contains them', async () => {
    const page = await ada.visit(authorizationUrl(portal, client, { scope: MANY }));
    expect(await shown(page)).toEqual(['openid', 'email', 'notes:read']);
    for (const name of ['groups', 'phone']) expect(await page.clone().text()).not.toContain(name);
    const tokens = await granted(page);
    expect(tokens.scope).toBe('openid email notes:read');
    expect((await introspect(portal, tokens.access_token))['scope']).toBe(
      'openid email notes:read',
    );
  });

  // @shows AS-7.24
  test('that is sent by POST or pushed loses them too', async () => {
    const form = Object.fromEntries(
      new URL(authorizationUrl(portal, client, { scope: 'groups email' })).searchParams,
    );
    const posted = await ada.visit(locationOf(await ada.post('/oauth/authorize', form)).href);
    expect((await granted(posted)).scope).toBe('email');
    const pushed = await ada.visit(
      await pushedNow(portal, client, { scope: 'email notes:write groups' }),
    );
    expect((await granted(pushed)).scope).toBe('email');
  });

  // @shows AS-7.24
  test.each([
    'groups',
    'groups address',
    'notes:write',
    'groups offline_access',
    'OPENID',
    'notes:read:all',
  ])('and no other scopes is refused: %s', async (scope) => {
    const { searchParams } = locationOf(await ada.get(authorizationUrl(portal, client, { scope })));
    expect(searchParams.get('error')).toBe('invalid_scope');
    const pushed = await push(portal, client, { scope });
    expect([pushed.status, await errorOf(pushed)]).toEqual([400, 'invalid_scope']);
  });

  // @shows AS-7.24
  test.each(['openid "', 'email a\\b', 'email \u0001', 'email é', 'email\tnotes:read'])(
    'and malformed ones stays refused: %j',
    async (scope) => {
      const { searchParams } = locationOf(
        await ada.get(authorizationUrl(portal, client, { scope })),
      );
      expect(searchParams.get('error')).toBe('invalid_scope');
    },
  );

  test('stays refused if scope is repeated', async () => {
    const url = `${authorizationUrl(portal, client, { scope: 'email' })}&scope=groups`;
    expect(locationOf(await ada.get(url)).searchParams.get('error')).toBe('invalid_request');
  });

  test('does not change a request without scope, which gets the scopes of the client', async () => {
    const page = await ada.visit(authorizationUrl(portal, client, { scope: undefined }));
    expect((await granted(page)).scope).toBe('email notes:read');
  });

  // @shows AS-7.24
  test('never grants a scope for which the person lacks the permission', async () => {
    const own = await registerClient(portal, { scopes: ['email', 'notes:write'] });
    const grace = await portal.signedIn(GRACE);
    const page = await grace.visit(
      authorizationUrl(portal, own, { scope: 'groups email notes:write' }),
    );
    expect(await shown(page)).toEqual(['email']);
    const nothing = authorizationUrl(portal, own, { scope: 'groups notes:write' });
    expect(locationOf(await grace.get(nothing)).searchParams.get('error')).toBe('access_denied');
  });

  // @shows AS-7.24
  test('stays refused for openid without a signing key, on which the client depends', async () => {
    const keyless = await startPortal({
      signingKey: false,
      config: { oauth_server: { unknown_scopes: 'ignore' } },
    });
    try {
      const own = await registerClient(keyless);
      const there = await keyless.signedIn(ADA);
      const { searchParams } = locationOf(
        await there.get(authorizationUrl(keyless, own, { scope: 'openid email groups' })),
      );
      expect(searchParams.get('error')).toBe('invalid_scope');
    } finally {
      await keyless.close();
    }
  });
});

// @shows AS-7.24
test('a device request loses unknown scopes: the person sees the rest, and the device gets it', async () => {
  const device = await registerDevice(portal, { scopes: ['email', 'notes:read'] });
  const scope = 'email groups notes:read notes:write';
  expect(await errorOf(await requestCodes(off, device, { scope }))).toBe('invalid_scope');
  expect(await errorOf(await requestCodes(portal, device, { scope: 'groups' }))).toBe(
    'invalid_scope',
  );
  const begun = await begin(portal, device, { scope });
  const page = await enter(ada, begun.user_code);
  expect(await shown(page)).toEqual(['email', 'notes:read']);
  await ada.submit(page, { decision: 'allow' });
  expect((await tokensOf(await poll(portal, device, begun))).scope).toBe('email notes:read');
});

describe('a refresh request', () => {
  // @shows AS-7.24
  test('loses unknown scopes, and never gains one', async () => {
    const tokens = await obtainTokens(portal, client, ADA, {
      scope: 'openid email groups notes:write',
    });
    expect(tokens.scope).toBe('openid email');
    const same = await refresh(portal, client, tokens.refresh_token, {
      scope: 'openid email groups notes:write',
    });
    const next = (await same.json()) as Tokens;
    expect(next.scope).toBe('openid email');
    const narrowed = await refresh(portal, client, next.refresh_token, { scope: 'email groups' });
    const third = (await narrowed.json()) as Tokens;
    expect(third.scope).toBe('email');
    const whole = await refresh(portal, client, third.refresh_token);
    expect(((await whole.json()) as Tokens).scope).toBe('openid email');
  });

  // @shows AS-7.24
  test('for a scope of the client that was not granted is refused, and the token stays valid', async () => {
    const tokens = await obtainTokens(portal, client, ADA, { scope: 'openid email' });
    for (const scope of ['openid notes:read', 'notes:read', 'groups', 'groups notes:read']) {
      const refused = await refresh(portal, client, tokens.refresh_token, { scope });
      expect([refused.status, await errorOf(refused)]).toEqual([400, 'invalid_scope']);
    }
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
  });

  // @shows AS-7.24
  test('does not get a scope for which the client was registered later', async () => {
    const own = await registerClient(portal, { scopes: ['email'] });
    const tokens = await obtainTokens(portal, own, ADA, { scope: 'email notes:read' });
    expect(tokens.scope).toBe('email');
    await portal.server.clients.update(own.id, { addScopes: ['notes:read'] });
    expect(
      await errorOf(
        await refresh(portal, own, tokens.refresh_token, { scope: 'email notes:read' }),
      ),
    ).toBe('invalid_scope');
    const next = (await (await refresh(portal, own, tokens.refresh_token)).json()) as Tokens;
    expect(next.scope).toBe('email');
  });
});

describe('a client credentials request', () => {
  const asked = (at: RunningPortal, scope: string) =>
    requestToken(at, client, { grant_type: 'client_credentials', scope });

  // @shows AS-7.24
  test('loses unknown scopes, and those about a person', async () => {
    expect(await errorOf(await asked(off, 'notes:read groups'))).toBe('invalid_scope');
    const response = await asked(portal, 'openid email notes:read notes:write groups');
    expect(((await response.json()) as Tokens).scope).toBe('notes:read');
  });

  // @shows AS-7.24
  test.each(['groups', 'openid email', 'notes:write', 'openid groups', 'notes:read "'])(
    'with only such scopes is refused: %s',
    async (scope) => {
      const response = await asked(portal, scope);
      expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_scope']);
    },
  );
});

// @shows AS-2.31
test.each([
  [{}, 'invalid_scope'],
  [{ unknown_scopes: 'refuse' }, 'invalid_scope'],
  [{ unknown_scopes: 'ignore' }, undefined],
])(
  'with the setting %j, a request with an unknown scope gets the error %s',
  async (config, error) => {
    const own = await startPortal({ config: { oauth_server: config } });
    onTestFinished(() => own.close());
    const asking = await registerClient(own, {
      redirectUris: [],
      scopes: ['notes:read'],
      grants: ['client_credentials'],
    });
    const answer = await requestToken(own, asking, {
      grant_type: 'client_credentials',
      scope: 'notes:read groups',
    });
    expect(((await answer.json()) as { readonly error?: string }).error).toBe(error);
  },
);

// @shows AS-2.31
test('a value other than refuse and ignore is a configuration problem', async () => {
  await expect(
    startPortal({ config: { oauth_server: { unknown_scopes: 'drop' } } }),
  ).rejects.toThrow('must be "refuse" or "ignore"');
});
