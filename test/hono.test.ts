// @engines sqlite: the database makes no difference
import { Hono, type Context } from 'hono';
import { compress } from 'hono/compress';
import { setCookie } from 'hono/cookie';
import { cors } from 'hono/cors';
import { bearer, bearerErrors, portico, type Mountable } from 'portico/hono';
import { BearerError } from 'portico';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

/** Endpoints that return the request they got, and respond like those of a server. */
const shown: Mountable = {
  endpoints: [
    {
      name: 'shown',
      path: '/shown',
      methods: ['GET', 'POST'],
      async handle(request, context) {
        setCookie(context as Context, 'by', '2');
        const headers = new Headers({
          'Content-Type': 'text/plain',
          'Cache-Control': 'no-store',
          Vary: 'Origin',
        });
        for (const cookie of ['ours=4', 'ours_too=5']) headers.append('Set-Cookie', cookie);
        return new Response(await request.text(), { status: 201, headers });
      },
    },
  ],
};

describe('portico/hono, with only fetch', () => {
  const mounted = portico(shown as Parameters<typeof portico>[0]);
  const app = new Hono()
    .use(cors())
    .use(async (c, next) => {
      setCookie(c, 'before', '1');
      c.header('Cache-Control', 'public');
      c.header('Content-Type', 'text/html');
      c.header('Vary', 'Accept', { append: true });
      await next();
      setCookie(c, 'after', '3');
    })
    .use(mounted);
  const form = { method: 'POST', body: new URLSearchParams({ a: '1' }) };
  const names = (response: Response) =>
    response.headers.getSetCookie().map((cookie) => cookie.split('=')[0]);

  test('keeps cookies of the context set before, by and after the endpoint, and its own cookies', async () => {
    const response = await app.request('/shown', form);
    expect(response.status).toBe(201);
    expect(new Set(names(response))).toEqual(
      new Set(['before', 'by', 'after', 'ours', 'ours_too']),
    );
  });

  test('gives headers of the endpoint precedence, and adds those of the context', async () => {
    const { headers } = await app.request('/shown', form);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toBe('text/plain');
    expect(headers.get('vary')).toMatch(/Accept.*Origin/);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  test('treats HEAD as GET without the body, other methods as 405, and leaves other paths alone', async () => {
    const head = await app.request('/shown', { method: 'HEAD' });
    expect([head.status, head.body]).toEqual([201, null]);
    const put = await app.request('/shown', { method: 'PUT' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD']);
    expect((await app.request('/shown/else')).status).toBe(404);
  });

  const FORM = ['application/x-www-form-urlencoded', 'a=1&a=%2B&b%5Bc%5D=%C3%A4'] as const;
  const JSON_TEXT = ['application/json', '{"a":[1,2]}'] as const;
  test.each<[string, (c: Context) => Promise<unknown>, readonly [type: string, body: string]]>([
    ['text', (c) => c.req.text(), JSON_TEXT],
    ['json', (c) => c.req.json(), JSON_TEXT],
    ['arrayBuffer', (c) => c.req.arrayBuffer(), JSON_TEXT],
    ['blob', (c) => c.req.blob(), JSON_TEXT],
    ['formData', (c) => c.req.formData(), FORM],
    ['parseBody', (c) => c.req.parseBody(), FORM],
  ])('can read a body that c.req.%s() has already read', async (_, read, [type, body]) => {
    const reading = new Hono().use(async (c, next) => {
      await read(c);
      await next();
    });
    const init = { method: 'POST', headers: { 'Content-Type': type }, body };
    expect(await (await reading.use(mounted).request('/shown', init)).text()).toBe(body);
  });
});

/** Finds no token in any request. */
const server = { lookUpToken: async () => ({ run: (work: () => unknown) => work() }) };
const refusing = () =>
  new Hono().use(bearer(server as unknown as Parameters<typeof bearer>[0])).get('/', () => {
    throw new BearerError('missing_token');
  });

describe('a refusal by token() in Hono', () => {
  const challenge = ({ headers }: Response) => headers.get('www-authenticate');

  test('is 401 in an application without an error handler, and prints nothing', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const answer = await refusing().request('/');
    expect([answer.status, challenge(answer)]).toEqual([401, 'Bearer realm="oauth"']);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(printed).not.toHaveBeenCalled();
  });

  test('is an error with a response, like HTTPException, for an error handler that checks for one', async () => {
    const seen: unknown[] = [];
    const app = refusing().onError((error, c) => {
      seen.push(error);
      return 'getResponse' in error ? error.getResponse() : c.text('Something went wrong', 500);
    });
    const answer = await app.request('/');
    expect([answer.status, challenge(answer)]).toEqual([401, 'Bearer realm="oauth"']);
    expect(seen).toEqual([expect.any(BearerError)]);
  });

  test('replaces the response of an error handler with another status', async () => {
    const answer = await refusing()
      .onError((_, c) => c.text('Something went wrong', 500))
      .request('/');
    expect([answer.status, challenge(answer)]).toEqual([401, 'Bearer realm="oauth"']);
    expect(await answer.json()).toHaveProperty('error');
  });

  test('is 401 if an error handler throws it again, and other errors that it throws stay errors', async () => {
    const app = refusing()
      .get('/fire', () => {
        throw new Error('the oven is on fire');
      })
      .onError((error) => {
        throw error;
      });
    const answer = await app.request('/');
    expect([answer.status, challenge(answer)]).toEqual([401, 'Bearer realm="oauth"']);
    const { message } = await Promise.resolve(app.request('/fire')).then(
      () => new Error('there was a response'),
      (error: Error) => error,
    );
    expect(message).toBe('the oven is on fire');
  });

  test('is not passed to the handler of bearerErrors(), which gets all other errors', async () => {
    const seen: unknown[] = [];
    const app = new Hono()
      .use(async (c, next) => {
        c.header('Cache-Control', 'public');
        await next();
      })
      .route('/', refusing())
      .get('/fire', () => {
        throw new Error('the oven is on fire');
      })
      .onError(
        bearerErrors((error, c) => {
          seen.push(error);
          return c.text(error.message, 503);
        }),
      );
    const refused = await app.request('/');
    expect([refused.status, refused.headers.get('cache-control')]).toEqual([401, 'no-store']);
    expect(seen).toEqual([]);
    const answer = await app.request('/fire');
    expect([answer.status, await answer.text()]).toEqual([503, 'the oven is on fire']);
  });

  test('looks up the token with the request of Hono, which may contain a proof', async () => {
    const given: Request[] = [];
    const looking = {
      async lookUpToken(_: string | null, asked: () => Request) {
        given.push(asked());
        return { run: <T>(work: () => T) => work() };
      },
    } as unknown as Parameters<typeof bearer>[0];
    const app = new Hono().use(bearer(looking)).get('/', (c) => c.text('in'));
    const asked = new Request('http://localhost/', { headers: { DPoP: 'a proof' } });
    await app.request(asked);
    expect(given.map(({ headers }) => headers.get('dpop'))).toEqual(['a proof']);
  });

  test('is sent as compressed by a middleware in between', async () => {
    const app = new Hono()
      .use(bearer(server as unknown as Parameters<typeof bearer>[0]))
      .use(compress())
      .get('/', () => {
        throw new BearerError('missing_token');
      });
    const answer = await app.request('/', { headers: { 'Accept-Encoding': 'gzip' } });
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([401, 'gzip']);
    const plain = answer.body?.pipeThrough(new DecompressionStream('gzip'));
    expect(await new Response(plain).json()).toHaveProperty('error');
  });

  test('has no Content-Length if an error handler of the application replaces its body', async () => {
    const app = new Hono()
      .use(async (c, next) => {
        c.header('Content-Length', '3');
        await next();
      })
      .route('/', refusing())
      .onError((_, c) => {
        c.header('Content-Language', 'de');
        return c.text('Kein Zugang', 401);
      });
    const answer = await app.request('/');
    expect([answer.status, await answer.text()]).toEqual([401, 'Kein Zugang']);
    expect(answer.headers.get('content-length')).toBeNull();
    expect(answer.headers.get('content-language')).toBe('de');
  });
});

describe('bearer() in Hono', () => {
  test.each([200, 403, 500])(
    'refuses with its own response if the error handler of the application responds with %i',
    async (status) => {
      const app = refusing().onError((_, c) => c.json({ mine: true }, status as 500));
      const answer = await app.request('/');
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        401,
        'Bearer realm="oauth"',
      ]);
      expect(await answer.json()).not.toHaveProperty('mine');
    },
  );

  test('leaves all other errors to the application, also those that are no Error', async () => {
    const failing = (thrown: unknown) =>
      new Hono().use(bearer(server as unknown as Parameters<typeof bearer>[0])).get('/', () => {
        throw thrown;
      });
    const app = failing(new Error('the oven is on fire')).onError(({ message }, c) =>
      c.text(message, 503),
    );
    expect((await app.request('/')).status).toBe(503);
    await expect(failing('a text').request('/')).rejects.toBe('a text');
  });
});

const METADATA = 'https://portal.example/.well-known/oauth-protected-resource';

test('bearerErrors() passes other errors to the handler, and adds its headers to those of the context', async () => {
  const app = new Hono()
    .use(async (c, next) => {
      for (const name of ['Vary', 'Access-Control-Expose-Headers']) c.header(name, 'X-Own');
      for (const name of ['Content-Type', 'Content-Language', 'X-Kept']) c.header(name, 'own');
      await next();
    })
    .get('/', () => {
      throw new BearerError('missing_token', null, { resourceMetadata: METADATA });
    })
    .get('/other', () => {
      throw new Error('the oven is on fire');
    })
    .onError(bearerErrors(({ message }, c) => c.text(message, 503)));
  const refused = await app.request('/');
  expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'invalid_token' }]);
  const { headers } = refused;
  expect(headers.get('access-control-expose-headers')).toMatch(/^X-Own, .*WWW-Authenticate/);
  expect(headers.get('www-authenticate')).toContain(METADATA);
  expect(headers.get('content-type')).toBe('application/json');
  expect([headers.get('content-language'), headers.get('x-kept')]).toEqual([null, 'own']);
  const other = await app.request('/other');
  expect([other.status, await other.text()]).toEqual([503, 'the oven is on fire']);
});

test('bearerErrors() without other middleware leaves all other errors to the application', async () => {
  const part = new Hono().onError(bearerErrors()).get('/', () => {
    throw new Error('the oven is on fire');
  });
  const whole = new Hono().route('/', part).onError(({ message }, c) => c.text(message, 503));
  const answer = await whole.request('/');
  expect([answer.status, await answer.text()]).toEqual([503, 'the oven is on fire']);
});

test('portico/hono can be reloaded separately, as in hot reloading, and still refuses requests', async () => {
  const again = new URL('../packages/portico/dist/mounts/hono/index.js?again', import.meta.url)
    .href;
  const loaded = (await import(again)) as { readonly bearer: typeof bearer };
  expect(loaded.bearer).not.toBe(bearer);
  const app = new Hono()
    .use(async (c, next) => {
      c.header('Content-Encoding', 'gzip');
      await next();
    })
    .route('/', refusing());
  const answer = await app.request('/');
  expect([answer.status, answer.headers.get('content-encoding')]).toEqual([401, null]);
});
