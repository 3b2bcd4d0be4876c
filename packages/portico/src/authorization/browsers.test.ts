import { describe, expect, test } from 'vitest';
import { Browsers } from './browsers.ts';
import { CookieSealer } from './cookie-keys.ts';
import type { CookieKeyRecords } from '../store/sql/cookie-keys.ts';

const PERIOD = 30 * 86_400_000;
const ADA = { provider: 'staff', id: 'ada' };
const GRACE = { provider: 'staff', id: 'grace' };
const HTTPS = '__Host-portico_browser';
const HTTP = 'portico_browser';

/** The parts of a request, without its cookies. */
interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function start({ issuer = 'https://portal.example', basePath = '' } = {}) {
  const time = { now: 1_800_000_000_000 };
  const keys = new Map([[694, 'k'.repeat(43)]]);
  const opened: string[] = [];
  const store = {
    async cookieKey(period: number, candidate: string) {
      if (!keys.has(period)) keys.set(period, candidate);
      return keys.get(period) ?? candidate;
    },
    findCookieKey: async (period: number) => keys.get(period) ?? null,
  } satisfies Partial<CookieKeyRecords> as unknown as CookieKeyRecords;
  const sealer = new CookieSealer(store, () => time.now, PERIOD);
  const watched = {
    seal: (name: string, content: string) => sealer.seal(name, content),
    isCurrent: (sealed: string) => sealer.isCurrent(sealed),
    open: (name: string, sealed: string) => (opened.push(sealed), sealer.open(name, sealed)),
  };
  const browsers = new Browsers(watched, issuer, basePath);
  const request = (cookie = '', init: Sent = {}) =>
    new Request(issuer, { ...init, headers: { cookie, ...init.headers } });
  /** Returns the cookie of a returning browser. If `person` is null, no person is signed in. */
  const cookieFor = async (person: typeof ADA | null, cookie = '') => {
    const visit = request(cookie);
    if (person !== null) await browsers.secret(visit, person);
    return (await browsers.setCookie(visit))?.split(';')[0] ?? cookie;
  };
  return { browsers, request, cookieFor, time, opened };
}

describe('a browser without a cookie', () => {
  test.each([
    ['https://portal.example', '', `${HTTPS}=`, '; Path=/; HttpOnly; SameSite=Lax; Secure'],
    ['http://localhost:8080', '', `${HTTP}=`, '; Path=/; HttpOnly; SameSite=Lax'],
    ['https://portal.example', '/id', `${HTTPS}%2Fid=`, '; Path=/; HttpOnly; SameSite=Lax; Secure'],
  ])('gets a cookie from %s%s', async (issuer, basePath, name, attributes) => {
    const { browsers, request } = start({ issuer, basePath });
    const given = (await browsers.setCookie(request())) ?? '';
    expect([given.slice(0, name.length), given.slice(given.indexOf(';'))]).toEqual([
      name,
      attributes,
    ]);
  });

  test('gets no cookie if the request is not a navigation', async () => {
    const { browsers, request } = start();
    const given = async (init: Sent) => (await browsers.setCookie(request('', init))) !== null;
    expect(await given({ headers: { 'Sec-Fetch-Dest': 'document' } })).toBe(true);
    expect(await given({ method: 'POST' })).toBe(false);
    expect(await given({ method: 'POST', headers: { 'Sec-Fetch-Dest': 'document' } })).toBe(false);
    for (const destination of ['iframe', 'image', 'empty', ''])
      expect(await given({ headers: { 'Sec-Fetch-Dest': destination } })).toBe(false);
    // A signed-in person gets no cookie either, because a browser may send the host's session
    // cookie without Portico's cookie.
    const posted = request('', { method: 'POST' });
    await browsers.secret(posted, ADA);
    expect(await browsers.setCookie(posted)).toBeNull();
  });

  test('gets a secret that stays the same during the request and in later ones', async () => {
    const { browsers, request } = start();
    const [one, other] = [request(), request()];
    const secret = await browsers.secret(one, ADA);
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await browsers.secret(one, ADA)).toBe(secret);
    expect(await browsers.secret(other, ADA)).not.toBe(secret);
    const cookie = (await browsers.setCookie(one))?.split(';')[0] ?? '';
    expect(await browsers.secret(request(cookie), ADA)).toBe(secret);
  });
});

describe('the secret of a browser', () => {
  test('stays the same for one person without a new cookie, and differs for each person', async () => {
    const { browsers, request, cookieFor } = start();
    const cookie = await cookieFor(ADA);
    const [first, second] = [request(cookie), request(cookie, { method: 'POST' })];
    expect(await browsers.secret(first, ADA)).toBe(await browsers.secret(second, ADA));
    expect([await browsers.setCookie(first), await browsers.setCookie(second)]).toEqual([
      null,
      null,
    ]);
    const hers = request(cookie);
    expect(await browsers.secret(hers, GRACE)).not.toBe(await browsers.secret(first, ADA));
    for (const person of [
      { provider: 'other', id: 'ada' },
      { provider: 'sta', id: 'ffada' },
    ])
      expect(await browsers.secret(request(cookie), person)).not.toBe(
        await browsers.secret(first, ADA),
      );
  });

  test('stays the same at sign-in, and its cookie then belongs to the person', async () => {
    const { browsers, request, cookieFor } = start();
    const visitor = await cookieFor(null);
    expect(await cookieFor(null, visitor)).toBe(visitor);
    const visit = request(visitor, { method: 'POST' });
    const secret = await browsers.secret(visit, ADA);
    const cookie = (await browsers.setCookie(visit))?.split(';')[0] ?? '';
    expect(cookie).not.toBe(visitor);
    const later = request(cookie);
    expect(await browsers.secret(later, ADA)).toBe(secret);
    expect(await browsers.setCookie(later)).toBeNull();
  });

  test('changes after a different person uses it, even if the first one returns', async () => {
    const { browsers, request, cookieFor } = start();
    const adas = await cookieFor(ADA);
    const before = await browsers.secret(request(adas), ADA);
    const visit = request(adas, { method: 'POST' });
    const secret = await browsers.secret(visit, GRACE);
    expect(await browsers.secret(visit, GRACE)).toBe(secret);
    const graces = (await browsers.setCookie(visit))?.split(';')[0] ?? '';
    expect(await browsers.secret(request(graces), GRACE)).toBe(secret);
    expect(await browsers.secret(request(graces), ADA)).not.toBe(before);
  });

  test('changes when it is renewed, whatever cookie the browser sent', async () => {
    const { browsers, request, cookieFor } = start();
    for (const cookie of ['', await cookieFor(null), await cookieFor(ADA)]) {
      const visit = request(cookie, { method: 'POST' });
      const before = await browsers.secret(visit, ADA);
      browsers.renew(visit);
      const given = (await browsers.setCookie(visit))?.split(';')[0] ?? '';
      expect(given).not.toBe('');
      // No person has used this cookie yet. The next person who signs in takes it over.
      const next = request(given);
      const secret = await browsers.secret(next, ADA);
      expect(secret).not.toBe(before);
      expect(await browsers.setCookie(next)).not.toBeNull();
    }
  });

  test('survives a change of the cookie key, and the cookie is set again', async () => {
    const { browsers, request, cookieFor, time } = start();
    const cookie = await cookieFor(ADA);
    const secret = await browsers.secret(request(cookie), ADA);
    time.now += PERIOD;
    const visit = request(cookie);
    expect(await browsers.secret(visit, ADA)).toBe(secret);
    const again = (await browsers.setCookie(visit))?.split(';')[0] ?? '';
    expect([again.includes('=695.'), await browsers.secret(request(again), ADA)]).toEqual([
      true,
      secret,
    ]);
    // The browser also gets the cookie with a request that needs no secret and is not a navigation.
    expect(await browsers.setCookie(request(cookie, { method: 'POST' }))).not.toBeNull();
    expect(await browsers.setCookie(request(again))).toBeNull();
  });

  test('can be read from the cookie of an earlier release', async () => {
    const { browsers, request } = start();
    const sealed =
      '694.XkGjne2bX1V4mW4bYvWyLSDrqU2VuykoehYQPIbxtDagjIGQoLK7Cb6PwSMS0C0E0HDSADKlmjT5rXto1n07vZaA9BQrDyD243_I7OwbYz3YwaFjeynrcjtAaFo1q4Bp4bdr_wX9x5bJOCU5qjaYTFuH';
    const visit = request(`${HTTPS}=${sealed}`);
    expect(await browsers.secret(visit, ADA)).toBe('Kaj5zTHDOlcOwtW3-xQHCMjwJi61MvGJ9Gyz-w_-GOg');
    expect(await browsers.setCookie(visit)).toBeNull();
  });
});

describe('a browser with several cookies', () => {
  test('uses the cookie of the person first, then of a visitor, then of a different person', async () => {
    const { browsers, request, cookieFor } = start();
    const [adas, graces, ownerless] = [
      await cookieFor(ADA),
      await cookieFor(GRACE),
      await cookieFor(null),
    ];
    const own = await browsers.secret(request(adas), ADA);
    const unclaimed = await browsers.secret(request(ownerless), ADA);
    for (const order of [
      [adas, graces, ownerless],
      [ownerless, graces, adas],
      [graces, adas, ownerless],
    ]) {
      const visit = request(order.join('; '));
      expect(await browsers.secret(visit, ADA)).toBe(own);
      expect(await browsers.setCookie(visit)).toBeNull();
    }
    for (const order of [
      [graces, ownerless],
      [ownerless, graces],
    ])
      expect(await browsers.secret(request(order.join('; ')), ADA)).toBe(unclaimed);
  });

  test('has only the last four cookies tried, and none that is too long', async () => {
    const { browsers, request, cookieFor, opened } = start();
    const adas = await cookieFor(ADA);
    const own = await browsers.secret(request(adas), ADA);
    const others = ['a', 'b', 'c', 'd'].map((value) => `${HTTPS}=${value}`);
    const found = async (cookies: readonly string[]) => {
      opened.length = 0;
      return (await browsers.secret(request(cookies.join('; ')), ADA)) === own;
    };
    expect(await found([...others, adas, ...others.slice(1)])).toBe(true);
    expect(opened).toEqual([adas.slice(HTTPS.length + 1), 'b', 'c', 'd']);
    expect(await found([adas, ...others])).toBe(false);
    expect(opened).toEqual(['a', 'b', 'c', 'd']);
    expect(
      await found([
        adas,
        `other=${others.join()}`,
        `${HTTP}=x`,
        `${HTTPS}2=x`,
        `${HTTPS}=${'x'.repeat(201)}`,
      ]),
    ).toBe(true);
    expect(opened).toEqual([adas.slice(HTTPS.length + 1)]);
    expect(await found([`${HTTPS}=${'x'.repeat(200)}`])).toBe(false);
    expect(opened).toEqual(['x'.repeat(200)]);
  });

  test('gets a new cookie for one that cannot be opened, except in the response to a form', async () => {
    const { browsers, request } = start();
    for (const value of ['', 'x', `694.${'A'.repeat(100)}`]) {
      expect(await browsers.setCookie(request(`${HTTPS}=${value}`))).not.toBeNull();
      expect(await browsers.setCookie(request(`${HTTPS}=${value}`, { method: 'POST' }))).toBeNull();
    }
  });
});
