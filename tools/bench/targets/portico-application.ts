import {
  databaseAccounts,
  defineApplication,
  listen,
  startApplication,
  type Application,
  type ApplicationDefinition,
} from '@portico/kit';
import {
  type Plugin,
  authorizationServerOf,
  oauthServer,
  token,
  type AuthorizationServer,
  type Telemetry,
} from 'portico';
import { PERSON, REDIRECT_URI, type Place, type Seeded } from '../target.ts';

/** Settings that override the defaults of `oauth_server`. */
type Changes = Readonly<Record<string, unknown>>;

/** The parts that a target adds to the server. */
interface Additions {
  readonly plugins?: readonly Plugin[];
  /** The section `mcp`, with the plugin. */
  readonly mcp?: Changes;
  /** Registers tools. */
  readonly tools?: () => void;
}

/**
 * Portico in an application on the kit. All settings are defaults, unless a target changes them.
 */
export function definitionFor(
  { directory, database, url }: Place,
  changes: Changes = {},
  { plugins = [], mcp = {}, tools = () => {} }: Additions = {},
): ApplicationDefinition {
  return defineApplication({
    directory,
    config: {
      public_url: url,
      database_url: database,
      ...(plugins.length === 0 ? {} : { mcp }),
      oauth_server: { name: 'Bench', scopes: { 'notes:read': 'Read your notes' }, ...changes },
    },
    plugins: [oauthServer(), ...plugins],
    accounts: (services) => [databaseAccounts(services)],
    register(opened) {
      tools();
      opened.route({
        name: 'protected',
        methods: ['GET'],
        path: '/protected',
        handler() {
          token().requireScope('notes:read');
          return Response.json({ user: token().user()?.reference.id ?? null });
        },
      });
    },
  });
}

export function application(
  place: Place,
  changes: Changes = {},
  telemetry?: Telemetry,
): Promise<Application> {
  const measured = telemetry === undefined ? {} : { telemetry };
  const definition = { ...definitionFor(place, changes), ...measured };
  return startApplication(definition, { env: { APP_ENV: 'dev' } });
}

/** The paths of Portico's endpoints. They are the same in every mount. */
export const PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  introspect: '/oauth/introspect',
  userinfo: '/oauth/userinfo',
  revoke: '/oauth/revoke',
  applications: '/oauth/applications',
  discovery: '/.well-known/openid-configuration',
  keys: '/.well-known/jwks.json',
} as const;

/**
 * Registers the clients. They may request this scope of the application's API. The service may also
 * have the additional scopes.
 */
export async function registerClients(
  clients: AuthorizationServer['clients'],
  scope: string,
  more: readonly string[] = [],
): Promise<Omit<Seeded, 'paths'>> {
  const register = async (registration: Omit<Parameters<typeof clients.create>[0], 'name'>) => {
    const { client, secret } = await clients.create({ name: 'Bench', ...registration });
    return { id: client.id, secret: secret ?? '' };
  };
  const web = { redirectUris: [REDIRECT_URI], scopes: ['openid', 'profile', 'email', scope] };
  return {
    service: await register({ grants: ['client_credentials'], scopes: [scope, ...more] }),
    web: await register(web),
    webES256: await register({ ...web, idTokenSignedResponseAlg: 'ES256' }),
    inspector: await register({ grants: ['introspection'] }),
    scopes: { service: scope, plain: scope, openid: `openid profile email ${scope}` },
  };
}

/** Creates the schema, the person, the key and the clients. The bare limit uses them, too. */
export async function seed(
  place: Place,
  start: (place: Place) => Promise<Application> = (at) => application(at),
  more: readonly string[] = [],
): Promise<Seeded> {
  const opened = await start(place);
  await opened.migrate();
  const { clients, keys } = authorizationServerOf(opened);
  for (const algorithm of ['RS256', 'ES256'] as const) await keys.generate(algorithm);
  const accounts = databaseAccounts(opened);
  const { id } = await accounts.create({ ...PERSON, emailVerified: true });
  await accounts.grant(id, 'notes:read');
  const seeded = {
    ...(await registerClients(clients, 'notes:read', more)),
    paths: { ...PATHS, protected: '/protected', mcp: null },
  };
  await opened.close();
  return seeded;
}

export async function serve(
  place: Place,
  changes: Changes = {},
  telemetry?: Telemetry,
): Promise<unknown> {
  const started = await application(place, changes, telemetry);
  return listen(started, { port: place.port, hostname: '127.0.0.1' });
}
