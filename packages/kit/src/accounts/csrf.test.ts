import { getRequestId, nameRequest } from 'portico/extension';
import type { Route } from 'portico';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { HttpError } from '../errors.ts';
import { CsrfCheck, CsrfTokens } from './csrf.ts';
import type { RequestSession } from './sessions.ts';

const ORIGIN = 'https://app.example';
const COOKIE = '__Host-portico_csrf';
const SCOPE = { secure: true, basePath: '' };
const PERSON = { provider: 'own', id: '7' };
/** A cookie value that the server could have made, and another one. */
const [VALUE, OTHER] = ['v'.repeat(43), 'w'.repeat(43)];

interface Visit {
  /** The value of the CSRF cookie. */
  readonly cookie?: string;
  /** The secret of the session. */
  readonly secret?: string;
  readonly isSignedIn?: boolean;
  readonly authorization?: string;
}

/** Creates the CSRF tokens of a request. */
function tokensOf({ cookie, secret, isSignedIn = false, authorization }: Visit = {}): CsrfTokens {
  const headers = new Headers();
  if (cookie !== undefined) headers.set('cookie', `${COOKIE}=${cookie}`);
  if (authorization !== undefined) headers.set('authorization', authorization);
  const session = {
    person: async () => (isSignedIn ? PERSON : null),
    existingSecret: async () => secret ?? null,
  } as unknown as RequestSession;
  return new CsrfTokens(new Request(ORIGIN, { headers }), session, SCOPE, ['DPoP']);
}

describe('the CSRF token of a browser', () => {
  test('is bound to the session of a signed-in person, without a cookie', async () => {
    const tokens = tokensOf({ secret: 'one', isSignedIn: true });
    const token = await tokens.token();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(tokens.setCookie()).toBeNull();
    const sent = { secret: 'one', isSignedIn: true, cookie: VALUE };
    expect(await tokensOf(sent).token()).toBe(token);
    expect(await tokensOf({ ...sent, secret: 'two' }).token()).not.toBe(token);
  });

  test('is bound to a cookie while signed out, and the cookie is set once', async () => {
    const tokens = tokensOf({ secret: 'one' });
    expect(tokens.setCookie()).toBeNull();
    const token = await tokens.token();
    expect(await tokens.token()).toBe(token);
    const [, cookie = ''] = /^__Host-portico_csrf=([\w-]{43}); Path=\/; HttpOnly; /.exec(
      tokens.setCookie() ?? '',
    ) ?? [''];
    const next = tokensOf({ cookie });
    expect(await next.token()).toBe(token);
    expect(next.setCookie()).toBeNull();
    expect(await tokensOf().token()).not.toBe(token);
  });

  test.each(['', 'x', `${VALUE}x`, `${VALUE.slice(1)}.`])(
    'needs a new cookie instead of %j, which the server did not create',
    async (cookie) => {
      const tokens = tokensOf({ cookie });
      const token = await tokens.token();
      expect(tokens.setCookie()).not.toBeNull();
      expect(await tokensOf({ cookie }).accepts(token)).toBe(false);
    },
  );

  test('is accepted only from the browser that it was created for', async () => {
    const token = await tokensOf({ cookie: VALUE }).token();
    expect(await tokensOf({ cookie: VALUE }).accepts(token)).toBe(true);
    for (const visit of [{}, { cookie: OTHER }, { secret: 'one', isSignedIn: true }])
      expect(await tokensOf(visit).accepts(token)).toBe(false);
    for (const wrong of [null, '', VALUE, `${token}x`, token.slice(1)])
      expect(await tokensOf({ cookie: VALUE }).accepts(wrong)).toBe(false);
  });

  test('is accepted only if it is bound to the session, while a person is signed in', async () => {
    const visit = { secret: 'one', isSignedIn: true, cookie: VALUE };
    const [ofCookie, ofSession] = [
      await tokensOf({ cookie: VALUE }).token(),
      await tokensOf(visit).token(),
    ];
    expect(await tokensOf(visit).accepts(ofSession)).toBe(true);
    expect(await tokensOf(visit).accepts(ofCookie)).toBe(false);
    expect(await tokensOf({ ...visit, isSignedIn: false }).accepts(ofSession)).toBe(false);
    expect(await tokensOf({ ...visit, secret: 'two' }).accepts(ofSession)).toBe(false);
  });

  test('is accepted by the sign-in form whether it is bound to the cookie or to the session', async () => {
    const visit = { secret: 'one', isSignedIn: true, cookie: VALUE };
    const [ofCookie, ofSession, foreign] = [
      await tokensOf({ cookie: VALUE }).token(),
      await tokensOf(visit).token(),
      await tokensOf({ cookie: OTHER }).token(),
    ];
    for (const [token, accepted] of [
      [ofCookie, true],
      [ofSession, true],
      [foreign, false],
      ['', false],
      [null, false],
    ] as const)
      expect(await tokensOf(visit).acceptsToSignIn(token)).toBe(accepted);
    for (const token of [ofCookie, ofSession])
      expect(await tokensOf({ cookie: OTHER }).acceptsToSignIn(token)).toBe(false);
    for (const token of [null, '', ofSession]) {
      expect(await tokensOf().acceptsToSignIn(token)).toBe(false);
      expect(await tokensOf().accepts(token)).toBe(false);
    }
  });

  test.each(['Bearer x', 'DPoP x'])('does not exist for a request with %s', async (scheme) => {
    const tokens = tokensOf({ cookie: VALUE, authorization: scheme });
    await expect(tokens.token()).rejects.toThrow(
      new HttpError(400, 'A request with a bearer token has no session'),
    );
    expect(tokens.setCookie()).toBeNull();
    expect(await tokens.accepts(await tokensOf({ cookie: VALUE }).token())).toBe(false);
  });
});

const route = (name: string, readsNoSession?: true): Route => ({
  name,
  methods: ['POST'],
  path: '/',
  handler: async () => new Response(),
  ...(readsNoSession === undefined ? {} : { readsNoSession }),
});

describe('the CSRF check', () => {
  const exempt = { hook: true, guarded: false, odd: 'yes' } as unknown as Record<string, boolean>;
  const check = new CsrfCheck(ORIGIN, exempt, ['DPoP']);
  const isNeeded = (method: string, of: Route, authorization?: string) =>
    check.isNeeded(
      new Request(ORIGIN, {
        method,
        headers: authorization === undefined ? {} : { Authorization: authorization },
      }),
      of,
    );

  test.each([
    ['GET', false],
    ['HEAD', false],
    ['OPTIONS', false],
    ['POST', true],
    ['PUT', true],
    ['PATCH', true],
    ['DELETE', true],
  ])('is needed for %s: %s', (method, needed) => {
    expect(isNeeded(method, route('notes'))).toBe(needed);
  });

  test.each([
    ['notes', undefined, true],
    ['notes', true, false],
    ['hook', undefined, false],
    ['guarded', true, true],
    ['odd', true, true],
    ['toString', undefined, true],
    ['constructor', true, false],
  ] as const)(
    'of the route %s, whose readsNoSession is %s, is needed: %s',
    (name, reads, needed) => {
      expect(isNeeded('POST', route(name, reads))).toBe(needed);
      expect(check.isExempt(name, reads)).toBe(!needed);
    },
  );

  test.each([
    ['Bearer x', false],
    ['DPoP x', false],
    ['Basic x', true],
    ['DPoPx', true],
  ])('is needed for a request with Authorization: %s: %s', (authorization, needed) => {
    expect(isNeeded('POST', route('notes'), authorization)).toBe(needed);
  });
});

describe('the CSRF check of a request that changes data', () => {
  const check = new CsrfCheck(ORIGIN, {}, []);
  const tokens = (cookie = VALUE) => tokensOf({ cookie });
  const sent = (body: BodyInit | null, headers: Record<string, string> = {}) =>
    nameRequest(new Request(`${ORIGIN}/notes?a=1`, { method: 'POST', body, headers }), 'id-1');
  const FORM = 'application/x-www-form-urlencoded';

  test('accepts a token in the header without reading the body', async () => {
    const request = sent('anything', { 'X-CSRF-Token': await tokens().token() });
    expect(await check.check(request, tokens())).toBe(request);
    expect(request.bodyUsed).toBe(false);
  });

  test('accepts a token in the form, and the handler can still read the body', async () => {
    const token = await tokens().token();
    const passed = await check.check(sent(new URLSearchParams({ _csrf: token, b: '2' })), tokens());
    expect(await passed.text()).toBe(`_csrf=${token}&b=2`);
    expect([passed.url, passed.method, getRequestId(passed)]).toEqual([
      `${ORIGIN}/notes?a=1`,
      'POST',
      'id-1',
    ]);
    const form = new FormData();
    form.set('_csrf', token);
    expect((await (await check.check(sent(form), tokens())).formData()).get('_csrf')).toBe(token);
  });

  test('finds the token without parsing the other fields, which takes seconds if there are many', async () => {
    const token = await tokens().token();
    const parsing = vi.spyOn(Request.prototype, 'formData');
    onTestFinished(() => parsing.mockRestore());
    const part = (name: string, value: string, headers = '') =>
      `--x\r\nContent-Disposition: form-data; name="${name}"${headers}\r\n\r\n${value}\r\n`;
    const typed = '\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Length: 43';
    for (const [body, type] of [
      [`${'a&'.repeat(400_000)}_csrf=${token}&_csrf=x&b`, FORM],
      [`_csrf=${encodeURIComponent(token).replaceAll('-', '%2D')}`, FORM],
      [
        `${part('a', '').repeat(10_000)}${part('_csrf', token)}--x--`,
        'multipart/form-data; boundary=x',
      ],
      [`${part('_csrf', token, typed)}--x--`, 'multipart/form-data; boundary="x"'],
      [`${part('_csrf', token).replaceAll('"', '')}--x--`, 'multipart/form-data; boundary=x'],
    ] as const) {
      const passed = await check.check(sent(body, { 'Content-Type': type }), tokens());
      expect(await passed.text()).toBe(body);
    }
    for (const [body, type] of [
      ['a&'.repeat(400_000), FORM],
      [`x_csrf=${token}`, FORM],
      [part('_csrf', 'x').repeat(10_000), 'multipart/form-data; boundary=x'],
      [
        '\r\nContent-Disposition: form-data; name="_csrf"'.repeat(20_000),
        'multipart/form-data; boundary=x',
      ],
    ] as const)
      await expect(
        check.check(sent(body, { 'Content-Type': type }), tokens()),
      ).rejects.toMatchObject({ status: 403 });
    expect(parsing).not.toHaveBeenCalled();
  });

  test('refuses a missing token with 403', async () => {
    const token = await tokens().token();
    const file = new FormData();
    file.set('_csrf', new Blob([token]), 'token.txt');
    const wrong = new HttpError(403, 'The CSRF token is missing or wrong');
    for (const request of [
      sent(null),
      sent(new URLSearchParams({ _csrf: 'x' })),
      sent(new URLSearchParams({ csrf: token })),
      sent(new URLSearchParams({ _csrf: token }), { 'X-CSRF-Token': 'x' }),
      sent(`_csrf=${token}`, { 'Content-Type': 'text/plain' }),
      sent(`_csrf=${token}`, { 'Content-Type': 'constructor' }),
      sent(JSON.stringify({ _csrf: token }), { 'Content-Type': 'application/json' }),
      sent(`_csrf=${token}`, { 'Content-Type': 'multipart/form-data; boundary=x' }),
      sent(file),
    ])
      await expect(check.check(request, tokens())).rejects.toThrow(wrong);
    const right = () => sent(new URLSearchParams({ _csrf: token }));
    await expect(check.check(right(), tokens(OTHER))).rejects.toThrow(wrong);
    await expect(check.check(right(), null)).rejects.toThrow(wrong);
  });

  test('refuses a request from a different site, even with a valid token', async () => {
    const token = await tokens().token();
    for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }])
      await expect(
        check.check(sent(null, { ...headers, 'X-CSRF-Token': token }), tokens()),
      ).rejects.toThrow(new HttpError(403, 'Another site sent the request'));
  });

  test('reads a body of up to 1 MiB', async () => {
    const first = `_csrf=${await tokens().token()}&a=`;
    const of = (size: number) =>
      sent(first + 'x'.repeat(size - first.length), { 'Content-Type': `${FORM}; charset=utf-8` });
    const passed = await check.check(of(1024 * 1024), tokens());
    expect(await passed.text()).toHaveLength(1024 * 1024);
    await expect(check.check(of(1024 * 1024 + 1), tokens())).rejects.toMatchObject({ status: 413 });
    const other = sent('x'.repeat(1024 * 1024 + 1), { 'Content-Type': 'application/json' });
    await expect(check.check(other, tokens())).rejects.toMatchObject({ status: 403 });
    expect(other.bodyUsed).toBe(false);
  });
});
