import path from 'node:path';
import {
  argon2idHasher,
  databaseAccounts,
  startApplication,
  type Application,
} from '../../../packages/kit/src/index.ts';
import { mcp, tool, type ToolInterface } from '../../../packages/mcp/src/index.ts';
import {
  authorizationServerOf,
  oauthServer,
  setUpServer,
} from '../../../packages/portico/src/index.ts';
import { scratch } from './scratch.ts';

/** A complete application with all features on. Its clock moves by a second with each input. */
export interface FuzzedApplication {
  readonly application: Application;
  /** Ends everything that the previous inputs have started or counted. */
  readonly tick: () => void;
  /** A token for the MCP tools. */
  readonly token: string;
  /** The id of a public client. */
  readonly client: string;
}

export const ORIGIN = 'http://localhost:8765';
export const REDIRECT_URI = 'https://client.example/cb';
const BASE = '/auth';

const answering: ToolInterface = {
  name: () => 'echo',
  description: () => 'Says it again',
  inputSchema: () => ({
    type: 'object',
    properties: {
      text: { type: 'string', 'x-mcp-header': 'Text' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
    },
  }),
  handle: (args) => JSON.stringify(args),
};

export async function startFuzzed(): Promise<FuzzedApplication> {
  let now = 1_800_000_000_000;
  const clock = () => now;
  const storage = scratch();
  const passwordHasher = argon2idHasher({ memory: 64 });
  const server = oauthServer({ clock, random: () => 0 });
  const application = await startApplication(
    {
      directory: storage,
      config: {
        public_url: ORIGIN,
        base_path: BASE,
        trusted_proxies: 1,
        database_url: `sqlite:${path.join(storage, 'fuzzed.sqlite')}`,
        log: { path: path.join(storage, 'app.log'), level: 'error' },
        oauth_server: {
          name: 'Portal',
          audience: `${ORIGIN}${BASE}/mcp`,
          scopes: {
            'mcp:tools': 'Use the tools',
            'mcp:service': { label: 'Act as a service', permission: 'service' },
          },
          access_token_ttl: 3_000_000_000,
          client_id_metadata_documents: { allowed_hosts: [] },
          private_key_jwt: true,
          pushed_authorization_requests: 'accept',
          dpop: 'accept',
          device_authorization: true,
          health: true,
          languages: true,
          logout: true,
          registration: 'open',
          registration_secret_ttl: 3600,
        },
        mcp: {
          resource: `${ORIGIN}${BASE}/mcp`,
          protocol_versions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
        },
      },
      plugins: [
        {
          ...server,
          // Client secrets use a cheap hash here, as passwords do.
          register: (given: Application) =>
            server.register(
              Object.defineProperty(given, 'passwordHasher', { value: passwordHasher }),
            ),
        },
        mcp(),
      ],
      accounts: ({ database }: Pick<Application, 'database'>) => [
        databaseAccounts({ database, passwordHasher }),
      ],
      register: () => tool().register(answering),
    },
    { env: { APP_ENV: 'dev', STORAGE_DIR: storage }, clock, random: () => 0 },
  );
  await application.migrate();
  await application.database.execute('PRAGMA synchronous = OFF');
  const authorization = authorizationServerOf(application);
  await setUpServer(application, authorization);
  const { client } = await authorization.clients.create({
    name: 'Fuzzed',
    public: true,
    redirectUris: [REDIRECT_URI],
    scopes: ['openid', 'mcp:tools'],
  });
  const service = await authorization.clients.create({
    name: 'Service',
    grants: ['client_credentials'],
    scopes: ['mcp:service'],
  });
  const basic = Buffer.from(`${service.client.id}:${service.secret}`).toString('base64');
  const answer = await application.fetch(
    new Request(`${ORIGIN}${BASE}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${basic}` },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        scope: 'mcp:service',
        resource: `${ORIGIN}${BASE}/mcp`,
      }),
    }),
    { address: '127.0.0.1', target: `${BASE}/oauth/token` },
  );
  const { access_token: token = '' } = (await answer.json()) as { access_token?: string };
  if (token === '') throw new Error(`There is no token: ${answer.status}`);
  return { application, token, client: client.id, tick: () => void (now += 1000) };
}
