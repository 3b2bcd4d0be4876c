// @engines sqlite: requests wait in the browser; test/waiting-requests.test.ts tests those that wait in the store
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  type Host,
} from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';
import { openOwnStore, type OwnStore } from './support/own-store.ts';
import { createClock } from './support/clock.ts';
import { CHALLENGE, REDIRECT_URI } from './support/portal.ts';

/**
 * How much a browser keeps for waiting sign-ins, to the byte, and what it drops for more (AS-7.13,
 * AS-7.14).
 */

const ISSUER = 'http://localhost:8080';
const PREFIX = 'portico_request_';
const MOST_BYTES = 6144;

const clock = createClock();
let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let database: OwnStore;
let clientId: string;
let send: (jar: Jar, at: string, changes?: Changes) => Promise<Response>;
let startAgain: () => void;
let address: string | null;

/** The cookies of a browser, by name, and who is signed in there. */
interface Jar extends Map<string, string> {
  person?: string;
}
interface Changes {
  readonly issuer?: string;
  readonly form?: Readonly<Record<string, string>>;
  /** In place of the browser's own cookies. */
  readonly cookie?: string;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-waiting-'));
  created = await createDatabase(folder);
  database = openOwnStore(created.url);
  await migrate(database, oauthServerMigrations);
  const host: Host<Jar> = {
    signedIn: async (_, { person }) =>
      person === undefined ? null : { provider: 'staff', id: person },
    loadAccount: async (reference) => ({ reference, isActive: () => true, getProfile: () => ({}) }),
    holdsPermission: async () => true,
    loginUrl: '/sign-in',
    clientAddress: () => address,
    browserSecret: async () => 'the-secret-of-the-one-browser',
    log: { debug() {}, info() {}, warning() {}, error() {} },
  };
  const serverOf = (publicUrl: string) =>
    createAuthorizationServer({
      publicUrl,
      config: oauthServerConfiguration.parse({
        name: 'Host',
        scopes: { 'notes:read': 'Read your notes' },
        key_path: path.join(folder, 'keys'),
        pushed_authorization_requests: 'accept',
      }),
      host,
      database,
      clock: clock.now,
    });
  const servers = new Map<string, ReturnType<typeof serverOf>>();
  startAgain = () => {
    for (const issuer of [ISSUER, 'https://host.example']) servers.set(issuer, serverOf(issuer));
  };
  startAgain();
  const client = await servers.get(ISSUER)?.clients.create({
    name: 'App',
    redirectUris: [REDIRECT_URI],
    scopes: ['notes:read'],
    public: true,
  });
  clientId = client?.client.id ?? '';
  send = async (jar, at, { issuer = ISSUER, form, cookie = cookiesOf(jar) } = {}) => {
    const server = servers.get(issuer);
    if (server === undefined) throw new Error(`There is no server ${issuer}`);
    const request = new Request(issuer + at, {
      headers: { Accept: 'text/html', Cookie: cookie },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    const response = (await createHandler<Jar>(server)(request, jar)) ?? Response.error();
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Max-Age=0/.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };
});
afterAll(async () => {
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});
beforeEach(withNothingWaiting);

function withNothingWaiting(): void {
  address = '192.0.2.1';
  clock.advance(1200);
}

const browser = (): Jar => new Map();
const cookiesOf = (jar: Jar) => [...jar].map((pair) => pair.join('=')).join('; ');
const parametersWith = (state: string) => ({
  client_id: clientId,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
  state,
});
const asking = (state: string) => `/oauth/authorize?${new URLSearchParams(parametersWith(state))}`;

/**
 * Asks without a signed-in person; returns where the browser comes back to, and the cookie in which
 * the request waits.
 */
async function ask(jar: Jar, state: string, issuer = ISSUER) {
  const response = await send(jar, asking(state), { issuer });
  const cookies = response.headers.getSetCookie();
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookies[0] ?? '') ?? [];
  const location = new URL(response.headers.get('location') ?? 'x:', ISSUER);
  const back = location.searchParams.get('return_to') ?? '';
  const gone = cookies.slice(1).map((cookie) => cookie.split('=')[0] ?? '');
  return {
    status: response.status,
    response,
    name,
    bytes: name.length + value.length,
    gone,
    cookies,
    back,
  };
}

/**
 * What a person finds who signs in and comes back: the state of the answered question, or the
 * status.
 */
async function stateOf(jar: Jar, back: string): Promise<string | number> {
  const signedIn: Jar = Object.assign(new Map(jar), { person: 'ada' });
  const page = await send(signedIn, back);
  if (page.status !== 200) return page.status;
  const html = await page.text();
  const field = (name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
  const form = {
    request_id: field('request_id'),
    csrf_token: field('csrf_token'),
    decision: 'deny',
  };
  const answered = await send(signedIn, '/oauth/authorize', { form });
  return new URL(answered.headers.get('location') ?? 'x:').searchParams.get('state') ?? '';
}

interface Row {
  readonly network: string;
  readonly parameters: string;
  readonly byte_count: number | string;
  readonly expires_at: number | string;
}

/** What waits in the store now; the row of the budget is not a request. */
async function stored(): Promise<readonly Row[]> {
  const { rows } = await database.execute<Row>(
    "SELECT network, parameters, byte_count, expires_at FROM oauth_waiting_requests WHERE secret_hash <> 'budget' AND expires_at > ?",
    [clock.now()],
  );
  return rows;
}

/** Longer than a cookie may be. */
const LONG = 's'.repeat(5000);

describe('the cookie of a waiting request', () => {
  // @shows AS-7.14
  test.each([
    [ISSUER, 3499],
    ['https://host.example', 3500],
  ])(
    'holds the request up to 3500 bytes, rounded to whole characters: %s',
    async (issuer, most) => {
      const sizes = new Map<number, number>();
      let [whole, long] = [1000, 3500];
      while (long - whole > 1) {
        const middle = Math.floor((whole + long) / 2);
        const { bytes } = await ask(browser(), 's'.repeat(middle), issuer);
        sizes.set(middle, bytes);
        // The other kind holds only a secret.
        if (bytes > 1000) whole = middle;
        else long = middle;
      }
      expect(sizes.get(whole)).toBe(most);
      expect(await stored()).not.toEqual([]);
    },
  );

  // @shows AS-7.13
  test('is limited to this server, its path and its lifetime, and is Secure over https', async () => {
    startAgain();
    const attributes = (cookie = '') => cookie.replace(/=[^;]*/, '');
    const plain = await ask(browser(), 'x');
    expect(attributes(plain.cookies[0])).toMatch(
      /^portico_request_[\w-]{43}; Path=\/oauth\/authorize; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
    const secure = await ask(browser(), 'x', 'https://host.example');
    expect(attributes(secure.cookies[0])).toMatch(
      /^__Secure-portico_request_[\w-]{43}; Path=\/oauth\/authorize; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
    );
  });

  // @shows AS-7.13
  test('is valid for exactly consent_ttl', async () => {
    for (const state of ['short', LONG]) {
      const [inTime, late] = [browser(), browser()];
      const [first, second] = [await ask(inTime, state), await ask(late, state)];
      clock.advance(599.999);
      expect(await stateOf(inTime, first.back)).toBe(state);
      clock.advance(0.001);
      expect(await stateOf(late, second.back)).toBe(400);
    }
  });

  test('is removed when its request is shown to a person', async () => {
    withNothingWaiting();
    startAgain();
    for (const state of ['short', LONG]) {
      const jar = browser();
      const { name, back } = await ask(jar, state);
      jar.person = 'ada';
      const page = await send(jar, back);
      expect(page.headers.getSetCookie()).toEqual([
        `${name}=; Path=/oauth/authorize; HttpOnly; SameSite=Lax; Max-Age=0`,
      ]);
      expect(await stored()).toEqual([]);
    }
  });
});

describe('the cookies of requests that wait in one browser', () => {
  // @shows AS-7.13
  test('are limited to the last eight', async () => {
    const jar = browser();
    const names: string[] = [];
    for (let count = 0; count < 10; count += 1) {
      const asked = await ask(jar, `tab-${count}`);
      expect(asked.gone).toEqual(count < 8 ? [] : [names[count - 8]]);
      names.push(asked.name);
      clock.advance(1);
    }
    expect([...jar.keys()].filter((name) => name.startsWith(PREFIX))).toEqual(names.slice(2));
  });

  // @shows AS-7.13
  test('are limited to the newest that fit in 6144 bytes, including names and values', async () => {
    /** A state that makes the cookie this many bytes long. */
    async function stateFor(bytes: number): Promise<string> {
      const ofThousand = (await ask(browser(), 's'.repeat(1000))).bytes;
      const about = 1000 + Math.floor(((bytes - ofThousand) * 3) / 4);
      for (let length = about - 3; length < about + 4; length += 1) {
        const state = 's'.repeat(length);
        if ((await ask(browser(), state)).bytes === bytes) return state;
      }
      throw new Error(`No cookie has ${bytes} bytes`);
    }
    const large = await stateFor(MOST_BYTES - 3001);
    const [fits, doesNot] = [await stateFor(3001), await stateFor(3002)];
    for (const [state, isGone] of [
      [fits, false],
      [doesNot, true],
    ] as const) {
      const jar = browser();
      const first = await ask(jar, state);
      clock.advance(1);
      expect((await ask(jar, large)).gone).toEqual(isGone ? [first.name] : []);
    }
    // The first that does not fit, and all older ones.
    const jar = browser();
    const oldest = await ask(jar, 'oldest');
    clock.advance(1);
    const older = await ask(jar, doesNot);
    clock.advance(1);
    expect((await ask(jar, large)).gone).toEqual([older.name, oldest.name]);
  });

  // @shows AS-7.13
  test('are removed if expired or unreadable, and no other cookie is changed', async () => {
    const jar = browser();
    const expired = await ask(jar, 'expired');
    clock.advance(600);
    const kept = await ask(jar, 'kept');
    expect(kept.gone).toEqual([expired.name]);
    const foreign = `${PREFIX}${'x'.repeat(43)}`;
    jar.set(expired.name, 'x');
    jar.set(foreign, jar.get(kept.name) ?? '');
    const others = [
      `${PREFIX}short`,
      `${PREFIX}${'x'.repeat(44)}`,
      `x${foreign}`,
      'session',
      `x${'y'.repeat(58)}`,
    ];
    for (const name of others) jar.set(name, 'x');
    const { gone } = await ask(jar, 'last');
    expect(gone.toSorted()).toEqual([expired.name, foreign].toSorted());
    expect([...jar.keys()]).toEqual(expect.arrayContaining([kept.name, ...others]));
  });

  // @shows AS-7.13
  test('are removed over the limit, except the one to which a person returns without a session', async () => {
    const forms = (state: string) => ({ form: parametersWith(state) });
    const jar = browser();
    const wanted = await ask(jar, 'w'.repeat(1500));
    for (let count = 0; count < 12; count += 1) {
      clock.advance(1);
      // As from another site: without cookies.
      const elsewhere = browser();
      await send(elsewhere, '/oauth/authorize', forms(`form-${count}`));
      for (const [name, value] of elsewhere) jar.set(name, value);
    }
    const again = await send(jar, wanted.back);
    expect([again.status, new URL(again.headers.get('location') ?? 'x:', ISSUER).pathname]).toEqual(
      [302, '/sign-in'],
    );
    const left = [...jar.keys()].filter((name) => name.startsWith(PREFIX));
    expect(left).toHaveLength(8);
    expect(await stateOf(jar, wanted.back)).toBe('w'.repeat(1500));
    // Its own bytes count too.
    const full = browser();
    const large = await ask(full, 'l'.repeat(2000));
    for (const count of [1, 2]) {
      clock.advance(1);
      const elsewhere = browser();
      await send(elsewhere, '/oauth/authorize', forms(`${count}`.repeat(1200)));
      for (const [name, value] of elsewhere) full.set(name, value);
    }
    // The browser sends it last.
    const value = full.get(large.name) ?? '';
    full.delete(large.name);
    full.set(large.name, value);
    const bytes = () =>
      [...full]
        .filter(([name]) => name.startsWith(PREFIX))
        .reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    expect(bytes()).toBeGreaterThan(MOST_BYTES);
    await send(full, large.back);
    expect(bytes()).toBeLessThanOrEqual(MOST_BYTES);
    expect(full.has(large.name)).toBe(true);
  });

  // @shows AS-7.13
  test('are found by their IDs, even next to an unreadable cookie of the same name', async () => {
    const jar = browser();
    const asked = [await ask(jar, 'one'), await ask(jar, 'two'), await ask(jar, 'three')];
    const states = [];
    for (const { back } of asked.toReversed()) states.push(await stateOf(new Map(jar), back));
    expect(states).toEqual(['three', 'two', 'one']);
    // A sibling domain may have set one.
    const { name, back } = await ask(jar, 'four');
    const ada: Jar = Object.assign(browser(), { person: 'ada' });
    const page = await send(ada, back, { cookie: `${name}=x; ${name}=${jar.get(name) ?? ''}` });
    expect(page.status).toBe(200);
  });

  test('are replaced one by one when a pushed request is reloaded', async () => {
    const jar = browser();
    const pushed = await send(browser(), '/oauth/par', { form: parametersWith('pushed') });
    const { request_uri: uri = '' } = (await pushed.json()) as { readonly request_uri?: string };
    const at = `/oauth/authorize?${new URLSearchParams({ client_id: clientId, request_uri: uri })}`;
    await send(jar, at);
    for (let count = 0; count < 7; count += 1) {
      clock.advance(1);
      expect((await ask(jar, `tab-${count}`)).gone).toEqual([]);
    }
    const again = await send(jar, at);
    expect(again.headers.getSetCookie()).toEqual([expect.stringMatching(/; Max-Age=600$/)]);
    const login = new URL(again.headers.get('location') ?? 'x:', ISSUER);
    expect(await stateOf(jar, login.searchParams.get('return_to') ?? '')).toBe('pushed');
  });
});

describe('a request that is too long for a cookie', () => {
  // @shows AS-7.14
  test('is stored with its network and its lifetime, and its row size counts', async () => {
    for (const [from, network] of [
      ['192.0.2.1', '192.0.2.1'],
      ['2001:db8::1', '2001:db8:0:0::/64'],
      [null, ''],
    ] as const) {
      clock.advance(600);
      address = from;
      await ask(browser(), `é${LONG}`);
      const [row, ...more] = await stored();
      expect(more).toEqual([]);
      expect(row).toMatchObject({ network });
      expect(Number(row?.byte_count)).toBe(Buffer.byteLength(row?.parameters ?? '') + 300);
      expect(Number(row?.expires_at)).toBe(clock.now() + 600_000);
    }
  });

  // @shows AS-7.14
  test('is refused if its network has reached its limit, with a time to retry', async () => {
    withNothingWaiting();
    await ask(browser(), LONG);
    await database.execute(
      "UPDATE oauth_waiting_requests SET byte_count = ? WHERE secret_hash <> 'budget' AND expires_at > ?",
      [1024 * 1024, clock.now()],
    );
    const refused = await ask(browser(), LONG);
    expect([refused.status, refused.response.headers.get('retry-after')]).toEqual([503, '60']);
    expect(await refused.response.text()).toContain('Too many');
    address = '192.0.2.2';
    expect((await ask(browser(), LONG)).status).toBe(302);
  });

  // @shows AS-7.14
  test('ends when the store no longer has it', async () => {
    const jar = browser();
    const { back } = await ask(jar, LONG);
    await database.execute("DELETE FROM oauth_waiting_requests WHERE secret_hash <> 'budget'");
    expect(await stateOf(jar, back)).toBe(400);
  });
});
