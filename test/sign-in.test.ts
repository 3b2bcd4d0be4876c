// @engines sqlite: failed attempts are counted in memory
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { argon2idHasher, Event, startApplication, type FailedSignIn } from '@portico/kit';
import type { PasswordHasher } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import { ADA, GRACE, PASSWORD, signIn, startPortal, type RunningPortal } from './support/portal.ts';
import { accountsOf } from '../examples/portal/people.ts';
import { CHEAP, withHasher } from './support/hashers.ts';
import { RUNS_ALL, SCALE } from './support/scale.ts';
import { createRandom } from './support/random.ts';
import { createVisitor, formOf, type Visitor } from './support/visitor.ts';

/**
 * The kit's sign-in page, with ordinary browsers and with attackers. X-Forwarded-For sets their
 * addresses.
 */
const clock = createClock();
const never = () => 0.999;
let random = never;
let portal: RunningPortal;
let address: string;
let addresses = 0;
const events: (FailedSignIn & { readonly event: string })[] = [];

beforeAll(async () => {
  portal = await startPortal({
    hostClock: clock.now,
    random: () => random(),
    config: { trusted_proxies: 1 },
  });
  for (const event of [Event.SIGN_IN_FAILED, Event.SIGN_IN_SLOWED]) {
    portal.application.events.on(event, (failed: FailedSignIn) =>
      events.push({ event, ...failed }),
    );
  }
});
afterAll(() => portal.close());
beforeEach(() => {
  addresses += 1;
  address = `192.0.2.${addresses}`;
  events.length = 0;
  random = never;
});

const sessions = async () =>
  (await portal.application.database.execute('SELECT id_hash FROM host_sessions')).rows.length;
const logOf = ({ env }: RunningPortal) =>
  readFile(path.join(env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');

interface Attempt {
  readonly identifier?: string;
  readonly from?: string;
  readonly visitor?: Visitor;
}

/** Opens the page and submits its form. */
async function tryToSignIn(password: string, attempt: Attempt = {}): Promise<Response> {
  const { identifier = ADA, from = address, visitor = createVisitor(portal.url) } = attempt;
  const page = await visitor.get('/login');
  const form = { ...formOf(await page.text()).fields, identifier, password };
  return fetch(`${portal.url}/login`, {
    method: 'POST',
    headers: { Cookie: visitor.cookies(), 'X-Forwarded-For': from },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
}
const status = async (response: Promise<Response>) => (await response).status;

async function guess(times: number, attempt: Attempt = {}): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    expect(await status(tryToSignIn(`wrong ${count}`, attempt))).toBe(401);
  }
}

describe('the sign-in page', () => {
  // @shows HOST-2.1
  test('stores nothing until a person is signed in', async () => {
    const before = await sessions();
    for (let count = 0; count < 5; count += 1) {
      const visitor = portal.visitor();
      const page = await visitor.visit('/oauth/applications');
      expect(new URL(page.url).pathname).toBe('/login');
      const identifier = `nobody-${count}@example.com`;
      expect((await visitor.submit(page, { identifier, password: 'wrong' })).status).toBe(401);
      expect((await visitor.post('/login', { identifier: ADA, password: 'wrong' })).status).toBe(
        403,
      );
      expect((await visitor.get('/')).status).toBe(200);
    }
    expect(await sessions()).toBe(before);
    await portal.signedIn(ADA);
    expect(await sessions()).toBe(before + 1);
  });

  // @shows HOST-2.1
  test('works in several tabs, including one that was opened before the sign-in', async () => {
    const visitor = portal.visitor();
    const [first, second] = [await visitor.get('/login'), await visitor.get('/login')];
    const form = { identifier: ADA, password: PASSWORD };
    expect((await visitor.submit(second, form)).status).toBe(303);
    expect((await visitor.submit(first, form)).status).toBe(303);
    expect((await visitor.submit(first, { ...form, identifier: GRACE })).status).toBe(303);
    expect(await (await visitor.get('/')).text()).toContain('Grace');
  });

  // @shows HOST-2.1
  test('works after hours of waiting, and asks again if a session ended in the meantime', async () => {
    const form = { identifier: ADA, password: PASSWORD };
    const [visitor, signedIn] = [portal.visitor(), await portal.signedIn(ADA)];
    const [page, another] = [await visitor.get('/login'), await signedIn.get('/login')];
    clock.advance(30 * 24 * 3600);
    expect((await visitor.submit(page, form)).status).toBe(303);
    const asked = await signedIn.submit(another, form);
    expect(asked.status).toBe(403);
    expect((await signedIn.submit(asked, form)).status).toBe(303);
  });

  // @shows HOST-2.1
  test.each<[string, (visitor: Visitor, form: Record<string, string>) => Promise<Response>]>([
    [
      'with the token of a different browser',
      async (visitor, form) => {
        const other = formOf(await (await portal.visitor().get('/login')).text()).fields;
        return visitor.post('/login', { ...form, _csrf: other['_csrf'] ?? '' });
      },
    ],
    ['without its token', (visitor, form) => visitor.post('/login', { ...form, _csrf: '' })],
    ['without its cookie', (_, form) => portal.visitor().post('/login', form)],
    [
      'from a different site',
      (visitor, form) =>
        fetch(`${portal.url}/login`, {
          method: 'POST',
          headers: { Cookie: visitor.cookies(), 'Sec-Fetch-Site': 'cross-site' },
          body: new URLSearchParams(form),
          redirect: 'manual',
        }),
    ],
  ])('refuses a form %s, and the response has a form that works', async (_, send) => {
    const before = await sessions();
    const visitor = portal.visitor();
    const { fields } = formOf(await (await visitor.get('/login?return_to=/notes')).text());
    const refused = await send(visitor, { ...fields, identifier: ADA, password: PASSWORD });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await refused.text();
    expect(html).toContain('Please sign in again');
    expect(html).not.toContain(ADA);
    const id = refused.headers.get('x-request-id') ?? '';
    const told = (await logOf(portal)).split('\n').filter((line) => line.includes(id));
    expect(told).toEqual([expect.stringContaining('login_submit refused: 403')]);
    expect(formOf(html).fields['return_to']).toBe('/notes');
    expect(await sessions()).toBe(before);
    const anew = await visitor.get('/login');
    expect((await visitor.submit(anew, { identifier: ADA, password: PASSWORD })).status).toBe(303);
  });

  test.each(['the first', 'the last'])(
    'works in %s of two tabs that a new browser opened at once, if it sends the origin',
    async (which) => {
      const visitor = portal.visitor();
      const tabs = await Promise.all([visitor.get('/login'), visitor.get('/login')]);
      const page = which === 'the first' ? tabs[0] : tabs[1];
      const { fields } = formOf(await page.text());
      const signedIn = await fetch(`${portal.url}/login`, {
        method: 'POST',
        headers: { Cookie: visitor.cookies(), 'Sec-Fetch-Site': 'same-origin' },
        body: new URLSearchParams({ ...fields, identifier: ADA, password: PASSWORD }),
        redirect: 'manual',
      });
      expect(signedIn.status).toBe(303);
    },
  );

  test('has a form token that is useless once the person is signed in', async () => {
    const visitor = portal.visitor();
    const page = await visitor.get('/login');
    const { _csrf = '' } = formOf(await page.clone().text()).fields;
    await visitor.submit(page, { identifier: ADA, password: PASSWORD });
    expect((await visitor.post('/logout', { _csrf })).status).toBe(403);
    expect((await visitor.submit(await visitor.get('/'))).status).toBe(303);
  });
});

test('a password hasher that returns neither true nor false causes every sign-in to be rejected', async () => {
  let given: unknown = true;
  const passwordHasher = { hash: async () => 'kept', verify: async () => given as boolean };
  const own = await startPortal({ passwordHasher });
  try {
    const attempt = async () => {
      const visitor = own.visitor();
      return (await signIn(visitor, await visitor.get('/login'), ADA)).status;
    };
    expect(await attempt()).toBe(303);
    for (given of ['false', 1, [], { ok: false }])
      expect([given, await attempt()]).toEqual([given, 401]);
  } finally {
    await own.close();
  }
});

// @shows HOST-2.6
test('an empty password is always wrong, with as much hashing as any wrong password', async () => {
  let verified = 0;
  const passwordHasher: PasswordHasher = {
    hash: (password) => CHEAP.hash(password),
    verify(password, hash) {
      verified += 1;
      return CHEAP.verify(password, hash);
    },
  };
  const own = await startPortal({ passwordHasher });
  try {
    const accounts = accountsOf(withHasher(CHEAP, own.application));
    const email = 'moved@example.com';
    await accounts.create({ email, name: 'Moved from elsewhere', password: '' });
    const visitor = own.visitor();
    const cost = async (password: string) => {
      const before = verified;
      expect((await signIn(visitor, await visitor.get('/login'), email, password)).status).toBe(
        401,
      );
      return verified - before;
    };
    expect([await cost(''), await cost('wrong')]).toEqual([1, 1]);
    expect(await accounts.authenticate(email, '')).toBeNull();
  } finally {
    await own.close();
  }
});

describe('password guessing', () => {
  // @shows AS-17.2
  test('is delayed per account and network, with a page that shows when to try again', async () => {
    await guess(5);
    const refused = await tryToSignIn('wrong');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await refused.text();
    expect(html).toContain('try again in a second');
    expect(html).toContain(`value="${ADA}"`);
    const waits: string[] = [];
    for (const wait of [1, 2, 4, 8]) {
      clock.advance(wait);
      await guess(1);
      waits.push(/try again in (.*?)\./.exec(await (await tryToSignIn('wrong')).text())?.[1] ?? '');
    }
    expect(waits).toEqual(['2 seconds', '4 seconds', '8 seconds', '16 seconds']);
  });

  // @shows AS-17.2
  test('does not block the person: the right password works elsewhere, and here after the delay', async () => {
    await guess(5);
    expect(await status(tryToSignIn(PASSWORD))).toBe(429);
    expect(await status(tryToSignIn(PASSWORD, { from: '198.51.100.1' }))).toBe(303);
    expect(await status(tryToSignIn(PASSWORD, { identifier: GRACE }))).toBe(303);
    clock.advance(1);
    expect(await status(tryToSignIn(PASSWORD))).toBe(303);
  });

  // @shows AS-17.2
  test('cannot block the right password from the same network, however long it continues', async () => {
    await guess(5);
    random = createRandom(1);
    const guesses: number[] = [];
    let tries = 0;
    for (let answer = 0; answer !== 303; tries += 1) {
      expect(tries).toBeLessThan(100);
      for (let count = 0; count < 4; count += 1) guesses.push(await status(tryToSignIn('wrong')));
      answer = await status(tryToSignIn(PASSWORD));
    }
    expect(new Set(guesses)).toEqual(new Set([401, 429]));
  });

  describe('does not delay a browser in which a person signed in to the account before,', () => {
    const withCookie = (change: (known: string) => string) => async () => {
      const visitor = await portal.signedIn(ADA);
      const changed = visitor
        .cookies()
        .replace(/(portico_known=)([^;]*)/, (_, name: string, value: string) => {
          return name + change(value);
        });
      return { ...visitor, cookies: () => changed };
    };

    // @shows AS-17.2
    test('when an attacker guesses from the same network', async () => {
      const visitor = await portal.signedIn(ADA);
      await visitor.submit(await visitor.get('/'));
      await guess(5);
      expect(await status(tryToSignIn(PASSWORD))).toBe(429);
      expect(await status(tryToSignIn(PASSWORD, { visitor }))).toBe(303);
      await guess(3, { identifier: 'one@example.com' });
      for (let count = 0; count < 45; count += 1)
        await tryToSignIn('wrong', { identifier: `${count}@x` });
      expect(await status(tryToSignIn(PASSWORD, { identifier: GRACE }))).toBe(429);
      expect(await status(tryToSignIn(PASSWORD, { visitor }))).toBe(303);
    });

    // @shows AS-17.2
    test('when an account with a look-alike name is used to guess in its own browser', async () => {
      const visitor = await portal.signedIn(ADA);
      const email = ADA.replace('a', 'ａ');
      const accounts = accountsOf(portal.application);
      await accounts.create({ email, name: 'Not Ada', password: PASSWORD });
      const stranger = await portal.signedIn(email);
      for (const identifier of [ADA, email])
        for (let count = 0; count < 5; count += 1)
          await tryToSignIn('wrong', { identifier, visitor: stranger });
      expect(await status(tryToSignIn(PASSWORD, { visitor: stranger }))).toBe(429);
      expect(await status(tryToSignIn(PASSWORD, { visitor }))).toBe(303);
    });

    // @shows AS-17.2
    test('in a different process, and for each person who uses the browser', async () => {
      const visitor = await portal.signedIn(ADA);
      await visitor.submit(await visitor.get('/login'), { identifier: GRACE, password: PASSWORD });
      const { definition, env } = portal;
      const other = await startApplication(definition, { env, clock: clock.now, random: never });
      const signIn = async (identifier: string, password: string, visitedBy: Visitor) => {
        const { fields } = formOf(await (await visitedBy.get('/login')).text());
        const headers = { Cookie: visitedBy.cookies(), 'X-Forwarded-For': address };
        const body = new URLSearchParams({ ...fields, identifier, password });
        const request = new Request(`${portal.url}/login`, { method: 'POST', headers, body });
        return (await other.fetch(request)).status;
      };
      try {
        for (const identifier of [ADA, GRACE]) {
          for (let count = 0; count < 5; count += 1)
            await signIn(identifier, 'wrong', portal.visitor());
          expect(await signIn(identifier, PASSWORD, portal.visitor())).toBe(429);
          expect(await signIn(identifier, PASSWORD, visitor)).toBe(303);
        }
      } finally {
        await other.close();
      }
    });

    // @shows AS-17.2
    test('except after guesses in that browser', async () => {
      const visitor = await portal.signedIn(ADA);
      await guess(5, { visitor });
      expect(await status(tryToSignIn('wrong', { visitor, from: '198.51.100.3' }))).toBe(429);
      clock.advance(15 * 60);
    });

    // @shows AS-17.2
    test.each<[string, () => Promise<Visitor>]>([
      ['of a different account', () => portal.signedIn(GRACE)],
      [
        'with an invented value',
        withCookie((known) => known.replace(/-.{43}/, `-${'A'.repeat(43)}`)),
      ],
      [
        'with a changed time',
        withCookie((known) => known.replace(/^\d+/, (at) => String(Number(at) - 1))),
      ],
      [
        'from half a year ago',
        async () => {
          const visitor = await portal.signedIn(ADA);
          clock.advance(180 * 86_400);
          return visitor;
        },
      ],
    ])('except with a cookie %s', async (_, known) => {
      const visitor = await known();
      expect(visitor.cookies()).toContain('portico_known=');
      await guess(5);
      expect(await status(tryToSignIn(PASSWORD, { visitor }))).toBe(429);
    });
  });

  // @shows AS-17.2
  test('is delayed for an unknown account too, and equally for every spelling of a name', async () => {
    await guess(5, { identifier: 'nobody@example.com' });
    expect(await status(tryToSignIn('wrong', { identifier: 'nobody@example.com' }))).toBe(429);
    for (const identifier of [
      ADA,
      ADA.toUpperCase(),
      ` ${ADA}`,
      `${ADA}\t`,
      ADA.replace('a', 'ａ'),
    ])
      await guess(1, { identifier });
    expect(await status(tryToSignIn('wrong', { identifier: ADA }))).toBe(429);
  });

  // @shows AS-17.2
  test('at many accounts from one network is delayed', async () => {
    for (let count = 0; count < 50; count += 1)
      await guess(1, { identifier: `person-${count}@example.com` });
    expect(await status(tryToSignIn('wrong', { identifier: 'person-51@example.com' }))).toBe(429);
    expect(await status(tryToSignIn('wrong', { from: '198.51.100.2' }))).toBe(401);
  });

  // @shows AS-17.2
  test('is an event with the account, the network and the first delay, without the typed text', async () => {
    const ada = await portal.application.accounts.authenticate(ADA, PASSWORD);
    const person = ada?.reference;
    const typed = 'hunter2-in-the-wrong-field';
    await guess(1, { identifier: typed });
    await guess(4);
    const named = (await tryToSignIn('wrong 0')).headers.get('x-request-id');
    const slowed = (await tryToSignIn('wrong')).headers.get('x-request-id');
    for (let count = 0; count < 2; count += 1) expect(await status(tryToSignIn('wrong'))).toBe(429);
    const requestId = expect.stringMatching(/^[\w-]{36}$/) as string;
    expect(events).toEqual([
      { event: 'sign_in_failed', person: null, address, requestId },
      ...Array.from({ length: 5 }, () => ({ event: 'sign_in_failed', person, address, requestId })),
      { event: 'sign_in_slowed', person: null, address, requestId },
    ]);
    const lines = (await logOf(portal)).split('\n').filter((line) => line.includes(`"${address}"`));
    expect(lines).toHaveLength(7);
    expect(
      lines.slice(-2).map((line) => (JSON.parse(line) as { requestId?: string }).requestId),
    ).toEqual([named, slowed]);
    expect(lines.filter((line) => line.includes(`"id":"${person?.id ?? ''}"`))).toHaveLength(5);
    for (const word of [typed, 'wrong 0', ADA]) expect(lines.join('\n')).not.toContain(word);
  });
});

describe.runIf(RUNS_ALL)('a flood of sign-ins', () => {
  // @shows AS-17.3
  test('from one network blocks no other network, and logs one line per second', async () => {
    // The worst case: no part of the flood is slowed down, and every attempt costs a hash.
    const passwordHasher = argon2idHasher({ memory: SCALE.slowHashMemory });
    const flooded = await startPortal({
      passwordHasher,
      random: () => 0,
      config: { trusted_proxies: 1 },
    });
    try {
      const visitor = flooded.visitor();
      const { fields } = formOf(await (await visitor.get('/login')).text());
      const signIn = (password: string, from: string) =>
        fetch(`${flooded.url}/login`, {
          method: 'POST',
          headers: { Cookie: visitor.cookies(), 'X-Forwarded-For': from },
          body: new URLSearchParams({ ...fields, identifier: ADA, password }),
          redirect: 'manual',
        });
      const answers = new Set<number>();
      let page = '';
      const flooding = new AbortController();
      const full = Promise.withResolvers<void>();
      const waits = new Set<string | null>();
      const began = performance.now();
      const flood = Array.from({ length: 120 }, async () => {
        while (!flooding.signal.aborted) {
          const answer = await signIn('wrong', '203.0.113.9');
          answers.add(answer.status);
          const text = await answer.text();
          if (answer.status === 503) {
            page = text;
            waits.add(answer.headers.get('retry-after'));
            full.resolve();
          }
        }
      });
      await full.promise;
      const signIns: number[] = [];
      for (let batch = 1; batch <= SCALE.floodedSignIns; batch += 1) {
        const addresses = Array.from(
          { length: 5 },
          (_, index) => `198.51.100.${10 * batch + index}`,
        );
        signIns.push(
          ...(await Promise.all(addresses.map((from) => status(signIn(PASSWORD, from))))),
        );
      }
      flooding.abort();
      await Promise.all(flood);
      expect(signIns).toEqual(Array.from({ length: 5 * SCALE.floodedSignIns }, () => 303));
      expect(answers).toEqual(new Set([401, 503]));
      expect(waits).toEqual(new Set(['2']));
      expect(page).toContain('Too many people are signing in');
      expect(formOf(page).fields['_csrf']).toBe(fields['_csrf']);
      const told = (await logOf(flooded))
        .split('\n')
        .filter((line) => line.includes('Too many password checks'));
      expect(told.length).toBeGreaterThan(0);
      expect(told.length).toBeLessThanOrEqual((performance.now() - began) / 1000 + 1);
      for (const line of told) expect(line.length).toBeLessThan(300);
    } finally {
      await flooded.close();
    }
  });
});

describe('a person whose ID the store cannot save', () => {
  // @shows AS-4.14
  test('gets no session: the ID is an error, and no other person is loaded for it', async () => {
    const ids = ['\uD800', 'ada\0', '', 'x'.repeat(256)];
    let id = '';
    const other = await startPortal({
      routes: (application) => [
        {
          name: 'enters',
          path: '/enters',
          methods: ['GET'],
          async handler() {
            await application.auth().signIn({ provider: 'accounts', id });
            return new Response('in');
          },
        },
      ],
    });
    try {
      for (id of ids) {
        const answer = await fetch(`${other.url}/enters`);
        expect([id, answer.status, answer.headers.getSetCookie()]).toEqual([id, 500, []]);
      }
      const kept = await other.application.database.execute('SELECT id_hash FROM host_sessions');
      expect(kept.rows).toEqual([]);
      const told = (await logOf(other)).match(/No one can sign in: The id of a person/g);
      expect(told?.length).toBeGreaterThanOrEqual(ids.length);
    } finally {
      await other.close();
    }
  });

  // @shows AS-4.14
  test.each([
    ['email', { email: 'eve\uD800@example.com' }],
    ['email', { email: 'eve\0@example.com' }],
    ['name', { name: 'Eve\uDC00' }],
  ])('gets no account: the %s is refused', async (what, changed) => {
    const accounts = accountsOf(portal.application);
    const eve = { email: 'eve@example.com', name: 'Eve', password: PASSWORD, ...changed };
    await expect(accounts.create(eve)).rejects.toThrow(
      `The account's ${what} must be well-formed Unicode`,
    );
    expect((await accounts.list()).map(({ email }) => email)).not.toContain(
      'eve\uFFFD@example.com',
    );
  });
});
