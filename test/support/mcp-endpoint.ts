import {
  configurationWith,
  createAuthorizationServer,
  migrate,
  migrationsWith,
  openDatabase,
  type AuthorizationServer,
  type Host,
} from 'portico';
import { mcpConfiguration } from '../../packages/mcp/src/configuration.ts';
import { createToolRegistry } from '../../packages/mcp/src/tools/tools.ts';
import { storeToken } from './stored-token.ts';

export const ISSUER = 'https://shop.example/base';
export const MAIN = `${ISSUER}/mcp`;
export const OTHER = `${ISSUER}/kitchen/mcp`;

export interface GivenEndpoint {
  readonly mcp?: object;
  readonly path?: string;
  readonly server?: object;
  /** The scopes that the endpoint's resource offers. */
  readonly offers?: readonly string[];
  /** The scopes that the server offers for any resource. */
  readonly serverOffers?: readonly string[];
}

/** Returns the options of an endpoint, and what the endpoint told its server and its log. */
export function given({
  mcp = {},
  path,
  server = {},
  offers = ['mcp:tools'],
  serverOffers = offers,
}: GivenEndpoint) {
  const told: unknown[] = [];
  const tell =
    (kind: string) =>
    (...values: unknown[]) =>
      void told.push([kind, ...values]);
  const all = {
    issuer: ISSUER,
    origin: 'https://shop.example',
    basePath: '/base',
    mountPath: '/mounted',
    audience: MAIN,
    resources: [] as readonly object[],
    config: { name: 'Shop' },
    endpoints: [] as readonly object[],
    grantTypes: { beginningAs: () => [] },
    admitsUnverified: false,
    binding: null,
    measuring: null,
    host: { clientAddress: () => '192.0.2.7' },
    clock: () => 0,
    ...server,
  };
  const api = (audience: string | null) => ({
    audience,
    offers: (scope: string) => offers.includes(scope),
    serveResource: tell('serves'),
    withToken: (_: Request, answer: () => Promise<Response>) => answer(),
  });
  const options = {
    server: {
      ...all,
      offers: (scope: string) => serverOffers.includes(scope),
      resource: (name: string) => api(name === all.audience ? name : null),
    } as unknown as AuthorizationServer,
    config: mcpConfiguration.parse(mcp),
    tools: createToolRegistry(),
    log: {
      debug: tell('debug'),
      info: tell('info'),
      warning: tell('warning'),
      error: tell('error'),
    },
    ...(path === undefined ? {} : { path }),
  };
  return { options, told };
}

export const WITH_OTHER = { path: '/kitchen/mcp', server: { resources: [{ resource: OTHER }] } };

const HOST: Host = {
  signedIn: async () => null,
  loadAccount: async (reference) => ({
    reference,
    isActive: () => true,
    getProfile: () => ({ name: 'Ada' }),
  }),
  holdsPermission: async () => true,
  loginUrl: '/sign-in',
  passwordHasher: { hash: async () => '', verify: async () => false },
};

/** Opens a server with an empty database. It runs work in requests, so that `token()` works. */
function openServer() {
  const database = openDatabase('sqlite::memory:', { directory: '/' });
  const scopes = { orders: 'See your orders' };
  const config = configurationWith([]).parse({ name: 'Shop', scopes });
  const publicUrl = 'https://shop.example';
  const server = createAuthorizationServer({ publicUrl, config, host: HOST, database });
  async function run<T>(
    headers: Readonly<Record<string, string>>,
    work: () => T | Promise<T>,
  ): Promise<T> {
    const done = Promise.withResolvers<T>();
    await server.withToken(new Request(publicUrl, { headers }), async () => {
      done.resolve(await work());
      return new Response();
    });
    return done.promise;
  }
  return { database, config, run };
}

/** Runs the work in a request without a token. */
export async function withoutToken<T>(work: () => Promise<T>): Promise<T> {
  const { database, run } = openServer();
  try {
    return await run({}, work);
  } finally {
    await database.close();
  }
}

/** Runs work in requests with the tokens of two authorizations of one person. */
export async function openTokens() {
  const { database, config, run } = openServer();
  await migrate(database, migrationsWith(config));
  const person = { provider: 'users', id: '1' };
  const tokens = [
    await storeToken(database, person, ['orders']),
    await storeToken(database, person, ['orders']),
  ] as const;
  return {
    withToken: <T>(index: 0 | 1, work: () => T | Promise<T>) =>
      run({ Authorization: `Bearer ${tokens[index]}` }, work),
    close: () => database.close(),
  };
}
