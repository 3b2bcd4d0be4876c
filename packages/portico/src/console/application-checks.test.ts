import { describe, expect, test } from 'vitest';
import { examineEndpoints, examineExemptions, examineLoginRoute } from './application-checks.ts';
import { failing, ok, skipped } from './checks.ts';
import type { Subject } from './subject.ts';

const ISSUER = 'https://portal.example/auth';
const METADATA = `${ISSUER}/.well-known/openid-configuration`;

/** A server and an application with only the members that these checks read. */
function subjectWith(
  config: object,
  application: object = {},
  host: object = { loginUrl: () => '/sign-in' },
  mountPath = '/auth',
): Subject {
  return {
    application,
    server: {
      config: { login_route: 'login', routes: true, ...config },
      host,
      issuer: ISSUER,
      origin: 'https://portal.example',
      mountPath,
      csrfExemptRoutes: { oauth_server_token: true, oauth_server_revoke: true },
    },
  } as unknown as Subject;
}

describe('the sign-in route', () => {
  const named = (...names: string[]) => ({ hasRoute: (name: string) => names.includes(name) });

  test('can be a path, also if the application has no named routes', () => {
    expect(examineLoginRoute(subjectWith({ login_route: '/sign-in' }))).toEqual(ok('/sign-in'));
    expect(examineLoginRoute(subjectWith({ login_route: '/sign-in' }, named()))).toEqual(
      ok('/sign-in'),
    );
  });

  test('can be the name of a route', () => {
    expect(examineLoginRoute(subjectWith({}, named('login')))).toEqual(ok('login'));
  });

  test('is not checked if it is a name and the application has no named routes', () => {
    expect(examineLoginRoute(subjectWith({}))).toEqual(
      skipped('the application has no named routes'),
    );
  });

  test.each([
    ['/sign-in?back=%2F', '/sign-in'],
    ['/sign-in#back=?', '/sign-in'],
    ['/sign-in', '/sign-in'],
    ['/sign-in?a=\nb', '/sign-in'],
  ])('can be the page %j of the host', (url, shown) => {
    const host = { loginUrl: (back: string) => (back === '/' ? url : '/wrong') };
    expect(examineLoginRoute(subjectWith({}, named(), host))).toEqual(ok(shown));
  });

  test('is missing if the host has no such page either', () => {
    const host = {
      loginUrl() {
        throw new Error('No route login');
      },
    };
    expect(examineLoginRoute(subjectWith({}, named('other'), host))).toMatchObject({
      outcome: 'failing',
      detail: "oauth_server:login_route: no route is named 'login'",
    });
  });
});

describe('the endpoints', () => {
  const serving = (status: number, document: unknown) => {
    const asked: string[] = [];
    const fetch = async ({ url }: Request) => {
      asked.push(url);
      return Response.json(document, { status });
    };
    return { asked, application: { fetch } };
  };

  test('are not checked if the application mounts them itself', async () => {
    expect(
      await examineEndpoints(subjectWith({ routes: false }, serving(200, {}).application), true),
    ).toEqual(
      skipped(
        'not checked: the application mounts the endpoints itself (oauth_server:routes is false)',
      ),
    );
    expect(await examineEndpoints(subjectWith({}), true)).toEqual(
      skipped('not checked: the application mounts the endpoints itself'),
    );
  });

  test('are served if the metadata has the issuer, also if a proxy removes base_path', async () => {
    const { asked, application } = serving(200, { issuer: ISSUER });
    expect(await examineEndpoints(subjectWith({}, application), true)).toEqual(
      ok(`this process serves ${METADATA}`),
    );
    const stripped = subjectWith({}, application, {}, '');
    expect(await examineEndpoints(stripped, false)).toEqual(
      ok(
        `this process serves ${METADATA}. To check that requests to this URL reach this server, ` +
          'add --online',
      ),
    );
    expect(asked).toEqual([METADATA, 'https://portal.example/.well-known/openid-configuration']);
  });

  test.each([
    [200, 'https://other.example'],
    [404, ISSUER],
    [201, ISSUER],
  ])('are not served if the answer is %i with the issuer %s', async (status, issuer) => {
    const { application } = serving(status, { issuer });
    expect(await examineEndpoints(subjectWith({}, application), true)).toEqual(
      failing(
        `${METADATA} returns ${status} instead of the server's metadata`,
        'find out which route or hook of the application sends this response',
      ),
    );
  });
});

describe('the exemptions from the CSRF check', () => {
  const exempt = (routes: object) => ({ config: { csrf_exempt_routes: routes } });
  const all = { oauth_server_token: true, oauth_server_revoke: true };

  test('are not checked without routes or without a configuration', () => {
    expect(examineExemptions(subjectWith({ routes: false }, exempt({})))).toEqual(
      skipped('oauth_server:routes is false'),
    );
    expect(examineExemptions(subjectWith({}))).toEqual(
      skipped('the application has no named routes'),
    );
  });

  test('must contain each endpoint for clients', () => {
    expect(examineExemptions(subjectWith({}, exempt({ ...all, other: false })))).toMatchObject({
      outcome: 'ok',
    });
    for (const [routes, checked] of [
      [{ ...all, oauth_server_token: false }, 'oauth_server_token'],
      [{ oauth_server_token: true }, 'oauth_server_revoke'],
      [{}, 'oauth_server_token, oauth_server_revoke'],
    ] as const)
      expect(examineExemptions(subjectWith({}, exempt(routes)))).toMatchObject({
        outcome: 'failing',
        detail: `the application's CSRF check blocks client requests to these routes: ${checked}`,
      });
  });
});
