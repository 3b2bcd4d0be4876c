// @engines sqlite, long: it needs seconds on each engine
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import fc from 'fast-check';
import { databaseAccounts, startApplication, type ApplicationDefinition } from '@portico/kit';
import { authorizationServerOf } from 'portico';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import articlesApp from '../examples/articles/app.ts';
import protectedApp from '../examples/articles/protected.ts';
import catalogApp from '../examples/catalog/app.ts';
import { startExample, type RunningApplication } from './support/application.ts';
import { PASSWORD, signIn } from './support/portal.ts';
import { SCALE } from './support/scale.ts';
import { createVisitor } from './support/visitor.ts';

const REFUSED = { error: 'Request refused' };
const FAILED = { error: 'Internal server error' };
const CASES = SCALE.hostileApiRequests;

async function expectJson(response: Response, status: number, body: unknown): Promise<void> {
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect({ status: response.status, body: await response.json() }).toEqual({ status, body });
}

interface Described {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly responses: Readonly<
              Record<
                string,
                { readonly content?: Readonly<Record<string, { schema: Record<string, unknown> }>> }
              >
            >;
          }
        >
      >
    >
  >;
}

/** Checks a response against the OpenAPI description. */
async function expectDescribed(
  at: RunningApplication,
  operation: string,
  response: Response,
): Promise<void> {
  const description = (await (await fetch(`${at.url}/openapi.json`)).json()) as Described;
  const [method = '', template = ''] = operation.split(' ');
  const described = description.paths[template]?.[method]?.responses[String(response.status)];
  expect(described, `${operation} says nothing of ${response.status}`).toBeDefined();
  const schema = described?.content?.['application/json']?.schema;
  if (schema === undefined) return;
  const result = new AjvJsonSchemaValidator().getValidator(schema)(await response.json());
  expect(result.errorMessage).toBeUndefined();
}

describe('the catalog', () => {
  let catalog: RunningApplication;
  const get = (at: string, init?: RequestInit) => fetch(`${catalog.url}${at}`, init);
  const cup = { id: 'espresso-cup', name: 'Espresso cup', priceInCents: 1250 };
  const beans = { id: 'coffee-beans', name: 'Coffee beans, 1 kg', priceInCents: 2490 };

  beforeAll(async () => {
    catalog = await startExample(catalogApp);
  });
  afterAll(() => catalog.close());

  // @shows API-1.1, API-2.1, API-2.2, API-2.4, API-2.7, API-6.2
  test('GET /api/products returns all products, with the currency and nosniff', async () => {
    const response = await get('/api/products');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    await expectJson(response, 200, { data: [cup, beans], currency: 'EUR' });
  });
  // @shows API-1.5, API-2.1, API-2.3, API-2.6, API-4.4
  test('GET /api/products/{id} returns the product with exactly this id', async () => {
    await expectJson(await get('/api/products/coffee-beans'), 200, {
      data: beans,
      currency: 'EUR',
    });
    for (const id of ['Coffee-Beans', 'coffee-beans%20', 'unknown', '__proto__']) {
      await expectJson(await get(`/api/products/${id}`), 404, { error: 'Product not found.' });
    }
  });
  // @shows API-2.5, API-7.1
  test.each(['1', '2', '20', '99', '100'])(
    'limit=%s returns at most that many products',
    async (limit) => {
      const { data } = (await (await get(`/api/products?limit=${limit}`)).json()) as {
        data: unknown[];
      };
      expect(data).toHaveLength(Math.min(Number(limit), 2));
    },
  );
  // @shows API-2.5, API-4.4
  test.each([
    'limit=',
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=%2B5',
    'limit=+5',
    'limit=5+',
    'limit=%205',
    'limit=1.0',
    'limit=1e1',
    'limit=0x1',
    'limit=01',
    'limit=%D9%A1',
    'limit=true',
    'limit[]=1',
    'limit[a]=1',
    'limit%5B%5D=1',
    'limit=1&limit=2',
    'limit=1&limit[]=2',
  ])('%s returns 400', async (query) => {
    await expectJson(await get(`/api/products?${query}`), 400, {
      error: 'limit must be an integer from 1 to 100.',
    });
  });
  // @shows API-1.1, API-1.3, API-4.1
  test('an unknown route, a wrong method and a malformed path return a JSON error with nosniff', async () => {
    await expectJson(await get('/'), 404, REFUSED);
    await expectJson(await get('/api/products/a/b'), 404, REFUSED);
    await expectJson(await get('/api/products/%'), 404, REFUSED);
    const wrong = await get('/api/products', { method: 'POST', body: 'x' });
    expect(wrong.headers.get('x-content-type-options')).toBe('nosniff');
    expect(wrong.headers.get('allow')).toContain('GET');
    await expectJson(wrong, 405, REFUSED);
  });
  test('HEAD returns the same headers as GET, without a body', async () => {
    const response = await get('/api/products', { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });
  // @shows API-8.1
  test('its responses match its API description', async () => {
    await expectDescribed(catalog, 'get /api/products', await get('/api/products'));
    await expectDescribed(catalog, 'get /api/products', await get('/api/products?limit=x'));
    await expectDescribed(
      catalog,
      'get /api/products/{id}',
      await get('/api/products/espresso-cup'),
    );
    await expectDescribed(catalog, 'get /api/products/{id}', await get('/api/products/x'));
    const described = (await (await get('/openapi.json')).json()) as { openapi: string };
    expect(described.openapi).toBe('3.1.0');
  });
  // @shows API-1.3
  test('every generated request gets JSON and no server error', async () => {
    const word = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }).map((text) => encodeURIComponent(text.toWellFormed())),
      fc.constantFrom('%', '%zz', '..', 'limit', '[]', '1', '100', '\0', '%00'),
    );
    const url = fc.tuple(fc.constantFrom('/api/products', '/api/products/', '/'), word, word);
    await fc.assert(
      fc.asyncProperty(
        url,
        fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'PATCH'),
        async ([at, path, query], method) => {
          const target = new URL(`${catalog.url}${at}${path}?limit=${query}`);
          const response = await catalog.application.fetch(new Request(target, { method }));
          expect(response.status).toBeLessThan(500);
          expect(response.headers.get('content-type')).toMatch(/^application\/json/);
        },
      ),
      { numRuns: CASES },
    );
  });
});

describe('the article store', () => {
  let store: RunningApplication;
  const url = (id: string | number = '') => `${store.url}/api/articles${id === '' ? '' : `/${id}`}`;

  beforeAll(async () => {
    store = await startExample(articlesApp);
  });
  afterAll(() => store.close());

  function post(
    body: object | string,
    headers: Readonly<Record<string, string>> = {},
    query = '',
  ): Promise<Response> {
    const sent = typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body);
    const all = new Headers({ 'Content-Type': 'application/json', ...headers });
    return fetch(`${url()}${query}`, { method: 'POST', headers: all, body: sent });
  }

  async function create(title = 'A title', body = 'A body'): Promise<number> {
    const response = await post({ title, body });
    expect(response.status).toBe(201);
    return ((await response.json()) as { data: { id: number } }).data.id;
  }

  // @shows API-1.2, API-3.2, API-3.3, API-3.4, API-5.1
  test('POST returns 201 with the article and its Location; GET and the list show it, by id', async () => {
    const response = await post({ title: 'First', body: 'Text', id: 99, extra: true });
    const { data } = (await response.clone().json()) as { data: { id: number } };
    expect(response.headers.get('location')).toBe(`/api/articles/${data.id}`);
    await expectJson(response, 201, { data: { id: data.id, title: 'First', body: 'Text' } });
    await expectJson(await fetch(url(data.id)), 200, {
      data: { id: data.id, title: 'First', body: 'Text' },
    });
    const second = await create('Second');
    const list = (await (await fetch(url())).json()) as { data: { id: number }[] };
    const ids = list.data.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([data.id, second]));
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
  });

  // @shows API-1.6, API-3.5, API-3.10, API-5.1
  test('DELETE returns 204 without a body, and the article is then 404', async () => {
    const id = await create();
    const response = await fetch(url(id), { method: 'DELETE' });
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(response.headers.has('content-type')).toBe(false);
    const none = { error: 'No article with that id.' };
    await expectJson(await fetch(url(id)), 404, none);
    await expectJson(await fetch(url(id), { method: 'DELETE' }), 404, none);
  });

  // @shows API-3.10
  test.each(['0', '-1', '01', '1.0', '1e1', 'abc', '%201', '9'.repeat(30), '1%00', '٣'])(
    'the id %s belongs to no article',
    async (id) => {
      await expectJson(await fetch(url(id)), 404, { error: 'No article with that id.' });
    },
  );

  describe('checks of a create request, in their order', () => {
    const good = { title: 'A', body: 'B' };
    // @shows API-3.6
    test.each(['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', ''])(
      '1. the media type %j: 415, before the body is read',
      async (type) => {
        const response = await post('{', { 'Content-Type': type });
        expect(response.status).toBe(415);
        expect(await response.json()).toEqual({ error: expect.any(String) });
      },
    );
    // @shows API-3.6
    test.each([
      'application/json',
      'Application/JSON; charset=utf-8',
      'application/json;x',
      ' application/json ',
    ])('1. the media type %j is accepted', async (type) => {
      expect((await post(good, { 'Content-Type': type })).status).toBe(201);
    });
    // @shows API-3.7
    test.each([
      ['nothing', ''],
      ['incomplete JSON', '{'],
      ['two values', '{} {}'],
      ['a byte order mark', '\u{FEFF}{}'],
      ['a comma too many', '{"title":"A","body":"B",}'],
      ['bytes that are not UTF-8', new Blob([new Uint8Array([0x22, 0xff, 0x22])])],
      ['half of a surrogate pair', '{"title":"\\ud800","body":"B"}'],
      ['a long text without an end, read in linear time', `"${'\\"'.repeat(500_000)}`],
      ['a long text that ends in an escape, read in linear time', `"${'\\"'.repeat(500_000)}\\`],
      ['nesting of 513', `${'['.repeat(513)}${']'.repeat(513)}`],
      [
        'nesting of 513 within a member',
        `{"title":"A","body":"B","x":${'['.repeat(512)}${']'.repeat(512)}}`,
      ],
    ])('2. %s: 400', async (_, body) => {
      const response = await post(body);
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({ error: 'The body is malformed JSON.' });
    });
    // @shows API-3.7, API-7.1
    test('2. nesting of 512 is accepted, and brackets in a text do not count', async () => {
      const inside = `{"title":"A","body":"B","x":${'['.repeat(511)}${']'.repeat(511)}}`;
      expect((await post(inside)).status).toBe(201);
      expect((await post({ title: 'A', body: '[{'.repeat(600) })).status).toBe(201);
    });
    // @shows API-3.8, API-4.4
    test.each([
      'null',
      'true',
      '7',
      '"text"',
      '[]',
      '[{"title":"A","body":"B"}]',
      `${'['.repeat(512)}${']'.repeat(512)}`,
    ])('3. %.20s is not an object: 422', async (body) => {
      const response = await post(body);
      expect(response.status).toBe(422);
      expect(await response.json()).toEqual({ error: expect.any(String) });
    });
    // @shows API-3.9, API-3.11
    test.each<[string, object, readonly string[]]>([
      ['nothing', {}, ['title', 'body']],
      ['no body', { title: 'A' }, ['body']],
      ['a title and a body that are not text', { title: 1, body: null }, ['title', 'body']],
      ['white space', { title: ' \t\n', body: '\r\n ' }, ['title', 'body']],
      ['201 bytes', { title: 'x'.repeat(201), body: 'B' }, ['title']],
      ['101 letters of two bytes', { title: 'ä'.repeat(101), body: 'B' }, ['title']],
      ['10001 bytes', { title: 'A', body: 'x'.repeat(10_001) }, ['body']],
      ['2501 characters of four bytes', { title: 'A', body: '😀'.repeat(2501) }, ['body']],
      ['both', { title: '', body: [] }, ['title', 'body']],
    ])('4. %s: 422, with each failing field', async (_, body, fields) => {
      const response = await post(body);
      expect(response.status).toBe(422);
      const answer = (await response.json()) as { error: string; fields: Record<string, string[]> };
      expect(Object.keys(answer.fields)).toEqual(fields);
      for (const messages of Object.values(answer.fields)) expect(messages.join()).toMatch(/\w/);
    });
    // @shows API-3.11, API-7.1
    test('4. the longest allowed values, to the byte, are stored unchanged', async () => {
      const longest = { title: 'ä'.repeat(100), body: '😀'.repeat(2500) };
      const { data } = (await (await post(longest)).json()) as { data: { id: number } };
      await expectJson(await fetch(url(data.id)), 200, { data: { id: data.id, ...longest } });
      const spaced = { title: '  A  ', body: '\n B' };
      const kept = (await (await post(spaced)).json()) as { data: object };
      expect(kept.data).toMatchObject(spaced);
    });
    // @shows API-3.9
    test('query parameters never replace a field', async () => {
      const response = await post({ body: 'B' }, {}, '?title=A');
      expect(((await response.json()) as { fields: object }).fields).toEqual({
        title: [expect.any(String)],
      });
    });
    // @shows API-3.12
    test('a body above 1 MiB is 413, declared or not', async () => {
      const large = JSON.stringify({ title: 'A', body: 'x'.repeat(1024 * 1024) });
      await expectJson(await post(large), 413, REFUSED);
      const stream = new Blob([large]).stream();
      const init = {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: stream,
        duplex: 'half',
      };
      await expectJson(await fetch(url(), init), 413, REFUSED);
    });
  });

  // @shows API-1.2, API-3.1
  test('ids increase and are never reused, even after the last article was deleted and a restart', async () => {
    const first = await create();
    await fetch(url(first), { method: 'DELETE' });
    const second = await create();
    expect(second).toBeGreaterThan(first);
    await fetch(url(second), { method: 'DELETE' });
    store = await store.restart();
    const kept = await create();
    expect(kept).toBeGreaterThan(second);
    store = await store.restart();
    expect((await fetch(url(kept))).status).toBe(200);
  });

  test('1,000 concurrent creates: 1,000 distinct ids, none lost', async () => {
    // Without HTTP connections: beyond the 511 of a listening socket's backlog, some are reset.
    const created = async (index: number) => {
      const body = JSON.stringify({ title: `Article ${index}`, body: 'A body' });
      const headers = { 'Content-Type': 'application/json' };
      const send = () =>
        store.application.fetch(new Request(url(), { method: 'POST', headers, body }));
      let response = await send();
      // After a long wait for a database connection, the response is 503, and the test sends the
      // request again.
      while (response.status === 503) response = await send();
      expect(response.status).toBe(201);
      return ((await response.json()) as { data: { id: number } }).data.id;
    };
    const ids = await Promise.all(Array.from({ length: 1000 }, (_, index) => created(index)));
    expect(new Set(ids).size).toBe(1000);
    const list = (await (await fetch(url())).json()) as { data: { id: number; title: string }[] };
    const kept = new Map(list.data.map(({ id, title }) => [id, title]));
    expect(ids.filter((id, index) => kept.get(id) !== `Article ${index}`)).toEqual([]);
  });

  // @shows API-8.1
  test('its responses match its API description', async () => {
    const id = await create();
    await expectDescribed(store, 'get /api/articles', await fetch(url()));
    await expectDescribed(store, 'get /api/articles/{id}', await fetch(url(id)));
    await expectDescribed(store, 'get /api/articles/{id}', await fetch(url('x')));
    for (const answer of [
      await post({ title: 'A', body: 'B' }),
      await post('{'),
      await post('[]'),
      await post({}),
      await post('x', { 'Content-Type': 'text/plain' }),
      await post(`"${'x'.repeat(1024 * 1024)}"`),
    ]) {
      await expectDescribed(store, 'post /api/articles', answer);
    }
    await expectDescribed(
      store,
      'delete /api/articles/{id}',
      await fetch(url(id), { method: 'DELETE' }),
    );
    await expectDescribed(
      store,
      'delete /api/articles/{id}',
      await fetch(url(id), { method: 'DELETE' }),
    );
  });

  // @shows API-1.3
  test('every generated request gets JSON and no server error', async () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.string({ unit: 'binary' }));
    const body = fc.oneof(
      fc
        .record({ title: value, body: value }, { requiredKeys: [] })
        .map((object) => JSON.stringify(object)),
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc.uint8Array({ maxLength: 64 }),
    );
    const type = fc.constantFrom(
      'application/json',
      'application/json;charset=utf-16',
      'text/plain',
      'x',
    );
    const at = fc.oneof(
      fc.constant('/api/articles'),
      fc.string().map((text) => `/api/articles/${text}`),
    );
    const method = fc.constantFrom('POST', 'POST', 'GET', 'DELETE', 'PUT');
    await fc.assert(
      fc.asyncProperty(at, method, type, body, async (target, sent, contentType, content) => {
        const request = new Request(new URL(`${store.url}${target.toWellFormed()}`), {
          method: sent,
          headers: { 'Content-Type': contentType },
          ...(sent === 'GET' ? {} : { body: content as string }),
        });
        const response = await store.application.fetch(request);
        expect(response.status).toBeLessThan(500);
        const mediaType = response.status === 204 ? null : 'application/json';
        expect(response.headers.get('content-type')).toBe(mediaType);
      }),
      { numRuns: CASES },
    );
  });

  test('a connection that breaks during a request causes no server error', async () => {
    const { hostname, port } = new URL(store.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      'POST /api/articles HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"title":',
    );
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.destroy();
    expect((await fetch(url())).status).toBe(200);
  });

  test('returns 503 as JSON without the database, with details only in the log', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'portico-gone-'));
    const env = {
      APP_ENV: 'dev',
      DATABASE_URL: 'postgres://127.0.0.1:1/gone',
      STORAGE_DIR: folder,
    };
    const config = {
      public_url: 'http://localhost:8084',
      log: { path: path.join(folder, 'app.log') },
    };
    const gone = await startApplication({ ...articlesApp, config }, { env });
    try {
      for (const request of [
        new Request('http://localhost:8084/api/articles'),
        new Request('http://localhost:8084/api/articles/1', { method: 'DELETE' }),
      ]) {
        await expectJson(await gone.fetch(request), 503, FAILED);
      }
      expect(await readFile(path.join(folder, 'app.log'), 'utf8')).toContain('ECONNREFUSED');
    } finally {
      await gone.close();
      await rm(folder, { recursive: true });
    }
  });
});

describe('an exception in a controller', () => {
  const opened: RunningApplication[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((running) => running.close())));

  const throwing = (definition: ApplicationDefinition, error: Error): ApplicationDefinition => ({
    ...definition,
    async register(application) {
      await definition.register?.(application);
      application.route({
        name: 'throws',
        methods: ['GET'],
        path: '/throws',
        handler() {
          throw error;
        },
      });
    },
  });

  // @shows API-4.3, API-4.4, API-6.1, API-6.4
  test.each([
    ['the catalog', catalogApp],
    ['the article store', articlesApp],
  ])(
    '%s returns JSON without details, and the log has them with the placeholder filled in',
    async (_, definition) => {
      const running = await startExample(throwing(definition, new Error('the shelf fell down')));
      opened.push(running);
      await expectJson(await fetch(`${running.url}/throws`), 500, FAILED);
      const log = await readFile(
        path.join(running.application.storageDirectory, 'app.log'),
        'utf8',
      );
      expect(log).toContain('the shelf fell down');
      expect(log).not.toContain('{exception}');
    },
  );

  // @shows API-4.2, API-6.1
  test('keeps its status; below 500 the article store logs it, and the catalog does not', async () => {
    const teapot = Object.assign(new Error('short and stout'), { status: 418 });
    for (const [definition, logged] of [
      [catalogApp, false],
      [articlesApp, true],
    ] as const) {
      const running = await startExample(throwing(definition, teapot));
      opened.push(running);
      await expectJson(await fetch(`${running.url}/throws`), 418, REFUSED);
      const log = await readFile(
        path.join(running.application.storageDirectory, 'app.log'),
        'utf8',
      ).catch(() => '');
      expect(log.includes('short and stout')).toBe(logged);
    }
  });
});

describe('an example API with protected writes', () => {
  let store: RunningApplication;
  let bearer: string;
  const article = JSON.stringify({ title: 'A', body: 'B' });

  beforeAll(async () => {
    store = await startExample(protectedApp);
    const accounts = databaseAccounts(store.application);
    for (const name of ['ada', 'grace']) {
      const { id } = await accounts.create({
        email: `${name}@example.com`,
        name,
        password: PASSWORD,
      });
      if (name === 'ada') await accounts.grant(id, 'articles:write');
    }
    const { client, secret } = await authorizationServerOf(store.application).clients.create({
      name: 'Writer',
      grants: ['client_credentials'],
      scopes: ['articles:write'],
    });
    const response = await fetch(`${store.url}/oauth/token`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from(`${client.id}:${secret}`).toString('base64')}`,
      },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    bearer = ((await response.json()) as { access_token: string }).access_token;
  });
  afterAll(() => store.close());

  const write = (headers: Readonly<Record<string, string>>) =>
    fetch(`${store.url}/api/articles`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: article,
    });

  /** A signed-in browser: its cookie, and the session's CSRF token. */
  async function session(
    email: string,
  ): Promise<{ readonly cookie: string; readonly csrf: string }> {
    const visitor = createVisitor(store.url);
    await signIn(visitor, await visitor.get('/login'), email);
    const page = await (await visitor.get('/login')).text();
    return {
      cookie: visitor.cookies(),
      csrf: /name="_csrf" value="([^"]*)"/.exec(page)?.[1] ?? '',
    };
  }

  test('can be read without a token', async () => {
    expect((await fetch(`${store.url}/api/articles`)).status).toBe(200);
  });
  // @shows API-5.2
  test('lets an application write and delete with a token that has the scopes', async () => {
    const created = await write({ Authorization: `Bearer ${bearer}` });
    expect(created.status).toBe(201);
    const removed = await fetch(`${store.url}${created.headers.get('location') ?? ''}`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${bearer}` },
    });
    expect(removed.status).toBe(204);
  });
  test('lets a person write with a session, its CSRF token and the permission', async () => {
    const ada = await session('ada@example.com');
    expect((await write({ Cookie: ada.cookie, 'X-CSRF-Token': ada.csrf })).status).toBe(201);
    await expectJson(await write({ Cookie: ada.cookie }), 403, REFUSED);
    const grace = await session('grace@example.com');
    await expectJson(
      await write({ Cookie: grace.cookie, 'X-CSRF-Token': grace.csrf }),
      403,
      REFUSED,
    );
  });
  // @shows API-5.3
  test('does not use the cookie if the bearer token is invalid', async () => {
    const ada = await session('ada@example.com');
    const good = { Cookie: ada.cookie, 'X-CSRF-Token': ada.csrf };
    for (const authorization of ['Bearer garbage', 'bearer', 'Basic eDp5', 'x']) {
      expect((await write({ ...good, Authorization: authorization })).status).toBe(401);
    }
  });
  // @shows API-5.2
  test('refuses all writes without a token or session', async () => {
    expect((await write({})).status).toBe(403);
    const count = ((await (await fetch(`${store.url}/api/articles`)).json()) as { data: unknown[] })
      .data;
    expect(count).toHaveLength(1);
  });
});
