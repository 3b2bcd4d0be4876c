import path from 'node:path';
import {
  createAuthorizationServer,
  migrate,
  migrationsWith,
  oauthServerConfiguration,
  openDatabase,
  type AuthorizationServer,
  type UserInterface,
} from '../../../packages/portico/src/index.ts';
import { scratch } from '../support/scratch.ts';
import { hold, type Target } from '../target.ts';

const ORIGIN = 'https://app.example';
const REDIRECT_URI = 'https://client.example/cb';
const BACK = 'https://client.example/bye';
const BACK_TO = encodeURIComponent(BACK);
const LOGOUT = `${ORIGIN}/oauth/logout`;
const PERSON = { provider: 'users', id: '1' };
const USER: UserInterface = {
  reference: PERSON,
  isActive: () => true,
  getProfile: () => ({ name: 'Ada' }),
};
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const PLACEHOLDERS = /\{(client|hint|request)\}/g;

/** Parameters of requests to sign out. The first byte says whether they are a query or a form. */
export const target: Target = {
  about: 'requests to sign out: parameters, ID tokens, sealed requests, the answers of people',
  slowest: 1000,
  seeds: [
    `Gid_token_hint={hint}&post_logout_redirect_uri=${BACK_TO}&state=s`,
    `Gclient_id={client}&post_logout_redirect_uri=${BACK_TO}&ui_locales=de`,
    'Grequest={request}',
    'Gid_token_hint={hint}.x&logout_hint=ada',
    `Pclient_id={client}&id_token_hint={hint}&post_logout_redirect_uri=${BACK_TO}`,
    'Prequest={request}&decision=logout&csrf_token=x',
    'Prequest={request}&decision=stay',
    `Gclient_id={client}&post_logout_redirect_uri=${BACK_TO}%2F`,
  ],
  dictionary: [
    'G',
    'P',
    'id_token_hint=',
    'post_logout_redirect_uri=',
    'client_id=',
    'state=',
    'request=',
    'decision=logout',
    'csrf_token=',
    'ui_locales=',
    '{client}',
    '{hint}',
    '{request}',
    BACK_TO,
    'https%3A%2F%2Fevil.example',
    '%00',
    '&',
    '=',
    '.',
  ],
  async start() {
    let ended = 0;
    const server = await startServer(() => (ended += 1));
    const made = await prepare(server);
    return async (input) => {
      ended = 0;
      const text = input
        .toString('latin1')
        .replaceAll(PLACEHOLDERS, (_, name: string) => made[name] ?? '');
      const isForm = text.startsWith('P');
      const sent = new URLSearchParams(text.slice(1));
      const request = isForm
        ? new Request(LOGOUT, { method: 'POST', body: sent })
        : new Request(`${LOGOUT}?${sent}`);
      const response = await ask(server, request);
      hold(response.status < 500, `it was answered ${response.status}`);
      const mayEnd =
        sent.getAll('id_token_hint').some((hint) => hint === made['hint']) ||
        sent.getAll('request').some((sealed) => sealed === made['request']);
      hold(ended === 0 || (!isForm && mayEnd), 'a session was ended without a proof');
      const location = response.headers.get('location');
      if (location === null) return;
      const { origin, pathname, searchParams } = new URL(location, ORIGIN);
      const isHere = origin === ORIGIN && pathname === '/oauth/logout';
      hold(isHere || `${origin}${pathname}` === BACK, 'a browser is led elsewhere');
      hold(isHere || ended === 1, 'a browser is sent back although no session ended');
      hold(
        isHere || searchParams.get('state') === (sent.get('state') || null),
        'the state has changed',
      );
    };
  },
};

async function startServer(end: () => void): Promise<AuthorizationServer> {
  const folder = scratch();
  const config = oauthServerConfiguration.parse({
    name: 'Portal',
    scopes: {},
    key_path: path.join(folder, 'sign-out-keys'),
    logout: true,
  });
  const database = openDatabase(`sqlite:${path.join(folder, 'sign-outs.sqlite')}`, {
    directory: folder,
  });
  await migrate(database, migrationsWith(config));
  await database.execute('PRAGMA synchronous = OFF');
  return createAuthorizationServer({
    publicUrl: ORIGIN,
    config,
    database,
    host: {
      signedIn: async () => PERSON,
      loadAccount: async () => USER,
      holdsPermission: async () => true,
      browserSecret: async () => 'a'.repeat(43),
      signOut: async () => end(),
      loginUrl: '/login',
      log: { debug() {}, info() {}, warning() {}, error() {} },
    },
  });
}

/** Registers a client, signs the person in for it, and begins a request to sign out. */
async function prepare(server: AuthorizationServer): Promise<Readonly<Record<string, string>>> {
  await server.keys.generate();
  const { client, secret } = await server.clients.create({
    name: 'Fuzzed',
    redirectUris: [REDIRECT_URI],
    scopes: ['openid'],
    metadata: { post_logout_redirect_uris: [BACK] },
  });
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  });
  const page = await ask(server, new Request(`${ORIGIN}/oauth/authorize?${query}`));
  const allowed = { ...fieldsOf(await page.text()), decision: 'allow' };
  const answer = await ask(server, posted('/oauth/authorize', allowed));
  const code = new URL(answer.headers.get('location') ?? ORIGIN).searchParams.get('code') ?? '';
  const exchange = {
    grant_type: 'authorization_code',
    client_id: client.id,
    client_secret: secret ?? '',
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
    code,
  };
  const tokens = await ask(server, posted('/oauth/token', exchange));
  const { id_token: hint = '' } = (await tokens.json()) as { readonly id_token?: string };
  if (hint === '') throw new Error(`There is no ID token: ${tokens.status}`);
  const begun = { id_token_hint: hint, post_logout_redirect_uri: BACK };
  const asked = await ask(server, posted('/oauth/logout', begun));
  const sealed = new URL(asked.headers.get('location') ?? ORIGIN, ORIGIN).searchParams;
  return { client: client.id, hint, request: sealed.get('request') ?? '' };
}

/** The hidden fields of a page. */
function fieldsOf(html: string): Readonly<Record<string, string>> {
  const fields = html.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g);
  return Object.fromEntries(Array.from(fields, ([, name = '', value = '']) => [name, value]));
}

function posted(to: string, form: Readonly<Record<string, string>>): Request {
  return new Request(`${ORIGIN}${to}`, { method: 'POST', body: new URLSearchParams(form) });
}

function ask(server: AuthorizationServer, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const endpoint = server.endpoints.find(
    (each) => each.path === pathname && each.methods.some((one) => one === request.method),
  );
  if (endpoint === undefined) throw new Error(`There is no ${request.method} ${pathname}`);
  return endpoint.handle(request);
}
