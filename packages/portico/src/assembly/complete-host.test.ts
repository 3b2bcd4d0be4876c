import type { Log } from '@portico/sql';
import { describe, expect, test, vi } from 'vitest';
import { QUIET_LOG } from '../../../../test/support/quiet-log.ts';
import { runInContext } from '../http/context.ts';
import { ADA, complete, CONTEXT, EVENT, REQUEST } from './complete-host.fixture.ts';
import { withReturn } from './complete-host.ts';

describe('each method of a host', () => {
  test('gets the context of the request, and keeps its object', async () => {
    const asked: unknown[][] = [];
    const method = (answer: unknown) =>
      function called(this: { readonly name: string }, ...given: unknown[]) {
        asked.push([this.name, ...given]);
        return answer;
      };
    const { host, within } = complete({
      name: 'own',
      signedIn: method(ADA),
      loadAccount: method('account'),
      holdsPermission: method(true),
      accountFor: method(ADA),
      findPeople: method([]),
      authenticatedAt: method(1),
      sessionId: method('session'),
      browserSecret: method('secret'),
      render: method('page'),
      clientAddress: method('192.0.2.1'),
      audit: method(undefined),
      commit: method(undefined),
      loginUrl: method('/login?a'),
      reauthenticateUrl: method('/again'),
    });
    const asserted = { issuer: 'i', tenant: null, subject: 's' };
    const response = new Response();
    const again = { acrValues: [] };
    await within(async () => {
      expect([
        await host.signedIn(REQUEST),
        await host.loadAccount(ADA),
        await host.holdsPermission(ADA, 'p'),
        await host.accountFor?.(asserted),
        await host.findPeople?.('t', 5),
        await host.authenticatedAt?.(REQUEST),
        await host.sessionId?.(REQUEST),
        await host.browserSecret(REQUEST, ADA),
        await host.render('oauth/error', {}),
        host.clientAddress(REQUEST),
        await host.audit(EVENT),
        await host.commit?.(REQUEST, response),
        host.loginUrl('/back'),
        host.reauthenticateUrl?.('/back', again),
      ]).toEqual([
        ADA,
        'account',
        true,
        ADA,
        [],
        1,
        'session',
        'secret',
        'page',
        '192.0.2.1',
        undefined,
        undefined,
        '/login?a',
        '/again',
      ]);
    });
    expect(asked).toEqual(
      [
        [REQUEST],
        [ADA],
        [ADA, 'p'],
        [asserted],
        ['t', 5],
        [REQUEST],
        [REQUEST],
        [REQUEST],
        ['oauth/error', {}],
        [REQUEST],
        [EVENT],
        [REQUEST, response],
        ['/back'],
        ['/back', again],
      ].map((given) => ['own', ...given, CONTEXT]),
    );
  });

  test('can find nothing, as null or as undefined', async () => {
    for (const nothing of [null, undefined]) {
      const find = async () => nothing;
      const { host } = complete({
        signedIn: find,
        loadAccount: find,
        accountFor: find,
        sessionId: find,
      });
      expect([
        await host.signedIn(REQUEST),
        await host.loadAccount(ADA),
        await host.accountFor?.({ issuer: 'i', tenant: null, subject: 's' }),
        await host.sessionId?.(REQUEST),
      ]).toEqual([null, null, null, null]);
    }
  });
});

describe('a host without the optional members', () => {
  test('has none of their methods', () => {
    const { accountFor, findPeople, authenticatedAt, sessionId, reauthenticateUrl, endSession } =
      complete().host;
    const all = {
      accountFor,
      findPeople,
      authenticatedAt,
      sessionId,
      reauthenticateUrl,
      endSession,
    };
    expect(Object.values(all)).toEqual(Object.values(all).map(() => null));
  });

  test('has the defaults of the server', async () => {
    const { host, did } = complete();
    expect([host.passwordHasher, host.tellsWhoWaits, host.clientAddress(REQUEST)]).toEqual([
      'the default hasher',
      false,
      '192.0.2.9',
    ]);
    expect(await host.render('oauth/error', {})).toBe('the default page');
    expect(await host.browserSecret(REQUEST, ADA)).toBe('the secret of the cookie');
    await host.audit(EVENT);
    await host.audit({ ...EVENT, authorization: 'one' } as never);
    const { type: _, ...fields } = EVENT;
    const line = (more: object) => [
      'audit: {event}',
      { event: 'secret_rotated', ...fields, ...more },
    ];
    expect(did).toEqual([
      line({}),
      ['audit', 'secret_rotated'],
      line({ authorizationId: 'one' }),
      ['audit', 'secret_rotated'],
    ]);
  });

  test('can tell who waits, and choose its own hasher and log', () => {
    const lines: unknown[] = [];
    const log: Log = { ...QUIET_LOG, info: (message) => void lines.push(message) };
    const { host, did } = complete({ tellsWhoWaits: true, passwordHasher: 'own', log });
    host.log.info('a line');
    expect([host.tellsWhoWaits, host.passwordHasher, lines, did]).toEqual([
      true,
      'own',
      ['a line'],
      [],
    ]);
    expect(complete({ tellsWhoWaits: 1 }).host.tellsWhoWaits).toBe(false);
  });
});

describe('the address of the client', () => {
  test.each([
    [{ ip: '192.0.2.1', socket: { remoteAddress: '192.0.2.2' } }, '192.0.2.1'],
    [{ ip: 1, socket: { remoteAddress: '192.0.2.2' } }, '192.0.2.2'],
    [{ env: { incoming: { socket: { remoteAddress: '192.0.2.3' } } } }, '192.0.2.3'],
    [{ socket: { remoteAddress: 1 } }, '192.0.2.9'],
    [{ env: {} }, '192.0.2.9'],
    [{ env: { incoming: {} } }, '192.0.2.9'],
    [{}, '192.0.2.9'],
    [null, '192.0.2.9'],
    [undefined, '192.0.2.9'],
  ])('in the context %j is %s', (context, address) => {
    const { host } = complete();
    expect(runInContext(context, null, () => host.clientAddress(REQUEST))).toBe(address);
  });

  test('from the host is a text, and otherwise unknown', () => {
    for (const [given, address] of [
      ['192.0.2.1', '192.0.2.1'],
      [null, null],
      [undefined, null],
      [1, null],
    ])
      expect(complete({ clientAddress: () => given }).host.clientAddress(REQUEST)).toBe(address);
    expect(() =>
      complete({ clientAddress: async () => '192.0.2.1' }).host.clientAddress(REQUEST),
    ).toThrow('Host.clientAddress returned a promise, but must return a string or null');
  });
});

describe('the path of a page of the host', () => {
  test.each(['loginUrl', 'signOut', 'reauthenticateUrl'])('%s begins with one slash', (member) => {
    for (const path of ['/', '/login', '/login?a=b'])
      expect(() => complete({ [member]: path })).not.toThrow();
    for (const path of ['', 'login', '//login', '/\\login', 'https://app.example/login'])
      expect(() => complete({ [member]: path })).toThrow(
        `Host.${member} is '${path}', but must be a path that begins with one slash; for another ` +
          'URL, pass a function',
      );
  });

  test('gets the path to return to', () => {
    const { host } = complete({ reauthenticateUrl: '/again?a=1' });
    expect(host.loginUrl('/back?b=c')).toBe('/login?return_to=%2Fback%3Fb%3Dc');
    expect(host.reauthenticateUrl?.('/back', { acrValues: ['x', 'y'] })).toBe(
      '/again?a=1&return_to=%2Fback&acr_values=x+y',
    );
    expect(withReturn('/a', '/b')).toBe('/a?return_to=%2Fb');
    expect(withReturn('/é/𝄞\uD834', '/b')).toBe('/%C3%A9/%F0%9D%84%9E%EF%BF%BD?return_to=%2Fb');
  });

  test('can be a text or a URL object from a function, and nothing else', () => {
    const loginUrl = (given: unknown) => complete({ loginUrl: () => given }).host.loginUrl('/back');
    expect(loginUrl('https://sign-in.example/é')).toBe('https://sign-in.example/%C3%A9');
    expect(loginUrl(new URL('https://sign-in.example/a'))).toBe('https://sign-in.example/a');
    const rejected = Promise.reject(new Error('no page'));
    const handled = vi.spyOn(rejected, 'catch');
    const others: readonly (readonly [unknown, string])[] = [
      [null, 'null'],
      [undefined, 'undefined'],
      [1, 'number'],
      [{}, 'object'],
      [Promise.resolve('/a'), 'a promise'],
      [rejected, 'a promise'],
    ];
    for (const [given, type] of others)
      expect(() => loginUrl(given)).toThrow(
        `Host.loginUrl returned ${type}, but must return a string`,
      );
    expect(handled).toHaveBeenCalled();
    const again = complete({ reauthenticateUrl: () => null }).host;
    expect(() => again.reauthenticateUrl?.('/back', { acrValues: [] })).toThrow(
      'Host.reauthenticateUrl returned null, but must return a string',
    );
  });
});
