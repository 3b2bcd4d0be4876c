import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import {
  AuthorizationServer,
  DateInterval,
  isOAuthError,
  type RequestInterface,
  type ResponseInterface,
} from '@jmondi/oauth2-server';
import { listenOn, PERSON, REDIRECT_URI, runTarget, type Place, type Seeded } from '../target.ts';
import { Repositories } from './jmondi-repositories.ts';
import { escaped, formOf, logError, sendConsent, sendJson, sendLogin } from './pages.ts';

const SCOPE = 'notes:read';

function keyFile({ directory }: Place): string {
  return path.join(directory, 'key');
}

function repositoriesOf({ database }: Place): Repositories {
  if (!database.startsWith('sqlite:')) throw new Error('This target knows SQLite only');
  return new Repositories(database.slice('sqlite:'.length));
}

async function seed(place: Place): Promise<Seeded> {
  writeFileSync(keyFile(place), randomBytes(32).toString('base64url'), { mode: 0o600 });
  const repositories = repositoriesOf(place);
  repositories.createTables();
  repositories.addUser(randomUUID(), PERSON.email, PERSON.name, PERSON.password);
  repositories.addScope(SCOPE);
  const register = (
    id: string,
    client: Omit<Parameters<Repositories['addClient']>[0], 'id' | 'redirectUris'>,
    redirectUris: readonly string[] = [],
  ) => ({ id, secret: repositories.addClient({ id, redirectUris, ...client }) });
  return {
    service: register('service', { grants: ['client_credentials'], scopes: [SCOPE] }),
    web: register('web', { grants: ['authorization_code', 'refresh_token'], scopes: [SCOPE] }, [
      REDIRECT_URI,
    ]),
    webES256: null,
    // Introspection requires this grant.
    inspector: register('inspector', { grants: ['client_credentials'], scopes: [] }),
    scopes: { service: SCOPE, plain: SCOPE, openid: SCOPE },
    paths: {
      authorize: '/authorize',
      token: '/token',
      introspect: '/token/introspect',
      userinfo: null,
      protected: null,
      discovery: null,
      keys: null,
    },
  };
}

function authorizationServer(place: Place, repositories: Repositories): AuthorizationServer {
  const { clients, tokens, scopes, users, codes } = repositories;
  const server = new AuthorizationServer(
    clients,
    tokens,
    scopes,
    readFileSync(keyFile(place), 'utf8'),
    {
      issuer: place.url,
    },
  );
  const lifetime = new DateInterval('1h');
  server.enableGrantTypes(
    ['client_credentials', lifetime],
    ['refresh_token', lifetime],
    [{ grant: 'authorization_code', authCodeRepository: codes, userRepository: users }, lifetime],
  );
  return server;
}

function oauthRequest(
  request: IncomingMessage,
  query: URLSearchParams,
  body?: URLSearchParams,
): RequestInterface {
  return {
    headers: request.headers,
    query: Object.fromEntries(query),
    body: body === undefined ? {} : Object.fromEntries(body),
  };
}

function send(response: ServerResponse, { status, headers, body }: ResponseInterface): void {
  if (status === 302) response.writeHead(status, headers).end();
  else sendJson(response, status, body, headers);
}

function sendError(response: ServerResponse, error: unknown): void {
  if (isOAuthError(error)) {
    sendJson(response, error.status, {
      error: error.errorType,
      error_description: error.errorDescription,
    });
  } else {
    logError(error);
    sendJson(response, 500, { error: 'server_error' });
  }
}

function sessionOf({ headers }: IncomingMessage): string {
  return /(?:^|; )session=([\w-]+)/.exec(headers.cookie ?? '')?.[1] ?? '';
}

async function serve(place: Place): Promise<unknown> {
  const repositories = repositoriesOf(place);
  const authorization = authorizationServer(place, repositories);

  /**
   * Signs the person in, and then asks for consent. The authorization request stays in the address.
   */
  const authorize = async (request: IncomingMessage, response: ServerResponse, url: URL) => {
    const asked = await authorization.validateAuthorizationRequest(
      oauthRequest(request, url.searchParams),
    );
    const user = repositories.userOf(sessionOf(request));
    const here = url.pathname + url.search;
    if (user === null) {
      sendLogin(response, '/login', `<input type="hidden" name="next" value="${escaped(here)}">`);
    } else if (request.method !== 'POST') {
      const scopes = asked.scopes.map(({ name }) => name);
      sendConsent(response, here, asked.client.name, scopes);
    } else if ((await formOf(request)).get('decision') === 'allow') {
      asked.user = user;
      asked.isAuthorizationApproved = true;
      send(response, await authorization.completeAuthorizationRequest(asked));
    } else {
      const denied = new URLSearchParams({ error: 'access_denied', state: asked.state ?? '' });
      response.writeHead(302, { Location: `${asked.redirectUri}?${denied}` }).end();
    }
  };

  const signIn = async (request: IncomingMessage, response: ServerResponse) => {
    const sent = await formOf(request);
    const next = sent.get('next') ?? '';
    const session = repositories.signIn(sent.get('email') ?? '', sent.get('password') ?? '');
    if (!next.startsWith('/authorize?')) {
      sendJson(response, 400, { error: 'invalid_request' });
    } else if (session === null) {
      sendLogin(response, '/login', `<input type="hidden" name="next" value="${escaped(next)}">`);
    } else {
      const cookie = `session=${session}; Path=/; HttpOnly; SameSite=Lax`;
      response.writeHead(303, { Location: next, 'Set-Cookie': cookie }).end();
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', place.url);
    const route = `${request.method} ${url.pathname}`;
    if (route === 'POST /token') {
      const sent = oauthRequest(request, url.searchParams, await formOf(request));
      send(response, await authorization.respondToAccessTokenRequest(sent));
    } else if (route === 'POST /token/introspect') {
      const sent = oauthRequest(request, url.searchParams, await formOf(request));
      send(response, await authorization.introspect(sent));
    } else if (route === 'GET /authorize' || route === 'POST /authorize') {
      await authorize(request, response, url);
    } else if (route === 'POST /login') {
      await signIn(request, response);
    } else {
      sendJson(response, 404, { error: 'not_found' });
    }
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => sendError(response, error));
  });
  return listenOn(server, place.port);
}

await runTarget({ seed, serve });
