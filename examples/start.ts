import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { listen, migrationsOf, startApplication, type Application } from '@portico/kit';
import {
  ConfigurationError,
  ConsoleError,
  migrate,
  authorizationServerOf,
  setUpServer,
} from 'portico';
import portal from './portal/app.ts';
import { seedPeople } from './portal/people.ts';
import { startRelyingParty } from './relying-party/server.ts';

/**
 * `npm start` runs this file. It starts the portal, and an application that people sign in to with
 * their account at the portal.
 */

const RELYING_PARTY_SCOPES = ['openid', 'profile', 'email', 'notes:read', 'notes:write'];

interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

async function main(): Promise<void> {
  portOf(process.env, 'PORT', 8080);
  const application = await startApplication(portal);
  const { env, mode } = application;
  const port = portOf(env, 'PORT', 8080);
  const relyingPartyPort = portOf(env, 'RP_PORT', 8081);
  const relyingPartyUrl = env['RP_PUBLIC_URL'] ?? `http://localhost:${relyingPartyPort}`;
  const hostname = mode === 'dev' ? '127.0.0.1' : '0.0.0.0';

  await migrate(application.database, migrationsOf(portal));
  await setUpServer(application, authorizationServerOf(application));
  if (mode === 'dev') await seedPeople(application, env['DEMO_PASSWORD'] ?? 'portico');
  const credentials =
    mode === 'dev'
      ? await seedClient(application, `${relyingPartyUrl}/callback`)
      : givenClient(env);

  const server = await listen(application, { port, hostname });
  const relyingParty =
    credentials === null
      ? null
      : await startRelyingParty({
          ...credentials,
          port: relyingPartyPort,
          hostname,
          publicUrl: relyingPartyUrl,
          issuer: application.publicUrl,
          refreshTokenLifetime: refreshTokenLifetime(application),
        });
  say(welcome(application, relyingParty === null ? null : relyingPartyUrl));

  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await relyingParty?.close();
  await server.close();
  await application.close();
}

/**
 * Registers the relying party once, and stores its credentials next to the database, because the
 * server itself stores only a hash of the secret.
 */
async function seedClient(application: Application, redirectUri: string): Promise<Credentials> {
  const { clients } = authorizationServerOf(application);
  const file = path.join(application.storageDirectory, 'relying-party.json');
  if (existsSync(file)) {
    const kept = JSON.parse(await readFile(file, 'utf8')) as Credentials;
    const client = await clients.find(kept.clientId);
    if (client?.revokedAt === null && client.redirectUris.includes(redirectUri)) return kept;
  }
  const { client, secret } = await clients.create({
    name: 'Notebook',
    redirectUris: [redirectUri],
    scopes: RELYING_PARTY_SCOPES,
  });
  const credentials = { clientId: client.id, clientSecret: secret ?? '' };
  await mkdir(application.storageDirectory, { recursive: true });
  // Write a new file, so that it gets this mode. Then rename it, so that the file is never
  // incomplete.
  const whole = `${file}.${process.pid}`;
  await writeFile(whole, JSON.stringify(credentials), { mode: 0o600 });
  await rename(whole, file);
  return credentials;
}

/**
 * Returns the client from the environment, or null. If it is null, the relying party does not
 * start. This is used only outside of APP_ENV=dev, where no client is seeded.
 */
function givenClient(env: Application['env']): Credentials | null {
  const { RP_CLIENT_ID: clientId, RP_CLIENT_SECRET: clientSecret } = env;
  return clientId === undefined || clientSecret === undefined ? null : { clientId, clientSecret };
}

/** Returns the lifetime of refresh tokens, in seconds. */
function refreshTokenLifetime({ config }: Application): number {
  return Number((config['oauth_server'] as Readonly<Record<string, unknown>>)['refresh_token_ttl']);
}

function portOf(env: Application['env'], name: string, otherwise: number): number {
  const port = Number(env[name] ?? otherwise);
  if (Number.isInteger(port) && port > 0 && port <= 65_535) return port;
  throw new ConsoleError(`${name} must be a port, 1 to 65535.`);
}

function welcome({ mode, publicUrl, env }: Application, relyingPartyUrl: string | null): string {
  const password = env['DEMO_PASSWORD'] === undefined ? "'portico'" : 'DEMO_PASSWORD';
  return [
    '',
    `  Portal         ${publicUrl}`,
    ...(relyingPartyUrl === null
      ? [
          '  Relying party  not started: set RP_CLIENT_ID and RP_CLIENT_SECRET to a client from oauth:client:create',
        ]
      : [`  Relying party  ${relyingPartyUrl}   <- open this one, and sign in with Portal`]),
    ...(mode === 'dev'
      ? [
          '',
          `  Sign in as ada@example.com or grace@example.com, password ${password}.`,
          '',
          '  Then, in another terminal, watch a token stop working:',
          '    npx portico account:deny ada@example.com notes:read    (account:grant gives it back)',
          '    npx portico account:suspend ada@example.com',
          '    npx portico account:restore ada@example.com',
        ]
      : []),
    '',
    '  Ctrl+C stops both.',
    '',
  ].join('\n');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function explain(error: unknown): string {
  if (error instanceof ConfigurationError)
    return `The configuration cannot be used:\n${error.message}`;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    const port = 'port' in error ? String(error.port) : 'that port';
    return `Port ${port} is in use: stop what listens there, or set PORT and RP_PORT.`;
  }
  if (error instanceof ConsoleError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
}
