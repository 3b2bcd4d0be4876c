import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createHandler } from 'portico/fetch';
import {
  mergeConfig,
  startApplication,
  type Application,
  type ApplicationDefinition,
  type ConfigMap,
} from 'portico/host';
import { mcpServerOf, type McpServer } from 'portico/mcp';
import { portico as nodePortico } from 'portico/node';
import {
  authorizationServerOf,
  setUpServer,
  token,
  type AuthorizationServer,
  type ClientRegistration,
  type Host,
} from 'portico/oauth-server';
import { definePortico as defineForExpress } from '../../examples/express-app/portico.ts';
import { createWeb as createExpress } from '../../examples/express-app/web.ts';
import { definePortico as defineForFastify } from '../../examples/fastify-app/portico.ts';
import { createWeb as createFastify } from '../../examples/fastify-app/web.ts';
import { openUsers, type Users } from '../../examples/express-app/users.ts';
import { CHEAP, hashingWith } from './hashers.ts';
import { createDatabase } from './database.ts';
import { definePlain, defineStateless, type PlainHost, type Sealed } from './plain-host.ts';
import { freePort, type TestClient } from './portal.ts';

/** A running application with Portico mounted, in this process or in one of its own. */
export interface RunningContender {
  readonly url: string;
  register(registration: ClientRegistration): Promise<TestClient>;
  /** What is stored in the place of this client's secret. */
  secretHashOf(clientId: string): Promise<string | null>;
  suspend(email: string, suspended: boolean): Promise<void>;
  close(): Promise<void>;
}

/** A running application of some framework with Portico mounted, in this process. */
export interface RunningMount extends RunningContender {
  readonly server: AuthorizationServer;
  readonly mcp: McpServer;
  readonly users: Users;
}

export interface MountOptions {
  /** A database server other than the test project's; null for SQLite. */
  readonly databaseServer?: string | null;
}

/** What a way to mount Portico leaves to its framework. */
export interface Traits {
  /** Begins with `portico/` where Portico itself reads the request from the wire: also a method that no endpoint knows. */
  readonly name: string;
  /** Whether the framework itself turns a path like /x/../y into /y before routing. */
  readonly normalises: boolean;
  /** Whether the host parses JSON first, and answers malformed or large bodies itself. */
  readonly parsesJson: boolean;
  /** What a secret looks like that the hasher of the host has hashed; bcrypt's form by default. */
  readonly hashed?: RegExp;
}

/** What the contract is held against. */
export interface Contender extends Traits {
  start(config?: ConfigMap): Promise<RunningContender>;
}

/** A way to mount Portico; another framework is another row of MOUNTS. */
export interface Mount extends Contender {
  start(config?: ConfigMap, options?: MountOptions): Promise<RunningMount>;
}

interface Running {
  close(): Promise<void>;
}

async function prepared(
  { extra, options }: { readonly extra: ConfigMap; readonly options: MountOptions },
  define: (users: () => Users) => ApplicationDefinition,
  listen: (application: Application, users: Users, port: number) => Promise<Running>,
): Promise<RunningMount> {
  const storage = await mkdtemp(path.join(tmpdir(), 'portico-mount-'));
  const users = openUsers(path.join(storage, 'users.sqlite'));
  const database = await createDatabase(storage, options.databaseServer);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const env = {
    APP_ENV: 'dev',
    PORT: String(port),
    PUBLIC_URL: url,
    STORAGE_DIR: storage,
    DATABASE_URL: database.url,
  };
  const definition = define(() => users);
  const logged = { log: { path: path.join(storage, 'app.log') } };
  const config: ApplicationDefinition['config'] = (given) => {
    const own = typeof definition.config === 'function' ? definition.config(given) : definition.config;
    return mergeConfig(own, logged, extra);
  };
  const application = await startApplication(hashingWith(CHEAP, { ...definition, config }), { env });
  await application.migrate();
  const server = authorizationServerOf(application);
  await setUpServer(application, server);
  const running = await listen(application, users, port);
  return {
    url,
    server,
    mcp: mcpServerOf(application),
    users,
    async register(registration) {
      const { client, secret } = await server.clients.create(registration);
      return { id: client.id, secret: secret ?? '' };
    },
    secretHashOf: async (clientId) => (await server.clients.find(clientId))?.secretHash ?? null,
    suspend: async (email, suspended) => users.setSuspended(users.byEmail(email)?.id ?? 0, suspended),
    async close() {
      await running.close();
      await application.close();
      users.close();
      await database.drop();
      await rm(storage, { recursive: true, force: true });
    },
  };
}

const SECRET = 'a secret of the tests, long enough for every framework';

function closing(server: Server): Running {
  return {
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The API that token() protects, the same in every framework. */
function orders(): Response {
  token().requireScope('orders:read');
  return Response.json({ orders: [], of: token().user()?.getProfile().name ?? null });
}

const plain =
  (use: (host: PlainHost) => (application: Application, users: Users, port: number) => Promise<Running>) =>
  (extra: ConfigMap = {}, options: MountOptions = {}) => {
    const host = definePlain();
    return prepared({ extra, options }, (users) => host.define(users), use(host));
  };

export const MOUNTS: readonly Mount[] = [
  {
    name: 'portico/express',
    normalises: false,
    parsesJson: true,
    start: (extra = {}, options = {}) =>
      prepared({ extra, options }, defineForExpress, async (application, users, port) => {
        const server = createExpress(users, application, SECRET).listen(port, '127.0.0.1');
        await once(server, 'listening');
        return closing(server);
      }),
  },
  {
    name: 'portico/fastify',
    normalises: false,
    parsesJson: false,
    start: (extra = {}, options = {}) =>
      prepared({ extra, options }, defineForFastify, async (application, users, port) => {
        const fastify = await createFastify(users, application, SECRET);
        await fastify.listen({ port, host: '127.0.0.1' });
        return { close: () => fastify.close() };
      }),
  },
  {
    name: 'portico/node',
    normalises: false,
    parsesJson: false,
    start: plain((host) => async (application, users, port) => {
      const server = authorizationServerOf(application);
      const mounted = nodePortico(server, mcpServerOf(application));
      const http = createServer((incoming, outgoing) => {
        const answer = async () => {
          const cookie = host.begin(incoming, incoming.headers.cookie ?? '');
          if (cookie !== null) outgoing.setHeader('Set-Cookie', cookie);
          if (await mounted.handle(incoming, outgoing)) return;
          if (incoming.url === '/api/orders') {
            await mounted.withToken(incoming, outgoing, async () => {
              const response = orders();
              outgoing
                .writeHead(response.status, Object.fromEntries(response.headers))
                .end(await response.text());
            });
            return;
          }
          await host.answerNode(users, incoming, outgoing);
        };
        void answer();
      });
      http.listen(port, '127.0.0.1');
      await once(http, 'listening');
      return closing(http);
    }),
  },
  {
    name: 'Hono, by portico/fetch',
    normalises: true,
    parsesJson: false,
    start: plain((host) => async (application, users, port) => {
      const server = authorizationServerOf(application);
      const app = new Hono();
      app.use('*', async (context, next) => {
        const cookie = host.begin(context.req.raw, context.req.header('cookie') ?? '');
        await next();
        if (cookie !== null) context.res.headers.append('Set-Cookie', cookie);
      });
      const handle = createHandler(server, mcpServerOf(application));
      app.use('*', async (context, next) => (await handle(context.req.raw, context)) ?? next());
      app.all('/api/orders', (context) => server.withToken(context.req.raw, async () => orders()));
      app.all('*', (context) => host.answer(users, context.req.raw));
      const running = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }) as Server;
      await once(running, 'listening');
      return closing(running);
    }),
  },
  {
    name: 'a session in an encrypted cookie, by portico/fetch',
    normalises: true,
    parsesJson: false,
    start(extra = {}, options = {}) {
      const host = defineStateless();
      return prepared(
        { extra, options },
        (users) => host.define(users),
        async (application, users, port) => {
          const server = authorizationServerOf(application);
          const handle = createHandler<Sealed>(server, mcpServerOf(application));
          const fetch = async (request: Request) => {
            const sealed = host.begin(request);
            const answer = await handle(request, sealed);
            if (answer !== null) return answer;
            if (new URL(request.url).pathname === '/api/orders')
              return server.withToken(request, async () => orders(), sealed);
            return host.answer(users, request, sealed);
          };
          const running = serve({ fetch, port, hostname: '127.0.0.1' }) as Server;
          await once(running, 'listening');
          return closing(running);
        },
      );
    },
  },
];

export type { Host };
