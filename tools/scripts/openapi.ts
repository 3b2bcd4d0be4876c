/** Returns the description of every endpoint (OpenAPI 3.1), with all features turned on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createAuthorizationServer,
  migrate,
  migrationsWith,
  oauthServerConfiguration,
  openDatabase,
} from '../../packages/portico/src/index.ts';

const ISSUER = 'https://app.example';

/** The settings that add endpoints. */
const EVERYTHING = {
  openapi: true,
  health: true,
  client_logos: true,
  logout: true,
  device_authorization: true,
  pushed_authorization_requests: 'accept',
  registration: 'open',
  challenge: true,
};

const log = { debug() {}, info() {}, warning() {}, error() {} };

/** Returns the document as text. */
export async function openApiText(): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-openapi-'));
  const database = openDatabase('sqlite::memory:', { directory: folder });
  try {
    const config = oauthServerConfiguration.parse({
      name: 'Your application',
      scopes: { 'notes:read': 'Read your notes' },
      audience: `${ISSUER}/api`,
      key_path: folder,
      ...EVERYTHING,
    });
    await migrate(database, migrationsWith(config));
    const server = createAuthorizationServer({
      publicUrl: ISSUER,
      config,
      database,
      host: {
        signedIn: async () => null,
        loadAccount: async () => null,
        holdsPermission: async () => false,
        browserSecret: async () => 'no browser',
        loginUrl: '/login',
        signOut: async () => {},
        log,
      },
    });
    const endpoint = server.endpoints.find(({ name }) => name === 'oauth_server_openapi');
    const response = await endpoint?.handle(new Request(`${ISSUER}/oauth/openapi.json`));
    if (response?.status !== 200) throw new Error('The server does not describe its endpoints.');
    return await response.text();
  } finally {
    await database.close();
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main)
  process.stdout.write(`${JSON.stringify(JSON.parse(await openApiText()), null, 2)}\n`);
