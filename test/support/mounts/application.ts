import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import bcrypt from 'bcryptjs';
import {
  defineApplication,
  returnPath,
  startApplication,
  type Application,
  type ApplicationDefinition,
  mergeConfig,
  type ConfigMap,
  authorizationServerOf,
  oauthServer,
  token,
  type AuthorizationServer,
  type ClientRegistration,
  type Host,
  type KeySigner,
  type Telemetry,
} from 'portico';
import { administration } from '@portico/admin';
import { mcp, mcpServerOf, tool, type McpServer } from '@portico/mcp';
import { copyTemplate, keepTemplate } from '../schema-template.ts';
import { ensureSigningKey } from '../signing-key.ts';
import { openUsers, type User, type Users } from '../../../examples/express/users.ts';
import { createDatabase } from '../database.ts';
import { CHEAP, hashingWith } from '../hashers.ts';
import { type TestClient } from '../portal.ts';
import { freePort } from '../free-port.ts';

/** A running application with Portico mounted. It runs in this process or in a separate one. */
export interface RunningContender {
  readonly url: string;
  register(registration: ClientRegistration): Promise<TestClient>;
  /** Returns what is stored as this client's secret. */
  secretHashOf(clientId: string): Promise<string | null>;
  suspend(email: string, suspended: boolean): Promise<void>;
  /** Gives a person exactly these permissions, which are separated by spaces. */
  permit(email: string, permissions: string): Promise<void>;
  close(): Promise<void>;
}

/** A running application with Portico mounted. It runs in this process, on any framework. */
export interface RunningMount extends RunningContender {
  readonly server: AuthorizationServer;
  readonly mcp: McpServer;
  readonly users: Users;
  /** Returns the log of the application. */
  log(): Promise<string>;
}

export interface MountOptions {
  /** A database server that replaces the server of the test project. Null means SQLite. */
  readonly databaseServer?: string | null;
  /** Receives the measurements. */
  readonly telemetry?: Telemetry;
  /** Signing keys that are not files. */
  readonly keySigners?: readonly KeySigner[];
}

/** The behaviour of a mount that depends on its framework. */
export interface Traits {
  /**
   * The name. It begins with `portico/` if Portico itself reads the request from the connection,
   * even with methods that no endpoint has.
   */
  readonly name: string;
  /** Whether the framework changes a path such as /x/../y to /y before it chooses a route. */
  readonly normalises: boolean;
  /** Whether the host parses JSON first, and itself rejects malformed or large bodies. */
  readonly parsesJson: boolean;
  /**
   * Whether the body stays on the connection if the host refuses to parse it. The connection cannot
   * be used again then.
   */
  readonly leavesBodies?: boolean;
  /** The cookies that the host sets with every response. */
  readonly cookies?: readonly string[];
  /** The form of a secret that the host's hasher has hashed. Default: that of bcrypt. */
  readonly hashed?: RegExp;
}

/** An application that must pass the contract tests. */
export interface Contender extends Traits {
  start(config?: ConfigMap): Promise<RunningContender>;
}

/** A way to mount Portico. For another framework, add a row to MOUNTS. */
export interface Mount extends Contender {
  start(config?: ConfigMap, options?: MountOptions): Promise<RunningMount>;
}

export interface Running {
  close(): Promise<void>;
}

/** Starts an application with its own database. `listen` starts its web server. */
export async function prepared(
  { extra, options }: { readonly extra: ConfigMap; readonly options: MountOptions },
  define: (users: () => Users, signers: readonly KeySigner[]) => ApplicationDefinition,
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
  const definition = define(() => users, options.keySigners ?? []);
  const logged = { log: { path: path.join(storage, 'app.log') } };
  const config: ApplicationDefinition['config'] = (given) => {
    const own =
      typeof definition.config === 'function' ? definition.config(given) : definition.config;
    return mergeConfig(own, logged, extra);
  };
  const measured = options.telemetry === undefined ? {} : { telemetry: options.telemetry };
  await copyTemplate(database.url, definition);
  const application = await startApplication(
    hashingWith(CHEAP, { ...definition, ...measured, config }),
    {
      env,
    },
  );
  await application.migrate();
  await keepTemplate(application.database, definition, application.config);
  const server = authorizationServerOf(application);
  await ensureSigningKey(application, server, (options.keySigners ?? []).length === 0);
  const running = await listen(application, users, port);
  return {
    url,
    server,
    mcp: mcpServerOf(application),
    users,
    log: () => readFile(path.join(storage, 'app.log'), 'utf8'),
    async register(registration) {
      const { client, secret } = await server.clients.create(registration);
      return { id: client.id, secret: secret ?? '' };
    },
    secretHashOf: async (clientId) => (await server.clients.find(clientId))?.secretHash ?? null,
    suspend: async (email, suspended) =>
      users.setSuspended(users.byEmail(email)?.id ?? 0, suspended),
    permit: async (email, permissions) =>
      users.setPermissions(users.byEmail(email)?.id ?? 0, permissions),
    async close() {
      await running.close();
      await application.close();
      users.close();
      await database.drop();
      await rm(storage, { recursive: true, force: true });
    },
  };
}

/** The secret for the sessions of all frameworks. */
export const SECRET = 'a secret of the tests, long enough for every framework';

export function closing(server: Server): Running {
  return {
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The API that token() protects. It is the same in every framework. */
export function orders() {
  token().requireScope('orders:read');
  return { orders: [], of: token().user()?.getProfile().name ?? null };
}

/** The parts that an application adds on its framework: the person in its session, and sign-out. */
export interface OwnSession<Context> {
  userId(context: Context): number | null | Promise<number | null>;
  signOut(context: Context): void | Promise<void>;
}

/**
 * Defines an application with these users. `own` contains the members of the contract that only the
 * application can implement.
 */
export function defineOrders<Context>(
  users: () => Users,
  own: OwnSession<Context>,
  keySigners: readonly KeySigner[] = [],
): ApplicationDefinition {
  const host = ({ log }: Application): Host<Context> => ({
    log,
    async signedIn(_, context) {
      const id = await own.userId(context);
      const user = id === null ? null : users().byId(id);
      return user === null || user.suspended !== 0
        ? null
        : { provider: 'users', id: String(user.id) };
    },
    async loadAccount(reference) {
      const user = users().byId(Number(reference.id));
      if (user === null) return null;
      return {
        reference,
        isActive: () => user.suspended === 0,
        getProfile: () => ({ name: user.name, email: user.email }),
      };
    },
    holdsPermission: async ({ id }, permission) => users().mayDo(Number(id), permission),
    loginUrl: '/login',
    signOut: async (_, context) => own.signOut(context),
    passwordHasher: {
      hash: (password) => bcrypt.hash(password, 4),
      verify: (password, hash) => bcrypt.compare(password, hash),
    },
  });
  return defineApplication({
    directory: import.meta.dirname,
    config: (env) => ({
      public_url: env['PUBLIC_URL'],
      oauth_server: {
        name: 'Orders',
        login_route: '/login',
        audience: `${env['PUBLIC_URL'] ?? ''}/mcp`,
        scopes: { 'orders:read': 'See your orders', 'mcp:tools': 'Use your tools for you' },
      },
    }),
    plugins: [oauthServer({ features: [administration], host, keySigners }), mcp()],
    register() {
      tool().register({
        name: () => 'my_name',
        description: () => 'Says the name of the person',
        inputSchema: () => ({ type: 'object' }),
        handle: () => ({ name: token().user()?.getProfile().name ?? null }),
      });
    },
  });
}

/** The values that a person typed on the sign-in page. */
export interface Login {
  readonly email?: unknown;
  readonly password?: unknown;
  readonly return_to?: unknown;
}

/** Returns the application's sign-in page. */
export function loginPage(returnTo: unknown): string {
  const sentBack = returnPath(typeof returnTo === 'string' ? returnTo : null).replaceAll(
    '&',
    '&amp;',
  );
  return `<!doctype html><title>Sign in</title><form method="post" action="/login">
    <input type="hidden" name="return_to" value="${sentBack}">
    <input name="email"><input name="password" type="password"></form>`;
}

/** Returns the person who signs in with the form, or null, and the next address. */
export function readLogin(
  users: Users,
  { email, password, return_to: returnTo }: Login,
): { readonly user: User | null; readonly location: string } {
  const user = users.byEmail(String(email));
  const right = user !== null && bcrypt.compareSync(String(password), user.password_hash);
  return {
    user: right ? user : null,
    location: returnPath(typeof returnTo === 'string' ? returnTo : null),
  };
}
