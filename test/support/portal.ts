import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  listen,
  migrationsOf,
  startApplication,
  type Application,
  type ApplicationDefinition,
} from '@portico/kit';
import {
  mergeConfig,
  migrate,
  type BorrowedDatabase,
  type ConfigMap,
  type PasswordHasher,
  type Route,
  authorizationServerOf,
  oauthServer,
  type AuthorizationServer,
  type ClientRegistration,
  type KeySigner,
  type OutboundOptions,
  type Telemetry,
} from 'portico';
import { administration } from '@portico/admin';
import { importing } from '@portico/import';
import { copyTemplate, keepTemplate } from './schema-template.ts';
import { ensureSigningKey } from './signing-key.ts';
import { freePort } from './free-port.ts';
import portal from '../../examples/portal/app.ts';
import { accountsOf, seedPeople } from '../../examples/portal/people.ts';
import { CHEAP, hashingWith, withHasher } from './hashers.ts';
import { createDatabase } from './database.ts';
import { createVisitor, locationOf, type Visitor } from './visitor.ts';

/** A portal that answers at a URL. It can run in another process. */
export interface ReachablePortal {
  readonly url: string;
}

/** The running example portal, with its own storage and port. */
export interface RunningPortal extends ReachablePortal {
  readonly application: Application;
  readonly server: AuthorizationServer;
  readonly definition: ApplicationDefinition;
  readonly env: Readonly<Record<string, string>>;
  /** Returns a browser in which no one is signed in. */
  visitor(): Visitor;
  /** Returns a browser in which this person is signed in. */
  signedIn(email: string): Promise<Visitor>;
  suspend(email: string): Promise<void>;
  restore(email: string): Promise<void>;
  grant(email: string, permission: string): Promise<void>;
  deny(email: string, permission: string): Promise<void>;
  close(): Promise<void>;
}

export const PASSWORD = 'portico';
export const ADA = 'ada@example.com';
export const GRACE = 'grace@example.com';

export interface PortalOptions {
  /** Settings that override the portal's own. A function receives the portal's URL. */
  readonly config?: ConfigMap | ((url: string) => ConfigMap);
  /** The authorization server's clock. It returns milliseconds since 1970. */
  readonly clock?: () => number;
  /**
   * The kit's clock, for sessions and for the wait after failed sign-ins. It returns milliseconds
   * since 1970.
   */
  readonly hostClock?: () => number;
  /** A function that replaces Math.random() in the authorization server and the kit. */
  readonly random?: () => number;
  /** A folder with views that replace the portal's own. */
  readonly views?: string;
  /**
   * Whether there is a signing key. Unless you set `new`, the key of an earlier portal can be used
   * again. Default: true.
   */
  readonly signingKey?: boolean | 'new';
  /** The hasher for passwords and client secrets. Default: a cheap one. */
  readonly passwordHasher?: PasswordHasher;
  /** A function that runs on the empty database, before the schema is created. */
  readonly beforeSchema?: (application: Application) => Promise<void>;
  /** Routes in addition to the portal's own. */
  readonly routes?: (application: Application) => readonly Route[];
  /** An administrator's URL of a database server that replaces the server of the test project. */
  readonly databaseServer?: string | null;
  /** The application's own pool, which replaces a new database. */
  readonly database?: BorrowedDatabase;
  /** An existing database, which replaces a new one. */
  readonly databaseUrl?: string;
  /** How the authorization server fetches client documents. */
  readonly outbound?: OutboundOptions;
  /** Receives the measurements. */
  readonly telemetry?: Telemetry;
  /** Signing keys that are not files. */
  readonly keySigners?: readonly KeySigner[];
  /**
   * The mode. Default: `dev`. `prod` needs an https `public_url`, so tests can reach the portal
   * only through `application.fetch`.
   */
  readonly mode?: 'dev' | 'prod';
}

export async function startPortal(options: PortalOptions = {}): Promise<RunningPortal> {
  const {
    config = {},
    clock = Date.now,
    signingKey = true,
    passwordHasher = CHEAP,
    views,
    beforeSchema,
  } = options;
  const random = options.random === undefined ? {} : { random: options.random };
  const outbound = options.outbound === undefined ? {} : { outbound: options.outbound };
  const storage = await mkdtemp(path.join(tmpdir(), 'portico-portal-'));
  const port = await freePort();
  const keySigners = options.keySigners === undefined ? {} : { keySigners: options.keySigners };
  const database = await createDatabase(storage, options.databaseServer);
  const env = {
    APP_ENV: options.mode ?? 'dev',
    PORT: String(port),
    STORAGE_DIR: storage,
    DATABASE_URL: options.databaseUrl ?? database.url,
  };
  const asConfigured: ApplicationDefinition = {
    ...portal,
    plugins: [
      oauthServer({
        features: [administration, importing],
        clock,
        ...random,
        ...outbound,
        ...keySigners,
      }),
    ],
    ...(views === undefined ? {} : { views }),
    ...(options.database === undefined ? {} : { database: options.database }),
    ...(options.telemetry === undefined ? {} : { telemetry: options.telemetry }),
    register(registering) {
      void portal.register?.(registering);
      for (const route of options.routes?.(registering) ?? []) registering.route(route);
    },
    config: (given) => {
      const own = typeof portal.config === 'function' ? portal.config(given) : portal.config;
      const changed = typeof config === 'function' ? config(`http://localhost:${port}`) : config;
      return mergeConfig(own, { log: { path: path.join(storage, 'app.log') } }, changed);
    },
  };
  const definition = hashingWith(passwordHasher, asConfigured);
  const isEmpty =
    beforeSchema === undefined &&
    options.databaseUrl === undefined &&
    options.database === undefined;
  if (isEmpty) await copyTemplate(database.url, definition);
  const application = await startApplication(definition, {
    env,
    clock: options.hostClock ?? Date.now,
    ...random,
  });
  await beforeSchema?.(application);
  await migrate(application.database, migrationsOf(definition, application.config));
  if (isEmpty) await keepTemplate(application.database, definition, application.config);
  const server = authorizationServerOf(application);
  if (signingKey !== false) {
    const reuse = isEmpty && options.keySigners === undefined && signingKey !== 'new';
    await ensureSigningKey(application, server, reuse);
  }
  await seedPeople(withHasher(passwordHasher, application), PASSWORD);
  const running = await listen(application, { port, hostname: '127.0.0.1' });
  const url = application.publicUrl;
  const accounts = accountsOf(application);

  async function idOf(email: string): Promise<string> {
    const account = await accounts.findByEmail(email);
    if (account === null) throw new Error(`No account ${email}`);
    return account.id;
  }

  return {
    url,
    application,
    server,
    definition,
    env,
    visitor: () => createVisitor(url),
    async signedIn(email) {
      const visitor = createVisitor(url);
      await signIn(visitor, await visitor.get('/login'), email);
      return visitor;
    },
    suspend: async (email) => accounts.setActive(await idOf(email), false),
    restore: async (email) => accounts.setActive(await idOf(email), true),
    grant: async (email, permission) => accounts.grant(await idOf(email), permission),
    deny: async (email, permission) => accounts.deny(await idOf(email), permission),
    async close() {
      await running.close();
      await application.close();
      await database.drop();
      await rm(storage, { recursive: true, force: true });
    },
  };
}

/** Fills in the sign-in page. */
export function signIn(
  visitor: Visitor,
  page: Response,
  email: string,
  password = PASSWORD,
): Promise<Response> {
  return visitor.submit(page, { identifier: email, password });
}

// --- a client that speaks the protocol by hand
// ----------------------------------------------------------------

export const REDIRECT_URI = 'https://client.example/callback';
/** The verifier in the example of RFC 7636 appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

export interface TestClient {
  readonly id: string;
  readonly secret: string;
}

export async function registerClient(
  portal: RunningPortal,
  registration: Partial<ClientRegistration> = {},
): Promise<TestClient> {
  const { client, secret } = await portal.server.clients.create({
    name: 'Test application',
    redirectUris: [REDIRECT_URI],
    scopes: ['openid', 'profile', 'email', 'notes:read', 'notes:write'],
    ...registration,
  });
  return { id: client.id, secret: secret ?? '' };
}

/** Returns the parameters of a request for a code, with PKCE and the parameters in `more`. */
export function codeRequest(
  clientId: string,
  more: Readonly<Record<string, string>> = {},
): URLSearchParams {
  return new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    ...more,
  });
}

/**
 * Returns the URL of a valid authorization request with these changes. Undefined removes a
 * parameter.
 */
export function authorizationUrl(
  portal: ReachablePortal,
  client: TestClient,
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  const parameters = {
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid profile email notes:read notes:write',
    state: 'the-state',
    nonce: 'the-nonce',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    ...changes,
  };
  const url = new URL('/oauth/authorize', portal.url);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

/** Gets a new authorization code for this person. */
export async function obtainCode(
  portal: ReachablePortal,
  client: TestClient,
  visitor: Visitor,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<string> {
  const consent = await visitor.visit(authorizationUrl(portal, client, changes));
  if (consent.status !== 200)
    throw new Error(`No consent screen: ${consent.status} ${await consent.text()}`);
  const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
  const code = answer.searchParams.get('code');
  if (code === null) throw new Error(`No code: ${answer.href}`);
  return code;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
  readonly scope: string;
  readonly expires_in: number;
  readonly token_type: string;
}

export function requestToken(
  portal: ReachablePortal,
  client: TestClient | null,
  form: Readonly<Record<string, string>>,
): Promise<Response> {
  const headers: Record<string, string> =
    client === null
      ? {}
      : {
          Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
        };
  return fetch(`${portal.url}/oauth/token`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(form),
  });
}

export function exchangeCode(
  portal: ReachablePortal,
  client: TestClient,
  code: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return requestToken(portal, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
    ...changes,
  });
}

export function refresh(
  portal: ReachablePortal,
  client: TestClient,
  refreshToken: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return requestToken(portal, client, {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    ...changes,
  });
}

/** Runs the whole authorization flow for this person. */
export async function obtainTokens(
  portal: RunningPortal,
  client: TestClient,
  email: string,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<Tokens> {
  const code = await obtainCode(portal, client, await portal.signedIn(email), changes);
  const response = await exchangeCode(portal, client, code);
  if (response.status !== 200) throw new Error(`No tokens: ${await response.text()}`);
  return (await response.json()) as Tokens;
}

/** Calls the portal's API with a bearer token. */
export function callApi(
  portal: ReachablePortal,
  path: string,
  accessToken: string,
  init: RequestInit = {},
) {
  const headers = new Headers(init.headers);
  headers.set('Authorization', `Bearer ${accessToken}`);
  return fetch(new URL(path, portal.url), { ...init, headers });
}

/** Returns the error code of a rejected request. */
export async function errorOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { error?: unknown }).error;
}

/** Introspects a token, as a resource server does. */
export async function introspect(
  portal: RunningPortal,
  token: string,
): Promise<Readonly<Record<string, unknown>>> {
  const client = await registerClient(portal, {
    redirectUris: [],
    scopes: [],
    grants: ['introspection'],
  });
  const response = await fetch(`${portal.url}/oauth/introspect`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({ token }),
  });
  return (await response.json()) as Record<string, unknown>;
}
