import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { inspect } from 'node:util';
import { DatabaseSync } from 'node:sqlite';
import { oauthProvider } from '@better-auth/oauth-provider';
import { betterAuth, type BetterAuthOptions, type BetterAuthPlugin } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';
import { listenOn, PERSON, REDIRECT_URI, runTarget } from '../target.ts';
import type { Credentials, Place, Seeded } from '../target.ts';
import { CONSENT_PAGE, pagesOf, SIGN_IN_PAGE } from './better-auth-pages.ts';

/** The path where better-auth is mounted by default. It is also the path of the issuer. */
const BASE_PATH = '/api/auth';
const DAY = 24 * 3600;

/** Keeps `cachedClients` in memory. The plugin offers this for trusted clients. */
function providerOf(cachedClients: readonly string[]) {
  return oauthProvider({
    loginPage: SIGN_IN_PAGE,
    consentPage: CONSENT_PAGE,
    scopes: ['openid', 'profile', 'email', 'offline_access', 'notes:read'],
    accessTokenExpiresIn: 3600,
    m2mAccessTokenExpiresIn: 3600,
    refreshTokenExpiresIn: 30 * DAY,
    codeExpiresIn: 60,
    idTokenExpiresIn: 3600,
    cachedTrustedClients: new Set(cachedClients),
    clientPrivileges: ({ user }) => user?.email === PERSON.email,
  });
}

function optionsOf({ database, url }: Place, cachedClients: readonly string[]) {
  const sqlite = new DatabaseSync(database.replace(/^sqlite:/, ''));
  sqlite.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  return {
    baseURL: url,
    basePath: BASE_PATH,
    secret: 'only the benchmark signs and encrypts with this',
    database: sqlite,
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { level: 'error' },
    // With this cache, an authorization does not read the session and the person.
    session: { cookieCache: { enabled: true } },
    // This setting and the next one follow the plugin's documentation.
    disabledPaths: ['/token'],
    plugins: [
      jwt({
        disableSettingJwtHeader: true,
        jwks: { keyPairConfig: { alg: 'RS256', modulusLength: 2048 } },
      }),
      // With exactOptionalPropertyTypes, TypeScript does not accept the plugin's type as a plugin.
      providerOf(cachedClients) as unknown as BetterAuthPlugin,
    ],
  } satisfies BetterAuthOptions;
}

function openAuth(options: ReturnType<typeof optionsOf>) {
  const auth = betterAuth(options);
  return { ...auth, api: auth.api as typeof auth.api & ReturnType<typeof providerOf>['endpoints'] };
}

export type Auth = ReturnType<typeof openAuth>;

async function seed(place: Place): Promise<Seeded> {
  const options = optionsOf(place, []);
  // Create the schema before anything reads it.
  await (await getMigrations(options)).runMigrations();
  const auth = openAuth(options);
  const { headers: signedUp } = await auth.api.signUpEmail({ body: PERSON, returnHeaders: true });
  const headers = new Headers({ Cookie: cookiesOf(signedUp) });
  const register = async (body: Registration): Promise<Credentials> => {
    const { client_id: id, client_secret: secret } = await auth.api.adminCreateOAuthClient({
      headers,
      body: { ...body, client_name: 'Bench', token_endpoint_auth_method: 'client_secret_basic' },
    });
    return { id, secret: secret ?? '' };
  };
  const service = await register({
    grant_types: ['client_credentials'],
    client_credentials_scopes: ['notes:read'],
  });
  const web = await register({
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: [REDIRECT_URI],
    scope: 'openid profile email offline_access notes:read',
  });
  // The first use creates the key set, so use it here.
  await auth.api.getJwks();
  const seeded: Seeded = {
    service,
    web,
    webES256: null,
    // A client may introspect only its own tokens, unless the tokens name a resource server.
    inspector: web,
    scopes: {
      service: 'notes:read',
      plain: 'notes:read offline_access',
      openid: 'openid profile email offline_access notes:read',
    },
    paths: {
      authorize: `${BASE_PATH}/oauth2/authorize`,
      token: `${BASE_PATH}/oauth2/token`,
      introspect: `${BASE_PATH}/oauth2/introspect`,
      userinfo: `${BASE_PATH}/oauth2/userinfo`,
      protected: '/protected',
      discovery: `${BASE_PATH}/.well-known/openid-configuration`,
      keys: `${BASE_PATH}/jwks`,
    },
  };
  writeFileSync(settingsFile(place), JSON.stringify({ service, web } satisfies Settings), {
    mode: 0o600,
  });
  return seeded;
}

type Registration = NonNullable<Parameters<Auth['api']['adminCreateOAuthClient']>[0]>['body'];

/** What a deployment would have in its environment: the credentials of the clients. */
interface Settings {
  readonly service: Credentials;
  readonly web: Credentials;
}

function settingsFile({ directory }: Place): string {
  return path.join(directory, 'better-auth.json');
}

function cookiesOf(headers: Headers): string {
  return headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
}

function application(place: Place): Server {
  const { service, web } = JSON.parse(readFileSync(settingsFile(place), 'utf8')) as Settings;
  const auth = openAuth(optionsOf(place, [service.id, web.id]));
  const protocol = toNodeHandler(auth);
  const pages = pagesOf(auth, place.url, web);
  return createServer((request, response) => {
    const handler = request.url?.startsWith(`${BASE_PATH}/`) ? protocol : pages;
    handler(request, response).catch((error: unknown) => {
      process.stderr.write(`${inspect(error)}\n`);
      response.destroy();
    });
  });
}

await runTarget({
  seed,
  serve: (place) => listenOn(application(place), place.port),
});
