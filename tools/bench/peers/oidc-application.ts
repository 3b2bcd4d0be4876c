import {
  createHash,
  generateKeyPairSync,
  randomBytes,
  randomUUID,
  type KeyObject,
} from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { Provider, type ClientMetadata, type Configuration, type JWK } from 'oidc-provider';
import { PERSON, REDIRECT_URI, type Place, type Seeded } from '../target.ts';
import { openStorage, type Storage } from './oidc-adapters.ts';
import { formOf, logError, sendConsent, sendJson, sendLogin } from './pages.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const INSPECTOR = 'inspector';
const INTERACTION = '/interaction/';

interface Keys {
  readonly signing: readonly JWK[];
  readonly cookies: readonly string[];
}

function hashOf(password: string): string {
  return createHash('sha256').update(password).digest('base64url');
}

function keyFile({ directory }: Place): string {
  return path.join(directory, 'keys.json');
}

/** Creates the schema, the person, the keys and the clients. */
export async function seed(place: Place): Promise<Seeded> {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const jwkOf = (key: KeyObject, alg: string): JWK => ({
    ...(key.export({ format: 'jwk' }) as JWK),
    kid: randomUUID(),
    use: 'sig',
    alg,
  });
  const keys: Keys = {
    signing: [jwkOf(rsa, 'RS256'), jwkOf(ec, 'ES256')],
    cookies: [randomBytes(32).toString('base64url')],
  };
  writeFileSync(keyFile(place), JSON.stringify(keys), { mode: 0o600 });
  const storage = openStorage(place.database);
  await storage.createTables();
  const { email, name, password } = PERSON;
  await storage.addAccount({ id: randomUUID(), email, name, passwordHash: hashOf(password) });
  const clients = storage.adapter('Client');
  const register = async (id: string, metadata: Omit<ClientMetadata, 'client_id'>) => {
    const secret = randomBytes(32).toString('base64url');
    await clients.upsert(id, {
      client_id: id,
      client_secret: secret,
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_basic',
      ...metadata,
    });
    return { id, secret };
  };
  const web: Omit<ClientMetadata, 'client_id'> = {
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    redirect_uris: [REDIRECT_URI],
    scope: 'openid profile email notes:read',
  };
  return {
    service: await register('service', {
      grant_types: ['client_credentials'],
      scope: 'notes:read',
    }),
    web: await register('web', web),
    webES256: await register('web-es256', { ...web, id_token_signed_response_alg: 'ES256' }),
    inspector: await register(INSPECTOR, { grant_types: [] }),
    scopes: {
      service: 'notes:read',
      plain: 'notes:read',
      openid: 'openid profile email notes:read',
    },
    paths: {
      authorize: '/auth',
      token: '/token',
      introspect: '/token/introspection',
      userinfo: '/me',
      protected: '/protected',
      discovery: '/.well-known/openid-configuration',
      keys: '/jwks',
    },
  };
}

function configuration(place: Place, storage: Storage): Configuration {
  const { signing, cookies } = JSON.parse(readFileSync(keyFile(place), 'utf8')) as Keys;
  return {
    adapter: storage.adapter,
    async findAccount(_ctx, id) {
      const account = await storage.account(id);
      if (account === undefined) return undefined;
      const { email, name } = account;
      return { accountId: id, claims: () => ({ sub: id, email, email_verified: true, name }) };
    },
    jwks: { keys: [...signing] },
    cookies: { keys: [...cookies] },
    scopes: ['openid', 'profile', 'email', 'notes:read'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    interactions: { url: (_ctx, { uid }) => INTERACTION + uid },
    pkce: { required: () => true },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // By default, tokens without `offline_access` end with the session. Here, the session ends
    // before a refresh token does.
    expiresWithSession: async () => false,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: HOUR,
      AuthorizationCode: 60,
      ClientCredentials: HOUR,
      Grant: 30 * DAY,
      IdToken: HOUR,
      Interaction: HOUR,
      RefreshToken: 30 * DAY,
      Session: 14 * DAY,
    },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      introspection: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) =>
          client.clientId === INSPECTOR || client.clientId === token.clientId,
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => client.clientId === token.clientId,
      },
      userinfo: { enabled: true },
    },
    renderError(ctx, { error }) {
      ctx.type = 'text';
      ctx.body = `This could not be done: ${error}`;
    },
  };
}

/** Answers the sign-in page and the consent page, as in the provider's documentation. */
async function interact(
  provider: Provider,
  storage: Storage,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uid, prompt, params, session, grantId } = await provider.interactionDetails(
    request,
    response,
  );
  const clientId = String(params['client_id']);
  const sent = request.method === 'POST' ? await formOf(request) : null;
  if (prompt.name === 'login') {
    const account =
      sent === null ? undefined : await storage.accountByEmail(sent.get('email') ?? '');
    if (account?.passwordHash !== hashOf(sent?.get('password') ?? '')) {
      sendLogin(response, INTERACTION + uid);
    } else {
      const result = { login: { accountId: account.id } };
      await provider.interactionFinished(request, response, result, {
        mergeWithLastSubmission: false,
      });
    }
  } else if (sent === null) {
    sendConsent(response, INTERACTION + uid, clientId, String(params['scope']).split(' '));
  } else if (sent.get('decision') !== 'allow') {
    await provider.interactionFinished(request, response, { error: 'access_denied' });
  } else {
    const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    const grant = known ?? new provider.Grant({ accountId: session?.accountId ?? '', clientId });
    const missing = prompt.details['missingOIDCScope'] as readonly string[] | undefined;
    if (missing !== undefined) grant.addOIDCScope(missing.join(' '));
    const result = { consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result);
  }
}

/**
 * Returns the account for which a bearer token allows the application's own endpoint, or undefined.
 * Checks the token as the provider's own UserInfo does, including its client, grant and account.
 */
export async function accountOf(
  { provider, storage }: Opened,
  authorization: string,
): Promise<{ readonly id: string } | undefined> {
  const token = authorization.startsWith('Bearer ')
    ? await provider.AccessToken.find(authorization.slice('Bearer '.length))
    : undefined;
  const client = token === undefined ? undefined : await provider.Client.find(token.clientId ?? '');
  const grant = client === undefined ? undefined : await provider.Grant.find(token?.grantId ?? '');
  const reaches =
    grant !== undefined && !grant.isExpired && token?.scopes.has('notes:read') === true;
  return reaches ? storage.account(token.accountId) : undefined;
}

export interface Opened {
  readonly provider: Provider;
  readonly storage: Storage;
}

export function open(place: Place): Opened {
  const storage = openStorage(place.database);
  const provider = new Provider(place.url, configuration(place, storage));
  provider.on('server_error', (_ctx, error) => logError(error));
  return { provider, storage };
}

/** Returns a listener that answers the provider's endpoints and its interactions. */
export function listenerOf({ provider, storage }: Opened) {
  const answer = provider.callback();
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url?.startsWith(INTERACTION) !== true) {
      void answer(request, response);
    } else {
      interact(provider, storage, request, response).catch((error: unknown) => {
        logError(error);
        sendJson(response, 500, { error: 'server_error' });
      });
    }
  };
}
