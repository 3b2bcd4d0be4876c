// `node code-flow.ts` runs the authorization code flow on the sources, and prints whether it
// worked. test/feature-deletion.test.ts runs it in copies of the sources that lack a feature.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  openDatabase,
  token,
  type AuthorizationServer,
  type Database,
} from '../../packages/portico/src/index.ts';

const ISSUER = 'https://app.example';
const REDIRECT_URI = 'https://client.example/callback';
const PERSON = { provider: 'staff', id: '7' };

function complain(message: string, context: Readonly<Record<string, unknown>> = {}): void {
  process.stderr.write(`${message} ${String(context['exception'])}\n`);
}

async function serverOn(database: Database, folder: string): Promise<AuthorizationServer> {
  await migrate(database, oauthServerMigrations);
  const config = oauthServerConfiguration.parse({
    name: 'App',
    scopes: { 'notes:read': 'Read your notes' },
    key_path: path.join(folder, 'keys'),
  });
  const server = createAuthorizationServer({
    publicUrl: ISSUER,
    config,
    database,
    host: {
      signedIn: async () => PERSON,
      loadAccount: async (reference) => ({
        reference,
        isActive: () => true,
        getProfile: () => ({}),
      }),
      holdsPermission: async () => true,
      browserSecret: async () => 'the secret of this one browser',
      loginUrl: '/login',
      render: async (_, data) => JSON.stringify(data),
      audit: async () => {},
      log: { debug() {}, info() {}, warning: complain, error: complain },
    },
  });
  await server.keys.generate();
  return server;
}

async function ask(
  { endpoints }: AuthorizationServer,
  name: string,
  at: string,
  form?: Readonly<Record<string, string>>,
): Promise<Response> {
  const endpoint = endpoints.find((each) => each.name === name);
  if (endpoint === undefined) throw new Error(`No endpoint ${name}`);
  const init = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
  return endpoint.handle(new Request(`${ISSUER}${at}`, init));
}

/** Returns the status of an API request with this access token. */
async function statusWith(server: AuthorizationServer, accessToken: string): Promise<number> {
  const headers = { Authorization: `Bearer ${accessToken}` };
  const { status } = await server.withToken(
    new Request(`${ISSUER}/notes`, { headers }),
    async () => {
      token().requireScope('notes:read');
      return new Response('notes');
    },
  );
  return status;
}

async function codeFlow(server: AuthorizationServer): Promise<readonly unknown[]> {
  const { client, secret } = await server.clients.create({
    name: 'Client',
    redirectUris: [REDIRECT_URI],
    scopes: ['openid', 'notes:read'],
  });
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid notes:read',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const page = await ask(server, 'oauth_server_authorize', `/oauth/authorize?${query}`);
  const shown = (await page.json()) as { readonly requestId: string; readonly csrfToken: string };
  const answer = { request_id: shown.requestId, csrf_token: shown.csrfToken, decision: 'allow' };
  const allowed = await ask(server, 'oauth_server_consent', '/oauth/authorize', answer);
  const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
  const credentials = { client_id: client.id, client_secret: secret ?? '' };
  const exchange = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: verifier,
  };
  const issued = await ask(server, 'oauth_server_token', '/oauth/token', {
    ...credentials,
    ...exchange,
  });
  const tokens = (await issued.json()) as {
    readonly access_token: string;
    readonly refresh_token: string;
  };
  const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
  const refreshed = await ask(server, 'oauth_server_token', '/oauth/token', {
    ...credentials,
    ...refresh,
  });
  const { access_token: next } = (await refreshed.json()) as { readonly access_token: string };
  const metadata = await ask(
    server,
    'oauth_server_metadata',
    '/.well-known/oauth-authorization-server',
  );
  const worked = [
    await statusWith(server, tokens.access_token),
    await statusWith(server, next),
    metadata.status,
  ];
  await server.clients.revoke(client.id);
  return [...worked, await statusWith(server, next)];
}

const folder = await mkdtemp(path.join(tmpdir(), 'portico-code-flow-'));
const database = openDatabase('sqlite:data.sqlite', { directory: folder });
try {
  const statuses = await codeFlow(await serverOn(database, folder));
  process.stdout.write(`${JSON.stringify(statuses)}\n`);
} finally {
  await database.close();
  await rm(folder, { recursive: true });
}
