// @engines all, long: it starts a host for each row
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { administration } from '@portico/admin';
import {
  configurationWith,
  createAuthorizationServer,
  migrate,
  oauthServerMigrations,
  type AuthorizationServer,
  type Database,
  type Host,
  type LogContext,
  type PasswordHasher,
  type Profile,
} from 'portico';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { formDoing } from './support/administration.ts';
import { createDatabase } from './support/database.ts';
import { openOwnStore, type OwnStore } from './support/own-store.ts';
import { REDIRECT_URI, VERIFIER, type Tokens, codeRequest } from './support/portal.ts';

/**
 * An application that uses nothing of the kit: it has a separate store and hasher, and implements
 * the contract of a host.
 */
const ISSUER = 'https://host.example';
const PERSON = { provider: 'staff', id: '7' };

const derive = promisify<string, string, number, Buffer>(scrypt);
const hasher: PasswordHasher = {
  async hash(password) {
    const salt = randomBytes(16).toString('base64url');
    return `$scrypt$${salt}$${(await derive(password, salt, 32)).toString('base64url')}`;
  },
  async verify(password, hash) {
    const [, salt = '', known = ''] = /^\$scrypt\$([\w-]+)\$([\w-]{43})$/.exec(hash) ?? [];
    return (
      known !== '' &&
      timingSafeEqual(await derive(password, salt, 32), Buffer.from(known, 'base64url'))
    );
  },
};

let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let database: OwnStore;
let server: AuthorizationServer;
let verifications = 0;
let loads = 0;
let someone: typeof PERSON | null = PERSON;
/** The account that the host returns. If null, the host returns the requested account. */
let accountOf: typeof PERSON | null = null;
let lastLoaded: typeof PERSON | null = null;
/** For a host that never answers. */
const HANGS = Symbol('hangs');
let held: unknown = true;
let active = (): unknown => true;
let loginUrl = (returnTo: string): unknown => `/sign-in?to=${encodeURIComponent(returnTo)}`;
let clientAddress = (): unknown => null;
/** Whether `loadAccount` returns undefined. */
let isMissing = false;
/** The values that a host in JavaScript may return by mistake. */
let profile: unknown = {};
let hasReference = true;
/** The value that the hasher returns from `verify`. If null, it returns the correct result. */
let verified: unknown = null;
/** Awaited before a secret is hashed. */
let meeting = async (): Promise<void> => {};
let browserSecret: unknown = 'the secret of this browser';
const logged: { level: string; text: string }[] = [];
const logging = (level: string) => (message: string, context?: LogContext) => {
  const { exception } = context ?? {};
  logged.push({
    level,
    text: exception instanceof Error ? `${message} ${exception.message}` : message,
  });
};

/** Queries the store first, because some hosts keep their people in the same database. */
async function asked<T>(answer: T): Promise<T> {
  await database.execute('SELECT 1');
  return answer;
}

const host: Host = {
  signedIn: () => asked(someone),
  loadAccount(reference) {
    loads += 1;
    lastLoaded = reference;
    if (isMissing) return asked(undefined as never);
    return asked({
      reference: hasReference ? (accountOf ?? reference) : (undefined as never),
      isActive: () => active() as boolean,
      getProfile: () => profile as Profile,
    });
  },
  holdsPermission: () => (held === HANGS ? new Promise(() => {}) : asked(held as boolean)),
  browserSecret: () => asked(browserSecret as string),
  signOut: () => asked(undefined),
  loginUrl: (returnTo) => loginUrl(returnTo) as string,
  passwordHasher: {
    async hash(password) {
      await meeting();
      return hasher.hash(password);
    },
    verify(password, hash) {
      verifications += 1;
      return verified === null ? hasher.verify(password, hash) : asked(verified as boolean);
    },
  },
  render: async (_, data) => JSON.stringify(data),
  clientAddress: () => clientAddress() as string | null,
  audit: () => asked(undefined),
  log: {
    debug: logging('debug'),
    info: logging('info'),
    warning: logging('warning'),
    error: logging('error'),
  },
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-host-'));
  created = await createDatabase(folder);
  database = openOwnStore(created.url);
  await migrate(database, oauthServerMigrations);
  server = serverOn(database);
  await server.keys.generate();
});
afterAll(async () => {
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});

function serverOn(
  store: Database,
  more: Readonly<Record<string, unknown>> = {},
): AuthorizationServer {
  const features = [administration];
  const config = configurationWith(features).parse({
    ...more,
    name: 'Another host',
    scopes: { 'notes:read': 'Read your notes' },
    key_path: path.join(folder, 'keys'),
  });
  return createAuthorizationServer({ publicUrl: ISSUER, config, host, database: store, features });
}

async function answer(
  name: string,
  at: string,
  form?: Readonly<Record<string, string>>,
  by = server,
): Promise<Response> {
  const endpoint = by.endpoints.find((each) => each.name === name);
  if (endpoint === undefined) throw new Error(`No endpoint ${name}`);
  const init = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
  return endpoint.handle(new Request(`${ISSUER}${at}`, init));
}

describe('a host without the kit', () => {
  // @shows AS-1.1, AS-1.9, AS-3.4, AS-18.10, OIDC-2c
  test('completes the whole flow, and an ID token without personal claims still has sub', async () => {
    const registration = {
      name: 'App',
      redirectUris: [REDIRECT_URI],
      scopes: ['openid', 'profile', 'email'],
    };
    const { client, secret } = await server.clients.create(registration);
    const query = codeRequest(client.id, { scope: 'openid profile email' });
    const page = await answer('oauth_server_authorize', `/oauth/authorize?${query}`);
    const { requestId, csrfToken } = (await page.json()) as {
      requestId: string;
      csrfToken: string;
    };
    const form = { request_id: requestId, csrf_token: csrfToken, decision: 'allow' };
    const allowed = await answer('oauth_server_consent', '/oauth/authorize', form);
    const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const issued = await answer('oauth_server_token', '/oauth/token', {
      grant_type: 'authorization_code',
      client_id: client.id,
      client_secret: secret ?? '',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    });
    const tokens = (await issued.json()) as Tokens;
    const { sub, ...claims } = decodeJwt(tokens.id_token);
    expect(sub).toMatch(/^[0-9a-f]{32}$/);
    expect(Object.keys(claims).toSorted()).toEqual(['at_hash', 'aud', 'exp', 'iat', 'iss']);
    expect(claims).toMatchObject({ iss: ISSUER, aud: client.id });
  });

  // @shows AS-4.10, AS-9.3
  test('verifies one secret for an unknown client, as for a wrong secret', async () => {
    const registration = { name: 'Job', grants: ['client_credentials'], scopes: ['notes:read'] };
    const { client } = await server.clients.create(registration);
    const cost = async (clientId: string) => {
      const before = verifications;
      const form = {
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: 'wrong',
      };
      expect((await answer('oauth_server_token', '/oauth/token', form)).status).toBe(401);
      return verifications - before;
    };
    expect([await cost(client.id), await cost('unknown')]).toEqual([1, 1]);
  });

  test('loads the account once per request of a signed-in person', async () => {
    const registration = { name: 'App', redirectUris: [REDIRECT_URI], scopes: ['notes:read'] };
    const { client } = await server.clients.create(registration);
    const query = codeRequest(client.id);
    const once = async (asking: Promise<Response>, status: number) => {
      const before = loads;
      const response = await asking;
      expect([response.status, loads - before]).toEqual([status, 1]);
      return response;
    };
    for (const decision of ['allow', 'deny', 'switch']) {
      const page = await once(answer('oauth_server_authorize', `/oauth/authorize?${query}`), 200);
      const { requestId, csrfToken } = (await page.json()) as {
        requestId: string;
        csrfToken: string;
      };
      await once(answer('oauth_server_authorize', `/oauth/authorize?request_id=${requestId}`), 200);
      const form = { request_id: requestId, csrf_token: csrfToken, decision };
      await once(answer('oauth_server_consent', '/oauth/authorize', form), 303);
    }
    const page = await once(answer('oauth_server_applications', '/oauth/applications'), 200);
    const { applications } = (await page.json()) as {
      applications: readonly { clientId: string; csrfToken: string }[];
    };
    const allowed = applications.find(({ clientId }) => clientId === client.id);
    const form = { client_id: client.id, csrf_token: allowed?.csrfToken ?? '' };
    await once(answer('oauth_server_remove_application', '/oauth/applications', form), 303);
  });
});

describe('a request that is too long for a cookie', () => {
  test('is shown by two simultaneous loads of its page, even if one finishes during the other', async () => {
    const [looked, goOn] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const slow = serverOn({
      ...database,
      async execute(statement: string, values?: readonly (string | number | null)[]) {
        if (/SELECT parameters FROM oauth_waiting_requests/.test(statement)) {
          looked.resolve(undefined);
          await goOn.promise;
        }
        return database.execute(statement, values);
      },
    } as Database);
    const { client } = await server.clients.create({
      name: 'Long-winded',
      redirectUris: [REDIRECT_URI],
      scopes: ['notes:read'],
      public: true,
    });
    const query = codeRequest(client.id, { state: 's'.repeat(5000) });
    someone = null;
    const waits = await answer('oauth_server_authorize', `/oauth/authorize?${query}`);
    someone = PERSON;
    const back = new URL(waits.headers.get('location') ?? '', ISSUER).searchParams.get('to') ?? '';
    const cookie = waits.headers.getSetCookie().map((each) => each.split(';', 1)[0]);
    const load = (by: AuthorizationServer) =>
      by.endpoints
        .find(({ name }) => name === 'oauth_server_authorize')
        ?.handle(new Request(ISSUER + back, { headers: { cookie: cookie.join('; ') } }));
    const second = load(slow);
    await looked.promise;
    const first = await load(server);
    goOn.resolve(undefined);
    expect([first?.status, (await second)?.status]).toEqual([200, 200]);
  });
});

describe('the session secret that a host returns', () => {
  async function question(): Promise<Response> {
    const { client } = await server.clients.create({
      name: 'App',
      redirectUris: [REDIRECT_URI],
      scopes: ['notes:read'],
    });
    const query = codeRequest(client.id);
    return answer('oauth_server_authorize', `/oauth/authorize?${query}`);
  }

  test('may stay the same after sign-in, and a different person ends the consent request', async () => {
    browserSecret = 'the secret of this browser';
    for (const decision of ['allow', 'deny', null]) {
      someone = PERSON;
      const { requestId, csrfToken } = (await (await question()).json()) as {
        requestId: string;
        csrfToken: string;
      };
      const take = (said: string) =>
        answer('oauth_server_consent', '/oauth/authorize', {
          request_id: requestId,
          csrf_token: csrfToken,
          decision: said,
        });
      someone = { ...PERSON, id: '8' };
      const refused =
        decision === null
          ? await answer('oauth_server_authorize', `/oauth/authorize?request_id=${requestId}`)
          : await take(decision);
      expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
      someone = PERSON;
      expect((await take('allow')).status).toBe(400);
    }
  });

  test.each<[string, unknown, string]>([
    // @shows AS-8.10
    ['an empty text', '', '0 characters'],
    ['a short text', 'x'.repeat(21), '21 characters'],
    ['nothing', undefined, 'undefined'],
  ])(
    'causes a server error if it is %s, and the log names the host member',
    async (_, secret, found) => {
      browserSecret = secret;
      logged.length = 0;
      const refused = await question();
      browserSecret = 'the secret of this browser';
      expect(refused.status).toBe(500);
      expect(await refused.text()).not.toContain('browserSecret');
      const told = logged.filter(
        ({ level, text }) => level === 'error' && text.includes('Host.browserSecret'),
      );
      expect(told).toHaveLength(1);
      expect(told[0]?.text).toContain(found);
    },
  );

  // @shows AS-8.10
  test('invalidates the consent request if it changes, and the log explains the likely cause', async () => {
    const { requestId, csrfToken } = (await (await question()).json()) as Record<string, string>;
    const form = { request_id: requestId ?? '', csrf_token: csrfToken ?? '', decision: 'allow' };
    browserSecret = 'the secret of a session begun anew';
    logged.length = 0;
    const answered = await answer('oauth_server_consent', '/oauth/authorize', form);
    const opened = await answer(
      'oauth_server_authorize',
      `/oauth/authorize?request_id=${requestId}`,
    );
    browserSecret = 'the secret of this browser';
    expect([answered.status, opened.status]).toEqual([400, 400]);
    const warnings = logged.filter(({ level }) => level === 'warning').map(({ text }) => text);
    expect(warnings).toHaveLength(2);
    for (const warning of warnings) {
      expect(warning).toContain('started a new session');
      expect(warning).toContain('keepSessionInfo');
      expect(warning).not.toContain('secret of');
    }
    expect((await answer('oauth_server_consent', '/oauth/authorize', form)).status).toBe(303);
  });

  test('may stay the same for a different person, who sees nothing of the earlier response', async () => {
    const { requestId, csrfToken } = (await (await question()).json()) as Record<string, string>;
    const form = { request_id: requestId ?? '', csrf_token: csrfToken ?? '', decision: 'allow' };
    expect((await answer('oauth_server_consent', '/oauth/authorize', form)).status).toBe(303);
    const titleFor = async (person: typeof PERSON) => {
      someone = person;
      const page = await answer(
        'oauth_server_authorize',
        `/oauth/authorize?request_id=${requestId}`,
      );
      someone = PERSON;
      return ((await page.json()) as { readonly title: string }).title;
    };
    expect(await titleFor({ ...PERSON, id: '8' })).toBe('This request can no longer be answered');
    expect(await titleFor(PERSON)).toBe('You already answered this request');
  });

  // @shows AS-7.13
  test('is not read before a person is signed in', async () => {
    someone = null;
    browserSecret = '';
    const waits = await question();
    browserSecret = 'the secret of this browser';
    someone = PERSON;
    expect(waits.status).toBe(302);
    const [cookie = ''] = waits.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Secure-portico_request_[\w-]{43}=[\w.-]+; Path=\/oauth\/authorize; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
    );
  });
});

describe('a host in JavaScript that returns neither true nor false', () => {
  const registration = { name: 'Reader', redirectUris: [REDIRECT_URI], scopes: ['notes:read'] };

  /**
   * Returns the introspection of a token of this person. During the introspection, the host returns
   * different values.
   */
  async function introspectedWhile(
    answering: () => unknown,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { client, secret } = await server.clients.create(registration);
    const api = await server.clients.create({ name: 'API', grants: ['introspection'] });
    const query = codeRequest(client.id);
    const page = await answer('oauth_server_authorize', `/oauth/authorize?${query}`);
    const { requestId, csrfToken } = (await page.json()) as {
      requestId: string;
      csrfToken: string;
    };
    const form = { request_id: requestId, csrf_token: csrfToken, decision: 'allow' };
    const allowed = await answer('oauth_server_consent', '/oauth/authorize', form);
    const issued = await answer('oauth_server_token', '/oauth/token', {
      grant_type: 'authorization_code',
      client_id: client.id,
      client_secret: secret ?? '',
      code: new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '',
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    });
    const { access_token: token } = (await issued.json()) as Tokens;
    const introspect = async () => {
      const about = { client_id: api.client.id, client_secret: api.secret ?? '', token };
      const told = await answer('oauth_server_introspect', '/oauth/introspect', about);
      return (await told.json()) as Readonly<Record<string, unknown>>;
    };
    expect(await introspect()).toMatchObject({ active: true, scope: 'notes:read' });
    try {
      answering();
      return await introspect();
    } finally {
      [held, active, isMissing] = [true, () => true, false];
    }
  }

  // @shows AS-1.9
  test.each([['false'], [[]], [{ rows: [] }], [0]])(
    'grants no permission with %j',
    async (given) => {
      expect(await introspectedWhile(() => (held = given))).toMatchObject({
        active: true,
        scope: '',
      });
    },
  );

  // @shows AS-1.9
  test.each([
    ['a promise', () => Promise.resolve(false)],
    // An unhandled rejection would fail the test.
    ['a promise that is rejected', () => Promise.reject(new Error('The database is away'))],
    ['a text', () => 'false'],
    ['rows', () => []],
  ])('signs in no person if isActive() returns %s', async (_, give) => {
    expect(await introspectedWhile(() => (active = give))).toEqual({ active: false });
  });

  // @shows AS-1.9
  test('finds no account if loadAccount() returns undefined', async () => {
    expect(await introspectedWhile(() => (isMissing = true))).toEqual({ active: false });
  });

  test('causes a warning that names isActive() if a person returns from the sign-in page', async () => {
    const path = `/oauth/authorize?request_id=${'x'.repeat(43)}`;
    const back = new Request(`${ISSUER}${path}`, { headers: { 'Sec-Fetch-Site': 'same-origin' } });
    logged.length = 0;
    active = () => Promise.resolve(true);
    try {
      const endpoint = server.endpoints.find(({ name }) => name === 'oauth_server_authorize');
      expect((await endpoint?.handle(back))?.status).toBe(302);
    } finally {
      active = () => true;
    }
    expect(logged).toEqual([
      { level: 'warning', text: expect.stringContaining('isActive() returns true, not a promise') },
    ]);
  });
});

describe('a host in JavaScript that returns a promise instead of a string', () => {
  const PROMISES: readonly (readonly [what: string, give: () => unknown])[] = [
    ['is fulfilled', () => Promise.resolve('/sign-in')],
    // An unhandled rejection would fail the test.
    ['is rejected', () => Promise.reject(new Error('The database is away'))],
  ];
  async function loggedWhile(asking: () => Promise<Response>): Promise<readonly string[]> {
    const [url, address, person] = [loginUrl, clientAddress, someone];
    logged.length = 0;
    try {
      expect((await asking()).status).toBe(500);
    } finally {
      [loginUrl, clientAddress, someone] = [url, address, person];
    }
    return logged.map(({ text }) => text);
  }

  // @shows AS-1.10
  test.each(PROMISES)('sends an error if the promise of loginUrl() %s', async (_, give) => {
    const { client } = await server.clients.create({
      name: 'App',
      redirectUris: [REDIRECT_URI],
      scopes: ['notes:read'],
    });
    const lines = await loggedWhile(() => {
      [someone, loginUrl] = [null, give];
      return answer('oauth_server_authorize', `/oauth/authorize?${codeRequest(client.id)}`);
    });
    expect(lines).toEqual([
      '{endpoint} failed: {exception} Host.loginUrl returned a promise, but must return a string',
    ]);
  });

  // @shows AS-1.10
  test.each(PROMISES)('sends an error if the promise of clientAddress() %s', async (_, give) => {
    const form = { grant_type: 'client_credentials', client_id: 'x', client_secret: 'y' };
    const lines = await loggedWhile(() => {
      clientAddress = give;
      return answer('oauth_server_token', '/oauth/token', form);
    });
    expect(lines).toEqual([
      '{endpoint} failed: {exception} Host.clientAddress returned a promise, but must return a ' +
        'string or null',
    ]);
  });

  test.each([
    ['undefined', undefined],
    ['a list', ['192.0.2.1']],
  ])('has no address if clientAddress() returns %s', async (_, given) => {
    const form = { grant_type: 'client_credentials', client_id: 'x', client_secret: 'y' };
    const before = clientAddress;
    clientAddress = () => given;
    const answered = await answer('oauth_server_token', '/oauth/token', form);
    clientAddress = before;
    expect(answered.status).toBe(401);
  });
});

describe('a password hasher in JavaScript that returns neither true nor false', () => {
  // @shows AS-9.1
  test.each([['false'], [1], [[]], [{ ok: false }]])(
    'rejects the client if verify() returns %j',
    async (given) => {
      const { client } = await server.clients.create({
        name: 'Job',
        grants: ['client_credentials'],
        scopes: ['notes:read'],
      });
      verified = given;
      const form = {
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: 'wrong',
      };
      const refused = await answer('oauth_server_token', '/oauth/token', form);
      verified = null;
      expect(refused.status).toBe(401);
    },
  );
});

describe('a person of the host', () => {
  /**
   * Returns the `sub` of this person for an application that they have allowed, and the person for
   * whom the server called the host with its token.
   */
  async function meet(person: typeof PERSON) {
    someone = person;
    const registration = {
      name: 'App',
      redirectUris: [REDIRECT_URI],
      scopes: ['openid', 'notes:read'],
    };
    const { client, secret } = await server.clients.create(registration);
    const query = codeRequest(client.id, { scope: 'openid notes:read' });
    const page = await answer('oauth_server_authorize', `/oauth/authorize?${query}`);
    const { requestId, csrfToken } = (await page.json()) as {
      requestId: string;
      csrfToken: string;
    };
    const form = { request_id: requestId, csrf_token: csrfToken, decision: 'allow' };
    const allowed = await answer('oauth_server_consent', '/oauth/authorize', form);
    // The token request comes from no browser.
    someone = null;
    const issued = await answer('oauth_server_token', '/oauth/token', {
      grant_type: 'authorization_code',
      client_id: client.id,
      client_secret: secret ?? '',
      code: new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '',
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    });
    const { id_token: idToken } = (await issued.json()) as Tokens;
    return { sub: String(decodeJwt(idToken).sub), loaded: lastLoaded };
  }
  afterEach(() => {
    someone = PERSON;
    accountOf = null;
  });

  // @shows AS-4.14
  test.each<[string, readonly string[]]>([
    ['in upper and lower case', ['ada', 'Ada', 'ADA']],
    ['with a space before or after it', ['ada', 'ada ', 'ada  ', ' ada']],
    ['in the normal forms of Unicode', ['caf\u00E9', 'cafe\u0301', 'cafe']],
    ['that look alike', ['ada', '\u0430da', 'ad\u0430', 'ada\u200B']],
    ['that a collation might fold', ['ss', '\u00DF', 'SS', '\u1E9E']],
    ['with replacement characters', ['\uFFFD', '\uFFFD\uFFFD', 'a\uFFFD']],
    ['with the maximum length', [`${'\u{1F600}'.repeat(254)}a`, `${'\u{1F600}'.repeat(254)}b`]],
  ])('is a different person for each spelling of the id %s', async (_, ids) => {
    const found = [];
    for (const id of ids) found.push(await meet({ provider: 'spelling', id }));
    expect(found.map(({ loaded }) => loaded)).toEqual(
      ids.map((id) => ({ provider: 'spelling', id })),
    );
    expect(new Set(found.map(({ sub }) => sub)).size).toBe(ids.length);
    const again = await meet({ provider: 'spelling', id: ids[0] ?? '' });
    expect(again.sub).toBe(found[0]?.sub);
  });

  const WRONG: readonly (readonly [string, unknown, string])[] = [
    ['the first half of a surrogate pair', '\uD800', 'must be well-formed Unicode'],
    ['the second half of a surrogate pair', 'ada\uDC00', 'well-formed Unicode'],
    ['two halves in the wrong order', '\uDC00\uD800', 'well-formed Unicode'],
    ['NUL', 'ada\0', 'without NUL'],
    ['nothing', '', 'must not be empty'],
    ['too many characters', 'x'.repeat(256), 'characters'],
    ['a number', 7, 'must be a text, but its type is number'],
    ['an object', { toString: () => 'ada' }, 'must be a text, but its type is object'],
    ['no value', undefined, 'must be a text, but its type is undefined'],
  ];

  // @shows AS-4.14
  test.each(
    (['id', 'provider'] as const).flatMap((member) =>
      WRONG.flatMap(([what, value, says]) =>
        (['signedIn', 'loadAccount'] as const).map((by) => ({ member, what, value, says, by })),
      ),
    ),
  )(
    'with $what as the $member, by $by, causes a server error, and nothing is stored',
    async (given) => {
      const { member, value, says, by } = given;
      const person = { ...PERSON, [member]: value };
      if (by === 'signedIn') someone = person;
      else accountOf = person;
      const count = async () =>
        (await database.execute('SELECT user_provider FROM oauth_subjects')).rows.length +
        (await database.execute('SELECT id_hash FROM oauth_consent_requests')).rows.length;
      const before = await count();
      logged.length = 0;
      for (const [name, at] of [
        ['oauth_server_authorize', `/oauth/authorize?${await asking()}`],
        ['oauth_server_applications', '/oauth/applications'],
      ] as const) {
        const refused = await answer(name, at);
        expect([refused.status, await refused.text()]).toEqual([
          500,
          expect.not.stringContaining('Host.'),
        ]);
      }
      expect(await count()).toBe(before);
      const told = logged.filter(({ level }) => level === 'error').map(({ text }) => text);
      expect(told).toHaveLength(2);
      for (const text of told)
        expect(text).toMatch(new RegExp(`Host\\.${by}.*${member} of a person.*${says}`));
    },
  );

  // @shows AS-4.14
  test('causes a server error that names loadAccount() if the account has no reference', async () => {
    logged.length = 0;
    hasReference = false;
    try {
      expect((await answer('oauth_server_applications', '/oauth/applications')).status).toBe(500);
    } finally {
      hasReference = true;
    }
    expect(logged.map(({ text }) => text)).toEqual([
      expect.stringContaining('Host.loadAccount returned a person that cannot be stored'),
    ]);
  });

  // @shows AS-8.5
  test.each([
    ['objects', { name: { first: 'Ada' }, email: Object('ada') as unknown }],
    ['a number and a big integer', { name: 7, email: 7n }],
    ['null', null],
    ['undefined', undefined],
  ])('has no name and no e-mail address on pages if the profile contains %s', async (_, given) => {
    profile = given;
    try {
      const page = await answer('oauth_server_authorize', `/oauth/authorize?${await asking()}`);
      expect(await page.json()).toMatchObject({ person: { name: null, email: null } });
    } finally {
      profile = {};
    }
  });

  async function asking(): Promise<URLSearchParams> {
    const registration = { name: 'App', redirectUris: [REDIRECT_URI], scopes: ['notes:read'] };
    const { client } = await server.clients.create(registration);
    return codeRequest(client.id);
  }
});

describe('administrators of a host without the kit', () => {
  // @shows AS-33.2
  test.each([['false'], [1], [[]], [{}], [null]])(
    'have no permission if the host returns %j',
    async (given) => {
      const administered = serverOn(database, { admin_permission: 'administer' });
      const ask = () =>
        answer('oauth_server_admin_clients', '/oauth/admin/clients', undefined, administered);
      expect((await ask()).status).toBe(200);
      held = given;
      const refused = await ask();
      held = true;
      expect(refused.status).toBe(403);
    },
  );

  // @shows AS-33.2
  test('get 503 and an error in the log if the permission check of the host throws', async () => {
    const administered = serverOn(database, { admin_permission: 'administer' });
    const ask = () =>
      answer('oauth_server_admin_clients', '/oauth/admin/clients', undefined, administered);
    held = HANGS;
    logged.length = 0;
    const refused = await ask();
    held = true;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([
      503,
      expect.stringMatching(/^\d+$/),
    ]);
    expect(logged).toEqual([
      { level: 'error', text: expect.stringContaining('holdsPermission') as string },
    ]);
    expect((await ask()).status).toBe(200);
  });

  // @shows AS-33.3
  test('get only one new secret from two simultaneous forms, and the page shows the current one', async () => {
    const administered = serverOn(database, { admin_permission: 'administer' });
    const { client } = await administered.clients.create({
      name: 'App',
      redirectUris: [REDIRECT_URI],
      scopes: ['openid'],
    });
    const at = `/oauth/admin/client?id=${client.id}`;
    const open = () =>
      answer('oauth_server_admin_client', `${at}&ask=rotate-secret`, undefined, administered);
    const forms = [
      await formDoing(await open(), 'rotate-secret'),
      await formDoing(await open(), 'rotate-secret'),
    ];
    const { promise: both, resolve } = Promise.withResolvers<void>();
    let arrived = 0;
    meeting = () => {
      arrived += 1;
      if (arrived === forms.length) resolve();
      return both;
    };
    const answers = await Promise.all(
      forms.map(({ fields }) =>
        answer('oauth_server_admin_client', at, { ...fields, overlap: '0' }, administered),
      ),
    );
    meeting = async () => {};
    const [shown, other] = answers.toSorted((one, another) => one.status - another.status);
    expect([shown?.status, other?.status]).toEqual([200, 400]);
    expect(await other?.text()).toContain('its secret was changed');
    const [, secret = ''] = /<code class="secret">([^<]+)</.exec((await shown?.text()) ?? '') ?? [];
    const { secretHash } = (await administered.clients.find(client.id)) ?? { secretHash: null };
    expect(await hasher.verify(secret, secretHash ?? '')).toBe(true);
  });
});

describe('an unreachable store', () => {
  // @shows AS-6.16, RFC7009-2.2.1
  test('makes every endpoint return 503 temporarily_unavailable with Retry-After until it is back', async () => {
    // SQLite cannot open a folder. outage.test.ts stops database servers.
    const file = path.join(folder, 'away.sqlite');
    await mkdir(file);
    const store = openOwnStore(`sqlite:${file}`);
    const form = { grant_type: 'refresh_token', client_id: 'app', refresh_token: 'x' };
    const ask = () => answer('oauth_server_token', '/oauth/token', form, serverOn(store));
    const refused = await ask();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
    await rmdir(file);
    await migrate(store, oauthServerMigrations);
    expect((await ask()).status).toBe(401);
    await store.close();
  });
});
