import type { Database } from '../sql/contract.ts';
import { createAccounts } from './accounts.ts';
import { createAudit } from './audit.ts';
import { createCookieSealer } from './authorization/cookie-keys.ts';
import { createClaims } from './claims.ts';
import { createClients, type Clients } from './clients.ts';
import { createClientSecrets } from './client-secrets.ts';
import type { OAuthServerConfig } from './config.ts';
import { PREFLIGHT, readableByAnyOrigin } from './cross-origin.ts';
import { applicationsEndpoint, removeApplicationEndpoint } from './endpoints/applications.ts';
import { authorizeEndpoint, consentEndpoint } from './endpoints/authorize.ts';
import {
  authorizationServerEndpoint,
  jwksEndpoint,
  openidConfigurationEndpoint,
} from './endpoints/discovery.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import { introspectEndpoint } from './endpoints/introspect.ts';
import { APPLICATIONS_PATH, AUTHORIZE_PATH } from './endpoints/paths.ts';
import { revokeEndpoint } from './endpoints/revoke.ts';
import { tokenEndpoint } from './endpoints/token.ts';
import { userinfoEndpoint } from './endpoints/userinfo.ts';
import { AuthorizationPageError, BearerError, type PageLink } from './errors.ts';
import { createFailedAttempts, systemRandom } from '../http/failed-attempts.ts';
import { prefersPage } from '../http/accept.ts';
import { occasionally } from '../http/occasionally.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { Host } from './host.ts';
import { createKeyRing, type KeyRing } from './keys.ts';
import { pageReply } from './pages.ts';
import { createPruning } from './pruning.ts';
import { logRefusal, notedClient } from './refusals.ts';
import {
  bearerErrorResponse,
  faultReply,
  refusalReply,
  responseOf,
  unavailableReply,
  type Reply,
} from './responses.ts';
import { createScopeCatalog } from './scopes.ts';
import type { ServerContext } from './server-context.ts';
import { createSqlStore } from './store/sql.ts';
import type { PrunedRows } from './store/store.ts';
import { runWithAccessor, settleToken, type Refuse } from './token-accessor.ts';

/** The authorization server inside a host application. */
export interface AuthorizationServer {
  /** The issuer (RFC 8414 section 2): the origin of `public_url`, without a slash. */
  readonly issuer: string;
  /** The section `oauth_server`, validated and with its defaults. */
  readonly config: OAuthServerConfig;
  /** To be mounted by path and method; each answers by itself and never rejects. */
  readonly endpoints: readonly Endpoint[];
  /** The registered applications. */
  readonly clients: Clients;
  /** The signing keys of `key_path`. */
  readonly keys: KeyRing;
  /** Whether a scope of this name is built in or configured. */
  offers(scope: string): boolean;
  /** Removes expired rows, in small batches; safe while serving. */
  prune(): Promise<PrunedRows>;
  /** What the server knows of the application it runs in. */
  readonly host: Host;
  /**
   * Looks up the token of a request's `Authorization` header, for a framework whose handlers are not `Request => Response`:
   * `run` gives what it runs, and everything awaited in it, `token()`. When the look-up itself fails, the answer to send in
   * its place. The request, made when it is asked for, says in the log which one was refused, and where it came from.
   */
  settleToken(
    authorization: string | null,
    request?: () => Request,
  ): Promise<{ readonly run: <T>(work: () => T) => T } | { readonly failure: Response }>;
  /** Runs a handler of the host with `token()` at hand, and answers what `token()` refuses with 401 or 403. */
  withToken(request: Request, next: () => Promise<Response>): Promise<Response>;
}

/** What a server is made of. */
export interface AuthorizationServerOptions {
  /** The public origin of the application, `public_url`; it is the issuer. */
  readonly publicUrl: string;
  /** The section `oauth_server`, as `oauthServerConfiguration` validates it. */
  readonly config: OAuthServerConfig;
  /** The application that the server asks about people and browsers. */
  readonly host: Host;
  /** Where the server keeps what it issues; its schema is `oauthServerMigrations`. */
  readonly database: Database;
  /** Milliseconds since 1970; the system's clock unless a test says otherwise. */
  readonly clock?: () => number;
  /** Whether the error page says what only the log should, for whoever writes an application; false unless given. */
  readonly showsDetails?: boolean;
  /**
   * A number from 0 up to, and not including, 1, by which it is drawn which attempts go ahead while somebody guesses client
   * secrets; the system's random source unless a test says otherwise.
   */
  readonly random?: () => number;
}

/** Makes a server; opens nothing and writes nothing. `key_path` must be absolute. */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { publicUrl, config, host, database, clock = Date.now, random = systemRandom } = options;
  const { showsDetails = false } = options;
  const store = createSqlStore(database);
  const scopes = createScopeCatalog(config.scopes);
  const { passwordHasher } = host;
  const audit = createAudit(host);
  const context: ServerContext = {
    issuer: new URL(publicUrl).origin,
    config,
    host,
    accounts: createAccounts(host),
    store,
    scopes,
    clock,
    clients: createClients({ store, scopes, passwordHasher, clock, audit }),
    clientSecrets: createClientSecrets({ passwordHasher, clock }),
    failedAttempts: createFailedAttempts({ clock, random }),
    audit,
    claims: createClaims({ mapper: config.claims, offered: [...scopes.keys()], log: host.log }),
    keys: createKeyRing({
      directory: config.key_path,
      clock,
      idTokenLifetime: config.id_token_ttl,
      log: host.log,
    }),
    pruning: createPruning({ store, clock, log: host.log }),
    cookieSealer: createCookieSealer({ store, clock, lifetime: config.consent_ttl * 1000 }),
    audience: config.audience === '' ? null : config.audience,
  };
  const overloaded = occasionally((times) =>
    host.log.warning('Too many secrets to check: requests of applications answered 503: {times}', { times }),
  );
  const faults = { host, database, serverName: config.name, showsDetails, overloaded };
  const settle: AuthorizationServer['settleToken'] = async (authorization, asked) => {
    try {
      const refuse = refusing(host, asked);
      const accessor = await database.readTogether(() => settleToken(context, authorization, refuse));
      return { run: (work) => runWithAccessor(accessor, work) };
    } catch (error) {
      const requestId = asked === undefined ? null : requestIdOf(asked());
      const reply = await failureReply(faults, { endpoint: 'token()', requestId, asPage: false }, error);
      return { failure: responseOf(reply, requestId) };
    }
  };
  return {
    issuer: context.issuer,
    config,
    host,
    settleToken: settle,
    clients: context.clients,
    keys: context.keys,
    offers: (scope) => scopes.has(scope),
    prune: () => context.pruning.all(),
    endpoints: ENDPOINTS.map((description) => endpointOf(context, faults, description)),
    async withToken(request, next) {
      const settled = await settle(request.headers.get('authorization'), () => request);
      if ('failure' in settled) return settled.failure;
      try {
        return await settled.run(next);
      } catch (error) {
        if (error instanceof BearerError) return bearerErrorResponse(error);
        throw error;
      }
    },
  };
}

type Answering = (context: ServerContext, request: Request) => Promise<Reply>;

interface EndpointDescription {
  readonly name: string;
  readonly path: string;
  readonly methods: readonly ('GET' | 'POST')[];
  readonly answer: Answering;
  /** Whether a page of any origin may call it. */
  readonly anyOrigin: boolean;
  /** Whether people see it in their browser, so that a fault is told on a page too. */
  readonly forPeople?: boolean;
  /** Whether it only says how things are, from what the store and the host's accounts hold at one moment. */
  readonly onlyReads?: boolean;
}

const ENDPOINTS: readonly EndpointDescription[] = [
  {
    name: 'oauth_server_authorize',
    path: AUTHORIZE_PATH,
    methods: ['GET'],
    answer: authorizeEndpoint,
    anyOrigin: false,
    forPeople: true,
  },
  {
    name: 'oauth_server_consent',
    path: AUTHORIZE_PATH,
    methods: ['POST'],
    answer: consentEndpoint,
    anyOrigin: false,
    forPeople: true,
  },
  {
    name: 'oauth_server_token',
    path: '/oauth/token',
    methods: ['POST'],
    answer: tokenEndpoint,
    anyOrigin: true,
  },
  {
    name: 'oauth_server_revoke',
    path: '/oauth/revoke',
    methods: ['POST'],
    answer: revokeEndpoint,
    anyOrigin: true,
  },
  {
    name: 'oauth_server_introspect',
    path: '/oauth/introspect',
    methods: ['POST'],
    answer: introspectEndpoint,
    anyOrigin: false,
    onlyReads: true,
  },
  {
    name: 'oauth_server_userinfo',
    path: '/oauth/userinfo',
    methods: ['GET', 'POST'],
    answer: userinfoEndpoint,
    anyOrigin: true,
    onlyReads: true,
  },
  {
    name: 'oauth_server_applications',
    path: APPLICATIONS_PATH,
    methods: ['GET'],
    answer: applicationsEndpoint,
    anyOrigin: false,
    forPeople: true,
  },
  {
    name: 'oauth_server_remove_application',
    path: APPLICATIONS_PATH,
    methods: ['POST'],
    answer: removeApplicationEndpoint,
    anyOrigin: false,
    forPeople: true,
  },
  {
    name: 'oauth_server_openid_configuration',
    path: '/.well-known/openid-configuration',
    methods: ['GET'],
    answer: openidConfigurationEndpoint,
    anyOrigin: true,
  },
  {
    name: 'oauth_server_metadata',
    path: '/.well-known/oauth-authorization-server',
    methods: ['GET'],
    answer: authorizationServerEndpoint,
    anyOrigin: true,
  },
  {
    name: 'oauth_server_jwks',
    path: '/.well-known/jwks.json',
    methods: ['GET'],
    answer: jwksEndpoint,
    anyOrigin: true,
  },
];

/** The names of the endpoints that the session-wide CSRF check leaves alone: they protect themselves, or read no session. */
export const CSRF_EXEMPT_ROUTES: Readonly<Record<string, boolean>> = Object.fromEntries(
  ENDPOINTS.filter(({ methods }) => methods.includes('POST')).map(({ name }) => [name, true]),
);

function endpointOf(context: ServerContext, faults: Faults, description: EndpointDescription): Endpoint {
  const { name, path, methods, answer, anyOrigin, forPeople = false, onlyReads = false } = description;
  const { host } = faults;
  const answerTo = (request: Request) =>
    onlyReads ? faults.database.readTogether(() => answer(context, request)) : answer(context, request);
  const reply = async (request: Request, requestId: string) => {
    const asPage = forPeople && prefersPage(request.headers.get('accept'));
    const failed = { endpoint: name, requestId, asPage };
    const replied = await answerTo(request).catch((error: unknown) => failureReply(faults, failed, error));
    const { refused: error } = replied;
    if (error !== undefined)
      logRefusal(host, { endpoint: name, request, error, clientId: notedClient(request) });
    return anyOrigin ? readableByAnyOrigin(replied) : replied;
  };
  return {
    name,
    path,
    methods: anyOrigin ? [...methods, 'OPTIONS'] : methods,
    async handle(request) {
      const requestId = requestIdOf(request);
      const isPreflight = anyOrigin && request.method === 'OPTIONS';
      return responseOf(isPreflight ? PREFLIGHT : await reply(request, requestId), requestId);
    },
  };
}

/** Refuses one request of the host's own routes: told once, however often the handler asks. */
function refusing(host: Host, asked: (() => Request) | undefined): Refuse {
  let isTold = false;
  return (refusal, clientId) => {
    const request = asked?.() ?? null;
    const requestId = request === null ? null : requestIdOf(request);
    const { code, scope, detail } = refusal;
    const error = new BearerError(code, scope, { detail: detail ?? refusal.message, requestId });
    if (!isTold) logRefusal(host, { endpoint: 'token()', request, error, clientId });
    isTold = true;
    throw error;
  };
}

interface Faults {
  readonly host: Host;
  readonly database: Database;
  readonly serverName: string;
  readonly showsDetails: boolean;
  /** Tells the log that the host's hasher has more to do than it can. */
  readonly overloaded: () => void;
}

/** Which request it was that failed. */
interface Failed {
  readonly endpoint: string;
  readonly requestId: string | null;
  /** Whether a person waits for the answer, at a browser. */
  readonly asPage: boolean;
}

/** Answers whatever goes wrong: refusals with their error, an unreachable store with 503, a fault of ours with 500. */
async function failureReply(faults: Faults, failed: Failed, error: unknown): Promise<Reply> {
  if (error instanceof AuthorizationPageError) {
    const { title, message, detail, link, retryAfter } = error;
    const room = retryAfter === null ? { status: 400, otherwise: faultReply() } : withoutRoom(retryAfter);
    const page = { title, message, detail, link, ...room };
    return { ...(await errorPage(faults, failed, page)), refused: error };
  }
  const refusal = refusalReply(error);
  if (refusal !== null && error instanceof Error) return { ...refusal, refused: error };
  const { endpoint, requestId, asPage } = failed;
  const unavailable = faults.database.isUnavailable(error);
  const isPassing = unavailable || isOverload(error);
  if (isPassing && !unavailable) faults.overloaded();
  else faults.host.log.error('{endpoint} failed: {exception}', { endpoint, requestId, exception: error });
  const reply = isPassing ? unavailableReply() : faultReply();
  if (!asPage) return reply;
  const told = isPassing ? UNAVAILABLE : FAULT;
  return errorPage(faults, failed, { ...told, detail: null, status: reply.status, otherwise: reply });
}

function withoutRoom(retryAfter: number): Pick<ErrorPage, 'status' | 'otherwise'> {
  const reply = unavailableReply();
  const headers = { ...reply.headers, 'Retry-After': String(retryAfter) };
  return { status: reply.status, otherwise: { ...reply, headers } };
}

const UNAVAILABLE = {
  title: 'Please try again in a moment',
  message: 'This site cannot answer now. Wait a little, then do the same again.',
} as const;
const FAULT = {
  title: 'Something went wrong here',
  message: 'The fault is ours, and it was written down. Go back to the application and start again.',
} as const;

/** What the host's hasher throws when it has more to do than it can: `status` 503. */
function isOverload(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 503;
}

interface ErrorPage {
  readonly title: string;
  readonly message: string;
  /** For the log, and for the page where it shows details. */
  readonly detail: string | null;
  readonly status: number;
  /** What is answered when the view cannot be rendered; its `Retry-After` is the page's too. */
  readonly otherwise: Reply;
  readonly link?: PageLink | null;
}

async function errorPage(
  { host, serverName, showsDetails }: Faults,
  { requestId }: Failed,
  { title, message, detail, status, otherwise, link = null }: ErrorPage,
): Promise<Reply> {
  const retryAfter = otherwise.headers['Retry-After'];
  try {
    const shown = showsDetails ? detail : null;
    // A host's own view may know nothing of a link: the message says where to go, too.
    const data = { serverName, title, message, status, requestId, detail: shown, link };
    const page = await pageReply({ host, view: 'oauth/error', status, data, formLeadsTo: null });
    return retryAfter === undefined
      ? page
      : { ...page, headers: { ...page.headers, 'Retry-After': retryAfter } };
  } catch (exception) {
    host.log.error('The view oauth/error cannot be rendered: {exception}', { requestId, exception });
    return otherwise;
  }
}
