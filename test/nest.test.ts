// @engines sqlite: the database makes no difference
import type { ServerResponse } from 'node:http';
import {
  Catch,
  Controller,
  Dependencies,
  Get,
  Injectable,
  Module,
  RequestMethod,
  Res,
  Scope,
  type ArgumentsHost,
  type DynamicModule,
  type INestApplication,
  type MiddlewareConsumer,
  type ModuleMetadata,
  type Type,
} from '@nestjs/common';
import {
  ContextIdFactory,
  ExternalContextCreator,
  NestFactory,
  REQUEST,
  type HostComponentInfo,
} from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AUTHORIZATION_SERVER, CurrentToken, PorticoModule, RequireScope } from 'portico/nest';
import { token, type AuthorizationServer, type TokenAccessor } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  GRACE,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

let portal: RunningPortal;
let client: TestClient;
let ada: string;

beforeAll(async () => {
  portal = await startPortal();
  client = await registerClient(portal);
  ada = (await obtainTokens(portal, client, ADA)).access_token;
});
afterAll(() => portal.close());

// Calls decorators as functions, because the sources of this package do not use the decorator
// syntax.

function decorate(type: Type, name: string, ...decorators: readonly MethodDecorator[]): void {
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, name);
  if (descriptor === undefined) throw new Error(`${type.name} has no ${name}`);
  for (const each of decorators) each(type.prototype as object, name, descriptor);
}

/** A module with only metadata. */
function moduleOf(metadata: ModuleMetadata): DynamicModule {
  class Made {
    readonly of = metadata;
  }
  return { module: Made, ...metadata };
}

const nameOf = (of: TokenAccessor) => of.user()?.getProfile().name ?? null;

/** A service that reads the token when it needs it. */
class People {
  current() {
    return nameOf(token());
  }
}
Injectable()(People);

/** A request-scoped service. */
class PerRequest extends People {}
Injectable({ scope: Scope.REQUEST })(PerRequest);

/** A service that all requests share: each tenant has one. */
class OfTenant extends People {}
Injectable({ scope: Scope.REQUEST, durable: true })(OfTenant);

class Tenants {
  readonly #ofTenant: OfTenant;
  constructor(ofTenant: OfTenant) {
    this.#ofTenant = ofTenant;
  }
  async current() {
    await Promise.resolve();
    return { name: this.#ofTenant.current() };
  }
}
Dependencies(OfTenant)(Tenants);
Controller('tenants')(Tenants);
decorate(Tenants, 'current', Get(), RequireScope());

const tenant = { id: 1 };
ContextIdFactory.apply({
  attach: (contextId) => ({
    resolve: ({ isTreeDurable }: HostComponentInfo) => (isTreeDurable ? tenant : contextId),
    payload: {},
  }),
});

class Notes {
  readonly #people: People;
  readonly #perRequest: PerRequest;
  constructor(people: People, perRequest: PerRequest) {
    this.#people = people;
    this.#perRequest = perRequest;
  }
  read(current: TokenAccessor) {
    return { names: [nameOf(current), this.#people.current(), this.#perRequest.current()] };
  }
  async write() {
    await Promise.resolve();
    token().requireScope('notes:write');
    return { names: [nameOf(token())] };
  }
  forgotten() {
    return { names: [nameOf(token())] };
  }
  async begun(reply: ServerResponse | { readonly raw: ServerResponse }) {
    const outgoing = 'raw' in reply ? reply.raw : reply;
    outgoing.writeHead(200, { 'Content-Length': '100' });
    await new Promise((resolve) => outgoing.write('begun', resolve));
    token().requireScope('notes:write');
  }
}
Dependencies(People, PerRequest)(Notes);
Controller('notes')(Notes);
decorate(Notes, 'read', Get(), RequireScope('notes:read'));
CurrentToken()(Notes.prototype, 'read', 0);
decorate(Notes, 'write', Get('written'), RequireScope());
decorate(Notes, 'forgotten', Get('forgotten'));
decorate(Notes, 'begun', Get('begun'), RequireScope());
Res()(Notes.prototype, 'begun', 0);

/** A handler that never asks for the token. */
class Silent {
  static calls = 0;
  hello() {
    Silent.calls += 1;
    return { hello: true };
  }
}
Controller('silent')(Silent);
decorate(Silent, 'hello', Get(), RequireScope());

class Both {
  both() {
    return { names: [nameOf(token())] };
  }
}
Controller('both')(Both);
RequireScope('notes:read')(Both);
decorate(Both, 'both', Get(), RequireScope('notes:write'));

class Stacked {
  list() {
    return { names: [nameOf(token())] };
  }
}
Controller('stacked')(Stacked);
decorate(Stacked, 'list', Get(), RequireScope('notes:write'), RequireScope('notes:read'));

/** Protects its handlers only with the decorator, and does not use the token. */
class Guarded {
  any() {
    return { names: [] };
  }
  scoped() {
    return { names: [] };
  }
}
Controller('guarded')(Guarded);
RequireScope()(Guarded);
decorate(Guarded, 'any', Get('any'));
decorate(Guarded, 'scoped', Get('scoped'), RequireScope('notes:read'));

class Derived extends Both {
  own() {
    return { names: [nameOf(token())] };
  }
}
Controller('derived')(Derived);
RequireScope('notes:write')(Derived);
decorate(Derived, 'own', Get('own'));

/** As in a GraphQL API. */
class Resolver {
  called = false;
  notes() {
    this.called = true;
  }
}
decorate(Resolver, 'notes', RequireScope('notes:read'));

/** A common filter. It returns 500 for every error that is not an HttpException. */
class EverythingIsMine {
  catch(error: unknown, host: ArgumentsHost) {
    if (host.getType() !== 'http') throw error;
    const reply = host
      .switchToHttp()
      .getResponse<{ status(code: number): { send(body: unknown): void } }>();
    reply.status(500).send({ mine: true });
  }
}
Catch()(EverythingIsMine);

/** An application whose middleware sets a header in the response. */
function applicationOf(portico: DynamicModule): Type {
  class App {
    configure(consumer: MiddlewareConsumer) {
      const mark = (
        _: unknown,
        reply: { setHeader(name: string, value: string): void },
        next: () => void,
      ) => {
        reply.setHeader('X-Middleware', 'yes');
        next();
      };
      consumer.apply(mark).forRoutes({ path: '{*all}', method: RequestMethod.ALL });
    }
  }
  Module({
    imports: [portico],
    controllers: [Notes, Silent, Both, Stacked, Derived, Tenants],
    providers: [People, PerRequest, OfTenant, Resolver],
  })(App);
  return App;
}

const PLATFORMS = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const;

describe.each(PLATFORMS)('Nest on %s', (_, adapter) => {
  let app: INestApplication;
  let url: string;

  /** A server that is made from a provider of the application. */
  class Settings {
    readonly server = portal.server;
  }
  Injectable()(Settings);

  beforeAll(async () => {
    const portico = PorticoModule.forRootAsync({
      imports: [moduleOf({ providers: [Settings], exports: [Settings] })],
      inject: [Settings],
      useFactory: ({ server }: Settings) => ({ server }),
    });
    app = await NestFactory.create(applicationOf(portico), adapter(), { logger: false });
    app.setGlobalPrefix('api');
    app.useGlobalFilters(new EverythingIsMine());
    await app.listen(0, '127.0.0.1');
    url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  });
  afterAll(() => app.close());

  const get = (path: string, accessToken?: string) =>
    fetch(`${url}${path}`, {
      headers: accessToken === undefined ? {} : { Authorization: `Bearer ${accessToken}` },
    });

  test('passes the token to the handler, and token() works in services, also request-scoped ones', async () => {
    const response = await get('/api/notes', ada);
    expect(await response.json()).toEqual({ names: Array(3).fill('Ada Lovelace') });
  });

  test('gives a service that requests share the token of the current request', async () => {
    const { access_token: graces } = await obtainTokens(portal, client, GRACE, {
      scope: 'openid notes:read',
    });
    const names = await Promise.all(
      [ada, graces, ada, graces].map(async (of) => (await get('/api/tenants', of)).json()),
    );
    const expected = ['Ada Lovelace', 'Grace Hopper', 'Ada Lovelace', 'Grace Hopper'];
    expect(names).toEqual(expected.map((name) => ({ name })));
  });

  test('answers 401 with the challenge if the token is not usable, with any application filters', async () => {
    const bare = await get('/api/notes');
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="oauth"',
    ]);
    // The same headers as in the responses of the endpoints and the other mounts, although the
    // platform adds others.
    expect(['content-type', 'etag'].map((name) => bare.headers.get(name))).toEqual([
      'application/json',
      null,
    ]);
    expect(bare.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await bare.json()).toMatchObject({ error: 'invalid_token' });
    const wrong = await get('/api/notes/written', 'x');
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
  });

  test('requires a usable token without any scope, even if the handler does not ask for it', async () => {
    Silent.calls = 0;
    for (const unusable of [undefined, 'x', `${ada}x`]) {
      const { status, headers } = await get('/api/silent', unusable);
      expect([status, headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('Bearer realm="oauth"'),
      ]);
    }
    expect(Silent.calls).toBe(0);
    expect((await get('/api/silent', ada)).status).toBe(200);
    expect(Silent.calls).toBe(1);
  });

  // @shows AS-12.10
  test('names the scope in the challenge for a request without a token if challenges are on', async () => {
    const challenging = await startPortal({
      config: (its) => ({ oauth_server: { challenge: true, audience: `${its}/api` } }),
    });
    const other = await NestFactory.create(
      applicationOf(PorticoModule.forRoot({ server: challenging.server })),
      adapter(),
      { logger: false },
    );
    try {
      await other.listen(0, '127.0.0.1');
      const challengeOf = async (at: string) =>
        (await fetch(`${await other.getUrl()}${at}`)).headers.get('www-authenticate');
      expect(await challengeOf('/notes')).toContain('scope="notes:read"');
      expect(await challengeOf('/silent')).toMatch(
        /^Bearer realm="oauth", resource_metadata="[^"]+"$/,
      );
    } finally {
      await other.close();
      await challenging.close();
    }
  });

  test('closes the connection if a refusal comes after the handler started its response', async () => {
    const { access_token: narrow } = await obtainTokens(portal, client, ADA, {
      scope: 'notes:read',
    });
    const response = await get('/api/notes/begun', narrow);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
    expect((await get('/api/notes', ada)).status).toBe(200);
  });

  // @shows AS-12.21
  test('sends a refusal without body headers that the application set, and keeps its Vary values', async () => {
    const stale = {
      'Content-Length': '3',
      'Content-Encoding': 'gzip',
      ETag: '"x"',
      Vary: 'Accept',
    };
    const other = await NestFactory.create(
      applicationOf(PorticoModule.forRoot({ server: portal.server })),
      adapter(),
      { logger: false },
    );
    other.use((_: unknown, reply: ServerResponse, next: () => void) => {
      for (const [name, value] of Object.entries(stale)) reply.setHeader(name, value);
      next();
    });
    await other.listen(0, '127.0.0.1');
    const refused = await fetch(`${await other.getUrl()}/notes`);
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'invalid_token' }]);
    const { headers } = refused;
    expect(headers.get('content-length')).not.toBe('3');
    expect([headers.get('content-encoding'), headers.get('etag')]).toEqual([null, null]);
    expect(headers.get('vary')).toMatch(/Accept/);
    await other.close();
  });

  test('answers 403 if the token or the person lacks the scope of the decorator or the handler', async () => {
    const { access_token: narrow } = await obtainTokens(portal, client, ADA, {
      scope: 'notes:read',
    });
    const { access_token: graces } = await obtainTokens(portal, client, GRACE, {
      scope: 'notes:read',
    });
    const { access_token: nothing } = await obtainTokens(portal, client, ADA, { scope: 'openid' });
    for (const [path, of] of [
      ['/api/notes', nothing],
      ['/api/notes/written', narrow],
      ['/api/notes/written', graces],
      ['/api/both', narrow],
    ] as const) {
      const response = await get(path, of);
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        403,
        expect.stringContaining('error="insufficient_scope"'),
      ]);
    }
    expect((await get('/api/notes/written', ada)).status).toBe(200);
    expect((await get('/api/notes/written', nothing)).status).toBe(403);
  });

  // @shows AS-12.10
  test.each([false, true])(
    'lets no request without a usable token through the decorator alone, with challenge: %s',
    async (challenge) => {
      const challenging = await startPortal({
        config: (url) => ({ oauth_server: { challenge, audience: `${url}/api` } }),
      });
      const other = await NestFactory.create(
        moduleOf({
          imports: [PorticoModule.forRoot({ server: challenging.server })],
          controllers: [Guarded],
        }),
        adapter(),
        { logger: false },
      );
      await other.listen(0, '127.0.0.1');
      const refused = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
        const response = await fetch(`${await other.getUrl()}/guarded/${path}`, { headers });
        return [response.status, response.headers.get('www-authenticate')];
      };
      const at = challenge
        ? `resource_metadata="${challenging.url}/.well-known/oauth-protected-resource/api"`
        : null;
      for (const headers of [{}, { Authorization: 'Bearer x' }]) {
        const [status, challenges] = await refused('any', headers);
        expect(status).toBe(401);
        expect(challenges).toContain(at ?? 'Bearer realm="oauth"');
      }
      const [, unusable] = await refused('scoped', { Authorization: 'Bearer x' });
      expect(String(unusable).includes('scope=')).toBe(challenge);
      expect(await refused('scoped')).toEqual([
        401,
        at === null ? 'Bearer realm="oauth"' : `Bearer realm="oauth", scope="notes:read", ${at}`,
      ]);
      await other.close();
      await challenging.close();
    },
  );

  test('looks up the token once for a request with decorators of its class and its handler', async () => {
    let lookUps = 0;
    const counting: AuthorizationServer = {
      ...portal.server,
      lookUpToken: (...asked) => {
        lookUps += 1;
        return portal.server.lookUpToken(...asked);
      },
    };
    const other = await NestFactory.create(
      applicationOf(PorticoModule.forRoot({ server: counting })),
      adapter(),
      { logger: false },
    );
    await other.listen(0, '127.0.0.1');
    const headers = { Authorization: `Bearer ${ada}` };
    expect((await fetch(`${await other.getUrl()}/both`, { headers })).status).toBe(200);
    expect(lookUps).toBe(1);
    await other.close();
  });

  test('requires the scopes of both the controller and the handler', async () => {
    expect(await (await get('/api/both', ada)).json()).toEqual({ names: ['Ada Lovelace'] });
    const { access_token: other } = await obtainTokens(portal, client, ADA, {
      scope: 'notes:write',
    });
    expect((await get('/api/both', other)).status).toBe(403);
  });

  test('adds the scopes of each decorator, also to those of a base class', async () => {
    const tokenWith = async (scope: string) =>
      (await obtainTokens(portal, client, ADA, { scope })).access_token;
    const [reads, writes] = [await tokenWith('notes:read'), await tokenWith('notes:write')];
    for (const path of ['/api/stacked', '/api/derived/own']) {
      const statuses = [ada, reads, writes].map(async (of) => (await get(path, of)).status);
      expect(await Promise.all(statuses)).toEqual([200, 403, 403]);
    }
  });

  test('throws an error for token() without a requirement, and admits no request', async () => {
    expect((await get('/api/notes/forgotten', ada)).status).toBe(500);
  });

  test('mounts the endpoints at the root, with any global prefix', async () => {
    const document = await get('/.well-known/openid-configuration');
    expect(await document.json()).toMatchObject({ issuer: portal.url });
    expect((await get('/api/.well-known/openid-configuration')).status).not.toBe(200);
    const post = await fetch(`${url}/oauth/token`, { method: 'POST' });
    expect(await post.json()).toMatchObject({ error: expect.any(String) as unknown });
    expect((await fetch(`${url}/oauth/token`, { method: 'PUT' })).status).not.toBe(200);
  });

  // Nest applies the middleware of modules only below the prefix.
  test('runs the endpoints after the middleware of the modules of the application', async () => {
    const portico = PorticoModule.forRoot({ server: portal.server });
    const other = await NestFactory.create(applicationOf(portico), adapter(), { logger: false });
    await other.listen(0, '127.0.0.1');
    const document = await fetch(`${await other.getUrl()}/.well-known/openid-configuration`);
    expect([document.status, document.headers.get('x-middleware')]).toEqual([200, 'yes']);
    await other.close();
  });

  // As @nestjs/graphql calls a resolver.
  test('refuses a call that is not an HTTP request, without running its handler', async () => {
    const resolver = app.get(Resolver);
    const handler: unknown = Reflect.get(Resolver.prototype, 'notes');
    const creator = app.get(ExternalContextCreator);
    const absent = undefined;
    const call = creator.create(
      resolver,
      handler as () => unknown,
      'notes',
      absent,
      absent,
      absent,
      absent,
      absent,
      'graphql',
    );
    const context = { req: { headers: { authorization: `Bearer ${ada}` } } };
    await expect(call({}, {}, context)).rejects.toThrow(
      /handlers of HTTP requests, not of 'graphql'/,
    );
    expect(resolver.called).toBe(false);
  });
});

const quiet = { logger: false, abortOnError: false } as const;

describe('the Nest module', () => {
  test('accepts an existing server, and providers can inject it', async () => {
    class Asking {
      readonly server: AuthorizationServer;
      constructor(server: AuthorizationServer) {
        this.server = server;
      }
    }
    Dependencies(AUTHORIZATION_SERVER)(Asking);
    const App = moduleOf({
      imports: [PorticoModule.forRoot({ server: portal.server })],
      providers: [Asking],
    });
    const app = await NestFactory.create(App, new ExpressAdapter(), quiet);
    await app.init();
    expect(app.get(Asking).server).toBe(portal.server);
    await app.close();
  });

  test('protects the controllers of modules that do not import it', async () => {
    const App = moduleOf({
      imports: [
        PorticoModule.forRoot({ server: portal.server }),
        moduleOf({ controllers: [Guarded] }),
      ],
    });
    const app = await NestFactory.create(App, new ExpressAdapter(), quiet);
    await app.listen(0, '127.0.0.1');
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await fetch(`${await app.getUrl()}/guarded/any`, { headers })).status;
    expect([await status({}), await status({ Authorization: `Bearer ${ada}` })]).toEqual([
      401, 200,
    ]);
    await app.close();
  });

  test('works in a context without HTTP, such as a console command', async () => {
    const App = moduleOf({ imports: [PorticoModule.forRoot({ server: portal.server })] });
    const context = await NestFactory.createApplicationContext(App, quiet);
    expect(context.get(AUTHORIZATION_SERVER)).toBe(portal.server);
    await context.close();
  });

  test('closes what its factory opened when the application shuts down', async () => {
    const closed: string[] = [];
    const close = async () => void closed.push('closed');
    const App = moduleOf({ imports: [PorticoModule.forRoot({ server: portal.server, close })] });
    const app = await NestFactory.create(App, new ExpressAdapter(), quiet);
    await app.init();
    expect(closed).toEqual([]);
    await app.close();
    expect(closed).toEqual(['closed']);
  });

  test('refuses a request-scoped server at startup, because it cannot mount its endpoints', async () => {
    const portico = PorticoModule.forRootAsync({
      inject: [REQUEST],
      useFactory: () => ({ server: portal.server }),
    });
    const App = moduleOf({ imports: [portico] });
    const start = async () => {
      const app = await NestFactory.create(App, new ExpressAdapter(), quiet);
      await app.init();
    };
    await expect(start()).rejects.toThrow(/scope/);
  });

  test.each(PLATFORMS)('mounts the endpoints below the base path on %s', async (_, adapter) => {
    const below = await startPortal({ config: { base_path: '/auth' } });
    const App = applicationOf(PorticoModule.forRoot({ server: below.server }));
    const app = await NestFactory.create(App, adapter(), quiet);
    app.setGlobalPrefix('api');
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const status = async (path: string) => (await fetch(`${url}${path}`)).status;
    expect(await status('/auth/.well-known/openid-configuration')).toBe(200);
    expect(await status('/.well-known/oauth-authorization-server/auth')).toBe(200);
    expect(await status('/auth/oauth/authorize')).toBe(400);
    expect(await status('/oauth/authorize')).toBe(404);
    expect(await status('/api/notes')).toBe(401);
    await app.close();
    await below.close();
  });

  test('refuses an unknown platform', async () => {
    class Another extends ExpressAdapter {
      override getType() {
        return 'another';
      }
    }
    const App = moduleOf({ imports: [PorticoModule.forRoot({ server: portal.server })] });
    const app = await NestFactory.create(App, new Another(), quiet);
    await expect(app.init()).rejects.toThrow(/works with Express and Fastify, not with 'another'/);
  });

  test('answers 503 with Retry-After if the store is unavailable, without running the handler', async () => {
    const lost = await startPortal();
    const { access_token: accessToken } = await obtainTokens(lost, await registerClient(lost), ADA);
    const app = await NestFactory.create(
      applicationOf(PorticoModule.forRoot({ server: lost.server })),
      new FastifyAdapter(),
      quiet,
    );
    await app.listen(0, '127.0.0.1');
    await lost.close();
    const headers = { Authorization: `Bearer ${accessToken}` };
    const response = await fetch(`${await app.getUrl()}/notes`, { headers });
    expect(response.status).toBeGreaterThan(499);
    expect(await response.json()).toMatchObject({
      error: expect.stringMatching(/unavailable|server_error/) as unknown,
    });
    await app.close();
  });
});
