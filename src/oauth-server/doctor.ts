import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Application } from '../host/contracts.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { CSRF_EXEMPT_ROUTES } from './endpoints/table.ts';
import { failing, ok, skipped, warning, type Check, type Finding } from './finding.ts';
import { examinePublicAddress } from './public-address.ts';
import type { Client } from './store/store.ts';
import { randomToken } from './crypto.ts';

/** A secret rotation that is open: the secret before is still accepted. */
export interface OpenRotation {
  /** The application's identifier. */
  readonly client_id: string;
  /** The application's name. */
  readonly client_name: string;
  /** Seconds since 1970. */
  readonly previous_secret_expires_at: number;
}

/** What `oauth:server:doctor` prints with `--json`. */
export interface DoctorReport {
  /** False when a part is failing. */
  readonly healthy: boolean;
  /** One for each part, in the order in which they were looked at. */
  readonly checks: readonly Check[];
  /** The clients whose previous secret is still accepted. */
  readonly open_rotations: readonly OpenRotation[];
}

interface Subject {
  readonly application: Application;
  readonly server: AuthorizationServer;
}

type Examination = (subject: Subject) => Promise<Finding>;

/** What the doctor looks at besides. */
export interface ExaminationOptions {
  /** Whether the public address is asked too, over the network; it is not unless this is true. */
  readonly online?: boolean;
  /** How long each answer of the public address is waited for, in seconds; 5 unless given. */
  readonly patience?: number;
}

/**
 * Looks at every part of a configured server, changing nothing. A part that cannot be looked at is failing. Without
 * `online` nothing is known of the process that serves, nor of what stands before it.
 */
export async function examine(
  application: Application,
  server: AuthorizationServer,
  { online = false, patience = 5 }: ExaminationOptions = {},
): Promise<DoctorReport> {
  const subject = { application, server };
  const checks: Check[] = [{ part: 'configuration', ...ok(`public_url makes ${server.issuer} the issuer`) }];
  for (const [part, examination] of EXAMINATIONS) {
    const blind =
      STORED.has(part) && checks.some((check) => check.part === 'store' && check.outcome !== 'ok');
    const finding = blind ? skipped('the store cannot be reached') : await look(subject, part, examination);
    checks.push({ part, ...finding });
  }
  if (online) checks.push(...(await examinePublicAddress(server, { patience })));
  return {
    healthy: checks.every(({ outcome }) => outcome !== 'failing'),
    checks,
    open_rotations: await openRotations(server),
  };
}

async function look(subject: Subject, part: string, examination: Examination): Promise<Finding> {
  try {
    return await examination(subject);
  } catch (exception) {
    subject.application.log.error('The doctor could not look at {part}: {exception}', { part, exception });
    const message = exception instanceof Error ? exception.message : String(exception);
    return failing(message, 'see the log for the details');
  }
}

const EXAMINATIONS: readonly (readonly [part: string, Examination])[] = [
  ['store', examineStore],
  ['schema', examineSchema],
  ['signing key', examineKeys],
  ['sign-in route', examineLoginRoute],
  ['endpoints', examineEndpoints],
  ['csrf_exempt_routes', examineExemptions],
  ['views', examineViews],
  ['password hasher', examineHasher],
  ['clients', examineClients],
];

/** What can only be looked at in the store. */
const STORED: ReadonlySet<string> = new Set(['schema', 'clients']);

async function examineStore({ application: { database } }: Subject): Promise<Finding> {
  try {
    await database.execute('SELECT 1');
    return ok(`${database.dialect} answers`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return failing(
      `the store cannot be reached: ${message}`,
      'start it, or correct database_url (DATABASE_URL)',
    );
  }
}

async function examineSchema({ application }: Subject): Promise<Finding> {
  const steps = await application.migrations();
  const missing = steps.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name);
  if (missing.length === 0) return ok('every step is applied');
  return failing(`not applied: ${missing.join(', ')}`, 'run npx portico db:migrate up');
}

async function examineKeys({ server: { keys, config } }: Subject): Promise<Finding> {
  const all = await keys.all();
  const [active] = all;
  if (active === undefined) {
    return failing(
      `oauth_server:key_path: there is no signing key in ${config.key_path}, so openid cannot be granted`,
      'run npx portico oauth:server:setup, or point key_path to the directory that the servers share',
    );
  }
  const open = await openToOthers(config.key_path);
  if (open.length > 0) {
    return failing(
      `oauth_server:key_path: others than this user may open ${open.join(', ')}`,
      `run chmod -R go= '${config.key_path.replaceAll("'", String.raw`'\''`)}'; if anybody may have read a key, generate ` +
        'another (npx portico oauth:keys:generate) and remove that one',
    );
  }
  const since = new Date(active.createdAt).toISOString();
  return ok(`${active.kid} signs since ${since}; ${all.length} published`);
}

/** What of the key directory group or others may open: the directory itself, and what is in it. */
async function openToOthers(directory: string): Promise<readonly string[]> {
  // What Windows says here means nothing.
  if (process.platform === 'win32') return [];
  const names = await readdir(directory);
  const files = [directory, ...names.toSorted().map((name) => path.join(directory, name))];
  const modes = await Promise.all(files.map(async (file) => ({ file, mode: (await stat(file)).mode })));
  return modes.filter(({ mode }) => (mode & 0o077) !== 0).map(({ file }) => file);
}

async function examineLoginRoute({ application, server }: Subject): Promise<Finding> {
  const { login_route: route } = server.config;
  if (route.startsWith('/') || application.hasRoute(route)) return ok(route);
  return failing(
    `oauth_server:login_route: no route is named '${route}'`,
    'give the application accounts, or name its sign-in route',
  );
}

async function examineEndpoints({ application, server }: Subject): Promise<Finding> {
  if (!server.config.routes) return skipped('oauth_server:routes is false, so the application mounts them');
  const url = `${server.issuer}/.well-known/openid-configuration`;
  const response = await application.fetch(new Request(url));
  const document = (await response.json()) as { readonly issuer?: unknown };
  if (response.status === 200 && document.issuer === server.issuer)
    return ok(`this process would serve ${url}; whether that address leads to one, --online asks`);
  return failing(
    `${url} is answered with ${response.status}, not with the server's metadata`,
    'look for a route or a hook of the application in its place',
  );
}

async function examineExemptions({ application, server }: Subject): Promise<Finding> {
  if (!server.config.routes) return skipped('oauth_server:routes is false');
  const configured = application.config['csrf_exempt_routes'] as Readonly<Record<string, boolean>>;
  const checked = Object.keys(CSRF_EXEMPT_ROUTES).filter((name) => configured[name] !== true);
  if (checked.length === 0) return ok('the protocol endpoints are exempt');
  return failing(
    `the session-wide check refuses what applications send to ${checked.join(', ')}`,
    'take the entries set to false out of csrf_exempt_routes',
  );
}

/** Renders the pages with made-up data: a host's own view may be broken, or lack what an answer needs. */
async function examineViews({ application, server }: Subject): Promise<Finding> {
  const [requestId, csrfToken] = [randomToken(), randomToken()];
  const page = { serverName: server.config.name, nonce: randomToken() };
  const person = { name: 'Ada Lovelace', email: 'ada@example.com' };
  const scopes = [{ name: 'openid', label: 'Confirm who you are' }];
  const since = { iso: '2026-01-01T00:00:00.000Z', text: 'January 1, 2026' };
  const pages: Readonly<Record<string, object>> = {
    'oauth/consent': {
      clientName: 'An application',
      person,
      scopes,
      redirectHost: 'client.example',
      requestId,
      csrfToken,
      action: '/oauth/authorize',
    },
    'oauth/error': { title: 'A title', message: 'A text', status: 400 },
    'oauth/applications': {
      person,
      applications: [{ clientId: 'id', name: 'An application', since, scopes, csrfToken }],
      removed: true,
      action: '/oauth/applications',
    },
  };
  let consent = '';
  /** What is wrong, and the views that cannot be shown for it: several may share a layout. */
  const broken = new Map<string, string[]>();
  for (const [view, data] of Object.entries(pages)) {
    try {
      const html = await server.host.render(view, { ...page, ...data });
      if (view === 'oauth/consent') consent = html;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      broken.set(message, [...(broken.get(message) ?? []), view]);
    }
  }
  if (broken.size > 0) {
    return failing(
      [...broken].map(([message, views]) => `${views.join(', ')} cannot be shown: ${message}`).join('; '),
      "mend it there, or take Portico's own view over again; then start the application anew",
    );
  }
  const lacking = [
    ...(consent.includes(requestId) ? [] : ['request_id']),
    ...(consent.includes(csrfToken) ? [] : ['csrf_token']),
    ...(consent.includes('decision') ? [] : ['decision']),
  ];
  if (lacking.length > 0) {
    return failing(
      `the form of oauth/consent lacks ${lacking.join(', ')}, so no answer can be taken`,
      "take these fields over from Portico's own view",
    );
  }
  const others = await application.views.problems();
  if (others.length > 0) {
    return warning(
      `cannot be compiled: ${others.map(({ file, line, reason }) => `${file}:${line ?? '?'}: ${reason}`).join('; ')}`,
      'mend it there, then start the application anew; the pages of the authorization server can be shown',
    );
  }
  return ok('consent, error and applications were rendered with made-up data');
}

async function examineHasher({ server: { host } }: Subject): Promise<Finding> {
  const secret = randomToken();
  const { passwordHasher } = host;
  const hash = await passwordHasher.hash(secret);
  const right = await passwordHasher.verify(secret, hash);
  // Some hashers read no more than 72 bytes: what is wrong must be so at the beginning.
  const wrong = await passwordHasher.verify(`x${secret}`, hash);
  if (right && !wrong) return ok('tells a right secret from a wrong one');
  return failing('does not tell a right secret from a wrong one', "correct the host's password hasher");
}

async function examineClients({ application, server }: Subject): Promise<Finding> {
  const schema = await application.migrations();
  if (schema.some(({ appliedAt }) => appliedAt === null)) return skipped('the schema is not applied');
  const living = (await server.clients.list()).filter(({ revokedAt }) => revokedAt === null);
  const unknown = living.flatMap(({ id, scopes }) =>
    scopes.filter((scope) => !server.offers(scope)).map((scope) => `${id} has ${scope}`),
  );
  if (unknown.length > 0) {
    return warning(
      `scopes that the server does not offer any more: ${unknown.join(', ')}`,
      'offer them again in oauth_server:scopes, or register the client anew',
    );
  }
  if (living.length > 0) return ok(`${living.length} registered`);
  return warning('none is registered', "run npx portico oauth:client:create '<name>' --redirect=<uri> …");
}

/** Those of the clients that can be read; the check of the schema says when they cannot. */
async function openRotations(server: AuthorizationServer): Promise<readonly OpenRotation[]> {
  const clients = await server.clients.list().catch((): readonly Client[] => []);
  return clients.flatMap(({ id, name, revokedAt, previousSecretExpiresAt: until }) =>
    revokedAt === null && until !== null && until > Date.now()
      ? [{ client_id: id, client_name: name, previous_secret_expires_at: Math.floor(until / 1000) }]
      : [],
  );
}
