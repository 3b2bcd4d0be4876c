// @engines sqlite: the database makes no difference
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import { portico, type NextMount } from 'portico/next';
import { BearerError, token, type AuthorizationServer } from 'portico';
import { newDpopKey } from './support/dpop.ts';
import { boundHeaders, boundServiceToken } from './support/proofs.ts';
import {
  ADA,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';

let portal: RunningPortal;
let ada: string;
let narrow: string;

beforeAll(async () => {
  portal = await startPortal();
  const client = await registerClient(portal);
  ada = (await obtainTokens(portal, client, ADA)).access_token;
  narrow = (await obtainTokens(portal, client, ADA, { scope: 'openid' })).access_token;
});
afterAll(() => portal.close());

const asked = (path: string, init: RequestInit = {}) =>
  new Request(`http://internal:3000${path}`, init);
const bearer = (accessToken: string) => ({ Authorization: `Bearer ${accessToken}` });

describe('the Next route handlers', () => {
  test('answer only the method under which they are exported', async () => {
    const { handlers } = portico(async () => [portal.server], 'endpoints');
    const discovery = await handlers.GET(asked('/.well-known/openid-configuration'));
    expect(await discovery.json()).toMatchObject({ issuer: portal.url });
    const head = await handlers.HEAD(
      asked('/.well-known/openid-configuration', { method: 'HEAD' }),
    );
    expect([head.status, await head.text()]).toEqual([200, '']);
    const token = await handlers.POST(asked('/oauth/token', { method: 'POST' }));
    expect(token.status).toBe(400);
    const put = await handlers.PUT(asked('/oauth/token', { method: 'PUT' }));
    expect([put.status, put.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
    expect((await handlers.GET(asked('/oauth/elsewhere'))).status).toBe(404);
  });

  test('start one server per process at the first request, however often Next loads the module', async () => {
    let starts = 0;
    const name = randomUUID();
    const load = () =>
      portico(async () => {
        starts += 1;
        return [portal.server];
      }, name);
    const modules = [load(), load(), load()];
    expect(starts).toBe(0);
    const path = '/.well-known/jwks.json';
    await Promise.all(modules.map(({ handlers }) => handlers.GET(asked(path))));
    const servers = await Promise.all(modules.map(({ server }) => server()));
    expect(servers).toEqual([portal.server, portal.server, portal.server]);
    expect(starts).toBe(1);
  });

  test('start nothing during a Next build, which stops when they first read the request', async () => {
    const building = new Proxy(asked('/mcp'), {
      get(target, key) {
        if (key === 'url' || key === 'headers') throw new Error('there is no request');
        return Reflect.get(target, key) as unknown;
      },
    });
    let starts = 0;
    const { handlers, withToken } = portico(async () => {
      starts += 1;
      return [portal.server];
    }, 'building');
    await expect(handlers.GET(building)).rejects.toThrow('there is no request');
    await expect(withToken(building, async () => Response.json(1))).rejects.toThrow(
      'there is no request',
    );
    expect(starts).toBe(0);
  });

  test('start again after a startup failure', async () => {
    const failing = [new Error('no database yet')];
    const { handlers, server } = portico(async () => {
      const error = failing.pop();
      if (error !== undefined) throw error;
      return [portal.server];
    }, randomUUID());
    await expect(handlers.GET(asked('/.well-known/jwks.json'))).rejects.toThrow('no database yet');
    expect((await handlers.GET(asked('/.well-known/jwks.json'))).status).toBe(200);
    expect(await server()).toBe(portal.server);
  });

  test('answer below the base path, and behind a discovery prefix', async () => {
    const below = await startPortal({ config: { base_path: '/auth' } });
    const { handlers } = portico(async () => [below.server], randomUUID());
    const status = async (path: string) => (await handlers.GET(asked(path))).status;
    expect(await status('/auth/.well-known/openid-configuration')).toBe(200);
    expect(await status('/.well-known/oauth-authorization-server/auth')).toBe(200);
    expect(await status('/auth/oauth/authorize')).toBe(400);
    expect(await status('/oauth/authorize')).toBe(404);
    await below.close();
  });

  test('use separate servers for two different names', async () => {
    const [one, other] = ['one', 'other'].map((name) => portico(async () => [portal.server], name));
    expect(await one?.server()).toBe(await other?.server());
    const empty = portico(async () => [{ ...portal.server, endpoints: [] }], 'empty');
    expect((await empty.handlers.GET(asked('/.well-known/jwks.json'))).status).toBe(404);
  });
});

describe('withToken', () => {
  let mount: NextMount;
  beforeAll(() => {
    mount = portico(async () => [portal.server], 'tokens');
  });
  const name = () => {
    token().requireScope('notes:read');
    return token().user()?.getProfile().name;
  };

  test('in a route handler: returns the refusal of token() as the response', async () => {
    const call = (headers: HeadersInit) =>
      mount.withToken(asked('/api/notes', { headers }), async () => Response.json({ of: name() }));
    expect(await (await call(bearer(ada))).json()).toEqual({ of: 'Ada Lovelace' });
    const refused = [await call({}), await call(bearer('x')), await call(bearer(narrow))];
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 403]);
    expect(refused.map((each) => each.headers.has('www-authenticate'))).toEqual([true, true, true]);
  });

  test('in a server function, with headers(): returns the result, and throws a refusal of token()', async () => {
    const call = (headers: HeadersInit) => mount.withToken(new Headers(headers), name);
    expect(await call(bearer(ada))).toBe('Ada Lovelace');
    await expect(call({})).rejects.toThrow(BearerError);
    await expect(call(bearer('x'))).rejects.toMatchObject({ code: 'invalid_token' });
    await expect(call(bearer(narrow))).rejects.toMatchObject({ code: 'insufficient_scope' });
  });

  test('with headers(): refuses a bound token, because no proof can be checked', async () => {
    const proving = await startPortal({ config: { oauth_server: { dpop: 'accept' } } });
    try {
      const key = newDpopKey();
      const bound = await boundServiceToken(proving, key);
      const { withToken } = portico(async () => [proving.server], randomUUID());
      const needsOne = () => token().requireUsable();
      const sent = () => boundHeaders(key, 'GET', `${proving.url}/`, bound);
      const request = new Request(`${proving.url}/`, { headers: sent() });
      const answered = await withToken(request, async () => {
        needsOne();
        return new Response('in');
      });
      expect(await answered.text()).toBe('in');
      await expect(withToken(new Headers(sent()), needsOne)).rejects.toThrow(BearerError);
    } finally {
      await proving.close();
    }
  });

  test('runs nothing if the token look-up is refused', async () => {
    const failing = {
      ...portal.server,
      lookUpToken: async () => ({ failure: new Response(null, { status: 503 }) }),
    };
    const { withToken } = portico(async () => [failing], randomUUID());
    let ran = false;
    const work = () => {
      ran = true;
    };
    await expect(withToken(new Headers(), work)).rejects.toThrow('could not be looked up: 503');
    expect(ran).toBe(false);
  });

  test('with headers(): the look-up can read all of them', async () => {
    const seen: (string | null)[] = [];
    const reading: AuthorizationServer = {
      ...portal.server,
      lookUpToken: async (authorization, request) => {
        seen.push(authorization, request?.().headers.get('x-request-id') ?? null);
        return { failure: new Response(null, { status: 503 }) };
      },
    };
    const { withToken } = portico(async () => [reading], randomUUID());
    const headers = new Headers({ Authorization: 'Bearer a', 'X-Request-Id': 'id-7' });
    await expect(withToken(headers, () => null)).rejects.toThrow('could not be looked up: 503');
    expect(seen).toEqual(['Bearer a', 'id-7']);
  });

  test('passes the request to the host, like the endpoints do', async () => {
    const given: unknown[] = [];
    const noting: AuthorizationServer = {
      ...portal.server,
      endpoints: [
        {
          name: 'noting',
          path: '/noting',
          methods: ['GET'],
          async handle(_, context) {
            given.push(context);
            return new Response('an endpoint');
          },
        },
      ],
      async withToken(_, work, context) {
        given.push(context);
        return work();
      },
    };
    const { handlers, withToken } = portico(async () => [noting], randomUUID());
    const [one, other] = [asked('/noting'), asked('/api/notes')];
    await handlers.GET(one);
    await withToken(other, async () => new Response('a route'));
    expect(given[0]).toBe(one);
    expect(given[1]).toBe(other);
  });
});
