import {
  configurationWith,
  createAuthorizationServer,
  openDatabase,
  type AuthorizationServer,
} from 'portico';
import { mcpConfiguration } from './configuration.ts';
import { createToolRegistry } from './tools/tools.ts';

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

/** Runs the work in a request without a token, so that `token()` can be called. */
export async function withoutToken<T>(work: () => Promise<T>): Promise<T> {
  const database = openDatabase('sqlite::memory:', { directory: '/' });
  const server = createAuthorizationServer({
    publicUrl: 'https://shop.example',
    config: configurationWith([]).parse({ name: 'Shop', scopes: { orders: 'See your orders' } }),
    host: {
      signedIn: async () => null,
      loadAccount: async () => null,
      holdsPermission: async () => false,
      loginUrl: '/sign-in',
      passwordHasher: { hash: async () => '', verify: async () => false },
    },
    database,
  });
  const done = Promise.withResolvers<T>();
  try {
    await server.withToken(new Request('https://shop.example'), async () => {
      done.resolve(await work());
      return new Response();
    });
    return await done.promise;
  } finally {
    await database.close();
  }
}
