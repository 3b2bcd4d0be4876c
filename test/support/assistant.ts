import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  databaseAccounts,
  listen,
  startApplication,
  type Application,
  type ApplicationDefinition,
  type DatabaseAccounts,
} from '@portico/kit';
import {
  mergeConfig,
  type ConfigMap,
  type Route,
  authorizationServerOf,
  oauthServer,
  type AuthorizationServer,
  type KeySigner,
  type OutboundOptions,
  type Telemetry,
} from 'portico';
import { administration } from '@portico/admin';
import { assistant } from '@portico/assistant';
import {
  mcp,
  resource as resourceRegistry,
  tool,
  type ResourceInterface,
  type ToolInterface,
} from '@portico/mcp';
import { copyTemplate, keepTemplate } from './schema-template.ts';
import { ensureSigningKey } from './signing-key.ts';
import kitchen from '../../examples/assistant/app.ts';
import { seed } from '../../examples/assistant/seed.ts';
import { CHEAP, hashingWith, withHasher } from './hashers.ts';
import { createDatabase } from './database.ts';
import {
  ADA,
  PASSWORD,
  REDIRECT_URI,
  signIn,
  VERIFIER,
  type TestClient,
  type Tokens,
  codeRequest,
} from './portal.ts';
import { freePort } from './free-port.ts';
import { createVisitor, locationOf } from './visitor.ts';

/** The running example of an application for a voice assistant, with its own storage and port. */
export interface RunningAssistant {
  readonly url: string;
  /** The canonical resource with the tools. */
  readonly resource: string;
  readonly application: Application;
  readonly server: AuthorizationServer;
  readonly accounts: DatabaseAccounts;
  readonly service: TestClient;
  readonly linking: TestClient;
  /** Returns an access token of the service client. */
  serviceToken(): Promise<string>;
  /**
   * Runs the whole authorization flow and returns an access token. By default, it is for Ada and
   * the linking client.
   */
  linkedToken(scope?: string, client?: TestClient, email?: string): Promise<string>;
  /** Returns a refresh token of the linking client for Ada. */
  refreshToken(): Promise<string>;
  /** Uses a refresh token of the linking client. */
  refresh(refreshToken: string): Promise<Tokens>;
  close(): Promise<void>;
}

export interface AssistantOptions {
  /** Settings that override the example's. A function receives the application's URL. */
  readonly config?: ConfigMap | ((url: string) => ConfigMap);
  /** Whether to leave out the tools of the example. */
  readonly onlyTools?: boolean;
  /** Tools to register in addition to those of the example. */
  readonly tools?: readonly ToolInterface[];
  readonly resources?: readonly ResourceInterface[];
  /** Runs after everything else is registered. */
  readonly register?: () => void;
  /** Routes in addition to those of the example. */
  readonly routes?: readonly Route[];
  readonly clock?: () => number;
  /** How the server fetches client documents. */
  readonly outbound?: OutboundOptions;
  /** Replaces the example's accounts. */
  readonly accounts?: NonNullable<ApplicationDefinition['accounts']>;
  /** Signing keys that are not files. */
  readonly keySigners?: readonly KeySigner[];
  /** Receives the measurements. */
  readonly telemetry?: Telemetry;
  /** A database server that replaces the server of the test project. Null means SQLite. */
  readonly databaseServer?: string | null;
}

export async function startAssistant(options: AssistantOptions = {}): Promise<RunningAssistant> {
  const {
    config = {},
    tools = [],
    resources = [],
    routes = [],
    clock,
    outbound,
    keySigners,
    telemetry,
  } = options;
  const storage = await mkdtemp(path.join(tmpdir(), 'portico-assistant-'));
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const resource = `${url}/mcp`;
  const database = await createDatabase(storage, options.databaseServer);
  const env = {
    APP_ENV: 'dev',
    PORT: String(port),
    PUBLIC_URL: url,
    ASSISTANT_MCP_RESOURCE: resource,
    ASSISTANT_NAME: 'Kitchen',
    STORAGE_DIR: storage,
    DATABASE_URL: database.url,
  };
  const definition: ApplicationDefinition = {
    ...kitchen,
    ...(telemetry === undefined ? {} : { telemetry }),
    ...(options.accounts === undefined ? {} : { accounts: options.accounts }),
    config: (given) =>
      mergeConfig(
        typeof kitchen.config === 'function' ? kitchen.config(given) : kitchen.config,
        { assistant: { account_linking: true, redirect_uris: [REDIRECT_URI] } },
        { log: { path: path.join(storage, 'app.log') } },
        typeof config === 'function' ? config(url) : config,
      ),
    plugins: [
      oauthServer({
        features: [administration],
        ...(clock === undefined ? {} : { clock }),
        ...(outbound === undefined ? {} : { outbound }),
        ...(keySigners === undefined ? {} : { keySigners }),
      }),
      mcp(),
      assistant(),
    ],
    async register(application) {
      if (options.onlyTools !== true) await kitchen.register?.(application);
      for (const added of tools) tool().register(added);
      for (const added of resources) resourceRegistry().register(added);
      for (const route of routes) application.route(route);
      options.register?.();
    },
  };
  await copyTemplate(database.url, definition);
  const application = await startApplication(hashingWith(CHEAP, definition), { env });
  await application.migrate();
  await keepTemplate(application.database, definition, application.config);
  await seed(withHasher(CHEAP, application), PASSWORD);
  const server = authorizationServerOf(application);
  await ensureSigningKey(application, server, keySigners === undefined);
  const clients = await registerClients(server);
  const running = await listen(application, { port, hostname: '127.0.0.1' });

  async function ask(client: TestClient, form: Readonly<Record<string, string>>): Promise<Tokens> {
    const response = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: basic(client) },
      body: new URLSearchParams(form),
    });
    const body = (await response.json()) as Tokens;
    if (!('access_token' in body)) throw new Error(`No token: ${JSON.stringify(body)}`);
    return body;
  }

  async function link(scope = 'mcp:tools', client = clients.linking, email = ADA): Promise<Tokens> {
    const visitor = createVisitor(url);
    const query = codeRequest(client.id, { scope, resource });
    const back = locationOf(
      await signIn(visitor, await visitor.visit(`${url}/oauth/authorize?${query}`), email),
    );
    const consent = await visitor.get(back.href);
    const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    return ask(client, {
      grant_type: 'authorization_code',
      code: answer.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
      resource,
    });
  }

  return {
    url,
    resource,
    application,
    server,
    accounts: databaseAccounts(application),
    ...clients,
    async serviceToken() {
      const form = { grant_type: 'client_credentials', scope: 'mcp:service', resource };
      return (await ask(clients.service, form)).access_token;
    },
    linkedToken: async (...given) => (await link(...given)).access_token,
    refreshToken: async () => (await link()).refresh_token,
    refresh: (refreshToken) =>
      ask(clients.linking, { grant_type: 'refresh_token', refresh_token: refreshToken }),
    async close() {
      await running.close();
      await application.close();
      await database.drop();
      await rm(storage, { recursive: true, force: true });
    },
  };
}

export function basic({ id, secret }: TestClient): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

async function registerClients(
  server: AuthorizationServer,
): Promise<{ readonly service: TestClient; readonly linking: TestClient }> {
  const service = await server.clients.create({
    name: 'Kitchen service',
    grants: ['client_credentials'],
    scopes: ['mcp:service'],
  });
  const linking = await server.clients.create({
    name: 'Kitchen',
    redirectUris: [REDIRECT_URI],
    scopes: ['mcp:tools'],
  });
  return {
    service: { id: service.client.id, secret: service.secret ?? '' },
    linking: { id: linking.client.id, secret: linking.secret ?? '' },
  };
}
